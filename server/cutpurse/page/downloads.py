"""Downloads of large files, few at a time; further requests get 503.

Each file is generated while it is sent, page by page from the league. Many at once would slow down all pages. A client
that stops reading is disconnected. This module knows no file.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Final

from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

__all__ = ["MAX_AT_ONCE", "Downloads"]

MAX_AT_ONCE: Final = 2
UNREAD_S: Final = 20.0  # maximum time for a client to accept a piece


class Downloads:
    """The downloads of an app."""

    def __init__(self, unread_s: float = UNREAD_S) -> None:
        """Set the maximum time, in seconds, for a client to accept a piece."""
        self._unread_s = unread_s
        self._lock = threading.Lock()
        self._count = 0

    def response(
        self, pieces: Callable[[], Iterator[bytes]], media_type: str, headers: Mapping[str, str]
    ) -> StreamingResponse:
        """Return a response that sends a file. Thread-safe.

        Args:
            pieces: Returns the pieces of the file; its errors are raised to the caller.
            media_type: Media type of the file.
            headers: Additional response headers.

        Raises:
            HTTPException: 503, if `MAX_AT_ONCE` downloads are running.
        """
        with self._lock:
            if self._count >= MAX_AT_ONCE:
                text = f"{MAX_AT_ONCE} tables are being downloaded already; try again in a few seconds."
                raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, text)
            self._count += 1
        try:
            return _Download(pieces(), media_type, headers, self._unread_s, self._over)
        except BaseException:
            self._over()
            raise

    def _over(self) -> None:
        with self._lock:
            self._count -= 1


class _Download(StreamingResponse):
    """A response that sends a file, and calls `over` once when it ends or fails."""

    def __init__(
        self,
        pieces: Iterator[bytes],
        media_type: str,
        headers: Mapping[str, str],
        unread_s: float,
        over: Callable[[], None],
    ) -> None:
        super().__init__(pieces, media_type=media_type, headers=headers)
        self._unread_s = unread_s
        self._over = over

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file; fail if the client does not accept a piece in time."""

        async def sending(message: Message) -> None:
            async with asyncio.timeout(self._unread_s):
                await send(message)

        try:
            await super().__call__(scope, receive, sending)
        finally:
            self._over()
