"""Limits that hold for a program with all that it starts, kept by the kernel: control groups, version 1 or 2.

A group is made below our own for each program; the program enters it before anything of a stranger's runs. Which
controllers there are is up to the host: each of memory, pids and cpu is used where it can be, and is told where it
cannot. In version 2 a group that has processes cannot have groups with limits below it; so where we are alone in ours,
as a service or a container is, we move into one of our own first. This module starts no process.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from cutpurse.server.runners.port import ResourceLimits

__all__ = ["CONTROLLERS", "Cgroups", "Group", "cgroups", "group_of"]

ROOT: Final = Path("/sys/fs/cgroup")
MEMBERSHIP: Final = Path("/proc/self/cgroup")
CONTROLLERS: Final[tuple[str, ...]] = ("memory", "pids", "cpu")
PERIOD_US: Final = 100_000  # in which a share of the processor is counted
OURS: Final = "cutpurse-server"  # version 2: where we go ourselves
_NAME: Final = re.compile(r"cutpurse-(\d+)-\d+")  # of a group: by which process it was made
_numbers: Final = itertools.count(1)


class Group:
    """The group of one program."""

    def __init__(self, folders: Mapping[str, Path], version: int) -> None:
        """`folders`: of each controller; in version 2 they are one."""
        self._folders = folders
        self._version = version
        self._peak = 0
        self._cpu_s = 0.0
        self.doors: Final = tuple(dict.fromkeys(folder / "cgroup.procs" for folder in folders.values()))

    def has(self, controller: str) -> bool:
        """Whether it limits memory, pids or cpu."""
        return controller in self._folders

    def limit(self, limits: ResourceLimits, extra_processes: int) -> None:
        """Set what may be used; extra_processes: of the sandbox itself.  Raises OSError."""
        quota = max(1_000, round(limits.cpu_cores * PERIOD_US))
        wanted: dict[str, dict[str, int | str]]
        if self._version == 2:
            wanted = {
                "memory": {"memory.max": limits.memory_bytes, "memory.swap.max": 0, "memory.oom.group": 1},
                "pids": {"pids.max": limits.processes + extra_processes},
                "cpu": {"cpu.max": f"{quota} {PERIOD_US}", "cpu.weight": 25},
            }
        else:
            wanted = {
                "memory": {
                    "memory.limit_in_bytes": limits.memory_bytes,
                    "memory.memsw.limit_in_bytes": limits.memory_bytes,
                },
                "pids": {"pids.max": limits.processes + extra_processes},
                "cpu": {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": quota, "cpu.shares": 256},
            }
        for controller, settings in wanted.items():
            folder = self._folders.get(controller)
            if folder is None:
                continue
            for name, value in settings.items():
                if (folder / name).exists():  # swap is not counted everywhere
                    (folder / name).write_text(str(value), encoding="ascii")

    def cpu_s(self) -> float | None:
        """Seconds of the processor so far; None where that is not counted."""
        if self._version == 2:
            used = self._field("cpu", "cpu.stat", "usage_usec")
            seconds = None if used is None else used / 1e6
        else:
            used = self._number("cpuacct", "cpuacct.usage")
            seconds = None if used is None else used / 1e9
        if seconds is not None:
            self._cpu_s = max(self._cpu_s, seconds)
        return self._cpu_s or seconds

    def peak_bytes(self) -> int | None:
        """Return the peak memory so far; if the kernel does not store it, the most seen when asked."""
        names = ("memory.peak", "memory.current") if self._version == 2 else ("memory.max_usage_in_bytes",)
        for name in names:
            if (seen := self._number("memory", name)) is not None:
                self._peak = max(self._peak, seen)
                break
        return self._peak or None

    def out_of_memory(self) -> int:
        """How many processes were killed because there was no memory."""
        name = "memory.events" if self._version == 2 else "memory.oom_control"
        return self._field("memory", name, "oom_kill") or 0

    def refused(self) -> int:
        """How often a process was not started because there were too many."""
        return self._field("pids", "pids.events", "max") or 0

    def processes(self) -> set[int]:
        """List the processes in the group."""
        found: set[int] = set()
        for door in self.doors:
            with suppress(OSError):
                found.update(int(line) for line in door.read_text(encoding="ascii").split())
        return found - {0}  # 0: it is of a namespace that is not ours to see

    def kill(self) -> None:
        """End all of them."""
        for folder in self._folders.values():
            with suppress(OSError):
                (folder / "cgroup.kill").write_text("1", encoding="ascii")
                return
        for pid in self.processes():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def remove(self) -> bool:
        """Away with it; whether it is gone, which it cannot be before its last process is."""
        self.cpu_s(), self.peak_bytes()
        left = False
        for folder in set(self._folders.values()):
            try:
                folder.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                left = True
        return not left

    def _number(self, controller: str, name: str) -> int | None:
        text = self._text(controller, name)
        return int(text) if text.isdigit() else None

    def _field(self, controller: str, name: str, field: str) -> int | None:
        for line in self._text(controller, name).splitlines():
            key, _, value = line.partition(" ")
            if key == field and value.isdigit():
                return int(value)
        return None

    def _text(self, controller: str, name: str) -> str:
        folder = self._folders.get(controller)
        if folder is None:
            return ""
        try:
            return (folder / name).read_text(encoding="ascii").strip()
        except OSError:
            return ""


class Cgroups:
    """Where groups can be made on this host."""

    def __init__(self, parents: Mapping[str, Path], version: int) -> None:
        self._parents = parents
        self.version = version

    def lacks(self) -> tuple[str, ...]:
        """List the controllers that cannot be used."""
        return tuple(name for name in CONTROLLERS if name not in self._parents)

    def make(self) -> Group | None:
        """Make a group without limits; None if there can be none.  Raises OSError."""
        if not self._parents:
            return None
        name = f"cutpurse-{os.getpid()}-{next(_numbers)}"
        folders = {controller: parent / name for controller, parent in self._parents.items()}
        for folder in folders.values():
            folder.mkdir(exist_ok=True)  # controllers can share one
        return Group(folders, self.version)

    def sweep(self) -> None:
        """Away with the empty groups of servers that are gone: one that was killed could not do that."""
        for parent in set(self._parents.values()):
            for folder in parent.glob("cutpurse-*-*"):
                made = _NAME.fullmatch(folder.name)
                if made is not None and not Path("/proc", made[1]).exists():
                    with suppress(OSError):  # not empty: it is of a server whose number we cannot see
                        folder.rmdir()


NONE: Final = Cgroups({}, 0)


@cache
def cgroups(root: Path = ROOT, membership: Path = MEMBERSHIP) -> Cgroups:
    """Find the control groups that this host has and lets us use, once."""
    try:
        lines = membership.read_text(encoding="ascii").split()
    except OSError:  # no Linux
        return NONE
    own = {name: path for line in lines for _, names, path in [line.split(":", 2)] for name in names.split(",")}
    found = _version_2(root, own.get("", "/")) if (root / "cgroup.controllers").exists() else _version_1(root, own)
    found.sweep()
    return found


def group_of(pid: int, name: str, root: Path = ROOT, proc: Path = Path("/proc")) -> Group | None:
    """Find the group that an engine made for this process, for reading; None if it cannot be seen from here.

    name: what the path of the group must hold, so that it is not that of another process of the same number.
    """
    try:
        lines = (proc / str(pid) / "cgroup").read_text(encoding="ascii").split()
    except OSError:
        return None
    version = 2 if (root / "cgroup.controllers").exists() else 1
    folders: dict[str, Path] = {}
    for line in lines:
        _, names, path = line.split(":", 2)
        if name not in path:
            continue
        below = path.lstrip("/").removesuffix("/container")  # some runtimes put one into another, without limits
        for controller in CONTROLLERS if version == 2 and not names else names.split(","):
            folder = root / ("" if version == 2 else controller) / below
            if folder.is_dir():
                folders[controller] = folder
    return Group(folders, version) if folders else None


def _version_1(root: Path, own: Mapping[str, str]) -> Cgroups:
    parents: dict[str, Path] = {}
    for controller in (*CONTROLLERS, "cpuacct"):
        folder = root / controller / own.get(controller, "/").lstrip("/")
        if not folder.is_dir():  # in a container the path can be that of the host
            folder = root / controller
        if controller in own and _can_make_groups(folder):
            parents[controller] = folder.resolve()
    return Cgroups(parents, 1) if set(parents) & set(CONTROLLERS) else NONE


def _version_2(root: Path, own: str) -> Cgroups:
    folder = root / own.lstrip("/")
    if folder.name == OURS:
        folder = folder.parent
    if not _can_make_groups(folder):
        return NONE
    there = set(_words(folder / "cgroup.controllers"))
    wanted = [name for name in CONTROLLERS if name in there - set(_words(folder / "cgroup.subtree_control"))]
    if not _enable(folder, wanted) and _move(folder):
        _enable(folder, wanted)
    enabled = set(_words(folder / "cgroup.subtree_control"))
    parents = {name: folder for name in CONTROLLERS if name in enabled}
    return Cgroups(parents, 2) if parents else NONE


def _enable(folder: Path, controllers: Iterable[str]) -> bool:
    """Whether the groups below may have these limits; False: not as long as processes are in the folder's own."""
    for name in controllers:
        try:
            (folder / "cgroup.subtree_control").write_text(f"+{name}", encoding="ascii")
        except OSError as problem:
            if problem.errno == errno.EBUSY:
                return False
    return True


def _move(folder: Path) -> bool:
    """Go from this group into one below it, if nobody else is in it; whether we went."""
    here = {int(word) for word in _words(folder / "cgroup.procs")}
    if here != {os.getpid()}:
        return False
    with suppress(OSError):
        (folder / OURS).mkdir(exist_ok=True)
        (folder / OURS / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
        return True
    return False


def _can_make_groups(folder: Path) -> bool:
    probe = folder / f"cutpurse-{os.getpid()}-0"
    try:
        probe.mkdir(exist_ok=True)
        probe.rmdir()
    except OSError:
        return False
    return True


def _words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="ascii").split()
    except OSError:
        return []
