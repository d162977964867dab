"""The networks that this machine is in, as its routing table lists them.

A service of the host may listen at a public address and trust its neighbours, so those networks are no target for
receivers. Only Linux lists routes in files; elsewhere the machine's own addresses are all that is known.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from cutpurse.server.parts.notices.address_rule import Network

__all__ = ["own_networks"]

# A tunnel for everything routes halves of the internet without a gateway; those are no neighbours.
_WIDEST_V4: Final = 8
_WIDEST_V6: Final = 32


def own_networks(folder: Path = Path("/proc/net")) -> list[Network]:
    """List the networks that are reached without a gateway, and this machine's addresses."""
    routes = [*_routes_v4(folder / "route"), *_routes_v6(folder / "ipv6_route")]
    return [*routes, *_local_v4(folder / "fib_trie"), *_own_addresses()]


def _routes_v4(file: Path) -> Iterator[Network]:
    for words in _lines(file)[1:]:
        with suppress(ValueError, IndexError):
            destination, gateway, mask = (bytes.fromhex(words[index])[::-1] for index in (1, 2, 7))
            length = int.from_bytes(mask, "big").bit_count()
            if not any(gateway) and length >= _WIDEST_V4:
                yield ipaddress.IPv4Network((destination, length))


def _routes_v6(file: Path) -> Iterator[Network]:
    for words in _lines(file):
        with suppress(ValueError, IndexError):
            destination, gateway = bytes.fromhex(words[0]), bytes.fromhex(words[4])
            length = int(words[1], 16)
            if not any(gateway) and length >= _WIDEST_V6:
                yield ipaddress.IPv6Network((destination, length))


def _local_v4(file: Path) -> Iterator[Network]:
    """Yield this machine's own addresses; one without a network, as in some clouds, is in no route."""
    address = ""
    for words in _lines(file):
        if words[:1] == ["|--"]:
            address = words[-1]
        elif words == ["/32", "host", "LOCAL"]:
            with suppress(ValueError):
                yield ipaddress.IPv4Network(address)


def _lines(file: Path) -> list[list[str]]:
    try:
        return [line.split() for line in file.read_text(encoding="ascii", errors="replace").splitlines()]
    except OSError:
        return []


def _own_addresses() -> Iterator[Network]:
    with suppress(OSError, UnicodeError):
        for entry in socket.getaddrinfo(socket.gethostname(), None):
            with suppress(ValueError):
                yield ipaddress.ip_network(str(entry[4][0]).partition("%")[0])
