"""How many files a process may have open: each connection is one.

The system's usual soft limit is 1,024, fewer than there may be bots, and a process that has reached it can accept no
connection, start no other and open no database. It may raise that by itself, up to its hard limit.
"""

from __future__ import annotations

import contextlib
from typing import Final

from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import Logger

__all__ = ["allow_files", "raise_file_limit"]

FILES: Final = 4 * ServerLimits().most_streams  # a connection each, what watches and asks, and the server's own
FEW: Final = ServerLimits().most_streams + 1_024  # below that, not all bots that may come could


def raise_file_limit(log: Logger) -> None:
    """Have a server open as many files as it may need, and say if those are few."""
    most = allow_files(FILES)
    if most is not None and most < FEW:
        streams = ServerLimits().most_streams
        text = f"each connection is one, and {streams:,} may be here at once: ulimit -Hn {FILES} allows it"
        log.warning("few files may be open", most=most, text=text)


def allow_files(wanted: int) -> int | None:
    """Have this process open so many files, or as many as its hard limit lets it; how many that are.

    A limit that is higher stays. None where there is no limit, or nobody says which.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft == resource.RLIM_INFINITY:
            return None
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        if soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return max(soft, most)
    return None
