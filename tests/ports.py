"""Ports for servers of tests that have to know theirs before they listen, or listen at the same one again.

Where a test can read the port from the server, it listens at port 0 instead. A port that was free a moment ago may be
given to another program; the system gives away none of these by itself, and a test process claims each that it uses.
"""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from pathlib import Path
from typing import Final

__all__ = ["free_port"]

_PORTS: Final = range(18_000, 28_000)  # below those that Linux and macOS give away
_claims: Final[list[int]] = []  # open files with a lock, which the system releases when this process has ended


def free_port() -> int:
    """Return a port of this machine where nothing listens, and which no other process of tests gets meanwhile."""
    folder = Path(tempfile.gettempdir()) / f"cutpurse-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for port in _PORTS:
        claim = os.open(folder / str(port), os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.create_server(("127.0.0.1", port)):
                pass
        except OSError:  # another process has it, or a program listens there
            os.close(claim)
        else:
            _claims.append(claim)
            return port
    raise AssertionError("no port is free")
