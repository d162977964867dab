"""The cookie that keeps a person's token in the browser, and the key that guards forms.

Scripts cannot read it, other sites cannot send it, and browsers send it over TLS only. The session is the token itself:
it ends when the token expires or is revoked, and a page that restarts forgets nobody. On one machine the page may be
used over plain HTTP; then the cookie has another name, since browsers reserve the prefix `__Host-` for TLS.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from ipaddress import ip_address
from typing import Final

from fastapi import Request, Response

from cutpurse.leaderboard.tokens import read_token

__all__ = ["check_key", "form_key", "forget_token", "is_confidential", "keep_token", "token_of"]

COOKIE: Final = "__Host-cutpurse"
LOCAL_COOKIE: Final = "cutpurse_local"  # over plain HTTP on one machine
KEEP_S: Final = 30 * 86_400  # the browser forgets the token after this time, even if it is still valid


def is_confidential(request: Request) -> bool:
    """Return whether nobody can read the request on its way: it came over TLS, or from a browser on this machine."""
    if request.url.scheme == "https":
        return True
    client = request.client.host if request.client is not None else ""
    return _is_loopback(client) and _is_loopback(request.url.hostname or "")


def token_of(request: Request) -> str:
    """Return the token of the browser that asks; empty if it sent none, or anybody could have read it."""
    token = request.cookies.get(_name(request), "") if is_confidential(request) else ""
    return token if read_token(token) is not None else ""


def keep_token(request: Request, response: Response, token: str, lasts_s: int | None) -> None:
    """Keep a token in the browser, for `lasts_s` seconds at most."""
    seconds = KEEP_S if lasts_s is None else max(0, min(KEEP_S, lasts_s))
    is_secure = request.url.scheme == "https"
    response.set_cookie(_name(request), token, seconds, path="/", secure=is_secure, httponly=True, samesite="strict")


def forget_token(request: Request, response: Response) -> None:
    """Remove the token from the browser."""
    is_secure = request.url.scheme == "https"
    response.delete_cookie(_name(request), path="/", secure=is_secure, httponly=True, samesite="strict")


def form_key(token: str) -> str:
    """Return the key that every form of this person carries, which no other site can know."""
    return hmac.new(token.encode("utf-8", "replace"), b"form", sha256).hexdigest()


def check_key(token: str, key: str) -> bool:
    """Return whether a form came with the key of the person whose cookie it came with."""
    return hmac.compare_digest(form_key(token).encode(), key.encode("utf-8", "replace"))


def _name(request: Request) -> str:
    return COOKIE if request.url.scheme == "https" else LOCAL_COOKIE


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
