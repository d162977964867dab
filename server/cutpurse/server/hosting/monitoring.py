"""Monitoring pages over HTTP, on their own thread, so that they answer even if the server's event loop does not.

It implements as much of HTTP as probes and scrapers use: one GET or HEAD per connection. A slow or silent client is cut
off after a while, and at once when many others wait. This module knows no page; their content is passed in.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from types import TracebackType
from typing import Final, NamedTuple, Self, TypeAlias

from cutpurse.server.errors import CannotListen
from cutpurse.server.hosting.listen_address import cannot_listen, monitoring_address
from cutpurse.server.logs import Logger, traceback_locations

__all__ = ["Answer", "Page", "Monitoring"]

PATIENCE_S: Final = 5.0  # seconds for a whole connection
MOST: Final = 32  # maximum connections; the next one replaces the oldest
REQUEST_BYTES: Final = 8_192  # maximum bytes of a request's head


class Answer(NamedTuple):
    """The status, content and type of a page."""

    status: HTTPStatus
    body: bytes
    kind: str = "text/plain; charset=utf-8"


Page: TypeAlias = Callable[[], Awaitable[Answer]]


class Monitoring:
    """A server of pages by their path, until its `with` block is left. `address` is the one to request."""

    def __init__(self, address: str, pages: Mapping[str, Page], log: Logger, patience_s: float = PATIENCE_S) -> None:
        """Listen at HOST:PORT (port 0 means any free one).

        Raises:
            AddressError: If the address is invalid, or other machines could reach it.
            CannotListen: If the address is not available.
        """
        self._pages = pages
        self._log = log
        self._patience_s = patience_s
        parts = monitoring_address(address)
        try:
            family, _, _, _, where = socket.getaddrinfo(parts.host, parts.port, type=socket.SOCK_STREAM)[0]
            self._socket = socket.create_server(where[:2], family=family, backlog=MOST)
        except OSError as problem:
            raise cannot_listen(address, problem) from None
        self.address = str(replace(parts, port=self._socket.getsockname()[1]))
        self._open: dict[asyncio.Task[None], None] = {}  # oldest first
        self._begun: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="monitoring", daemon=True)

    def __enter__(self) -> Self:
        """Start the thread.

        Raises:
            CannotListen: If the system has no event loop for it.
        """
        self._thread.start()
        try:
            self._begun.result()
        except OSError as problem:
            self._socket.close()
            raise CannotListen(f"cannot listen on {self.address}: {problem.strerror}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    # -- the thread
    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as problem:
            if self._begun.done():
                raise
            self._begun.set_exception(problem)  # otherwise `__enter__` would never return

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connected, sock=self._socket, limit=REQUEST_BYTES, backlog=MOST)
        self._begun.set_result(None)
        await self._stop.wait()
        # asyncio may be about to pass on a connection, and would leave it open if the server were closed by then.
        self._loop.remove_reader(self._socket)
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in self._open:
                task.cancel()
            await asyncio.wait(others)
        server.close()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= MOST:
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.cancel()
        task = self._loop.create_task(self._talk(reader, writer))
        self._open[task] = None

        def end(task: asyncio.Task[None]) -> None:  # also called for a task that was cancelled before it began
            self._open.pop(task, None)
            writer.transport.abort()

        task.add_done_callback(end)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # What clients do to their own connections is not an error of the server.
        with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            async with asyncio.timeout(self._patience_s):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await self._response(head))
                writer.close()
                await writer.wait_closed()

    async def _response(self, head: bytes) -> bytes:
        """Return the response to a request; only its first line is read."""
        words = head.partition(b"\r\n")[0].split(b" ")
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            answer = Answer(HTTPStatus.BAD_REQUEST, b"this is no request of HTTP/1\n")
        elif words[0] not in (b"GET", b"HEAD"):
            answer = Answer(HTTPStatus.METHOD_NOT_ALLOWED, b"there are pages to GET, and nothing else\n")
        else:
            answer = await self._page(words[1].partition(b"?")[0].decode("ascii", "replace"))
        status, body, kind = answer
        lines = [
            f"HTTP/1.1 {status.value} {status.phrase}",
            f"Content-Type: {kind}",
            f"Content-Length: {len(body)}",
            "Connection: close",
            *(["Allow: GET, HEAD"] if status is HTTPStatus.METHOD_NOT_ALLOWED else []),
        ]
        head = "\r\n".join([*lines, "", ""]).encode()
        return head if words[0] == b"HEAD" else head + body

    async def _page(self, path: str) -> Answer:
        page = self._pages.get(path)
        if page is None:
            return Answer(
                HTTPStatus.NOT_FOUND, f"there is no such page; there are: {', '.join(self._pages)}\n".encode()
            )
        try:
            return await page()
        except Exception as problem:
            self._log.error("page broke", path=path, error=type(problem).__name__, places=traceback_locations(problem))
            return Answer(HTTPStatus.INTERNAL_SERVER_ERROR, b"the server made a fault; its log says more\n")
