"""The server's address: the only module that parses one and that knows the default. It makes no connection."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from cutpurse.engine.errors import UsageError

__all__ = [
    "CA_VARIABLE",
    "DEFAULT_SERVER",
    "RECONNECT_VARIABLE",
    "PROTO_VARIABLE",
    "SECURE",
    "PUBLISHED_VARIABLE",
    "SERVER_VARIABLE",
    "STRANGER_KEY",
    "ServerAddress",
    "TIMES_VARIABLE",
    "TOKEN_VARIABLE",
    "TRUST_VARIABLE",
    "UNIX",
    "parse_address",
    "server_address",
]

DEFAULT_SERVER: Final = "127.0.0.1:7777"
SERVER_VARIABLE: Final = "CUTPURSE_SERVER"  # address of the server: host:port, https://host:port or unix:/path
RECONNECT_VARIABLE: Final = "CUTPURSE_RECONNECT_TIMEOUT"  # seconds without a server until the bot exits
PROTO_VARIABLE: Final = "CUTPURSE_PROTO"  # folder with cutpurse/v1/*.proto; set for programs that play as bots
TOKEN_VARIABLE: Final = "CUTPURSE_TOKEN"  # token of the bot's owner; default: the file ~/.config/cutpurse/token
CA_VARIABLE: Final = "CUTPURSE_CA"  # PEM file with certificates to trust; default: the system's
TRUST_VARIABLE: Final = "CUTPURSE_TRUST"  # other hosts of the league that may get the token, separated by commas
TIMES_VARIABLE: Final = "CUTPURSE_ANSWER_TIMES"  # folder where a bot stores its answer times; if empty, it does not
PUBLISHED_VARIABLE: Final = "CUTPURSE_PUBLISHED"  # folder of fetched bots; default: ~/.local/share/cutpurse/published
STRANGER_KEY: Final = "cutpurse-stranger"  # metadata of a call that asks for public data only
UNIX: Final = "unix:"
SECURE: Final = "https://"  # prefix of a server address with TLS

_LABEL: Final = "[A-Za-z0-9_-]{1,63}"
_FORM: Final = re.compile(
    rf"(?P<tls>https://)?(?:(?P<name>{_LABEL}(?:\.{_LABEL})*)|\[(?P<six>[0-9A-Fa-f:.]+)\]):(?P<port>0|[1-9][0-9]{{0,4}})"
)
# Resolvers read a name that ends in such a label as an IPv4 address, also 127.1 and 0x7f000001.
_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_SOCKET: Final = re.compile(r"unix:(?!//)(?P<path>[^\x00-\x1f\x7f?#%,]+)")  # gRPC reads ? # % and , as a URI does
_LONGEST_NAME: Final = 253


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The parts of an address.

    Attributes:
        host: Host name in lower case, or IP address without brackets; empty for a Unix socket.
        port: Port; 0 for a Unix socket.
        is_secure: Whether the address stands for TLS.
        path: Path of a Unix socket; else empty.
    """

    host: str = ""
    port: int = 0
    is_secure: bool = False
    path: str = ""

    def __str__(self) -> str:
        return f"{SECURE if self.is_secure else ''}{self.host_and_port}"

    @property
    def host_and_port(self) -> str:
        """The address without TLS: `host:port` or `unix:path`."""
        if self.path:
            return f"{UNIX}{self.path}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def target(self) -> str:
        """What gRPC dials. With the scheme it can't take the host's name, such as "ipv4", for one."""
        return self.host_and_port if self.path else f"dns:///{self.host_and_port}"

    @property
    def is_local(self) -> bool:
        """Whether traffic to this address stays on this machine."""
        try:
            return bool(self.path) or self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:  # another host name, which may be anywhere
            return False


def parse_address(text: str) -> ServerAddress | None:
    """Parse `host:port`, `https://host:port` or `unix:path`; return None for anything else.

    A host is a host name, an IPv4 address, or an IPv6 address in brackets. There are no other parts, such as a user,
    a path or a fragment. Port 0 is for servers, which take any free one.
    """
    if socket := _SOCKET.fullmatch(text):
        return ServerAddress(path=socket["path"])
    parts = _FORM.fullmatch(text)
    if parts is None or int(parts["port"]) > 0xFFFF or len(parts["name"] or "") > _LONGEST_NAME:
        return None
    name = (parts["name"] or "").lower()
    try:
        if parts["six"]:
            name = str(IPv6Address(parts["six"]))
        elif _NUMBER.fullmatch(name.rpartition(".")[2]):
            name = str(IPv4Address(name))
    except ValueError:
        return None
    return ServerAddress(name, int(parts["port"]), parts["tls"] is not None)


def server_address(given: str | None = None) -> str:
    """Return the address given, else that of the environment, else the default one.

    Raises:
        UsageError: If it is none that can be dialled.
    """
    text = given or os.environ.get(SERVER_VARIABLE) or DEFAULT_SERVER
    address = parse_address(text)
    if address is None or not (address.port or address.path):
        raise UsageError(
            f"{text!r:.200} is no address of a server: it is host:port, such as {DEFAULT_SERVER}, "
            f"with TLS {SECURE}host:port, or unix:/path"
        )
    return str(address)
