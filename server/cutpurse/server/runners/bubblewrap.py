"""The runner that isolates programs in Linux namespaces, made by bubblewrap.

A program sees the system's /usr, its runtimes, its folder, its scratch folder and one socket. It sees no network, no
other process, no device except harmless ones, and no /etc, /home or /sys. It runs as nobody, can gain no rights, and
may make only the system calls that `seccomp` lists. A control group limits its resources, or limits per process where
there is none. All its processes end with the server, even if the server is killed. tests/sandbox/README.md lists
the attacks that were tried.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from cutpurse.server.runners import seccomp
from cutpurse.server.runners.cgroups import Cgroups, Group, cgroups
from cutpurse.server.runners.disk_quota import DiskQuota
from cutpurse.server.runners.launching import begin, environment_of, launcher, limited
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
from cutpurse.server.runners.process_usage import children
from cutpurse.server.runners.runtimes import search_path
from cutpurse.server.runners.sandboxed_process import Making, SandboxedProcess, started
from cutpurse.server.runners.user_namespace import NOBODY, chown_tree, into_a_namespace, is_root
from cutpurse.wire.server_address import SERVER_VARIABLE, UNIX

__all__ = ["BubblewrapRunner"]

SCRATCH: Final = "/tmp"
SHARED_MEMORY: Final = 16 << 20  # bytes at /dev/shm
OWN_PROCESSES: Final = 2  # processes of the sandbox itself
TRY_S: Final = 20.0

# These are links into /usr on most systems, and folders on others.
_BESIDE_USR: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# Files that system programs need. Java does not start without the settings that Debian stores there.
_OF_ETC: Final = ("ld.so.cache", "alternatives", "localtime", "java-*-openjdk")
_PASSWD: Final = f"bot:x:{NOBODY}:{NOBODY}:bot:{SCRATCH}:/usr/sbin/nologin\n"
_GROUP: Final = f"bot:x:{NOBODY}:\n"


class BubblewrapRunner:
    """A `Runner` that isolates programs by bubblewrap."""

    name: Final = "bubblewrap"
    has_memory: Final = True
    image: Final = ""

    def __init__(self, groups: Cgroups | None = None) -> None:
        """Create a runner that makes control groups by `groups`; None uses those that the host allows."""
        self._groups = groups

    @property
    def _cgroups(self) -> Cgroups:
        return cgroups() if self._groups is None else self._groups

    def missing(self) -> str | None:
        """Return why this runner does not work here, or None; checked once per process."""
        return _missing()

    def weaker(self) -> tuple[str, ...]:
        """List the limits that this machine does not enforce, one line each."""
        return tuple(_WEAKER[controller] for controller in self._cgroups.lacks())

    def start(self, task: ProgramSpec) -> SandboxedProcess:
        """Start a program in a new sandbox.

        Raises:
            RunnerError: If this runner does not work here.
            OSError: If the system refuses.
        """
        if (why := self.missing()) is not None:
            raise RunnerError(why)
        return self.start_anyhow(task)

    def start_anyhow(self, task: ProgramSpec) -> SandboxedProcess:
        """Start a program without checking `missing` first.

        Raises:
            RunnerError: If the sandbox can't be made.
            OSError: If the system refuses.
        """
        descriptors = _Descriptors()
        group = None
        try:
            group = self._cgroups.make()
            if group is not None:
                group.limit(task.limits, OWN_PROCESSES)
            complaints, errors = descriptors.pipe()
            passed = [
                descriptors.file(seccomp.bpf()),
                descriptors.file(_PASSWD.encode()),
                descriptors.file(_GROUP.encode()),
            ]
            if is_root() and task.is_writable:
                chown_tree(task.folder)
            if is_root() and task.memory is not None:
                chown_tree(task.memory)
            changed = task.folder if task.is_writable else task.memory
            words = [*_user(), *_sandbox(task, *passed)]
            passed.append(descriptors.file(b"".join([os.fsencode(word) + b"\0" for word in words])))
            making = Making(
                command=(
                    *launcher(group),
                    *limited(task.limits, group),
                    *(into_a_namespace() if is_root() else ()),
                    _bubblewrap(),
                    "--args",
                    str(passed[-1]),
                    "--",
                    *begin(task.command, _inside_first(task.limits, group)),
                ),
                environment={},
                folder=Path("/"),
                passed=passed,
                errors=errors,
                complaints=complaints,
                to_ask=_inside,
                watched=None if changed is None else DiskQuota(changed, task.limits.file_bytes),
                is_shell_code=True,
            )
            descriptors.given()
            return started(task, making, group)
        except BaseException:
            descriptors.close()
            if group is not None:
                group.remove()
            raise


def _user() -> tuple[str, ...]:
    """Return bubblewrap's arguments for the user: nobody in a new namespace, or for root that of `user_namespace`."""
    if is_root():
        rights = [word for name in ("SETUID", "SETGID", "SETPCAP") for word in ("--cap-add", f"CAP_{name}")]
        return ("--cap-drop", "ALL", *rights)  # setpriv drops these rights before the program runs
    return ("--unshare-user", "--disable-userns", "--uid", str(NOBODY), "--gid", str(NOBODY), "--cap-drop", "ALL")


