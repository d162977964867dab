"""The runner that isolates programs in containers, made by Docker or podman.

The system of a program is an image, not this machine. The image has what bots need, including the SDK
(docker/bot.Dockerfile). The program has its folder, its scratch folder and one socket, as in the contract. It has no
network and no rights. It runs as nobody, with the system calls of `seccomp` and the limits of its container.

All its processes end with the server, see `container_program`. The next start removes incomplete containers of killed
servers. The engine gets folders by path, so it must see this machine's file system. docs/explanation/sandbox.md lists
the differences from bubblewrap.
"""

from __future__ import annotations

import json
import math
import os
import resource
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.server.runners import seccomp
from cutpurse.server.runners.container_engine import Engine, EngineError, socket_of
from cutpurse.server.runners.container_program import GUARD, OWN_PROCESSES, ContainerProgram, contained
from cutpurse.server.runners.launching import environment_of
from cutpurse.server.runners.port import (
    FOLDER,
    MEMORY_FOLDER,
    MEMORY_VARIABLE,
    SOCKET,
    SOCKET_FOLDER,
    ProgramSpec,
    ResourceLimits,
    RunnerError,
)
from cutpurse.server.runners.user_namespace import NOBODY, chown_tree, is_root
from cutpurse.wire.installation import how_to_install
from cutpurse.wire.server_address import SERVER_VARIABLE, UNIX

__all__ = ["IMAGE", "ContainerRunner"]

IMAGE: Final = "cutpurse-bot"
SCRATCH: Final = "/tmp"
SHARED_MEMORY: Final = 16 << 20  # bytes at /dev/shm
CPU_SHARES: Final = 256  # a quarter of the default weight
ALL_PROCESSES: Final = 1 << 14  # maximum processes of all programs together
LABEL: Final = "io.cutpurse.server"
TRY_S: Final = 20.0
_LACKING: Final = {
    "MemoryLimit": "the engine cannot limit memory here",
    "PidsLimit": "the engine cannot limit processes here",
    "CpuCfsQuota": "the engine cannot limit the processor here: a program takes what others leave",
}


