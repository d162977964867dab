"""Good and hostile addresses of servers: what the SDK, the commands and the bots in all languages make of them."""

from __future__ import annotations

from typing import Final

__all__ = ["DIALLED", "HOSTILE", "SOCKETS"]

# Texts with a host and a port, with what the text is taken for: the host, and the whole address.
DIALLED: Final = {
    "league.example:7777": ("league.example", "league.example:7777"),
    "https://A.League.Example:443": ("a.league.example", "https://a.league.example:443"),
    "my_league-1:65535": ("my_league-1", "my_league-1:65535"),
    "ipv4:7777": ("ipv4", "ipv4:7777"),  # a host name, like the next two
    "dns:1": ("dns", "dns:1"),
    "https:7777": ("https", "https:7777"),
    "7up.example:1": ("7up.example", "7up.example:1"),
    "203.0.113.7:7777": ("203.0.113.7", "203.0.113.7:7777"),
    "https://203.0.113.7:443": ("203.0.113.7", "https://203.0.113.7:443"),
    "[2001:db8::1]:7777": ("2001:db8::1", "[2001:db8::1]:7777"),
    "https://[2001:DB8::A]:443": ("2001:db8::a", "https://[2001:db8::a]:443"),
    "[::ffff:203.0.113.7]:1": ("::ffff:cb00:7107", "[::ffff:cb00:7107]:1"),
}

SOCKETS: Final = ("unix:/tmp/server", "unix:server", "unix:/tmp/a b/ü@1:2[3")

# No addresses. Programs that read them as URIs, or compare only an end of them, take many for the host of a league.
HOSTILE: Final = (
    *(f"https://stranger.example:443{mark}.league.example:7777" for mark in "#?/\\;,&"),
    "https://stranger.example:443%23.league.example:7777",
    "stranger.example:443#.league.example:7777",
    "stranger.example:443/.league.example:7777",
    "stranger.example,a.league.example:7777",
    *(f"{user}@a.league.example:7777" for user in ("user", "https://user:secret", "https://stranger.example:443")),
    *(f"{scheme}a.league.example:7777" for scheme in ("dns:", "dns:///", "ipv4:", "ipv6:", "xds:///", "vsock:")),
    *(f"{scheme}a.league.example:7777" for scheme in ("http://", "HTTPS://", "https:", "https:/", "https:///", "//")),
    "ipv4:203.0.113.7:7777,127.0.0.1:7777",
    "ipv6:[2001:db8::1]:7777",
    "unix-abstract:a.league.example:7777",
    "https://unix:/tmp/server",
    *("unix:", "unix:/tmp/a?b", "unix:/tmp/a#b", "unix:/tmp/a%00b", "unix:/tmp/a,b", "unix:/tmp/a\nb"),
    *("unix://a.league.example:7777", "unix:///tmp/server", "UNIX:/tmp/server"),
    *(f"https://a.league.example:7777{end}" for end in ("/", "/path", "?", "#", ":443", " ", "\n", "\t", "\x00")),
    *(f"{start}a.league.example:7777" for start in (" ", "\n", "\x1b[2J", ".", "*", "*.")),
    "a..league.example:7777",
    "a.league.example.:7777",
    *(f"a{sign}.league.example:7777" for sign in (" ", "\t", "\r\n", "\x7f", "\x85", "\u200b", "\u202e", "é", "%41")),
    "а.league.example:7777",  # a Cyrillic letter
    f"{'a' * 64}.league.example:7777",
    f"{'a.' * 127}league.example:7777",
    *(f"a.league.example:{port}" for port in ("", "65536", "99999", "777777", "07777", "+7777", "-1", "7 7", "7777x")),
    *(f"a.league.example:{port}" for port in ("0x1e61", "https", "٧٧٧٧", "1e3", "7777.0", "7_777")),
    *("a.league.example", ":7777", "7777", "https://", "https://:7777", "https://a.league.example", "", " "),
    *("127.1:7777", "2130706433:7777", "0x7f000001:7777", "127.0.0.256:7777", "127.0.0.01:7777", "1.2.3.4.5:7777"),
    *("a.0x7f:7777", "0x.example.1:7777"),
    *("::1:7777", "[::1]", "[::1", "[]:7777", "[a.league.example]:7777", "[127.0.0.1]:7777", "[fe80::1%eth0]:7777"),
    *("[::g]:7777", "[1:2:3:4:5:6:7:8:9]:7777", "[:::1]:7777", "[::1]a.league.example:7777", "[[::1]]:7777"),
)  # fmt: skip
