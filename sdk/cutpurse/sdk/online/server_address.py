"""Where the server is: the one place that knows the usual address. No connection is made here."""

from __future__ import annotations

import os
from typing import Final

from cutpurse.engine.errors import UsageError

__all__ = [
    "CA_VARIABLE",
    "DEFAULT_SERVER",
    "PATIENCE_VARIABLE",
    "PROTO_VARIABLE",
    "SECURE",
    "SERVER_VARIABLE",
    "STRANGER_KEY",
    "TOKEN_VARIABLE",
    "UNIX",
    "server_address",
]

DEFAULT_SERVER: Final = "127.0.0.1:7777"
SERVER_VARIABLE: Final = "CUTPURSE_SERVER"  # names another in the environment
PATIENCE_VARIABLE: Final = "CUTPURSE_GIVE_UP_AFTER"  # seconds without a server after which a bot of this SDK ends
PROTO_VARIABLE: Final = "CUTPURSE_PROTO"  # the folder that holds cutpurse/v1/*.proto
TOKEN_VARIABLE: Final = "CUTPURSE_TOKEN"  # holds what lets a bot in
CA_VARIABLE: Final = "CUTPURSE_CA"  # names a file of certificates to trust servers by
STRANGER_KEY: Final = "cutpurse-stranger"  # in the metadata of a call that is to be answered as to nobody in particular
UNIX: Final = "unix:"
SECURE: Final = "https://"  # before the address of a server that speaks TLS


def server_address(given: str | None = None) -> str:
    """`host:port`, `https://host:port` or `unix:/path`: as given, else as the environment has it, else the usual one.

    Raises UsageError for what is no address.
    """
    address = given or os.environ.get(SERVER_VARIABLE) or DEFAULT_SERVER
    if address.startswith(UNIX) and len(address) > len(UNIX):
        return address
    bare = address.removeprefix(SECURE)
    host, colon, port = bare.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) < 65536 and "/" not in bare):
        raise UsageError(
            f"{address!r} is no address of a server: it is host:port, such as {DEFAULT_SERVER}, "
            f"with TLS {SECURE}host:port, or unix:/path"
        )
    return address
