"""The addresses that a server may listen on: without TLS, only those of this machine.

This module opens nothing except to check whether an address is in use, and removes
nothing except the sockets of killed servers.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from cutpurse.server.errors import AddressError, CannotListen
from cutpurse.wire.server_address import ServerAddress, parse_address

__all__ = [
    "cannot_listen",
    "check_free",
    "check_length",
    "checked",
    "house_socket_address",
    "http_address",
    "is_local",
    "monitoring_address",
]

_LONGEST: Final = 107 if sys.platform == "linux" else 103  # maximum bytes of a Unix socket's path
_HOUSE: Final = 4  # random bytes that distinguish the sockets of different runs


def checked(address: str, *, may_be_reached: bool = False) -> ServerAddress:
    """Return the parts of an address to listen at: HOST:PORT (port 0 means any free one) or unix:PATH.

    Raises:
        AddressError: If it is neither, or if other machines could reach it and `may_be_reached` is False.
    """
    parts = parse_address(address)
    if parts is None or parts.is_secure:
        raise AddressError(f"{address!r:.80} is no address; it can be HOST:PORT, as 127.0.0.1:7777, or unix:PATH")
    if not may_be_reached and not parts.is_local:
        raise AddressError(
            f"other machines could reach {parts.host!r:.80}, and what is said there could be read on the way, tokens "
            "too: give --tls-cert and --tls-key, or listen on 127.0.0.1, ::1, localhost or unix:PATH"
        )
    return parts


def check_free(address: ServerAddress) -> None:
    """Check that no other program listens at an address.

    Raises:
        CannotListen: If one does, or if the system does not allow it.
    """
    if address.path and _is_taken(address.path):
        raise CannotListen(f"another program listens on {address}; stop it, or choose another address")
    if not address.port:  # a Unix socket, or any free port
        return
    try:
        family, _, _, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: closed connections may linger
            probe.bind(where)
    except OSError as problem:
        raise cannot_listen(str(address), problem) from None


def cannot_listen(address: str, problem: OSError) -> CannotListen:
    """Return the error that says why the system gave no socket for an address, and what to do."""
    is_used = problem.errno == errno.EADDRINUSE
    why = "another program does; stop it, or choose another address" if is_used else problem.strerror
    return CannotListen(f"cannot listen on {address}: {why}")


def is_local(address: str) -> bool:
    """Return whether only this machine can reach a checked address."""
    return checked(address, may_be_reached=True).is_local


def http_address(address: str) -> ServerAddress:
    """Return the parts of an address for pages over HTTP.

    Raises:
        AddressError: If it is not HOST:PORT.
    """
    parts = checked(address, may_be_reached=True)
    if parts.path:
        raise AddressError(f"{address!r:.80} is no address for HTTP; use HOST:PORT, such as 127.0.0.1:9777")
    return parts


def monitoring_address(address: str) -> ServerAddress:
    """Return the parts of an address for the monitoring pages.

    Raises:
        AddressError: If it is not HOST:PORT, or other machines could reach it.
    """
    parts = http_address(address)
    if not parts.is_local:
        raise AddressError(
            f"other machines could reach {address!r:.80}, and the pages need no token; "
            "listen on 127.0.0.1, ::1 or localhost"
        )
    return parts


def check_length(address: ServerAddress, has_house: bool) -> None:
    """Check the length of a Unix socket's path.

    `has_house` means that a longer `house_socket_address` beside it must fit, too.

    Raises:
        AddressError: If the path is too long for the system.
    """
    most = _LONGEST - has_house * (1 + 2 * _HOUSE)
    if (length := len(os.fsencode(address.path))) > most:
        raise AddressError(
            f"the path of {address} has {length} bytes, and the maximum here is {most}: choose a shorter one"
        )


def house_socket_address(address: ServerAddress, entropy: Callable[[int], bytes]) -> ServerAddress:
    """Name a Unix socket beside this one for one run, and remove those of killed servers.

    Call it only while listening at the address itself: then no other server uses such a socket.
    """
    path = Path(address.path)
    ours = re.compile(re.escape(path.name) + rf"\.[0-9a-f]{{{2 * _HOUSE}}}")
    with suppress(OSError):  # a folder that cannot be read
        for other in list(path.absolute().parent.iterdir()):
            if ours.fullmatch(other.name) and other.is_socket() and not _is_taken(str(other)):
                with suppress(OSError):
                    other.unlink()
    return replace(address, path=f"{address.path}.{entropy(_HOUSE).hex()}")


def _is_taken(path: str) -> bool:
    """Return whether a program answers on a Unix socket, which gRPC would silently replace."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True