class ContainerRunner:
    """A `Runner` that isolates programs in containers."""

    name: Final = "container"
    has_memory: Final = True

    def __init__(self, image: str = "") -> None:
        """Create a runner for an image; empty means `cutpurse-bot`. DOCKER_HOST selects the engine."""
        self.image: Final = image or IMAGE

    @cached_property
    def _engine(self) -> Engine:
        """Engine of this machine.

        Raises:
            RunnerError: If there is none.
        """
        try:
            path = socket_of(os.environ)
        except UsageError as problem:
            raise RunnerError(str(problem)) from None
        if path is None or not path.is_socket():
            where = "here" if path is None else f"at {path}"
            raise RunnerError(
                f"no engine of containers listens {where}: start Docker, or podman (systemctl start podman.socket), "
                "and let this user speak with it; DOCKER_HOST=unix:///PATH names another socket"
            )
        try:
            return Engine(path)
        except ImportError:
            raise RunnerError(f"httpx is not installed; {how_to_install('containers')}") from None

    @cached_property
    def _info(self) -> dict[str, Any]:
        return self._engine.info()

    @cached_property
    def _is_podman(self) -> bool:
        return self._engine.is_podman()

    @property
    def _is_rootless(self) -> bool:
        return any("rootless" in str(option) for option in self._info.get("SecurityOptions") or ())

    def missing(self) -> str | None:
        """Return why this runner does not work here, or None.

        The first call removes containers of servers that are gone, and tries a minimal container.
        """
        return self._missing

    @cached_property
    def _missing(self) -> str | None:
        try:
            if not self._engine.has_image(self.image):
                return f"there is no image {self.image}: docker build -f docker/bot.Dockerfile -t {self.image} ."
            self._sweep()
            with tempfile.TemporaryDirectory(prefix="cutpurse-") as folder:
                Path(folder).chmod(0o755)
                task = ProgramSpec(name="a trial", folder=Path(folder), command=("true",), talk=Path(folder, "talk"))
                ended = self.start(task).wait(TRY_S)
        except (RunnerError, EngineError, OSError) as problem:
            return f"no container can be run here: {problem}" if isinstance(problem, OSError) else str(problem)
        return None if ended is not None and ended.code == 0 else "the engine makes a container that runs nothing here"

    def weaker(self) -> tuple[str, ...]:
        """List the limits that the engine does not enforce here, one line each."""
        try:
            told = [text for name, text in _LACKING.items() if not self._info.get(name)]
        except (RunnerError, EngineError) as problem:
            return (str(problem),)
        return tuple(told)

    def start(self, task: ProgramSpec) -> ContainerProgram:
        """Start a program in a new container.

        Raises:
            RunnerError: If the engine fails or is missing.
            OSError: If the system refuses; FileNotFoundError if the program's folder is missing.
        """
        if not task.folder.is_dir():
            raise FileNotFoundError(f"{task.name} has no folder")
        try:
            if is_root() and task.is_writable:
                chown_tree(task.folder)
            if is_root() and task.memory is not None:
                chown_tree(task.memory)
            name = f"cutpurse-{os.getpid()}-{secrets.token_hex(6)}"
            with self._filter() as filter:
                container = self._engine.create(name, self._wanted(task, filter))
            return contained(task, self._engine, container)
        except EngineError as problem:
            raise RunnerError(f"{task.name} cannot be run here: {problem}") from None

    @contextmanager
    def _filter(self) -> Iterator[str]:
        """Yield the seccomp profile as the engine takes it: the path of a file for podman, JSON text for Docker."""
        words = json.dumps(seccomp.profile())
        if not self._is_podman:
            yield words
            return
        with tempfile.NamedTemporaryFile("w", prefix="cutpurse-", suffix=".json") as file:
            file.write(words)
            file.flush()
            yield file.name

    def _wanted(self, task: ProgramSpec, filter: str) -> dict[str, Any]:
        """Return the engine's configuration of a program's container."""
        limits = task.limits
        environment = environment_of(task, None, SCRATCH)
        mounts = [_bound(task.folder, FOLDER, is_writable=task.is_writable)]
        if task.arena is not None:
            mounts.append(_bound(task.arena, SOCKET_FOLDER))
            environment[SERVER_VARIABLE] = f"{UNIX}{SOCKET_FOLDER}/{SOCKET}"
        if task.memory is not None:
            mounts.append(_bound(task.memory, MEMORY_FOLDER, is_writable=True))
            environment[MEMORY_VARIABLE] = MEMORY_FOLDER
        return {
            "Image": self.image,
            "Entrypoint": ["/bin/sh", "-c", GUARD, "sh"],
            "Cmd": [*task.command],
            "Env": [f"{name}={value}" for name, value in environment.items()],
            "User": self._user(task),
            "WorkingDir": FOLDER,
            "Hostname": "bot",
            "Labels": {LABEL: _identity()},
            "Healthcheck": {"Test": ["NONE"]},
            **dict.fromkeys(("OpenStdin", "StdinOnce", "AttachStdin", "AttachStdout", "AttachStderr"), True),
            "HostConfig": {
                "AutoRemove": True,
                "CapDrop": ["ALL"],
                "CgroupnsMode": "private",
                "CpuShares": CPU_SHARES,
                "IpcMode": "private",
                "LogConfig": {"Type": "none"},
                "Memory": limits.memory_bytes,
                "MemorySwap": limits.memory_bytes,
                "Mounts": mounts,
                "NanoCpus": max(10_000_000, round(limits.cpu_cores * 1e9)),
                "NetworkMode": "none",
                "OomScoreAdj": 1_000,
                "PidsLimit": limits.processes + OWN_PROCESSES,
                "ReadonlyRootfs": True,
                "SecurityOpt": ["no-new-privileges", f"seccomp={filter}"],
                "ShmSize": SHARED_MEMORY,
                "Tmpfs": {SCRATCH: f"rw,exec,nosuid,nodev,mode=1777,size={limits.file_bytes}"},
                "Ulimits": _ulimits(limits),
            },
        }

    def _user(self, task: ProgramSpec) -> str:
        """Return the user of a program: nobody, or where it may write the folder's owner, us unless we are root."""
        if not (task.is_writable or task.memory) or is_root():
            return f"{NOBODY}:{NOBODY}"
        return "0:0" if self._is_rootless else f"{os.getuid()}:{os.getgid()}"  # a rootless engine maps root to our user

    def _sweep(self) -> None:
        """Remove the containers of servers that are gone; a killed server may have left incomplete ones."""
        for found in self._engine.containers(LABEL):
            if _is_gone(str(found["Labels"][LABEL])):
                with suppress(EngineError):
                    self._engine.remove(str(found["Id"]))


def _bound(folder: Path, seen: str, is_writable: bool = False) -> dict[str, Any]:
    return {"Type": "bind", "Source": str(folder.resolve()), "Target": seen, "ReadOnly": not is_writable}


def _ulimits(limits: ResourceLimits) -> list[dict[str, Any]]:
    # core is not 0 for the reason in `launching.limited`
    wanted = {"core": 1, "nofile": limits.open_files, "fsize": limits.file_bytes}
    if limits.cpu_s is not None:
        wanted["cpu"] = math.ceil(limits.cpu_s) + 1
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    if most != resource.RLIM_INFINITY:  # otherwise podman would set a limit above its own, and fail
        wanted["nproc"] = min(most, ALL_PROCESSES)
    return [{"Name": name, "Soft": value, "Hard": value} for name, value in wanted.items()]


def _identity() -> str:
    """Return an identifier of this server: boot ID, process namespace, process ID and start time."""
    return f"{_place()} {os.getpid()} {_began(os.getpid())}"


def _place() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {Path('/proc/self/ns/pid').stat().st_ino}"


def _began(pid: int) -> str:
    """Return the start time of a process in clock ticks since boot; empty if there is no such process."""
    try:
        told = Path("/proc", str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return told.rpartition(")")[2].split()[19]


def _is_gone(identity: str) -> bool:
    """Return whether a server has ended. One in another process namespace can't be seen, so it counts as running."""
    words = identity.split()
    here = _place().split()
    if len(words) != 4 or not words[2].isdigit() or words[0] != here[0]:
        return True
    return words[1] == here[1] and _began(int(words[2])) != words[3]
