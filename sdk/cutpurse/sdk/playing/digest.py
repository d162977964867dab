"""The digest of a run: two runs with the same digest had the same results in the same order.

The digest is a chain: SHA-256 of the digest so far and the SHA-256 of the next result. So it does not depend on the
number of processes, and an interrupted run can continue it. This module knows no match.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Final

__all__ = ["DIGEST_BYTES", "RunDigest", "result_digest"]

DIGEST_BYTES: Final = 32


def result_digest(result: object) -> bytes:
    """Return the SHA-256 of a result, given as JSON values."""
    return sha256(json.dumps(result, sort_keys=True, separators=(",", ":")).encode()).digest()


class RunDigest:
    """The digest of the results so far."""

    def __init__(self, so_far: str = "00" * DIGEST_BYTES) -> None:
        """Begin a digest, or continue one.  Raises ValueError if `so_far` is none."""
        self._value = bytes.fromhex(so_far)
        if len(self._value) != DIGEST_BYTES:
            raise ValueError(f"{so_far!r} is no SHA-256")

    def add(self, digests: bytes) -> None:
        """Add the digests of the next results, one after another in one string of bytes."""
        for start in range(0, len(digests), DIGEST_BYTES):
            self._value = sha256(self._value + digests[start : start + DIGEST_BYTES]).digest()

    def hex(self) -> str:
        """Return the digest as text."""
        return self._value.hex()
