"""Large files, of which few are made at a time: all others who want one are told to come again.

Each is made while it is sent, page by page from the league, and would slow the pages down for everybody if many were
made at once. A reader who takes nothing for a while is let go. This module knows no file.
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
UNREAD_S: Final = 20.0  # that a reader may leave a piece untaken


class Downloads:
    """The downloads of an app."""

    def __init__(self, unread_s: float = UNREAD_S) -> None:
        """Let readers leave a piece untaken for `unread_s` seconds."""
        self._unread_s = unread_s
        self._lock = threading.Lock()
        self._count = 0

    def response(
        self, pieces: Callable[[], Iterator[bytes]], media_type: str, headers: Mapping[str, str]
    ) -> StreamingResponse:
        """Return the answer that sends a file; on any thread.

        Args:
            pieces: Returns the pieces of the file. What goes wrong in this call is raised.
            media_type: Kind of the file.
            headers: Further headers.

        Raises:
            HTTPException: 503, if as many are sent already as may be.
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
    """A file that is being sent; `over` is called once, however it ends."""

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
        """See `StreamingResponse`."""

        async def sending(message: Message) -> None:
            async with asyncio.timeout(self._unread_s):
                await send(message)

        try:
            await super().__call__(scope, receive, sending)
        finally:
            self._over()
