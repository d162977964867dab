"""The security headers of every response, and the limits on a request's size.

A page may load scripts, styles and pictures only as separate files from its own server. No other page may frame it,
unless its response has the policy FRAMED.
This module knows no page.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["FRAMED", "HEADERS", "MOST_HEADER_BYTES", "MOST_TARGET_BYTES", "Guarded"]

MOST_TARGET_BYTES: Final = 4_096  # of path and query
MOST_HEADER_BYTES: Final = 16_384
_POLICY: Final = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors "
)
FRAMED: Final = f"{_POLICY}*"  # policy of a page that every site may frame
HEADERS: Final = {
    "Content-Security-Policy": f"{_POLICY}'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Guarded:
    """Middleware that adds HEADERS to every response and rejects requests that are too long."""

    def __init__(self, app: ASGIApp, refuse: Callable[[Scope, HTTPStatus], ASGIApp]) -> None:
        """Wrap an app.

        Args:
            app: App that answers acceptable requests.
            refuse: Returns the app that rejects a request with the given status.
        """
        self._app = app
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        app = self._app
        if status := _too_long(scope):
            app = self._refuse(scope, status)
        await app(scope, receive, _with_headers(send))


def _too_long(scope: Scope) -> HTTPStatus | None:
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_TARGET_BYTES:
        return HTTPStatus.REQUEST_URI_TOO_LONG
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEADER_BYTES:
        return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    return None


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            is_framed = headers.get("Content-Security-Policy") == FRAMED
            for name, value in HEADERS.items():
                if not (is_framed and name == "X-Frame-Options"):
                    headers.setdefault(name, value)
        await send(message)

    return sending
