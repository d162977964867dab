"""A small HTTP/1.1 client for clients by the hundred, in one process: it costs the measured machine little."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

__all__ = ["HttpAnswer", "HttpConnection", "ServerEvent", "server_events"]

PATIENCE_S: Final = 30.0
LINE_BYTES: Final = 1 << 22  # maximum length of a line; an event has a whole table in one


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer: its status, its headers in lower case, and its body as it was sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """A server-sent event."""

    kind: str
    data: str


class HttpConnection:
    """A connection that is kept for the next request, as a browser does. One request at a time."""

    def __init__(self, page: str) -> None:
        """Set up a connection to a page, http://HOST:PORT, that is opened by the first request."""
        self._where = urlsplit(page)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, path: str, headers: Mapping[str, str] | None = None, form: str | None = None) -> HttpAnswer:
        """Send a GET, or with `form` a POST, and return the answer.

        Raises:
            OSError: If there is no answer.
        """
        for is_again in (False, True):
            is_new = self._streams is None
            try:
                async with asyncio.timeout(PATIENCE_S):
                    return await self._sent(path, headers or {}, form)
            except (OSError, EOFError, TimeoutError) as problem:
                await self.close()
                if is_new or is_again:  # else the server had closed a connection that was idle
                    raise OSError(f"{path}: {type(problem).__name__} {problem}") from None
        raise AssertionError("two attempts end above")

    async def _sent(self, path: str, headers: Mapping[str, str], form: str | None) -> HttpAnswer:
        if self._streams is None:
            self._streams = await opened(self._where.hostname, self._where.port)
        reader, writer = self._streams
        writer.write(request_bytes(self._where.netloc, path, headers, form))
        answer = await answer_head(reader)
        body = b""
        if answer.headers.get("transfer-encoding") == "chunked":
            while size := int(await reader.readline(), 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readline()
        elif length := int(answer.headers.get("content-length", "0")):
            body = await reader.readexactly(length)
        if answer.headers.get("connection") == "close":
            await self.close()
        return HttpAnswer(answer.status, answer.headers, body)

    async def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            (_, writer), self._streams = self._streams, None
            await closed(writer)


async def opened(host: str | None, port: int | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a connection.  Raises OSError."""
    return await asyncio.open_connection(host, port, limit=LINE_BYTES)


async def closed(writer: asyncio.StreamWriter) -> None:
    """Close a connection, which may be broken."""
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


def request_bytes(host: str, path: str, headers: Mapping[str, str], form: str | None = None) -> bytes:
    """Return the bytes of a request."""
    sent = {"Host": host, **headers}
    if form is not None:
        sent |= {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(form))}
    lines = "".join([f"{name}: {value}\r\n" for name, value in sent.items()])
    return f"{'GET' if form is None else 'POST'} {path} HTTP/1.1\r\n{lines}\r\n{form or ''}".encode()


async def answer_head(reader: asyncio.StreamReader) -> HttpAnswer:
    """Read status and headers of an answer.  Raises OSError or EOFError."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
    headers = {name.lower(): value.strip() for name, _, value in [line.partition(":") for line in lines if line]}
    return HttpAnswer(int(first.split()[1]), headers, b"")


async def server_events(page: str, path: str, headers: Mapping[str, str]) -> AsyncGenerator[ServerEvent, None]:
    """Yield the events of a stream until the server ends it.

    Raises:
        OSError: If the page refuses it.
        EOFError: If it breaks off.
    """
    where = urlsplit(page)
    reader, writer = await opened(where.hostname, where.port)
    try:
        writer.write(request_bytes(where.netloc, path, {**headers, "Accept": "text/event-stream"}))
        head = await answer_head(reader)
        if head.status != 200:
            raise OSError(f"{path}: status {head.status}")
        kind, data, rest = "", "", b""
        while size := int(await reader.readline(), 16):
            rest += (await reader.readexactly(size + 2))[:-2]
            *lines, rest = rest.split(b"\n")
            for line in lines:
                name, _, value = line.removesuffix(b"\r").decode().partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    data = value
                elif not name and data:
                    yield ServerEvent(kind, data)
                    kind, data = "", ""
    finally:
        await closed(writer)
