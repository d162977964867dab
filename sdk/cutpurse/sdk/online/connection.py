"""How a server is dialled: its address, TLS, and the token that lets a bot in.

A token is never sent where it could be read on the way, and never shown. It comes from the environment or from a file
that nobody else can read, so that no list of processes and no shell's history has it. No connection is made here.
"""

from __future__ import annotations

import ipaddress
import os
import re
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio

from cutpurse.engine.errors import UsageError
from cutpurse.sdk.errors import NotAuthorised
from cutpurse.sdk.online.server_address import CA_VARIABLE, SECURE, STRANGER_KEY, TOKEN_VARIABLE, UNIX, server_address

__all__ = ["Dialling", "dialling", "token_file", "why_unreachable"]

_TOKEN: Final = re.compile(r"cutp_[0-9A-Za-z]{38}")

# By what gRPC says of a connection that was not made, what listens there.
_LISTENS: Final = {
    "WRONG_VERSION_NUMBER": f"what listens there speaks no TLS; a server without it is dialled without {SECURE}",
    "missing selected ALPN": "what listens there speaks TLS but no gRPC, so it is no Cutpurse server",
    "Failed parsing HTTP/2": "what listens there speaks no gRPC, so it is no Cutpurse server",
    "Handshake read failed": "what listens there broke off the TLS handshake; it may speak no TLS",
    "Tls handshake failed": "what listens there and this program agree on no TLS",
}
_NO_CAUSE: Final = ("OK", "")  # a status, where a cause is looked for


@dataclass(frozen=True, slots=True)
class Dialling:
    """An address, and what is needed to be let in there.

    address: `host:port` or `unix:/path`, or with TLS `https://host:port`. ca: certificates in PEM that the server's is
    checked with; None: those that gRPC brings along. source: where the token came from. as_stranger: what is told is to
    be told to everybody, so a server without owners, too, answers as to nobody in particular.
    """

    address: str
    ca: bytes | None = field(default=None, repr=False)
    token: str = field(default="", repr=False)
    source: str = ""
    as_stranger: bool = False

    @property
    def is_secure(self) -> bool:
        """Whether it is TLS that is spoken."""
        return self.address.startswith(SECURE)

    def without_token(self) -> NotAuthorised:
        """What to tell whoever is asked for a token and has none."""
        return NotAuthorised(
            f"the server at {self.address} lets bots in by token, and there is none: put it into {TOKEN_VARIABLE}, "
            f"or into {token_file()}, which nobody else may be able to read"
        )

    def channel(self, options: Sequence[tuple[str, Any]]) -> grpc.aio.Channel:
        """A channel to the server."""
        if not self.is_secure:
            return grpc.aio.insecure_channel(self.address, options=options)
        credentials = grpc.ssl_channel_credentials(self.ca)
        return grpc.aio.secure_channel(self.address.removeprefix(SECURE), credentials, options=options)

    def blocking_channel(self, options: Sequence[tuple[str, Any]]) -> grpc.Channel:
        """The same, for calls outside an event loop."""
        if not self.is_secure:
            return grpc.insecure_channel(self.address, options=options)
        credentials = grpc.ssl_channel_credentials(self.ca)
        return grpc.secure_channel(self.address.removeprefix(SECURE), credentials, options=options)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What every call carries."""
        if self.as_stranger:
            return ((STRANGER_KEY, "1"),)
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()


def dialling(
    server: str | None = None, ca: str | os.PathLike[str] | None = None, *, as_stranger: bool = False
) -> Dialling:
    """How to dial the server given, or that of the environment, or the usual one.

    ca: a file of certificates to trust, else that of CUTPURSE_CA. as_stranger: without a token, though there is one.
    Raises UsageError for what is no address or no such file, NotAuthorised for a token that is none, that others can
    read, or that would be sent in the clear.
    """
    address = server_address(server)
    if as_stranger:
        return Dialling(address, _certificates(ca, address), as_stranger=True)
    token, source = _token()
    if token and not address.startswith(SECURE) and not _is_local(address):
        raise NotAuthorised(
            f"the token from {source} could be read on the way to {address}; "
            f"if that server speaks TLS, its address is {SECURE}{address}"
        )
    return Dialling(address, _certificates(ca, address), token, source)


def why_unreachable(text: str) -> str:
    """What gRPC says when a connection was not made, as its cause alone; any other text as it is."""
    if not text.startswith("failed to connect"):
        return text
    for words, listens in _LISTENS.items():
        if words in text:
            return listens
    # "Connection refused", after three prefixes that say the same.
    parts = [part for part in text.split(": ") if part not in _NO_CAUSE]
    return parts[-1].removeprefix("recvmsg:").partition(" (")[0]


def token_file() -> Path:
    """Where a token is looked for that is not in the environment."""
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming"
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "cutpurse" / "token"


def _token() -> tuple[str, str]:
    """The token, and where it came from; both empty if there is none."""
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
    """Does not repeat what was given: it may be a secret that belongs elsewhere."""
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


def _is_local(address: str) -> bool:
    """Whether what is sent there does not leave this machine."""
    if address.startswith(UNIX):
        return True
    host = address.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which may mean anything
        return False
