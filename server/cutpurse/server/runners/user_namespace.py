"""Being nobody to the kernel too: user namespaces for a server that runs as root.

In the usual namespace of a sandbox its one user is whoever made it. That is right for a server with a user of its own.
But where the server is root its bots would be root to the kernel, without a capability, and yet the owner of files that
only an owner may open (in /proc/sys, for one). So root makes a namespace that has two users, itself and nobody: the
sandbox is made by the first, and the program runs as the second. Nobody can make another namespace in it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

__all__ = ["ASKS", "NOBODY", "chown_tree", "give_users", "into_a_namespace", "is_root"]

NOBODY: Final = 65534  # user and group
ASKS: Final = b"\5"  # what a process says when it is in a namespace that has no users yet

# Once it has users: by becoming something else it has the rights of its root; then it forbids namespaces in it.
_ENTERED: Final = (
    f'printf "\\{ASKS[0]:o}" >&2; read -r go; '
    """exec /bin/sh -c 'echo 0 > /proc/sys/user/max_user_namespaces || exit 125; exec "$@" < /dev/null' sh "$@" """
)


def is_root() -> bool:
    """Whether the server is."""
    return os.geteuid() == 0


def into_a_namespace() -> tuple[str, ...]:
    """Goes on with a command line, in a namespace: as soon as a line on its standard input says that it has users."""
    return (shutil.which("unshare") or "unshare", "--user", "--", "/bin/sh", "-c", _ENTERED, "sh")


def give_users(pid: int) -> None:
    """Give its two users to the namespace of this process.  Raises OSError."""
    for name in ("uid_map", "gid_map"):
        Path("/proc", str(pid), name).write_text(f"0 0 1\n{NOBODY} {NOBODY} 1\n", encoding="ascii")


def chown_tree(folder: Path) -> None:
    """Make nobody the owner of a folder and of all that is in it; links are not followed.  Raises OSError."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(parent, name), NOBODY, NOBODY, follow_symlinks=False)
    os.chown(folder, NOBODY, NOBODY)
