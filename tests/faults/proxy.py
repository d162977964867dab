"""A proxy between one bot and a server that can fail: it forwards, holds, swallows or cuts bytes.

Each bot has its own proxy with its own address, so that a test can choose which bot's connection fails. A proxy does
not know messages; a cut can come in the middle of one.
"""

from __future__ import annotations

import asyncio
import contextlib
from enum import Enum
from pathlib import Path
from typing import Final

__all__ = ["DOWN", "UP", "Hurt", "Line", "Proxy"]

UP: Final = 0  # from the bot
DOWN: Final = 1
CHUNK: Final = 65_536

CUT_S: Final = 10.0  # maximum wait of a cut for its byte

_Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Hurt(Enum):
    """The ways in which a connection can fail; each except HOLD ends it."""

    CUT = "cut"
    CUT_AT_BYTE = "cut at a byte"
    HOLD = "held in one direction"
    SWALLOW = "swallowed"
    SERVER_LATE = "the server learns late"
    BOT_LATE = "the bot learns late"


class Line:
    """One connection through a proxy."""

    def __init__(self, bot: _Ends, server: _Ends) -> None:
        self.passed = [0, 0]  # bytes, up and down
        self.is_swallowing = False
        self.over = asyncio.Event()
        self.cut_at: list[int | None] = [None, None]  # cut after this many bytes, by direction
        self._readers = (bot[0], server[0])
        self._writers = (server[1], bot[1])
        self._flows = (asyncio.Event(), asyncio.Event())
        for flow in self._flows:
            flow.set()

    async def run(self) -> None:
        """Forward bytes until either side ends."""
        pumps = [asyncio.create_task(self._pump(way)) for way in (UP, DOWN)]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            self.cut()
            self.over.set()

    async def _pump(self, way: int) -> None:
        reader, writer = self._readers[way], self._writers[way]
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(CHUNK):
                await self._flows[way].wait()
                self.passed[way] += len(data)
                if self.is_swallowing:
                    continue
                limit = self.cut_at[way]
                if limit is not None and self.passed[way] >= limit:
                    writer.write(data[: len(data) - (self.passed[way] - limit)])
                    break
                writer.write(data)
                await writer.drain()
        for flow in self._flows:  # the end of a direction is held as well
            await flow.wait()

    def cut(self) -> None:
        """Abort both directions now, even in the middle of a message."""
        for way in (UP, DOWN):
            self.end(way)

    def end(self, way: int) -> None:
        """Abort the connection to the server (UP) or to the bot (DOWN); the other side is not informed."""
        with contextlib.suppress(RuntimeError, OSError):
            self._writers[way].transport.abort()

    def swallow(self) -> None:
        """Drop all further bytes silently."""
        self.is_swallowing = True

    def hold(self, way: int) -> None:
        """Hold all bytes of this direction until `go_on`."""
        self._flows[way].clear()

    def go_on(self) -> None:
        """Forward the held bytes."""
        for flow in self._flows:
            flow.set()

    async def hurt(self, how: Hurt, way: int, seconds: float, count: int) -> None:
        """Let the connection fail, for `seconds` or after `count` bytes, depending on the kind."""
        match how:
            case Hurt.CUT_AT_BYTE:
                self.cut_at[way] = self.passed[way] + count
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.over.wait(), CUT_S)
            case Hurt.HOLD:
                self.hold(way)
            case Hurt.SWALLOW:
                self.swallow()
            case Hurt.SERVER_LATE:
                self.hold(UP)
                self.end(DOWN)
            case Hurt.BOT_LATE:
                self.hold(DOWN)
                self.end(UP)
        if how not in (Hurt.CUT, Hurt.CUT_AT_BYTE):
            await asyncio.sleep(seconds)
            self.go_on()
        if how is not Hurt.HOLD:
            self.cut()


class Proxy:
    """A proxy on a unix socket; use it as `async with Proxy(path, "127.0.0.1:7777") as proxy`."""

    def __init__(self, path: Path, server: str) -> None:
        self.address = f"unix:{path}"
        self.lines: list[Line] = []  # open connections
        self.dialled = 0
        self._path = path
        host, _, port = server.rpartition(":")
        self._server = host, int(port)
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Proxy:
        self._listening = await asyncio.start_unix_server(self._accept, self._path)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def line(self) -> Line | None:
        """The newest open connection, if any."""
        return self.lines[-1] if self.lines else None

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            server = await asyncio.open_connection(*self._server)
        except OSError:
            writer.transport.abort()
            return
        line = Line((reader, writer), server)
        self.dialled += 1
        self.lines.append(line)
        try:
            await line.run()
        finally:
            self.lines.remove(line)
