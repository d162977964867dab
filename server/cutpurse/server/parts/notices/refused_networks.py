"""The networks that no notice is posted to: none of them is a host of the public internet.

Each line says what listens there. Most of them are in IANA's registries of special-purpose addresses,
https://www.iana.org/assignments/iana-ipv4-special-registry and https://www.iana.org/assignments/iana-ipv6-special-registry.
`ipaddress.is_global` is no substitute: it differs between versions of Python, and knows no cloud.
"""

from __future__ import annotations

import ipaddress
from typing import Final

__all__ = ["IPV6_INTERNET", "REFUSED_NETWORKS"]

IPV6_INTERNET: Final = ipaddress.IPv6Network("2000::/3")  # RFC 4291: all else is private, reserved, or holds IPv4

REFUSED_NETWORKS: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network, RFC 791; Linux connects 0.0.0.0 to itself
        "10.0.0.0/8",  # private, RFC 1918
        "100.64.0.0/10",  # shared by a provider's customers, RFC 6598; 100.100.100.200 is the metadata of Alibaba Cloud
        "127.0.0.0/8",  # this host, RFC 1122
        "161.26.0.0/16",  # services of IBM Cloud for its machines, cloud.ibm.com/docs/vpc, "Endpoints available"
        "166.8.0.0/14",  # private endpoints of IBM Cloud, the same page
        "168.63.129.16/32",  # host of Azure, learn.microsoft.com, "What is IP address 168.63.129.16?"
        # Link-local, RFC 3927. 169.254.169.254 is the metadata of AWS, Azure, Google, Oracle, DigitalOcean, OpenStack;
        # 169.254.170.2 of containers at AWS, 169.254.0.23 of Tencent, 169.254.42.42 of Scaleway.
        "169.254.0.0/16",
        "172.16.0.0/12",  # private, RFC 1918
        "192.0.0.0/24",  # protocol assignments, RFC 6890; 192.0.0.192 is the metadata of Oracle Cloud Classic
        "192.0.2.0/24",  # documentation, RFC 5737
        "192.31.196.0/24",  # AS112 by DNAME, RFC 7535
        "192.52.193.0/24",  # relays of multicast, RFC 7450
        "192.88.99.0/24",  # relays of 6to4, RFC 7526
        "192.168.0.0/16",  # private, RFC 1918
        "192.175.48.0/24",  # AS112, RFC 7534
        "198.18.0.0/15",  # benchmarks, RFC 2544
        "198.51.100.0/24",  # documentation, RFC 5737
        "203.0.113.0/24",  # documentation, RFC 5737
        "224.0.0.0/4",  # multicast, RFC 5771
        "240.0.0.0/4",  # reserved, RFC 1112; 255.255.255.255 is everybody here
        # Of IPv6 what lies in 2000::/3. Not there, and so refused as well: ::ffff:0:0:0/96 (translated, RFC 2765),
        # 64:ff9b::/96 and 64:ff9b:1::/48 (NAT64, RFC 6052 and 8215), 5f00::/16 (SRv6, RFC 9602), fc00::/7 (private,
        # RFC 4193: fd00:ec2::254 is the metadata of AWS, fd20:ce::254 of Google, fd00:c1::a9fe:a9fe of Oracle,
        # fd00:42::42 of Scaleway), fe80::/10 and fec0::/10 (link and site, RFC 4291), ff00::/8 (multicast).
        "2001::/23",  # protocol assignments, RFC 2928: Teredo, which holds IPv4 (RFC 4380), benchmarks, ORCHID
        "2001:db8::/32",  # documentation, RFC 3849
        "2002::/16",  # 6to4, which holds IPv4, RFC 3056
        "2620:4f:8000::/48",  # AS112, RFC 7534
        "3fff::/20",  # documentation, RFC 9637
    )
)
