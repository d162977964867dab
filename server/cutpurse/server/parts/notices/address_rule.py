"""The rule where a server may post to: addresses of the public internet, and networks that its host allows.

Receivers name any host, and the server connects from inside of its network. So a name is resolved once, each address
that it has is checked, and the connection goes to a checked address, not to the name. The form of an address (decimal,
octal, IPv4 within IPv6) doesn't matter, since what is checked is what the system resolves it to.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from typing import TypeAlias

from cutpurse.server.parts.notices.errors import AddressRefused, DeliveryFailed
from cutpurse.server.parts.notices.refused_networks import IPV6_INTERNET, REFUSED_NETWORKS

__all__ = ["AddressRule", "Network", "read_networks", "resolve"]

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


def resolve(host: str, port: int) -> list[str]:
    """Return the IP addresses of a host, as the system knows them.  Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class AddressRule:
    """What may be connected to."""

    def __init__(
        self,
        allowed: Sequence[Network] = (),
        own: Callable[[], Sequence[Network]] = tuple,
        resolved: Callable[[str, int], list[str]] = resolve,
    ) -> None:
        """Set the rule.

        Args:
            allowed: Networks that the host allows, whatever they are.
            own: Returns the networks that this machine is in.
            resolved: Resolves a host and port to IP addresses; may raise OSError.
        """
        self._allowed = allowed
        self._own = own
        self._resolved = resolved

    def addresses(self, host: str, port: int) -> list[str]:
        """Resolve a host to addresses that may be connected to.

        Raises:
            AddressRefused: If one of its addresses may not be connected to.
            DeliveryFailed: If it has no address now.
        """
        try:
            found = self._resolved(host, port)
        except (OSError, UnicodeError):
            raise DeliveryFailed("its host cannot be resolved") from None
        if not found:
            raise DeliveryFailed("its host cannot be resolved")
        own = self._own()
        for address in found:
            if not self._is_allowed(address, own):
                raise AddressRefused("its host is in a network that this server does not post to")
        return found

    def _is_allowed(self, text: str, own: Sequence[Network]) -> bool:
        try:
            address = _plain(ipaddress.ip_address(text.partition("%")[0]))
        except ValueError:
            return False
        if any(address in network for network in self._allowed):
            return True
        if any(address in network for network in (*REFUSED_NETWORKS, *own)):
            return False
        return address.version == 4 or address in IPV6_INTERNET


def _plain(address: _Address) -> _Address:
    """Return the IPv4 address within an IPv6 address that only writes it differently."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def read_networks(texts: Sequence[str]) -> list[Network]:
    """Parse networks such as 10.1.0.0/16.  Raises ValueError, which quotes the network."""
    return [ipaddress.ip_network(text) for text in texts]
