"""The seccomp filter of the sandbox: a list of the system calls that a program may make.

The list has what programs in common languages need. Other calls fail with ENOSYS, as in a kernel without them, so
libraries fall back. Calls in FORBIDDEN fail with EPERM. Sockets must be AF_UNIX, and a new process stays in the
namespaces of its parent. This module makes the filter and does not load it.

All sandboxes share the files of the system and of the runtimes, and devices such as /dev/null, which all may write to.
What one of them changes there and another one sees is a message: locks, leases, times and watched changes (inotify,
F_NOTIFY). A filter sees no file, so it allows these calls for none. Locks and times are asked for by tools such as
SQLite, cargo and tar, so those calls succeed and do nothing.
"""

from __future__ import annotations

import errno
import socket
import tempfile
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from cutpurse.wire.installation import how_to_install

__all__ = ["bpf", "missing", "profile"]

# The default list of containers without what no bot needs: sockets of other families, setting clocks and host names,
# memory of other processes, keys, io_uring, new namespaces, mounts, file handles and tracing.
ALLOWED: Final = """
accept accept4 access alarm arch_prctl bind brk cachestat capget capset chdir chmod chown clock_getres clock_gettime
clock_nanosleep close close_range connect copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl
epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve execveat exit exit_group
faccessat faccessat2 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fdatasync fgetxattr flistxattr fork
fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv futex_wake getcpu getcwd
getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority
getrandom getresgid getresuid getrlimit get_robust_list getrusage getsid getsockname getsockopt get_thread_area gettid
gettimeofday getuid getxattr io_cancel ioctl io_destroy io_getevents io_pgetevents ioprio_get ioprio_set io_setup
io_submit kill lchown lgetxattr link linkat listen listxattr llistxattr lremovexattr lseek lsetxattr lstat madvise
map_shadow_stack membarrier memfd_create mincore mkdir mkdirat mlock mlock2 mlockall mmap mprotect mremap msync munlock
munlockall munmap nanosleep newfstatat open openat openat2 pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc
pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64 pselect6 pwrite64 pwritev pwritev2 read
readahead readlink readlinkat readv recvfrom recvmmsg recvmsg removexattr rename renameat renameat2 restart_syscall
rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait
rt_tgsigqueueinfo sched_getaffinity sched_getattr sched_getparam sched_get_priority_max sched_get_priority_min
sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield
select sendfile sendmmsg sendmsg sendto setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid
setresgid setresuid setreuid setrlimit set_robust_list setsid setsockopt set_thread_area set_tid_address setuid setxattr
shutdown sigaltstack signalfd signalfd4 splice stat statfs statx symlink symlinkat sync_file_range sysinfo tee tgkill
time timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime
timerfd_settime times tkill truncate umask uname unlink unlinkat vfork wait4 waitid write writev
"""

# Known calls that no bot may make: they fail with EPERM.
FORBIDDEN: Final = """
acct add_key adjtimex bpf chroot clock_adjtime clock_settime delete_module fanotify_init finit_module fsconfig fsmount
fsopen fspick get_mempolicy init_module ioperm iopl io_uring_enter io_uring_register io_uring_setup kcmp kexec_file_load
kexec_load keyctl lookup_dcookie mbind migrate_pages mknod mknodat mount mount_setattr move_mount move_pages
name_to_handle_at open_by_handle_at open_tree perf_event_open personality pidfd_getfd pivot_root process_madvise
process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot request_key set_mempolicy setdomainname setns
sethostname settimeofday swapoff swapon sync syncfs syslog umount2 unshare userfaultfd vhangup vmsplice
"""

# Calls that succeed and do nothing. fadvise64 would drop a file from the memory of the machine.
WITHOUT_EFFECT: Final = "fadvise64 flock futimesat utime utimes"

# Commands of fcntl that concern descriptors, pipes and memory files. Missing are those of a file that others can open:
# F_GETLK, F_SETLEASE, F_GETLEASE, F_NOTIFY and hints of how long its content lives.
_FCNTL_ALLOWED: Final = (
    *(0, 1, 2, 3, 4, 1030),  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC
    *(8, 9, 10, 11, 15, 16),  # F_SETOWN, F_GETOWN, F_SETSIG, F_GETSIG, F_SETOWN_EX, F_GETOWN_EX
    *(1031, 1032, 1033, 1034),  # F_SETPIPE_SZ, F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS
)
_FCNTL_LOCKS: Final = (6, 7, 37, 38)  # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW: they succeed and do nothing
_COMMAND: Final = 0xFFFFFFFF  # the kernel reads no more bits of the command

# CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET. A filter can't read the flags of clone3, because they are in memory. So
# clone3 is not on the list, and libraries fall back to clone.
NEW_NAMESPACES: Final = 0x7E020000
PERSONALITIES: Final = (0x0, 0xFFFFFFFF)  # set the default one; read the current one


def missing() -> str | None:
    """Return why no filter can be made here, and what to do; None if it can."""
    try:
        import pyseccomp  # noqa: F401
    except ImportError:
        return f"pyseccomp is not installed; {how_to_install('sandbox')}"
    except Exception:  # pyseccomp raises several kinds of errors if libseccomp is missing
        return "libseccomp is missing: apt install libseccomp2"
    return None


class _CallRule(NamedTuple):
    """What happens to calls whose arguments all fit."""

    names: tuple[str, ...]
    result: int | None = None  # errno; 0 is success without effect, None allows the call
    arguments: tuple[tuple[int, str, int, int], ...] = ()  # index, operator, value, and value under a mask


def _rules() -> Iterator[_CallRule]:
    """Yield the rules; other calls fail with ENOSYS."""
    yield _CallRule(tuple(ALLOWED.split()))
    yield _CallRule(tuple(name for name in FORBIDDEN.split() if name != "personality"), errno.EPERM)
    yield _CallRule(tuple(WITHOUT_EFFECT.split()), 0)
    sockets = ("socket", "socketpair")
    yield _CallRule(sockets, None, ((0, "EQ", socket.AF_UNIX, 0),))
    yield _CallRule(sockets, errno.EAFNOSUPPORT, ((0, "NE", socket.AF_UNIX, 0),))
    for allowed in PERSONALITIES:
        yield _CallRule(("personality",), None, ((0, "EQ", allowed, 0),))
    yield _CallRule(("clone",), None, ((0, "MASKED_EQ", NEW_NAMESPACES, 0),))
    for command in _FCNTL_ALLOWED:
        yield _CallRule(("fcntl",), None, ((1, "MASKED_EQ", _COMMAND, command),))
    for command in _FCNTL_LOCKS:
        yield _CallRule(("fcntl",), 0, ((1, "MASKED_EQ", _COMMAND, command),))
    # Of a path without times, Python's Path.touch takes success as a sign that the file is there.
    yield _CallRule(("utimensat",), errno.EPERM, ((1, "NE", 0, 0), (2, "EQ", 0, 0)))
    yield _CallRule(("utimensat",), 0, ((1, "EQ", 0, 0),))
    yield _CallRule(("utimensat",), 0, ((1, "NE", 0, 0), (2, "NE", 0, 0)))


@cache
def bpf() -> bytes:
    """Return the filter as a BPF program for the kernel."""
    import pyseccomp as made

    filter_rules = made.SyscallFilter(made.ERRNO(errno.ENOSYS))
    for names, result, arguments in _rules():
        action = made.ALLOW if result is None else made.ERRNO(result)
        tests = [
            made.Arg(index, getattr(made, operator), value, *([masked] if operator == "MASKED_EQ" else []))
            for index, operator, value, masked in arguments
        ]
        for name in names:  # calls that this processor or libseccomp doesn't know are refused anyway
            if made.resolve_syscall(made.Arch.NATIVE, name) >= 0:
                filter_rules.add_rule(action, name, *tests)
    with tempfile.TemporaryFile() as file:
        filter_rules.export_bpf(file)
        file.seek(0)
        return file.read()


def profile() -> dict[str, Any]:
    """Return the filter as a seccomp profile of container engines.

    See https://docs.docker.com/engine/security/seccomp/. Docker before 23 ignores `defaultErrnoRet`, so unlisted calls
    fail with EPERM. For clone3 the C library needs ENOSYS to fall back; with EPERM it starts no thread. So a rule
    names clone3.
    """
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": errno.ENOSYS,
        "syscalls": [
            {
                "names": [*names],
                "action": "SCMP_ACT_ALLOW" if result is None else "SCMP_ACT_ERRNO",
                "args": [
                    {"index": index, "value": value, "valueTwo": masked, "op": f"SCMP_CMP_{operator}"}
                    for index, operator, value, masked in arguments
                ],
                **({} if result is None else {"errnoRet": result}),
            }
            for names, result, arguments in (*_rules(), _CallRule(("clone3",), errno.ENOSYS))
        ],
    }
