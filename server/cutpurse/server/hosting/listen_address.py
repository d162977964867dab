"""The addresses that a server may listen on: without TLS, only those of this machine.

This module knows the forms of an address. It opens nothing except to check whether a Unix socket is in use, and removes
nothing except the sockets of killed servers.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from cutpurse.server.errors import AddressError

__all__ = ["check_length", "checked", "house_socket_address", "host_and_port", "is_local", "is_taken"]

_LONGEST: Final = 107 if sys.platform == "linux" else 103  # maximum bytes of a Unix socket's path
_HOUSE: Final = 4  # random bytes that distinguish the sockets of different runs

_HOST_AND_PORT: Final = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<host>[^:\[\]]+)):(?P<port>\d{1,5})")


def checked(address: str, *, may_be_reached: bool = False) -> str:
    """Return an address in the form that gRPC accepts: HOST:PORT (port 0 means any free one) or unix:PATH.

    Raises:
        AddressError: If it is neither, or if other machines could reach it and `may_be_reached` is False.
    """
    if address.startswith("unix:"):
        if not address.removeprefix("unix:").strip("/"):
            raise AddressError(f"the address {address!r} names no socket; write unix:PATH")
        return address
    found = _HOST_AND_PORT.fullmatch(address)
    if found is None or int(found["port"]) > 0xFFFF:
        raise AddressError(f"{address!r:.80} is no address; it can be HOST:PORT, as 127.0.0.1:7777, or unix:PATH")
    host = found["six"] or found["host"]
    if not may_be_reached and not _is_loopback(host):
        raise AddressError(
            f"other machines could reach {host!r:.80}, and what is said there could be read on the way, tokens too: "
            "give --tls-cert and --tls-key, or listen on 127.0.0.1, ::1, localhost or unix:PATH"
        )
    return address


def is_local(address: str) -> bool:
    """Return whether only this machine can reach a checked address."""
    found = _HOST_AND_PORT.fullmatch(address)
    return found is None or _is_loopback(found["six"] or found["host"])


def host_and_port(address: str) -> tuple[str, int]:
    """Split an address for pages over HTTP.

    Raises:
        AddressError: If it is not HOST:PORT, or other machines could reach it.
    """
    found = _HOST_AND_PORT.fullmatch(checked(address, may_be_reached=True))
    if found is None:
        raise AddressError(f"{address!r:.80} is no address for HTTP; use HOST:PORT, such as 127.0.0.1:9777")
    if not is_local(address):
        raise AddressError(
            f"other machines could reach {address!r:.80}, and the pages need no token; "
            "listen on 127.0.0.1, ::1 or localhost"
        )
    return found["six"] or found["host"], int(found["port"])


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which may resolve to any address
        return False


def check_length(address: str, has_house: bool) -> None:
    """Check the length of a Unix socket's path.

    `has_house` means that a longer `house_socket_address` beside it must fit, too.

    Raises:
        AddressError: If the path is too long for the system.
    """
    most = _LONGEST - has_house * (1 + 2 * _HOUSE)
    if address.startswith("unix:") and (length := len(os.fsencode(_path(address)))) > most:
        raise AddressError(
            f"the path of {address} has {length} bytes, and the maximum here is {most}: choose a shorter one"
        )


def house_socket_address(address: str, entropy: Callable[[int], bytes]) -> str:
    """Name a Unix socket beside this one for one run, and remove those of killed servers.

    Call it only while listening at the address itself: then no other server uses such a socket.
    """
    path = Path(_path(address))
    ours = re.compile(re.escape(path.name) + rf"\.[0-9a-f]{{{2 * _HOUSE}}}")
    with suppress(OSError):  # a folder that cannot be read
        for other in list(path.absolute().parent.iterdir()):
            if ours.fullmatch(other.name) and other.is_socket() and not is_taken(f"unix:{other}"):
                with suppress(OSError):
                    other.unlink()
    return f"{address}.{entropy(_HOUSE).hex()}"


def is_taken(address: str) -> bool:
    """Return whether a program answers on a Unix socket, which gRPC would silently replace."""
    if not address.startswith("unix:"):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(_path(address))
        except OSError:
            return False
    return True


def _path(address: str) -> str:
    """Return the path of a Unix socket; gRPC accepts unix:///PATH, too."""
    return re.sub(r"^//(?=/)", "", address.removeprefix("unix:"))
