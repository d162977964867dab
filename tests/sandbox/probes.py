"""Attempts of a hostile program that the sandbox must refuse at once.

This program runs in the sandbox and prints lines `name<TAB>outcome`. CUTPURSE_GIVEN is a JSON object with numbers of
system calls and values to look for. The program imports nothing of ours, and runs without site-packages.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable

GIVEN = json.loads(os.environ.get("CUTPURSE_GIVEN", "{}"))
LIBC = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: int | bytes | None) -> object:
    """Make a system call by name.  Raises OSError."""
    wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    done = LIBC.syscall(ctypes.c_long(GIVEN["calls"][name]), *wide)
    if done == -1:
        raise OSError(ctypes.get_errno(), name)
    return done


def outcome(attempt: Callable[[], object]) -> str:
    try:
        done = attempt()
    except OSError as problem:
        return errno.errorcode.get(problem.errno or 0, str(problem.errno))
    except ValueError as problem:  # raised by the module resource
        return "EPERM" if "not allowed" in str(problem) else str(problem)
    return f"DONE {done!r:.200}"


def write(path: str) -> object:
    """Open a file for writing, and write nothing, so that nothing is damaged if that is not refused."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    return "opened"


def read(path: str) -> object:
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read(200)


def connect(family: int, address: str | tuple[str, int]) -> object:
    with socket.socket(family) as calling:
        calling.connect(address)
    return "connected"


def environments() -> object:
    """Look for the server's secret in the environments and command lines of all visible processes."""
    found = []
    for pid in [name for name in os.listdir("/proc") if name.isdigit() and name != str(os.getpid())]:  # noqa: PTH208
        for file in ("environ", "cmdline"):
            try:
                with open(f"/proc/{pid}/{file}", "rb") as opened:  # noqa: PTH123
                    if GIVEN["secret"][::-1].encode() in opened.read():
                        found.append(f"{pid}/{file}")
            except PermissionError:
                pass
    return found or "nothing"


def setuid_program() -> object:
    """Run a setuid program of root; return whether it failed."""
    done = subprocess.run([GIVEN["setuid"]], capture_output=True, text=True, check=False)
    return done.returncode != 0


def linked() -> object:
    link = "/tmp/out"
    if not os.path.lexists(link):
        os.symlink(GIVEN["database"], link)  # noqa: PTH211
    return read(link)


def chmodded() -> object:
    made = "/tmp/rights"
    write(made)
    os.chmod(made, 0o6777)  # noqa: PTH101
    os.chown(made, 0, 0)
    return "root's"


def killed_first() -> object:
    os.kill(1, 9)
    os.kill(1, 0)
    return "still there"


def descriptors() -> object:
    return sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1]  # noqa: PTH208


