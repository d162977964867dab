"""The user namespaces that let a server running as root start programs as nobody.

The usual namespace of a sandbox maps its one user to the user that made it. That is right for a server with its own
user. But with a root server, bots would be root to the kernel. Even without capabilities they would own files that only
root may open, such as those in /proc/sys. So root makes a namespace with two users, itself and nobody. Root makes the
sandbox in it, and the program runs as nobody. No further namespace can be made in it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

__all__ = ["ASKS", "NOBODY", "chown_tree", "give_users", "into_a_namespace", "is_root"]

NOBODY: Final = 65534  # user and group
ASKS: Final = b"\5"  # written by a process whose new namespace has no users yet

# After the namespace has users, exec gives the process the rights of its root. Then it forbids further namespaces.
_ENTERED: Final = (
    f'printf "\\{ASKS[0]:o}" >&2; read -r go; '
    """exec /bin/sh -c 'echo 0 > /proc/sys/user/max_user_namespaces || exit 125; exec "$@" < /dev/null' sh "$@" """
)


def is_root() -> bool:
    """Return whether the server runs as root."""
    return os.geteuid() == 0


def into_a_namespace() -> tuple[str, ...]:
    """Return a part of a command line that enters a new user namespace.

    It writes ASKS, and continues after a line on standard input, when the namespace has its users.
    """
    return (shutil.which("unshare") or "unshare", "--user", "--", "/bin/sh", "-c", _ENTERED, "sh")


def give_users(pid: int) -> None:
    """Map root and nobody in the namespace of a process.

    Raises:
        OSError: If the system refuses.
    """
    for name in ("uid_map", "gid_map"):
        Path("/proc", str(pid), name).write_text(f"0 0 1\n{NOBODY} {NOBODY} 1\n", encoding="ascii")


def chown_tree(folder: Path) -> None:
    """Make nobody the owner of a folder and all its content, without following links.

    Raises:
        OSError: If the system refuses.
    """
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(parent, name), NOBODY, NOBODY, follow_symlinks=False)
    os.chown(folder, NOBODY, NOBODY)
