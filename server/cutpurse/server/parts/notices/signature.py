"""Signatures of webhooks, as https://www.standardwebhooks.com describes them, so that its libraries can check them.

The signature is HMAC-SHA256, with the receiver's secret, of the ID, the timestamp and the body, joined by dots. The
timestamp lets a receiver refuse an old delivery that somebody recorded. This module knows no clock.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Callable
from typing import Final

__all__ = ["PREFIX", "new_secret", "show_secret", "signed_headers"]

PREFIX: Final = "whsec_"
_SECRET_BYTES: Final = 32


def new_secret(entropy: Callable[[int], bytes] = secrets.token_bytes) -> bytes:
    """Create a secret.

    Args:
        entropy: Returns the given number of unpredictable bytes.
    """
    return entropy(_SECRET_BYTES)


def show_secret(secret: bytes) -> str:
    """Format a secret for its owner, to be shown once."""
    return PREFIX + base64.b64encode(secret).decode("ascii")


def signed_headers(secret: bytes, event_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers that sign a body.

    Args:
        secret: The receiver's secret.
        event_id: ID of the notice.
        timestamp: Seconds since 1970 of this try.
        body: The body, byte for byte as it is sent.
    """
    signed = b".".join((event_id.encode("ascii"), str(timestamp).encode("ascii"), body))
    digest = hmac.digest(secret, signed, "sha256")
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode('ascii')}",
    }