def _sandbox(task: ProgramSpec, filter_file: int, passwd: int, group: int) -> Iterator[str]:
    """Yield bubblewrap's arguments, in this order, because a later mount can cover an earlier one."""
    yield from ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
    yield from ("--die-with-parent", "--new-session", "--hostname", "bot", "--seccomp", str(filter_file))
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _BESIDE_USR:
        beside = Path("/", name)
        if beside.is_symlink():
            yield from ("--symlink", str(beside.readlink()), str(beside))
        elif beside.is_dir():
            yield from ("--ro-bind", str(beside), str(beside))
    for folder in ("/etc", "/run"):
        yield from ("--perms", "0755", "--dir", folder)
    for pattern in _OF_ETC:
        for path in sorted(map(str, Path("/etc").glob(pattern))):
            yield from ("--ro-bind-try", path, path)
    for data, path in ((passwd, "/etc/passwd"), (group, "/etc/group")):
        yield from ("--perms", "0444", "--ro-bind-data", str(data), path)
    # Read-only, because /proc/sys changes the whole machine, and a program of a root server is root to the kernel.
    yield from ("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev")
    yield from ("--size", str(SHARED_MEMORY), "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev")
    yield from ("--size", str(task.limits.file_bytes), "--perms", "1777", "--tmpfs", SCRATCH)
    yield from _readable(task.runtimes)  # after the scratch folder, since runtimes may lie below /tmp
    yield from ("--bind" if task.is_writable else "--ro-bind", str(task.folder), FOLDER)
    environment = environment_of(task, search_path(task.runtimes), SCRATCH)
    if task.arena is not None:
        yield from ("--ro-bind", str(task.arena), SOCKET_FOLDER)
        environment[SERVER_VARIABLE] = f"{UNIX}{SOCKET_FOLDER}/{SOCKET}"
    if task.memory is not None:
        yield from ("--bind", str(task.memory), MEMORY_FOLDER)
        environment[MEMORY_VARIABLE] = MEMORY_FOLDER
    yield from ("--remount-ro", "/", "--chdir", FOLDER, "--clearenv")
    for name, value in environment.items():
        yield from ("--setenv", name, value)


def _readable(runtimes: Sequence[Path]) -> Iterator[str]:
    """Yield bubblewrap's arguments for runtimes: folders at their own paths, and links, which Python follows."""
    for runtime in runtimes:
        for parent in reversed(runtime.parents[:-1]):  # otherwise bubblewrap makes it as closed as outside
            yield from ("--perms", "0755", "--dir", str(parent))
        if runtime.is_dir():
            yield from ("--ro-bind", str(runtime), str(runtime))
        else:
            yield from ("--symlink", str(runtime.readlink()), str(runtime))


