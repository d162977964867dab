"""The relays between hosted bots and the server: one socket per process, with limits that the bot can't avoid.

The bot sees only this socket. The relay forwards bytes unchanged, with a limit on connections and on bytes per second;
a call counts as many bytes. It refuses further connections. Bytes above the rate wait in the bot's own buffers, so they
cost the server nothing. This module knows only the frame headers of HTTP/2, and no token.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from cutpurse.server.limits import TokenBucket
from cutpurse.server.logs import Logger

__all__ = ["AT_ONCE_BYTES", "BYTES_PER_S", "CALL_BYTES", "MAX_CONNECTIONS", "CallCount", "Relay"]

MAX_CONNECTIONS: Final = 4  # at once; a bot needs one, and a second while the first is closed for its age
CONNECTIONS_PER_S: Final = 4.0  # accepted or refused; further ones wait
CONNECTIONS_AT_ONCE: Final = 16  # burst of the token bucket
BACKLOG: Final = 8
BYTES_PER_S: Final = 262_144  # from all connections of a bot together; enough for thousands of answers
AT_ONCE_BYTES: Final = 1_048_576  # burst of the token bucket
CALL_BYTES: Final = 16_384  # cost of a call in bytes, so 16 calls per second, and 64 at once
TO_SERVER_BYTES: Final = 4_096  # read at once; small, so that it has few calls
TO_BOT_BYTES: Final = 65_536  # read at once
REFUSED_S: Final = 1.0  # that a refused connection stays open, so that its first bytes do not fail before it reads why
AGAIN_S: Final = 1.0  # before the next attempt, after the system had no file descriptor left

# HTTP/2 (RFC 9113)
PREFACE_BYTES: Final = 24
HEADER_BYTES: Final = 9
HEADERS: Final = 1

# gRPC libraries report this HTTP/1.1 status and reconnect with backoff. An HTTP/2 refusal would first establish the
# connection, so they would reconnect at once, without end.
REFUSAL: Final = (
    "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n"
    f"a bot that the server runs has {MAX_CONNECTIONS} connections at a time; use one for all calls\n"
).encode()


class CallCount:
    """A counter of the calls that a client begins on one connection, from the bytes that it sends."""

    __slots__ = ("_header", "_skip")

    def __init__(self) -> None:
        self._skip = PREFACE_BYTES  # bytes until the next frame
        self._header = b""  # the part of that frame's header received so far

    def count(self, data: bytes) -> int:
        """Return the number of calls that begin in the next bytes of the connection."""
        calls = at = 0
        while at < len(data):
            if self._skip:
                skipped = min(self._skip, len(data) - at)
                self._skip -= skipped
                at += skipped
                continue
            missing = HEADER_BYTES - len(self._header)
            self._header += data[at : at + missing]
            at += missing
            if len(self._header) == HEADER_BYTES:
                calls += self._header[3] == HEADERS
                self._skip = int.from_bytes(self._header[:3], "big")
                self._header = b""
        return calls


class Relay:
    """The socket of one process of a bot. Create and close it on any thread; it works on the event loop."""

    def __init__(self, path: Path, server: Path, loop: asyncio.AbstractEventLoop, log: Logger, *, bot: str) -> None:
        """Open the socket and listen.

        Args:
            path: Path of the bot's socket.
            server: Path of the socket on which the server listens for hosted bots.
            loop: Event loop that forwards the bytes.
            log: Server log; it gets one line for each limit that the bot reaches.
            bot: Name of the bot in these lines.

        Raises:
            OSError: If the system refuses the socket.
        """
        self._server = str(server)
        self._loop = loop
        self._log = log
        self._bot = bot
        self._connections = 0
        self._accepts = TokenBucket(CONNECTIONS_PER_S, CONNECTIONS_AT_ONCE, 0.0)
        self._bytes = TokenBucket(BYTES_PER_S, AT_ONCE_BYTES, 0.0)
        self._bounds_met: set[str] = set()
        self._serving: asyncio.Task[None] | None = None
        self._is_closed = False
        self._changing = threading.Lock()  # for the two above
        self._listening = socket.socket(socket.AF_UNIX)
        try:
            self._listening.setblocking(False)
            self._listening.bind(str(path))
            path.chmod(0o666)  # safe: only the server may enter the folder above the socket's folder
            self._listening.listen(BACKLOG)
        except OSError:
            self._listening.close()
            raise
        loop.call_soon_threadsafe(self._begin)

    def close(self) -> None:
        """Close all connections of the bot, and accept no more."""
        with self._changing:
            self._is_closed = True
            serving = self._serving
        if serving is None:  # and none will begin, even if the loop never comes to `_begin`
            self._listening.close()
            return
        with suppress(RuntimeError):  # the loop is closed, and all its tasks have ended
            self._loop.call_soon_threadsafe(serving.cancel)

    def _begin(self) -> None:
        with self._changing:
            if self._is_closed:
                return
            self._serving = self._loop.create_task(self._serve())
        # not by the task itself: one that is cancelled before its first step runs no line of its own
        self._serving.add_done_callback(lambda _: self._listening.close())

    async def _serve(self) -> None:
        async with asyncio.TaskGroup() as connections:
            while True:
                try:
                    bot = self._listening.accept()[0]
                except BlockingIOError:
                    await self._dialled()
                    continue
                except OSError:
                    await asyncio.sleep(AGAIN_S)
                    continue
                bot.setblocking(False)
                if self._connections < MAX_CONNECTIONS:
                    self._connections += 1
                    carrying = connections.create_task(self._carry(bot))
                    carrying.add_done_callback(partial(self._hang_up, bot))  # as above, not by the task itself
                else:
                    refusing = connections.create_task(self._refuse(bot))
                    refusing.add_done_callback(partial(self._close, bot))
                await self._wait(self._accepts.take(self._loop.time()), "connections a second")

    async def _dialled(self) -> None:
        """Wait for a connection. `loop.sock_accept` would lose one that comes when the task is cancelled."""
        dialled = asyncio.Event()
        self._loop.add_reader(self._listening, dialled.set)
        try:
            await dialled.wait()
        finally:
            self._loop.remove_reader(self._listening)

    async def _refuse(self, bot: socket.socket) -> None:
        self._note("connections at once")
        with suppress(OSError):
            bot.send(REFUSAL)
            bot.shutdown(socket.SHUT_WR)
            await asyncio.sleep(REFUSED_S)

    def _hang_up(self, bot: socket.socket, carrying: asyncio.Task[None]) -> None:
        self._connections -= 1
        self._close(bot, carrying)

    def _close(self, bot: socket.socket, task: asyncio.Task[None]) -> None:
        bot.close()

    async def _carry(self, bot: socket.socket) -> None:
        """Forward bytes both ways until one side disconnects."""
        try:
            with socket.socket(socket.AF_UNIX) as server:
                server.setblocking(False)
                await self._loop.sock_connect(server, self._server)
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._to_server(bot, server))
                    both.create_task(self._to_bot(server, bot))
        except* (OSError, EOFError):
            pass

    async def _to_server(self, bot: socket.socket, server: socket.socket) -> None:
        calls = CallCount()
        while data := await self._loop.sock_recv(bot, TO_SERVER_BYTES):
            cost = len(data) + CALL_BYTES * calls.count(data)
            await self._wait(self._bytes.take(self._loop.time(), cost), "bytes and calls a second")
            await self._loop.sock_sendall(server, data)
        raise EOFError

    async def _to_bot(self, server: socket.socket, bot: socket.socket) -> None:
        while data := await self._loop.sock_recv(server, TO_BOT_BYTES):
            await self._loop.sock_sendall(bot, data)
        raise EOFError

    async def _wait(self, seconds: float, bound: str) -> None:
        if seconds > 0:
            self._note(bound)
            await asyncio.sleep(seconds)

    def _note(self, bound: str) -> None:
        """Log that the bot has reached a limit, once per limit."""
        if bound not in self._bounds_met:
            self._bounds_met.add(bound)
            self._log.warning("resident held back", bot=self._bot, bound=bound)
