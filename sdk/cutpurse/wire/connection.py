"""The parameters of a connection: the server's address, TLS, and the token.

A token is never sent in the clear and never shown. It comes from the environment or from a file that only its owner can
read. So it appears in no process list and no shell history. This module makes no connection.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio

from cutpurse.engine.errors import UsageError
from cutpurse.wire.errors import NotAuthorised
from cutpurse.wire.server_address import (
    CA_VARIABLE,
    SECURE,
    STRANGER_KEY,
    TOKEN_VARIABLE,
    TRUST_VARIABLE,
    ServerAddress,
    parse_address,
    server_address,
)
from cutpurse.wire.text import printable

__all__ = ["UNTRUSTED", "Dialling", "dialling", "is_wrong_address", "token_file", "why_unreachable"]

UNTRUSTED: Final = ("CERTIFICATE_VERIFY_FAILED", "Hostname Verification Check failed")  # in messages of gRPC
_TOKEN: Final = re.compile(r"cutp_[0-9A-Za-z]{38}")

# What listens at the address, by gRPC's message about the failed connection.
_LISTENS: Final = {
    "WRONG_VERSION_NUMBER": f"what listens there speaks no TLS; a server without it is dialled without {SECURE}",
    "missing selected ALPN": "what listens there speaks TLS but no gRPC, so it is no Cutpurse server",
    "Failed parsing HTTP/2": "what listens there speaks no gRPC, so it is no Cutpurse server",
    "Handshake read failed": "what listens there broke off the TLS handshake; it may speak no TLS",
    "Tls handshake failed": "what listens there and this program agree on no TLS",
}
_NO_CAUSE: Final = ("OK", "")  # parts of such a message that name no cause


@dataclass(frozen=True, slots=True)
class Dialling:
    """A server's address and what authenticates both sides.

    Attributes:
        address: `host:port` or `unix:/path`, or with TLS `https://host:port`.
        ca: PEM certificates to trust; None means those of gRPC.
        token: The token; empty if there is none.
        source: Where the token came from.
        as_stranger: Ask for public data only. A server without owners, too, then answers as to an unknown caller.
        trusted: Other hosts to follow the server to; ".example.org" stands for every host below example.org.
    """

    address: str
    ca: bytes | None = field(default=None, repr=False)
    token: str = field(default="", repr=False)
    source: str = ""
    as_stranger: bool = False
    trusted: tuple[str, ...] = ()

    def at(self, address: str) -> Dialling:
        """Return the parameters to connect to a server of the league, to which this one refers.

        Raises:
            NotAuthorised: If its host is not trusted, or the token would be sent in the clear.
        """
        refers = f"the server at {self.address} refers to {printable(address)}"
        there, here = parse_address(address), self.parts
        if there is None or not (there.port or there.path):
            raise NotAuthorised(f"{refers}, which is no address of a server")
        if there == here:
            return self
        if there.path:
            raise NotAuthorised(f"{refers}, and another server of a league is not dialled by a unix socket")
        host = there.host
        names = [name for name in self.trusted if host == name or (name.startswith(".") and host.endswith(name))]
        if host != here.host and not names:
            raise NotAuthorised(
                f"{refers}, which would get the token; if that host is of the same league: --trust {host}, or "
                f"{TRUST_VARIABLE}={host}"
            )
        if there.is_secure != here.is_secure or (self.token and not there.is_secure and not there.is_local):
            raise NotAuthorised(f"{refers}, where one of the two speaks no TLS: tell the operator of the league")
        return replace(self, address=str(there))

    @property
    def parts(self) -> ServerAddress:
        """The parts of the address; nothing else of it reaches gRPC."""
        parts = parse_address(self.address)
        if parts is None:
            raise ValueError(f"no address of a server: {self.address!r}")
        return parts

    @property
    def is_secure(self) -> bool:
        """Whether the connection uses TLS."""
        return self.parts.is_secure

    @property
    def is_confidential(self) -> bool:
        """Whether nobody on the way can read what is sent: it goes over TLS, or stays on this machine."""
        return self.parts.is_secure or self.parts.is_local

    def without_token(self) -> NotAuthorised:
        """Return the error for a server that needs a token when there is none."""
        return NotAuthorised(
            f"the server at {self.address} lets bots in by token, and there is none: put it into {TOKEN_VARIABLE}, "
            f"or into {token_file()}, which nobody else may be able to read"
        )

    def channel(self, options: Sequence[tuple[str, Any]]) -> grpc.aio.Channel:
        """Create a channel to the server."""
        target, credentials = self._target()
        if credentials is None:
            return grpc.aio.insecure_channel(target, options=options)
        return grpc.aio.secure_channel(target, credentials, options=options)

    def blocking_channel(self, options: Sequence[tuple[str, Any]]) -> grpc.Channel:
        """Create a channel to the server for calls outside an event loop."""
        target, credentials = self._target()
        if credentials is None:
            return grpc.insecure_channel(target, options=options)
        return grpc.secure_channel(target, credentials, options=options)

    def _target(self) -> tuple[str, grpc.ChannelCredentials | None]:
        """Return what gRPC dials, and the credentials of a connection with TLS."""
        return self.parts.target, grpc.ssl_channel_credentials(self.ca) if self.is_secure else None

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The metadata of every call."""
        if self.as_stranger:
            return ((STRANGER_KEY, "1"),)
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()