def _inside_first(limits: ResourceLimits, group: Group | None) -> tuple[str, ...]:
    """Return the command that runs in the sandbox first: it limits processes, and turns root into nobody."""
    own: tuple[str, ...] = ()
    if group is None or not group.has("pids"):  # prefer the group, because it counts refused processes
        own = ("/usr/bin/prlimit", f"--nproc={limits.processes}", "--")
    if not is_root():
        return own
    user = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all")
    return (*own, "/usr/bin/setpriv", *user, "--")


def _inside(pid: int) -> int | None:
    """Return the program's own process: a grandchild of bubblewrap, below the namespace's first process."""
    for first in children(pid):
        for program in children(first):
            return program
    return None


class _Descriptors:
    """The files and pipes for one start; `close` closes them if the start fails."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def pipe(self) -> tuple[int, int]:
        """Open a pipe. Return its end for reading and its end for writing."""
        ends = os.pipe()
        self._open += ends
        return ends

    def file(self, content: bytes) -> int:
        """Create a file in memory, positioned at its start."""
        made = os.memfd_create("cutpurse", os.MFD_CLOEXEC)
        self._open.append(made)
        os.write(made, content)
        os.lseek(made, 0, os.SEEK_SET)
        return made

    def given(self) -> None:
        """Give up all descriptors, because the started program owns them now."""
        self._open.clear()

    def close(self) -> None:
        """Close all descriptors."""
        for descriptor in self._open:
            os.close(descriptor)
        self._open.clear()


def _bubblewrap() -> str:
    return shutil.which("bwrap") or "bwrap"


@cache
def _missing() -> str | None:
    if not hasattr(os, "pidfd_open") or not Path("/proc/self/ns/user").exists():
        return "bubblewrap runs on Linux only; use `process` for your own bots on your own machine"
    if shutil.which("bwrap") is None:
        return "bubblewrap is missing: apt install bubblewrap"
    for tool in ("prlimit", "nice", "setpriv", "unshare"):
        if shutil.which(tool) is None:
            return f"{tool} is missing: apt install util-linux coreutils"
    if (why := seccomp.missing()) is not None:
        return why
    return _why_not()


def _why_not() -> str | None:
    """Try a minimal sandbox. Return why it fails, or None."""
    with tempfile.TemporaryDirectory(prefix="cutpurse-") as folder:
        task = ProgramSpec(name="a trial", folder=Path(folder), command=("true",), talk=Path(folder, "talk"))
        try:
            ended = BubblewrapRunner().start_anyhow(task).wait(TRY_S)
        except (RunnerError, OSError) as problem:
            said = str(problem)[:300]
        else:
            return (
                None if ended is not None and ended.code == 0 else "bubblewrap makes a sandbox that runs nothing here"
            )
    for setting, value, file in _USER_NAMESPACES:
        with suppress(OSError):
            if file.read_text(encoding="ascii").strip() == value:
                return f"user namespaces are off: sysctl -w {setting} ({said})"
    if "unrecognized option" in said.lower() or "unknown option" in said.lower():
        return f"bubblewrap is too old, 0.8 or newer is needed ({said})"
    return f"bubblewrap cannot make a sandbox here; in a container, allow it user namespaces ({said})"


# For user namespaces: the setting that allows them, the value that forbids them, and the file with the value.
_USER_NAMESPACES: Final = (
    ("kernel.unprivileged_userns_clone=1", "0", Path("/proc/sys/kernel/unprivileged_userns_clone")),
    ("user.max_user_namespaces=10000", "0", Path("/proc/sys/user/max_user_namespaces")),
    (
        "kernel.apparmor_restrict_unprivileged_userns=0",
        "1",
        Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
    ),
)

_WEAKER: Final = {
    "memory": "no control group limits memory here: each process may have the whole limit, and scratch comes on top",
    "pids": "no control group counts processes here: a fork bomb is held up, and not ended",
    "cpu": "no control group limits the processor here: a program goes behind others, but takes what they leave",
}
