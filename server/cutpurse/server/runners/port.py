"""What a place to run programs of strangers gives: one contract for all of them, in any language.

A program finds its own folder at /bot, read-only, and begins there; one socket, /run/cutpurse/bot.sock, which is the
server; CUTPURSE_SERVER, which names that socket, and what else its environment was given (CUTPURSE_TOKEN, as a rule);
room to scribble in /tmp, of limited size and gone with it. Its standard input is closed. What it says on both its
outputs is kept, capped. It can reach nothing else. (Where there is no isolation the same is found elsewhere: the
working folder is that of the program, and CUTPURSE_SERVER and TMPDIR say where the socket and the scratch are.)

All is synchronous: to be called from a thread, or where nobody waits. This module starts nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from cutpurse.engine.errors import CutpurseError, UsageError

__all__ = [
    "FOLDER",
    "SOCKET",
    "SOCKET_FOLDER",
    "Cause",
    "ExitStatus",
    "ResourceLimits",
    "Runner",
    "RunnerError",
    "Running",
    "ProgramSpec",
    "ResourceUse",
    "runner_named",
]

KIB: Final = 1 << 10
MIB: Final = 1 << 20

FOLDER: Final = "/bot"  # where a program finds itself
SOCKET_FOLDER: Final = "/run/cutpurse"
SOCKET: Final = "bot.sock"  # in that folder, and in `Task.arena`

# 'disk': what a build step wrote; the others go by themselves: 'stopped' by `stop`, 'exited' of its own accord.
Cause: TypeAlias = Literal["exited", "signal", "memory", "processor", "time", "processes", "disk", "stopped"]


class RunnerError(CutpurseError):
    """A program cannot be run here: the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """What one program may use, with all that it starts.

    memory_bytes: of memory, scratch included. processes: threads count. open_files: of each process. file_bytes: of
    one file, of the scratch, and of what a build step may add to its folder. cpu_cores: of the processor, at any time;
    cpu_s: of its time, in all; wall_s: of everybody's. talk_bytes_per_s: of what it says; what is more is left out.
    talk_bytes: of that, the newest, are kept.
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

    name: for people. folder: the program's own, seen as /bot; everybody must be able to read what is in it, and in
    `arena` (0755, the socket 0666), for the program may run as another user than the server; the folder around them
    may be closed (0700). is_writable: it may write there; a build step does, and what it leaves behind is as little to
    be trusted as what was handed in (it may hold links to anywhere). command: the first word is looked for in the
    runtimes' `bin` folders, then in the system's. arena: a folder with the one socket `bot.sock`, seen as
    /run/cutpurse; None: there is no socket. environment: CUTPURSE_SERVER is added. runtimes: folders to be read, and
    links, seen where they are; for_runtimes: what goes with them into the environment. Where programs have a system of
    their own, as in a container, that holds what runtimes are for, and both are left away. talk: the file that gets
    what it says; the older half of it may be in TALK.before.
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


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """What a program has used so far, with all that it started: seconds of the processor, and the most memory at once.

    Where the system counts it, memory includes scratch and files that were read.
    """

    cpu_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """How a program ended.  code: its exit code, or the number of the signal that ended it; text: one line for people.

    The text names no path and nothing that the program said.
    """

    cause: Cause
    code: int | None
    use: ResourceUse
    text: str


class Running(Protocol):
    """A program that was started."""

    @property
    def pid(self) -> int:
        """The number of the process that stands for it here."""

    def ended(self) -> ExitStatus | None:
        """How it ended; None while it runs. Never waits."""

    def wait(self, seconds: float | None = None) -> ExitStatus | None:
        """How it ended, as soon as it has; None if it has not after so many seconds."""

    def use(self) -> ResourceUse:
        """Return what the program has used so far, also after its end."""

    def stop(self, grace_s: float = 2.0) -> ExitStatus:
        """Ask it to end, give it so many seconds, and end it with all that it started: none is left afterwards."""

    def talk(self) -> str:
        """Return its newest output, at most `talk_bytes`; control characters are shown as \\x1b and the like."""


class Runner(Protocol):
    """A place to run programs."""

    @property
    def name(self) -> str:
        """As `runner_named` takes it."""

    @property
    def image(self) -> str:
        """What its programs find as their system, as `runner_named` takes it; empty: that of this machine."""

    def missing(self) -> str | None:
        """Why it cannot be used here, and what to do, in one line; None if it can."""

    def weaker(self) -> tuple[str, ...]:
        """List what this machine does not hold of the contract, or holds less surely, a line each."""

    def start(self, task: ProgramSpec) -> Running:
        """Start a program.  Raises RunnerError where that is not possible here, OSError if the system refuses."""


def runner_named(name: str, image: str = "") -> Runner:
    """'bubblewrap', 'container' or 'process'.  image: of containers; empty: the usual one.

    Raises UsageError for another name; what can be used is told by `missing`.
    """
    from cutpurse.server.runners.bubblewrap import BubblewrapRunner
    from cutpurse.server.runners.container import ContainerRunner
    from cutpurse.server.runners.process import ProcessRunner

    made: dict[str, Callable[[], Runner]] = {
        "bubblewrap": BubblewrapRunner,
        "container": lambda: ContainerRunner(image),
        "process": ProcessRunner,
    }
    if name not in made:
        raise UsageError(f"no runner is called {name!r:.80}; there are: {', '.join(made)}")
    return made[name]()
