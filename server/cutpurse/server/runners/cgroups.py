"""Control groups, version 1 or 2: limits that the kernel enforces for a program and all its child processes.

Each program gets a group below the server's own, and enters it before any untrusted code runs. The host decides which
of the controllers memory, pids and cpu can be used; `Cgroups.lacks` lists the others. In version 2, a group with
processes can't have limited groups below it. So if the server is alone in its group, as a service or container is, it
moves into a new group below first. This module starts no process.
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
PERIOD_US: Final = 100_000  # period of the CPU quota
OURS: Final = "cutpurse-server"  # version 2: the group that the server moves into
_NAME: Final = re.compile(r"cutpurse-(\d+)-\d+")  # name of a program's group, with the server's process ID
_numbers: Final = itertools.count(1)


class Group:
    """The control group of one program."""

    def __init__(self, folders: Mapping[str, Path], version: int) -> None:
        """Wrap existing groups; `folders` has the folder of each controller, all the same one in version 2."""
        self._folders = folders
        self._version = version
        self._peak = 0
        self._cpu_s = 0.0
        self.doors: Final = tuple(dict.fromkeys(folder / "cgroup.procs" for folder in folders.values()))

    def has(self, controller: str) -> bool:
        """Return whether the group has a controller: memory, pids or cpu."""
        return controller in self._folders

    def limit(self, limits: ResourceLimits, extra_processes: int) -> None:
        """Set the limits of the group.

        Args:
            limits: Limits of the program.
            extra_processes: Number of processes of the sandbox itself, which are allowed on top.

        Raises:
            OSError: If the system refuses.
        """
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
                if (folder / name).exists():  # some hosts do not count swap
                    (folder / name).write_text(str(value), encoding="ascii")

    def cpu_s(self) -> float | None:
        """Return the CPU time so far, in seconds; None if the group does not count it."""
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
        """Return the peak memory so far, or the peak of all readings if the kernel does not store it."""
        names = ("memory.peak", "memory.current") if self._version == 2 else ("memory.max_usage_in_bytes",)
        for name in names:
            if (seen := self._number("memory", name)) is not None:
                self._peak = max(self._peak, seen)
                break
        return self._peak or None

    def out_of_memory(self) -> int:
        """Return the number of processes killed for lack of memory."""
        name = "memory.events" if self._version == 2 else "memory.oom_control"
        return self._field("memory", name, "oom_kill") or 0

    def refused(self) -> int:
        """Return how often a new process was refused because there were too many."""
        return self._field("pids", "pids.events", "max") or 0

    def processes(self) -> set[int]:
        """Return the IDs of the processes in the group."""
        found: set[int] = set()
        for door in self.doors:
            with suppress(OSError):
                found.update(int(line) for line in door.read_text(encoding="ascii").split())
        return found - {0}  # 0 stands for a process in a namespace that we can't see

    def kill(self) -> None:
        """Kill all processes in the group."""
        for folder in self._folders.values():
            with suppress(OSError):
                (folder / "cgroup.kill").write_text("1", encoding="ascii")
                return
        for pid in self.processes():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def remove(self) -> bool:
        """Remove the group. Return False if it still has processes."""
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
    """The groups of this host below which new groups can be made, by controller."""

    def __init__(self, parents: Mapping[str, Path], version: int) -> None:
        self._parents = parents
        self.version = version

    def lacks(self) -> tuple[str, ...]:
        """List the controllers that can't be used here."""
        return tuple(name for name in CONTROLLERS if name not in self._parents)

    def make(self) -> Group | None:
        """Create a group without limits. Return None if no controller can be used.

        Raises:
            OSError: If the system refuses.
        """
        if not self._parents:
            return None
        name = f"cutpurse-{os.getpid()}-{next(_numbers)}"
        folders = {controller: parent / name for controller, parent in self._parents.items()}
        for folder in folders.values():
            folder.mkdir(exist_ok=True)  # several controllers may share a folder
        return Group(folders, self.version)

    def sweep(self) -> None:
        """Remove the empty groups of servers that were killed."""
        for parent in set(self._parents.values()):
            for folder in parent.glob("cutpurse-*-*"):
                made = _NAME.fullmatch(folder.name)
                if made is not None and not Path("/proc", made[1]).exists():
                    with suppress(OSError):  # not empty: its server runs in another process namespace
                        folder.rmdir()


NONE: Final = Cgroups({}, 0)


@cache
def cgroups(root: Path = ROOT, membership: Path = MEMBERSHIP) -> Cgroups:
    """Find the control groups that the server may use on this host. The result is cached."""
    try:
        lines = membership.read_text(encoding="ascii").split()
    except OSError:  # not on Linux
        return NONE
    own = {name: path for line in lines for _, names, path in [line.split(":", 2)] for name in names.split(",")}
    found = _version_2(root, own.get("", "/")) if (root / "cgroup.controllers").exists() else _version_1(root, own)
    found.sweep()
    return found


def group_of(pid: int, name: str, root: Path = ROOT, proc: Path = Path("/proc")) -> Group | None:
    """Find the group that a container engine made for a process, for reading.

    Args:
        pid: ID of the process.
        name: Text that the group's path must contain, in case another process has the ID by now.
        root: Folder of all control groups.
        proc: Folder of the process file system.

    Returns:
        The group; None if it is not visible from here.
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
        below = path.lstrip("/").removesuffix("/container")  # some runtimes add an inner group without limits
        for controller in CONTROLLERS if version == 2 and not names else names.split(","):
            folder = root / ("" if version == 2 else controller) / below
            if folder.is_dir():
                folders[controller] = folder
    return Group(folders, version) if folders else None


def _version_1(root: Path, own: Mapping[str, str]) -> Cgroups:
    parents: dict[str, Path] = {}
    for controller in (*CONTROLLERS, "cpuacct"):
        folder = root / controller / own.get(controller, "/").lstrip("/")
        if not folder.is_dir():  # in a container, the path may be the host's
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
    """Enable controllers for the groups below a folder. Return False if its own group still has processes."""
    for name in controllers:
        try:
            (folder / "cgroup.subtree_control").write_text(f"+{name}", encoding="ascii")
        except OSError as problem:
            if problem.errno == errno.EBUSY:
                return False
    return True


def _move(folder: Path) -> bool:
    """Move the server from this group into one below, if it is alone here. Return whether it moved."""
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
