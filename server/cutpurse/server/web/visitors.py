"""Who reads a page, as far as that can be told."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address, ip_network

from fastapi import Request

__all__ = ["visitor_of"]


def visitor_of(request: Request) -> str:
    """Return what a reader is counted by: the address, of IPv6 its network, which is one visitor's."""
    host = request.client.host if request.client is not None else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv4Address) or address.ipv4_mapped is not None:
        return host
    return str(ip_network((int(address), 64), strict=False))
