"""Where the server is: the one place that knows the usual address. No connection is made here."""

from __future__ import annotations

import os
from typing import Final

from cutpurse.engine.errors import UsageError

__all__ = ["DEFAULT_SERVER", "SERVER_VARIABLE", "server_address"]

DEFAULT_SERVER: Final = "127.0.0.1:7777"
SERVER_VARIABLE: Final = "CUTPURSE_SERVER"  # names another in the environment
UNIX: Final = "unix:"


def server_address(given: str | None = None) -> str:
    """`host:port` or `unix:/path`: the one given, else that of the environment, else the usual one.

    Raises UsageError for what is no address.
    """
    address = given or os.environ.get(SERVER_VARIABLE) or DEFAULT_SERVER
    if address.startswith(UNIX) and len(address) > len(UNIX):
        return address
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) < 65536 and "/" not in address):
        raise UsageError(
            f"{address!r} is no address of a server: it is host:port, such as {DEFAULT_SERVER}, or unix:/path"
        )
    return address
