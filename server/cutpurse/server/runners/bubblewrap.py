"""Programs in namespaces of their own, made by bubblewrap: the usual place on Linux.

A program sees the system's /usr, the runtimes it was given, its folder, its scratch, and one socket; no network, no
other process, no device but the harmless ones, nothing of /etc, /home, /sys. It has no rights beyond those of nobody
and can get none, makes system calls of a list only (`seccomp`), and is limited by a control group where there is one,
else by limits of each process. All of it ends with the server, in whichever way that ends. tests/sandbox/README.md
lists what was tried against it.
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

from cutpurse.sdk.online.server_address import SERVER_VARIABLE, UNIX
from cutpurse.server.runners import seccomp
from cutpurse.server.runners.cgroups import Cgroups, Group, cgroups
from cutpurse.server.runners.disk_quota import DiskQuota
from cutpurse.server.runners.launching import begin, environment_of, launcher, limited
from cutpurse.server.runners.port import FOLDER, SOCKET, SOCKET_FOLDER, ProgramSpec, ResourceLimits, RunnerError
from cutpurse.server.runners.process_usage import children
from cutpurse.server.runners.runtimes import search_path
from cutpurse.server.runners.sandboxed_process import Making, SandboxedProcess, started
from cutpurse.server.runners.user_namespace import NOBODY, chown_tree, into_a_namespace, is_root

__all__ = ["BubblewrapRunner"]

SCRATCH: Final = "/tmp"
SHARED_MEMORY: Final = 16 << 20  # bytes at /dev/shm
OWN_PROCESSES: Final = 2  # of the sandbox itself
TRY_S: Final = 20.0

# Folders that are links into /usr on most systems and folders on others.
_BESIDE_USR: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# What programs of the system look for. Java begins with settings that Debian keeps there, and not at all without them.
_OF_ETC: Final = ("ld.so.cache", "alternatives", "localtime", "java-*-openjdk")
_PASSWD: Final = f"bot:x:{NOBODY}:{NOBODY}:bot:{SCRATCH}:/usr/sbin/nologin\n"
_GROUP: Final = f"bot:x:{NOBODY}:\n"


class BubblewrapRunner:
    """See `Runner`."""

    name: Final = "bubblewrap"
    image: Final = ""

    def __init__(self, groups: Cgroups | None = None) -> None:
        """Set up the runner.  groups: where control groups can be made; None finds what this host has."""
        self._groups = groups

    @property
    def _cgroups(self) -> Cgroups:
        return cgroups() if self._groups is None else self._groups

    def missing(self) -> str | None:
        """See `Runner`. Looked for once."""
        return _missing()

    def weaker(self) -> tuple[str, ...]:
        """See `Runner`."""
        return tuple(_WEAKER[controller] for controller in self._cgroups.lacks())

    def start(self, task: ProgramSpec) -> SandboxedProcess:
        """See `Runner`."""
        if (why := self.missing()) is not None:
            raise RunnerError(why)
        return self.start_anyhow(task)

    def start_anyhow(self, task: ProgramSpec) -> SandboxedProcess:
        """Start a program without checking what is missing.  Raises RunnerError, OSError."""
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
                watched=DiskQuota(task.folder, task.limits.file_bytes) if task.is_writable else None,
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
    """Who the program is: nobody, and alone in its namespace; or what root has made (see `nobody`)."""
    if is_root():
        rights = [word for name in ("SETUID", "SETGID", "SETPCAP") for word in ("--cap-add", f"CAP_{name}")]
        return ("--cap-drop", "ALL", *rights)  # which are laid down before the program runs
    return ("--unshare-user", "--disable-userns", "--uid", str(NOBODY), "--gid", str(NOBODY), "--cap-drop", "ALL")


def _sandbox(task: ProgramSpec, filter_file: int, passwd: int, group: int) -> Iterator[str]:
    """Return the arguments of bubblewrap, in order: a later one can cover an earlier one."""
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
    # Read-only: to the kernel a program of a server that runs as root is root, and /proc/sys is the whole machine's.
    yield from ("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev")
    yield from ("--size", str(SHARED_MEMORY), "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev")
    yield from ("--size", str(task.limits.file_bytes), "--perms", "1777", "--tmpfs", SCRATCH)
    yield from _readable(task.runtimes)  # after the scratch, which they may lie in
    yield from ("--bind" if task.is_writable else "--ro-bind", str(task.folder), FOLDER)
    environment = environment_of(task, search_path(task.runtimes), SCRATCH)
    if task.arena is not None:
        yield from ("--ro-bind", str(task.arena), SOCKET_FOLDER)
        environment[SERVER_VARIABLE] = f"{UNIX}{SOCKET_FOLDER}/{SOCKET}"
    yield from ("--remount-ro", "/", "--chdir", FOLDER, "--clearenv")
    for name, value in environment.items():
        yield from ("--setenv", name, value)


def _readable(runtimes: Sequence[Path]) -> Iterator[str]:
    """Folders where they are; and links, for Python looks for its library where they lead to."""
    for runtime in runtimes:
        for parent in reversed(runtime.parents[:-1]):  # else made as closed as it is outside
            yield from ("--perms", "0755", "--dir", str(parent))
        if runtime.is_dir():
            yield from ("--ro-bind", str(runtime), str(runtime))
        else:
            yield from ("--symlink", str(runtime.readlink()), str(runtime))


def _inside_first(limits: ResourceLimits, group: Group | None) -> tuple[str, ...]:
    """Set up the inside: its processes count as the program's own, and root becomes nobody."""
    own: tuple[str, ...] = ()
    if group is None or not group.has("pids"):  # which would tell how often it has refused one
        own = ("/usr/bin/prlimit", f"--nproc={limits.processes}", "--")
    if not is_root():
        return own
    user = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all")
    return (*own, "/usr/bin/setpriv", *user, "--")


def _inside(pid: int) -> int | None:
    """Find the program itself, below the first process of its namespace, which is below bubblewrap."""
    for first in children(pid):
        for program in children(first):
            return program
    return None


class _Descriptors:
    """Files and pipes for one start; closed here if that does not happen."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def pipe(self) -> tuple[int, int]:
        """Open a pipe: an end to read, and one to write."""
        ends = os.pipe()
        self._open += ends
        return ends

    def file(self, content: bytes) -> int:
        """Make a file in memory, to be read from its beginning."""
        made = os.memfd_create("cutpurse", os.MFD_CLOEXEC)
        self._open.append(made)
        os.write(made, content)
        os.lseek(made, 0, os.SEEK_SET)
        return made

    def given(self) -> None:
        """They are somebody else's now."""
        self._open.clear()

    def close(self) -> None:
        """None of them is needed."""
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
    """Try a sandbox with nothing in it."""
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


# A setting that allows them, the value that does not, where it is told.
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