def dialling(
    server: str | None = None,
    ca: str | os.PathLike[str] | None = None,
    *,
    as_stranger: bool = False,
    trust: Sequence[str] = (),
) -> Dialling:
    """Return the parameters to connect to a server.

    Args:
        server: Address. Default: $CUTPURSE_SERVER, else the default address.
        ca: PEM file with certificates to trust. Default: $CUTPURSE_CA.
        as_stranger: Use no token, even if there is one.
        trust: Other hosts of the league, as in `Dialling.trusted`. Default: $CUTPURSE_TRUST.

    Raises:
        UsageError: If the address or a host to trust is invalid, or the certificate file is missing or invalid.
        NotAuthorised: If the token is malformed, readable by others, or would be sent in the clear.
    """
    address = server_address(server)
    if as_stranger:
        return Dialling(address, _certificates(ca, address), as_stranger=True)
    token, source = _token()
    trusted = trust or os.environ.get(TRUST_VARIABLE, "").split(",")
    names = tuple(_trusted_host(name.strip().lower()) for name in trusted if name.strip())
    to = Dialling(address, _certificates(ca, address), token, source, trusted=names)
    if token and not to.is_confidential:
        raise NotAuthorised(
            f"the token from {source} could be read on the way to {address}; "
            f"if that server speaks TLS, its address is {SECURE}{address}"
        )
    return to


def _trusted_host(name: str) -> str:
    """Return a host to trust as `parse_address` has hosts; ".example.org" keeps its point.  Raises UsageError."""
    host = name.removeprefix(".")
    parts = parse_address(f"[{host}]:1" if ":" in host else f"{host}:1")
    if parts is None:
        raise UsageError(
            f"{name!r:.200} is no host to trust: name it without a port, such as b.example, or .example.org for all "
            "hosts below it"
        )
    return name[: len(name) - len(host)] + parts.host


def why_unreachable(text: str) -> str:
    """Return the cause in gRPC's message about a failed connection; return any other text unchanged."""
    if not text.startswith("failed to connect"):
        return text
    for words, listens in _LISTENS.items():
        if words in text:
            return listens
    # The cause, such as "Connection refused", comes after three redundant prefixes.
    parts = [part for part in text.split(": ") if part not in _NO_CAUSE]
    return parts[-1].removeprefix("recvmsg:").partition(" (")[0]


def is_wrong_address(text: str) -> bool:
    """Return whether, by gRPC's message about a failed connection, no server will ever be there."""
    return "Domain name not found" in text or why_unreachable(text) in _LISTENS.values()


def token_file() -> Path:
    """Return the file that holds the token, if the environment does not."""
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming"
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "cutpurse" / "token"


def _token() -> tuple[str, str]:
    """Return the token and its source; both are empty if there is none."""
    if given := os.environ.get(TOKEN_VARIABLE, "").strip():
        return _checked(given, TOKEN_VARIABLE), TOKEN_VARIABLE
    file = token_file()
    try:
        with file.open(encoding="ascii", errors="replace") as opened:
            if os.name == "posix" and (mode := stat.S_IMODE(os.fstat(opened.fileno()).st_mode)) & 0o077:
                raise NotAuthorised(f"others can read the token in {file} (mode {mode:o}): chmod 600 {file}")
            given = opened.read(200).strip()
    except FileNotFoundError:
        return "", ""
    except OSError as problem:
        raise NotAuthorised(f"the token in {file} cannot be read: {problem.strerror}") from None
    return _checked(given, str(file)), str(file)


def _checked(given: str, source: str) -> str:
    """Check the form of a token. The error does not repeat it: it may be another secret."""
    if not _TOKEN.fullmatch(given):
        raise NotAuthorised(f"what is in {source} is no token: one is cutp_ and 38 letters and digits, and no more")
    return given


def _certificates(ca: str | os.PathLike[str] | None, address: str) -> bytes | None:
    named = "--ca" if ca is not None else CA_VARIABLE
    path = ca if ca is not None else os.environ.get(CA_VARIABLE)
    if not path or not address.startswith(SECURE):
        if ca is not None:
            raise UsageError(f"--ca {ca}: {address} is dialled without TLS; with it, it is {SECURE}{address}")
        return None
    try:
        pem = Path(path).read_bytes()
    except OSError as problem:
        raise UsageError(f"{named} {path}: cannot be read: {problem.strerror}") from None
    if b"-----BEGIN CERTIFICATE-----" not in pem:
        raise UsageError(f"{named} {path}: holds no certificate in PEM")
    return pem
