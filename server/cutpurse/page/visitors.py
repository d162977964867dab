"""The visitor of a page, as far as the address of a request identifies one."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address, ip_network

from fastapi import Request

__all__ = ["visitor_of"]


def visitor_of(request: Request) -> str:
    """Return the key of a request's visitor: the IPv4 address, or the /64 network of an IPv6 address."""
    host = request.client.host if request.client is not None else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv4Address) or address.ipv4_mapped is not None:
        return host
    return str(ip_network((int(address), 64), strict=False))
