"""A POST to a webhook: to a checked address, without redirects, and with limits of time and size.

Of the answer only the status is read. No library of HTTP is used, because none limits the time of a whole request, and
a name must not be resolved a second time. This module knows no notice.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from cutpurse.server.parts.notices.address_rule import AddressRule
from cutpurse.server.parts.notices.errors import DeliveryFailed, UnsuitableAddress

__all__ = ["TIMEOUT_S", "WebhookAddress", "post", "webhook_address"]

TIMEOUT_S: Final = 10.0  # for a whole request
MAX_ANSWER: Final = 16_384  # bytes before the status must be known
_PORTS: Final = {"http": 80, "https": 443}
_STATUS: Final = re.compile(rb"HTTP/1\.[01] (\d{3})(?: [^\r\n]*)?\r?\n")
_PRINTABLE: Final = re.compile(r"[!-~]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class WebhookAddress:
    """The parts of the address of a webhook; `target` is its path and query."""

    is_secure: bool
    host: str
    port: int
    target: str

    @property
    def host_header(self) -> str:
        """The host as HTTP names it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS["https" if self.is_secure else "http"] else f"{host}:{self.port}"


def webhook_address(text: str) -> WebhookAddress:
    """Parse the address of a webhook.  Raises UnsuitableAddress."""
    wrong = UnsuitableAddress("the address of a webhook is http://HOST/PATH or https://HOST/PATH, in printable ASCII")
    if not _PRINTABLE.fullmatch(text):
        raise wrong
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in _PORTS or not host or "%" in host or port == 0:
        raise wrong
    if "@" in parts.netloc:
        raise UnsuitableAddress("the address of a webhook has no user or password: check its signature instead")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return WebhookAddress(parts.scheme == "https", host, port or _PORTS[parts.scheme], target)


def post(
    address: WebhookAddress,
    rule: AddressRule,
    headers: Mapping[str, str],
    body: bytes,
    trust: ssl.SSLContext,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Post a body; return if the answer is 2xx.

    Args:
        address: Where to.
        rule: Where it may be.
        headers: Further headers.
        body: The body.
        trust: Checks certificates.
        clock: Returns seconds on a monotonic clock.

    Raises:
        AddressRefused: If the address may not be connected to.
        DeliveryFailed: If anything else goes wrong.
    """
    until = clock() + TIMEOUT_S
    lines = [
        f"POST {address.target} HTTP/1.1",
        f"Host: {address.host_header}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "User-Agent: cutpurse",
        "Connection: close",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    request = "\r\n".join((*lines, "", "")).encode("ascii") + body
    found = rule.addresses(address.host, address.port)
    try:
        with _connected(found, address, trust, until, clock) as link:
            link.settimeout(_left(until, clock))
            link.sendall(request)
            status = _status(link, until, clock)
    except TimeoutError:
        raise DeliveryFailed(f"it did not answer within {TIMEOUT_S:g} s") from None
    except ssl.SSLError:
        raise DeliveryFailed("its certificate is not valid, or it does not speak TLS") from None
    except OSError:
        raise DeliveryFailed("it cannot be reached, or cut the connection") from None
    if not 200 <= status < 300:
        redirects = "; redirects are not followed" if 300 <= status < 400 else ""
        raise DeliveryFailed(f"it answered {status}{redirects}")


def _connected(
    found: list[str], address: WebhookAddress, trust: ssl.SSLContext, until: float, clock: Callable[[], float]
) -> socket.socket:
    """Connect to the first of these IP addresses that accepts a connection."""
    failure: OSError = ConnectionError()
    for ip in found:
        try:
            link = socket.create_connection((ip, address.port), timeout=_left(until, clock))
        except OSError as problem:
            failure = problem
            continue
        if not address.is_secure:
            return link
        try:
            link.settimeout(_left(until, clock))
            return trust.wrap_socket(link, server_hostname=address.host)
        except BaseException:
            link.close()
            raise
    raise failure


def _status(link: socket.socket, until: float, clock: Callable[[], float]) -> int:
    """Read the status of the answer; an interim answer 1xx comes before it."""
    received = b""
    while True:
        status = _STATUS.match(received)
        if status is not None and status[1][:1] != b"1":
            return int(status[1])
        _, ended, rest = received.partition(b"\r\n\r\n")
        if status is not None and ended:
            received = rest
            continue
        if (status is None and b"\n" in received) or len(received) > MAX_ANSWER:
            raise DeliveryFailed("its answer is no HTTP")
        link.settimeout(_left(until, clock))
        more = link.recv(4_096)
        if not more:
            raise ConnectionError
        received += more


def _left(until: float, clock: Callable[[], float]) -> float:
    """Return the seconds that are left.  Raises TimeoutError if none are."""
    left = until - clock()
    if left <= 0:
        raise TimeoutError
    return left
