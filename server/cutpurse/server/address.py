"""Where a server may listen: this machine only, as there are no tokens yet.

This module knows the forms of an address; it opens nothing except to see whether a unix socket is taken.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import Final

from cutpurse.server.errors import AddressError

__all__ = ["checked", "is_taken"]

_HOST_AND_PORT: Final = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<host>[^:\[\]]+)):(?P<port>\d{1,5})")


def checked(address: str) -> str:
    """An address as gRPC takes it: HOST:PORT (port 0: any that is free) or unix:PATH.

    Raises AddressError if it is neither, or could be reached from another machine.
    """
    if address.startswith("unix:"):
        if not address.removeprefix("unix:").strip("/"):
            raise AddressError(f"the address {address!r} names no socket; write unix:PATH")
        return address
    found = _HOST_AND_PORT.fullmatch(address)
    if found is None or int(found["port"]) > 0xFFFF:
        raise AddressError(f"{address!r:.80} is no address; it can be HOST:PORT, as 127.0.0.1:7777, or unix:PATH")
    host = found["six"] or found["host"]
    if not _is_loopback(host):
        raise AddressError(
            f"the server would be open to other machines on {host!r:.80}, and there are no tokens yet; "
            "listen on 127.0.0.1, ::1, localhost or unix:PATH"
        )
    return address


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which may mean anything
        return False


def is_taken(address: str) -> bool:
    """Whether somebody answers on a unix socket: gRPC would take it away without a word."""
    if not address.startswith("unix:"):
        return False
    path = re.sub(r"^//(?=/)", "", address.removeprefix("unix:"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True
