"""An attempt to sign in at a provider: its three secrets, in a cookie of the browser that began it.

Only that browser can finish the attempt, once, within ten minutes. The cookie is not Strict, since browsers send no
Strict cookie when another site, the provider, leads them back. The page stores nothing.
"""

from __future__ import annotations

import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Self

from fastapi import Request, Response

from cutpurse.page.account.cookie import is_confidential

__all__ = ["SignInAttempt", "attempt_of", "forget_attempt", "keep_attempt"]

COOKIE: Final = "__Host-cutpurse-sign-in"
LOCAL_COOKIE: Final = "cutpurse_local_sign_in"  # over plain HTTP on one machine
KEEP_S: Final = 600
_SECRET_BYTES: Final = 32  # 43 characters
_FORM: Final = re.compile(r"([\w-]{43})\.([\w-]{43})\.([\w-]{43})", re.ASCII)


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """The secrets of an attempt."""

    state: str  # comes back with the provider's code
    nonce: str  # comes back in the ID token
    verifier: str  # proves that who brings the code has begun the attempt

    @classmethod
    def begin(cls) -> Self:
        """Return an attempt with new secrets."""
        return cls(*(secrets.token_urlsafe(_SECRET_BYTES) for _ in range(3)))

    @property
    def challenge(self) -> str:
        """What the provider gets of the verifier, by the method S256 of RFC 7636."""
        return urlsafe_b64encode(sha256(self.verifier.encode("ascii")).digest()).decode("ascii").rstrip("=")

    def is_answered_by(self, state: str) -> bool:
        """Return whether an answer with this state is for this attempt."""
        return hmac.compare_digest(self.state.encode(), state.encode("utf-8", "replace"))


def attempt_of(request: Request) -> SignInAttempt | None:
    """Return the attempt that this browser began last; None if there is none."""
    found = _FORM.fullmatch(request.cookies.get(_name(request), "")) if is_confidential(request) else None
    return None if found is None else SignInAttempt(*found.groups())


def keep_attempt(request: Request, response: Response, attempt: SignInAttempt) -> None:
    """Keep an attempt in the browser, in place of an earlier one."""
    value = f"{attempt.state}.{attempt.nonce}.{attempt.verifier}"
    is_secure = request.url.scheme == "https"
    response.set_cookie(_name(request), value, KEEP_S, path="/", secure=is_secure, httponly=True, samesite="lax")


def forget_attempt(request: Request, response: Response) -> None:
    """Remove the attempt from the browser."""
    is_secure = request.url.scheme == "https"
    response.delete_cookie(_name(request), path="/", secure=is_secure, httponly=True, samesite="lax")


def _name(request: Request) -> str:
    return COOKIE if request.url.scheme == "https" else LOCAL_COOKIE