CLONE_NEWUSER = 0x10000000
PROBES: dict[str, Callable[[], object]] = {
    "AF_INET": lambda: connect(socket.AF_INET, ("127.0.0.1", GIVEN["port"])),
    "AF_INET UDP": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "AF_INET6": lambda: socket.socket(socket.AF_INET6),
    "AF_NETLINK": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "AF_PACKET": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "AF_VSOCK": lambda: socket.socket(40),
    "AF_ALG": lambda: socket.socket(38, socket.SOCK_SEQPACKET),
    "AF_BLUETOOTH": lambda: socket.socket(31, socket.SOCK_RAW),
    "abstract unix socket of the host": lambda: connect(socket.AF_UNIX, "\0" + GIVEN["abstract"]),
    "unix socket of another bot": lambda: connect(socket.AF_UNIX, GIVEN["other_socket"]),
    "other bot's files": lambda: read(GIVEN["other_file"]),
    "database of the server": lambda: read(GIVEN["database"]),
    "environment of the server": environments,
    "process of the server in /proc": lambda: read(f"/proc/{GIVEN['server']}/environ"),
    "memory of the first process": lambda: read("/proc/1/mem"),
    "/etc/shadow": lambda: read("/etc/shadow"),
    "/home": lambda: os.listdir("/home"),  # noqa: PTH208
    "/sys": lambda: os.listdir("/sys"),  # noqa: PTH208
    "/var": lambda: os.listdir("/var"),  # noqa: PTH208
    "/etc/passwd": lambda: read("/etc/passwd"),
    "open descriptors": descriptors,
    "kill the server": lambda: os.kill(GIVEN["server"], 0),
    "kill the first process": killed_first,
    "ptrace": lambda: call("ptrace", 16, 1, 0, 0),
    "process_vm_readv": lambda: call("process_vm_readv", 1, 0, 0, 0, 0, 0),
    "pidfd_getfd": lambda: call("pidfd_getfd", 0, 0, 0),
    "mount": lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    "umount": lambda: call("umount2", b"/bot", 2),
    "remount writable": lambda: call("mount", None, b"/bot", None, 32 | 4096, None),
    "pivot_root": lambda: call("pivot_root", b"/tmp", b"/tmp"),
    "chroot": lambda: call("chroot", b"/tmp"),
    "fsopen": lambda: call("fsopen", b"tmpfs", 0),
    "open_tree": lambda: call("open_tree", -100, b"/", 1),
    "move_mount": lambda: call("move_mount", -100, b"/", -100, b"/tmp", 0),
    "unshare (new user namespace)": lambda: call("unshare", CLONE_NEWUSER),
    "clone (new user namespace)": lambda: call("clone", CLONE_NEWUSER | 17, 0, 0, 0, 0),
    "clone3": lambda: call("clone3", 0, 0),
    "setns": lambda: call("setns", 0, 0),
    "inotify": lambda: call("inotify_init1", 0),
    "fanotify": lambda: call("fanotify_init", 0, 0),
    "F_NOTIFY": lambda: fcntl.fcntl(os.open("/usr", os.O_RDONLY), 1026, 1),
    "F_GETLK": lambda: fcntl.fcntl(0, fcntl.F_GETLK, bytes(32)),
    "F_OFD_GETLK": lambda: fcntl.fcntl(0, 36, bytes(32)),
    "F_SETLEASE": lambda: fcntl.fcntl(os.open("/usr/bin/env", os.O_RDONLY), 1024, fcntl.F_RDLCK),
    "F_GETLEASE": lambda: fcntl.fcntl(os.open("/usr/bin/env", os.O_RDONLY), 1025),
    "F_SET_RW_HINT": lambda: fcntl.fcntl(0, 1036, bytes(8)),
    "F_GET_RW_HINT": lambda: fcntl.fcntl(0, 1035, bytes(8)),
    "set the times of /dev/null": lambda: os.utime("/dev/null"),
    "keyctl": lambda: call("keyctl", 0, -3, 0),
    "add_key": lambda: call("add_key", b"user", b"a", b"a", 1, -3),
    "bpf": lambda: call("bpf", 0, 0, 0),
    "perf_event_open": lambda: call("perf_event_open", 0, 0, -1, -1, 0),
    "userfaultfd": lambda: call("userfaultfd", 0),
    "io_uring": lambda: call("io_uring_setup", 8, 0),
    "open_by_handle_at": lambda: call("open_by_handle_at", 0, 0, 0),
    "kexec_load": lambda: call("kexec_load", 0, 0, 0, 0),
    "init_module": lambda: call("init_module", 0, 0, b""),
    "reboot": lambda: call("reboot", 0, 0, 0, 0),
    "set the clock": lambda: call("settimeofday", 0, 0),
    "sethostname": lambda: call("sethostname", b"x", 1),
    "the kernel's log": lambda: call("syslog", 3, 0, 0),
    "personality without ASLR": lambda: call("personality", 0x0040000),
    "a call that no list knows": lambda: call("nfsservctl", 0, 0, 0),
    "setuid program": setuid_program,
    "setuid(0)": lambda: os.setuid(0),
    "setgroups": lambda: os.setgroups([0]),
    "higher limit": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100_000, 100_000)),
    "nice -20": lambda: os.setpriority(os.PRIO_PROCESS, 0, -20),
    "real-time scheduling": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)),
    "out of the last rank for the memory's end": lambda: write("/proc/self/oom_score_adj"),
    "write /": lambda: write("/x"),
    "write /usr": lambda: write("/usr/x"),
    "write /etc/passwd": lambda: write("/etc/passwd"),
    "write /bot": lambda: write("/bot/x"),
    "write /dev": lambda: write("/dev/x"),
    "write /run/cutpurse": lambda: write("/run/cutpurse/x"),
    "write the runtime": lambda: write(sys.prefix + "/x"),
    "remove the socket": lambda: os.unlink("/run/cutpurse/bot.sock"),  # noqa: PTH108
    "chmod in /bot": lambda: os.chmod("/bot/main.py", 0o777),  # noqa: PTH101
    "write /proc/sys": lambda: write("/proc/sys/kernel/core_pattern"),
    "write /proc/sysrq-trigger": lambda: write("/proc/sysrq-trigger"),
    "read /proc/kcore": lambda: read("/proc/kcore"),
    "chown to root": chmodded,
    "hard link out of the scratch": lambda: os.link("/usr/bin/env", "/tmp/env"),
    "symbolic link out of the scratch": linked,
    "/dev/mem": lambda: read("/dev/mem"),
    "/dev/kmsg": lambda: read("/dev/kmsg"),
    "/dev/kvm": lambda: read("/dev/kvm"),
    "/dev/fuse": lambda: read("/dev/fuse"),
    "/dev/tty": lambda: read("/dev/tty"),
    "mknod of a disk": lambda: os.mknod("/tmp/disk", 0o060600, os.makedev(8, 0)),
}

if __name__ == "__main__":
    if os.getcwd() != "/bot" or os.getpid() > 10:  # noqa: PTH109
        sys.exit("some of this harms a machine: inside a sandbox only")
    for name, attempt in PROBES.items():
        print(f"{name}\t{outcome(attempt)}", flush=True)  # noqa: T201
