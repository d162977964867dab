"""The contract of all runners of untrusted programs, in any language.

A program starts in its own folder /bot, which is read-only. It reaches the server by one socket,
/run/cutpurse/bot.sock, which CUTPURSE_SERVER names. Its environment usually has CUTPURSE_TOKEN too. It may write to a
scratch folder /tmp, which has a size limit and is removed at its end. A bot with a memory finds and leaves it in the
folder /memory, which CUTPURSE_MEMORY names. Its standard input is closed. Both its outputs
are logged, with a limit. It can reach nothing else.

Without isolation the paths differ: the working folder is the program's, CUTPURSE_SERVER names the socket, and TMPDIR
names the scratch folder.

All calls block, so make them on a thread. This module starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from cutpurse.engine.errors import CutpurseError

__all__ = [
    "FOLDER",
    "MEMORY_FOLDER",
    "MEMORY_VARIABLE",
    "SOCKET",
    "SOCKET_FOLDER",
    "Cause",
    "ExitStatus",
    "NoRoom",
    "ResourceLimits",
    "Runner",
    "RunnerError",
    "Running",
    "ProgramSpec",
    "ResourceUse",
]

KIB: Final = 1 << 10
MIB: Final = 1 << 20

FOLDER: Final = "/bot"  # the program's folder, inside the sandbox
MEMORY_FOLDER: Final = "/memory"
MEMORY_VARIABLE: Final = "CUTPURSE_MEMORY"
SOCKET_FOLDER: Final = "/run/cutpurse"
SOCKET: Final = "bot.sock"  # in SOCKET_FOLDER, and in `ProgramSpec.arena`

# 'disk': it wrote too much into its folder; 'stopped': by `stop`; 'exited': by itself; 'processor': too much CPU time;
# 'time': too much wall-clock time; 'lost': the machine that ran it was lost, or could not start it; 'deadly':
# several machines were lost soon after its start, so it may be the cause.
Cause: TypeAlias = Literal[
    "exited", "signal", "memory", "processor", "time", "processes", "disk", "stopped", "lost", "deadly"
]


class RunnerError(CutpurseError):
    """The failure to run a program here; its text says why, and what to do."""


class NoRoom(RunnerError):
    """The failure to run a program now, which may change at any moment."""


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """The resource limits of one program with all its child processes.

    Attributes:
        memory_bytes: Memory, including the scratch folder.
        processes: Processes and threads.
        open_files: Open files per process.
        file_bytes: Size of one file, of the scratch folder, and of what a build adds to its folder.
        cpu_cores: CPU cores used at a time.
        cpu_s: CPU time in total; None for no limit.
        wall_s: Own time in total (see `OwnTime`): it passes while the program sleeps, too. None for no limit.
        talk_bytes_per_s: Output per second; more is dropped.
        talk_bytes: Stored output; the newest is kept.
    """

    memory_bytes: int = 256 * MIB
    processes: int = 64
    open_files: int = 256
    file_bytes: int = 64 * MIB
    cpu_cores: float = 0.5
    cpu_s: float | None = None
    wall_s: float | None = None
    talk_bytes_per_s: int = 64 * KIB
    talk_bytes: int = MIB


@dataclass(frozen=True, slots=True)
class ProgramSpec:
    """A program to run.

    The program may run as another user than the server. So `folder` and `arena` must be readable for all users (0755,
    the socket 0666); the folder around them may be closed (0700).

    Attributes:
        name: Name for people.
        folder: Folder of the program, visible as /bot.
        command: Command; its first word is searched in the `bin` folders of the runtimes, then in the system's.
        talk: File for its output; the older half may be in TALK.before.
        is_writable: Whether it may write into its folder, as a build does. Its files are untrusted and may be links.
        arena: Folder with the socket `bot.sock`, visible as /run/cutpurse; None for no socket.
        environment: Environment variables; CUTPURSE_SERVER is added.
        limits: Resource limits.
        runtimes: Readable folders, and links, visible at their own paths. Containers ignore them, because their image
            has the runtimes.
        for_runtimes: Environment variables for the runtimes; containers ignore them too.
        ladders: Ladders that the bot plays on; places use them, see `speed_rule`.
        memory: Folder that it may change, visible as /memory; None for none. Its files are untrusted and may be links.
    """

    name: str
    folder: Path
    command: tuple[str, ...]
    talk: Path
    is_writable: bool = False
    arena: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: ResourceLimits = ResourceLimits()
    runtimes: tuple[Path, ...] = ()
    for_runtimes: Mapping[str, str] = field(default_factory=dict)
    ladders: tuple[str, ...] = ()
    memory: Path | None = None


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """The resource usage of a program with all its child processes: CPU time and peak memory.

    On systems that count them, memory includes the scratch folder and cached files.
    """

    cpu_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """The way a program ended.

    Attributes:
        cause: Why it ended.
        code: Exit code, or the number of the signal that ended it.
        use: Resource usage in total.
        text: One line for people, without paths and without the program's output.
    """

    cause: Cause
    code: int | None
    use: ResourceUse
    text: str


class Running(Protocol):
    """A started program."""

    @property
    def pid(self) -> int:
        """ID of the process that stands for the program on this machine."""

    def ended(self) -> ExitStatus | None:
        """Return how the program ended; None while it runs. Never waits."""

    def wait(self, seconds: float | None = None) -> ExitStatus | None:
        """Wait for the program to end. Return how it ended; None if it still runs.

        Args:
            seconds: Maximum of own time (see `OwnTime`); None: no limit.
        """

    def use(self) -> ResourceUse:
        """Return the usage so far, or in total after the program's end."""

    def stop(self, grace_s: float = 2.0) -> ExitStatus:
        """Ask the program to end, and kill it with all its processes after the grace. Return how it ended.

        Args:
            grace_s: Seconds of own time (see `OwnTime`) to end by itself.
        """

    def talk(self) -> str:
        r"""Return the newest output, at most `talk_bytes`; control characters are escaped, such as \x1b."""


class Runner(Protocol):
    """A way to run programs, with or without isolation."""

    @property
    def name(self) -> str:
        """The name by which a league file and `--runner` choose it."""

    @property
    def has_memory(self) -> bool:
        """Whether programs find `ProgramSpec.memory`, and what they leave there is found here."""

    @property
    def image(self) -> str:
        """Container image for `runner_named`; empty if programs use this machine's system."""

    def missing(self) -> str | None:
        """Return why this runner does not work here, and what to do, in one line; None if it works."""

    def weaker(self) -> tuple[str, ...]:
        """List the parts of the contract that this machine does not enforce, or less safely, one line each."""

    def start(self, task: ProgramSpec) -> Running:
        """Start a program.

        Raises:
            RunnerError: If it can't be run here.
            OSError: If the system refuses.
        """
