"""The expected results of the attempts in `probes`, by group, as README.md lists them."""

from __future__ import annotations

from typing import Final

__all__ = ["ANSWERS", "GROUPS", "IN_CONTAINERS", "IN_WORDS"]

_NO_FAMILY, _NOT_ALLOWED, _NOT_THERE, _READ_ONLY = "EAFNOSUPPORT", "EPERM", "ENOENT", "EROFS"
_NO_WRITING = "EROFS|EACCES"  # the second if the server is root and the program is not
_UNKNOWN = "ENOSYS"

# Group -> attempt -> result as a regular expression: an error of the system, or DONE and a value.
_ATTEMPTS: Final[dict[str, dict[str, str]]] = {
    "networks": {
        "AF_INET": _NO_FAMILY,
        "AF_INET UDP": _NO_FAMILY,
        "AF_INET6": _NO_FAMILY,
        "AF_NETLINK": _NO_FAMILY,
        "AF_PACKET": _NO_FAMILY,
        "AF_VSOCK": _NO_FAMILY,
        "AF_ALG": _NO_FAMILY,
        "AF_BLUETOOTH": _NO_FAMILY,
        "abstract unix socket of the host": "ECONNREFUSED",
        "unix socket of another bot": _NOT_THERE,
    },
    "what belongs to others": {
        "other bot's files": _NOT_THERE,
        "database of the server": _NOT_THERE,
        "environment of the server": "DONE 'nothing'",
        "process of the server in /proc": _NOT_THERE,
        "memory of the first process": "EIO|EACCES",
        "/etc/shadow": _NOT_THERE,
        "/home": _NOT_THERE,
        "/sys": _NOT_THERE,
        "/var": _NOT_THERE,
        "/etc/passwd": r"DONE b'bot:x:65534:65534:bot:/tmp:/usr/sbin/nologin\\n'",
        "open descriptors": r"DONE \[0, 1, 2\]",
    },
    "other processes": {
        "kill the server": "ESRCH",
        "kill the first process": "DONE 'still there'|EPERM",
        "ptrace": _NOT_ALLOWED,
        "process_vm_readv": _NOT_ALLOWED,
        "pidfd_getfd": _NOT_ALLOWED,
    },
    "what others could notice": {
        "inotify": _UNKNOWN,
        "fanotify": _NOT_ALLOWED,
        "F_NOTIFY": _UNKNOWN,
        "F_GETLK": _UNKNOWN,
        "F_OFD_GETLK": _UNKNOWN,
        "F_SETLEASE": _UNKNOWN,
        "F_GETLEASE": _UNKNOWN,
        "F_SET_RW_HINT": _UNKNOWN,
        "F_GET_RW_HINT": _UNKNOWN,
        "set the times of /dev/null": _NOT_ALLOWED,
    },
    "mounts": dict.fromkeys(
        ("mount", "umount", "remount writable", "pivot_root", "chroot", "fsopen", "open_tree", "move_mount"),
        _NOT_ALLOWED,
    ),
    "new namespaces": {
        "unshare (new user namespace)": _NOT_ALLOWED,
        "clone (new user namespace)": _UNKNOWN,
        "clone3": _UNKNOWN,
        "setns": _NOT_ALLOWED,
    },
    "the kernel": {
        **dict.fromkeys(
            (
                "keyctl",
                "add_key",
                "bpf",
                "perf_event_open",
                "userfaultfd",
                "io_uring",
                "open_by_handle_at",
                "kexec_load",
                "init_module",
                "reboot",
                "set the clock",
                "sethostname",
                "the kernel's log",
            ),
            _NOT_ALLOWED,
        ),
        "personality without ASLR": f"{_NOT_ALLOWED}|{_UNKNOWN}",
        "a call that no list knows": _UNKNOWN,
    },
    "rights": {
        "setuid program": "DONE True",
        "setuid(0)": "EPERM|EINVAL",
        "setgroups": _NOT_ALLOWED,
        "higher limit": _NOT_ALLOWED,
        "nice -20": "EACCES|EPERM",
        "real-time scheduling": _NOT_ALLOWED,
        "out of the last rank for the memory's end": _NO_WRITING,
        "chown to root": "EPERM|EINVAL",
    },
    "writing": {
        "write /": _NO_WRITING,
        "write /usr": _NO_WRITING,
        "write /etc/passwd": _NO_WRITING,
        "write /bot": _NO_WRITING,
        "write /dev": _NO_WRITING,
        "write /run/cutpurse": _NO_WRITING,
        "write the runtime": _NO_WRITING,
        "remove the socket": _NO_WRITING,
        "chmod in /bot": "EROFS|EPERM",
        "write /proc/sys": _NO_WRITING,
        "write /proc/sysrq-trigger": f"{_NO_WRITING}|{_NOT_THERE}",
        "read /proc/kcore": f"EACCES|EPERM|{_NOT_THERE}",
        "hard link out of the scratch": "EXDEV|EPERM",
        "symbolic link out of the scratch": _NOT_THERE,
    },
    "devices": {
        "/dev/mem": _NOT_THERE,
        "/dev/kmsg": _NOT_THERE,
        "/dev/kvm": _NOT_THERE,
        "/dev/fuse": _NOT_THERE,
        "/dev/tty": "ENXIO",
        "mknod of a disk": _NOT_ALLOWED,
    },
}

ANSWERS: Final = {name: answer for group in _ATTEMPTS.values() for name, answer in group.items()}
GROUPS: Final = {group: [*attempts] for group, attempts in _ATTEMPTS.items()}

# Different results in a container, which has the image's own system without secrets.
IN_CONTAINERS: Final = {
    "/etc/passwd": "DONE b'root:x:0:0:.*",
    "/etc/shadow": "EACCES",
    "/home": r"DONE \[.*\]",
    "/sys": r"DONE \[.*\]",
    "/var": r"DONE \[.*\]",
    "out of the last rank for the memory's end": "DONE 'opened'",  # a forbidden write to it is refused later
    # Docker before 23 returns this for every call that no rule names.
    **dict.fromkeys(_ATTEMPTS["what others could notice"], f"{_UNKNOWN}|{_NOT_ALLOWED}"),
    "clone (new user namespace)": f"{_UNKNOWN}|{_NOT_ALLOWED}",
    "a call that no list knows": f"{_UNKNOWN}|{_NOT_ALLOWED}",
}

IN_WORDS: Final = {
    "networks": "only sockets of the family AF_UNIX exist, and of the host's only the bot's own",
    "what belongs to others": "none of it is there",
    "other processes": "the host's are not there; the sandbox's first process can't be killed or read",
    "what others could notice": "not allowed, or unknown to the kernel; locks and times succeed without effect",
    "mounts": "not allowed",
    "new namespaces": "not allowed, or unknown to the kernel",
    "the kernel": "not allowed, or unknown to the kernel",
    "rights": "it has none, and gets none",
    "writing": "everything is read-only except the scratch folder, and nothing leads out of it",
    "devices": "only harmless ones: null, zero, full, random, urandom",
}
