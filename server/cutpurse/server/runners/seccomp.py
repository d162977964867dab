"""The seccomp filter of the sandbox: a list of the system calls that a program may make.

The list has what programs in common languages need. Other calls fail with ENOSYS, as in a kernel without them, so
libraries fall back. Calls in FORBIDDEN fail with EPERM. Sockets must be AF_UNIX, and a new process stays in the
namespaces of its parent. This module makes the filter and does not load it.
"""

from __future__ import annotations

import errno
import socket
import tempfile
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

__all__ = ["bpf", "missing", "profile"]

# The default list of containers without what no bot needs: sockets of other families, setting clocks and host names,
# memory of other processes, keys, io_uring, new namespaces, mounts, file handles and tracing.
ALLOWED: Final = """
accept accept4 access alarm arch_prctl bind brk cachestat capget capset chdir chmod chown clock_getres clock_gettime
clock_nanosleep close close_range connect copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl
epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve execveat exit exit_group
faccessat faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr
flistxattr flock fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv
futex_wake futimesat getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid
getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit get_robust_list getrusage getsid getsockname
getsockopt get_thread_area gettid gettimeofday getuid getxattr inotify_add_watch inotify_init inotify_init1
inotify_rm_watch io_cancel ioctl io_destroy io_getevents io_pgetevents ioprio_get ioprio_set io_setup io_submit kill
lchown lgetxattr link linkat listen listxattr llistxattr lremovexattr lseek lsetxattr lstat madvise map_shadow_stack
membarrier memfd_create mincore mkdir mkdirat mlock mlock2 mlockall mmap mprotect mremap msync munlock munlockall
munmap nanosleep newfstatat open openat openat2 pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free
pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64 pselect6 pwrite64 pwritev pwritev2 read readahead
readlink readlinkat readv recvfrom recvmmsg recvmsg removexattr rename renameat renameat2 restart_syscall rmdir rseq
rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo
sched_getaffinity sched_getattr sched_getparam sched_get_priority_max sched_get_priority_min sched_getscheduler
sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield select sendfile
sendmmsg sendmsg sendto setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid
setreuid setrlimit set_robust_list setsid setsockopt set_thread_area set_tid_address setuid setxattr shutdown
sigaltstack signalfd signalfd4 splice stat statfs statx symlink symlinkat sync_file_range sysinfo tee tgkill time
timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime
times tkill truncate umask uname unlink unlinkat utime utimensat utimes vfork wait4 waitid write
writev
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

# CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET. A filter can't read the flags of clone3, because they are in memory. So
# clone3 is not on the list, and libraries fall back to clone.
NEW_NAMESPACES: Final = 0x7E020000
PERSONALITIES: Final = (0x0, 0xFFFFFFFF)  # set the default one; read the current one


def missing() -> str | None:
    """Return why no filter can be made here, and what to do; None if it can."""
    try:
        import pyseccomp  # noqa: F401
    except ImportError:
        return "the package pyseccomp is missing: pip install 'cutpurse[sandbox]'"
    except Exception:  # pyseccomp raises several kinds of errors if libseccomp is missing
        return "libseccomp is missing: apt install libseccomp2"
    return None


@cache
def bpf() -> bytes:
    """Return the filter as a BPF program for the kernel."""
    import pyseccomp as made

    rules = made.SyscallFilter(made.ERRNO(errno.ENOSYS))
    for name in ALLOWED.split():
        _add(rules, made, made.ALLOW, name)
    for name in FORBIDDEN.split():
        if name != "personality":
            _add(rules, made, made.ERRNO(errno.EPERM), name)
    for name in ("socket", "socketpair"):
        _add(rules, made, made.ALLOW, name, made.Arg(0, made.EQ, socket.AF_UNIX))
        _add(rules, made, made.ERRNO(errno.EAFNOSUPPORT), name, made.Arg(0, made.NE, socket.AF_UNIX))
    for allowed in PERSONALITIES:
        _add(rules, made, made.ALLOW, "personality", made.Arg(0, made.EQ, allowed))
    _add(rules, made, made.ALLOW, "clone", made.Arg(0, made.MASKED_EQ, NEW_NAMESPACES, 0))
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def profile() -> dict[str, Any]:
    """Return the filter as a seccomp profile of container engines.

    See https://docs.docker.com/engine/security/seccomp/. Docker before 23 ignores `defaultErrnoRet`, so unlisted calls
    fail with EPERM. For clone3 the C library needs ENOSYS to fall back; with EPERM it starts no thread. So a rule
    names clone3.
    """

    def rule(action: str, names: Iterable[str], errno_ret: int | None = None, *arguments: dict[str, Any]) -> Any:
        told: dict[str, Any] = {"names": [*names], "action": action, "args": [*arguments]}
        return told if errno_ret is None else told | {"errnoRet": errno_ret}

    def argument(op: str, value: int, two: int = 0) -> dict[str, Any]:
        return {"index": 0, "value": value, "valueTwo": two, "op": f"SCMP_CMP_{op}"}

    allow, refuse, sockets = "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO", ("socket", "socketpair")
    return {
        "defaultAction": refuse,
        "defaultErrnoRet": errno.ENOSYS,
        "syscalls": [
            rule(allow, ALLOWED.split()),
            rule(refuse, (name for name in FORBIDDEN.split() if name != "personality"), errno.EPERM),
            rule(refuse, ("clone3",), errno.ENOSYS),
            rule(allow, sockets, None, argument("EQ", socket.AF_UNIX)),
            rule(refuse, sockets, errno.EAFNOSUPPORT, argument("NE", socket.AF_UNIX)),
            *(rule(allow, ("personality",), None, argument("EQ", allowed)) for allowed in PERSONALITIES),
            rule(allow, ("clone",), None, argument("MASKED_EQ", NEW_NAMESPACES, 0)),
        ],
    }


def _add(rules: Any, made: Any, action: int, name: str, *arguments: Any) -> None:
    """Add a rule if this machine's processor and libseccomp know the call; unknown calls are refused anyway."""
    if made.resolve_syscall(made.Arch.NATIVE, name) >= 0:
        rules.add_rule(action, name, *arguments)
