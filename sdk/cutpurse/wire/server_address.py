"""The server's address: the only module that knows the default. It makes no connection."""

from __future__ import annotations

import os
from typing import Final

from cutpurse.engine.errors import UsageError

__all__ = [
    "CA_VARIABLE",
    "DEFAULT_SERVER",
    "RECONNECT_VARIABLE",
    "PROTO_VARIABLE",
    "SECURE",
    "SERVER_VARIABLE",
    "STRANGER_KEY",
    "TOKEN_VARIABLE",
    "TRUST_VARIABLE",
    "UNIX",
    "server_address",
]

DEFAULT_SERVER: Final = "127.0.0.1:7777"
SERVER_VARIABLE: Final = "CUTPURSE_SERVER"  # address of the server: host:port, https://host:port or unix:/path
RECONNECT_VARIABLE: Final = "CUTPURSE_RECONNECT_TIMEOUT"  # seconds without a server until the bot exits
PROTO_VARIABLE: Final = "CUTPURSE_PROTO"  # folder with cutpurse/v1/*.proto; set for programs that play as bots
TOKEN_VARIABLE: Final = "CUTPURSE_TOKEN"  # token of the bot's owner; default: the file ~/.config/cutpurse/token
CA_VARIABLE: Final = "CUTPURSE_CA"  # PEM file with certificates to trust; default: the system's
TRUST_VARIABLE: Final = "CUTPURSE_TRUST"  # other hosts of the league that may get the token, separated by commas
STRANGER_KEY: Final = "cutpurse-stranger"  # metadata of a call that asks for public data only
UNIX: Final = "unix:"
SECURE: Final = "https://"  # prefix of a server address with TLS


def server_address(given: str | None = None) -> str:
    """Return the address given, else that of the environment, else the default one.

    The form is `host:port`, `https://host:port` or `unix:/path`. Raises UsageError for anything else.
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
