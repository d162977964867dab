"""The limit of open files of this process: each connection is one.

The usual soft limit of 1,024 is below the possible number of bots. A process at its limit can accept no connection,
start no program and open no database. It may raise the soft limit itself, up to its hard limit.
"""

from __future__ import annotations

from typing import Final

from cutpurse.process.open_files import allow_files
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import Logger

__all__ = ["FILES", "raise_file_limit"]

# a connection per stream, spectators and queries, and the server's own files
FILES: Final = 4 * ServerLimits().most_streams
FEW: Final = ServerLimits().most_streams + 1_024  # below that, not all permitted bots could connect


def raise_file_limit(log: Logger) -> None:
    """Allow a server as many open files as it may need, and warn if the system allows too few."""
    most = allow_files(FILES)
    if most is not None and most < FEW:
        streams = ServerLimits().most_streams
        text = f"each connection is one, and {streams:,} may be here at once: ulimit -Hn {FILES} allows it"
        log.warning("few files may be open", most=most, text=text)
