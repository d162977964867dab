"""The way from a bot that the server runs to the server: a socket of its own, with bounds that it cannot go around.

The bot sees this socket only. Bytes are carried as they are, from few connections, and only so many a second; a call
counts as many bytes. A connection beyond the bound is refused. What is beyond the rate waits in the bot's own buffers,
so it costs the server nothing. This module knows of HTTP/2 where frames begin, and no token.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from pathlib import Path
from typing import Final

from cutpurse.server.limits import TokenBucket
from cutpurse.server.logs import Logger

__all__ = ["AT_ONCE_BYTES", "BYTES_PER_S", "CALL_BYTES", "MAX_CONNECTIONS", "CallCount", "Relay"]

MAX_CONNECTIONS: Final = 4  # at once: a bot needs one, and a second while the first is ended for its age
CONNECTIONS_PER_S: Final = 4.0  # that are taken or refused; others wait
CONNECTIONS_AT_ONCE: Final = 16
BACKLOG: Final = 8
BYTES_PER_S: Final = 262_144  # from all connections of a bot together: thousands of answers
AT_ONCE_BYTES: Final = 1_048_576
CALL_BYTES: Final = 16_384  # that a call counts as: so 16 a second, and 64 at once
TO_SERVER_BYTES: Final = 4_096  # that are looked at together: few calls fit in
TO_BOT_BYTES: Final = 65_536
AGAIN_S: Final = 1.0  # after the system had no descriptor left

# Of HTTP/2 (RFC 9113).
PREFACE_BYTES: Final = 24
HEADER_BYTES: Final = 9
HEADERS: Final = 1

# Libraries of gRPC show this status and wait before they dial again. After frames of HTTP/2, which say that the
# connection was good before they end it, they dial again at once and for ever.
REFUSAL: Final = (
    "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n"
    f"a bot that the server runs has {MAX_CONNECTIONS} connections at a time; use one for all calls\n"
).encode()


class CallCount:
    """How many calls a client begins, counted from the bytes that it sends on one connection."""

    __slots__ = ("_header", "_skip")

    def __init__(self) -> None:
        self._skip = PREFACE_BYTES  # until the next frame
        self._header = b""  # of that, so far

    def count(self, data: bytes) -> int:
        """Count the frames that begin a call in the bytes that come next."""
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
    """The socket of one process of a bot. May be made and closed on any thread; the rest happens on the event loop."""

    def __init__(self, path: Path, server: Path, loop: asyncio.AbstractEventLoop, log: Logger, *, bot: str) -> None:
        """Listen.

        Args:
            path: Where the bot finds its socket.
            server: Where the server listens for the bots that it runs.
            loop: The event loop that carries bytes.
            log: Gets one line for each bound that the bot meets.
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
        self._listening = socket.socket(socket.AF_UNIX)
        try:
            self._listening.setblocking(False)
            self._listening.bind(str(path))
            path.chmod(0o666)  # the folder around its folder is the server's alone
            self._listening.listen(BACKLOG)
        except OSError:
            self._listening.close()
            raise
        loop.call_soon_threadsafe(self._begin)

    def close(self) -> None:
        """End all connections of the bot; no others are taken."""
        try:
            self._loop.call_soon_threadsafe(self._end)
        except RuntimeError:  # the loop is closed, and has ended them
            self._listening.close()

    def _begin(self) -> None:
        self._serving = self._loop.create_task(self._serve())

    def _end(self) -> None:
        if self._serving is not None:
            self._serving.cancel()

    async def _serve(self) -> None:
        with self._listening:
            async with asyncio.TaskGroup() as connections:
                while True:
                    try:
                        bot, _ = await self._loop.sock_accept(self._listening)
                    except OSError:
                        await asyncio.sleep(AGAIN_S)
                        continue
                    if self._connections < MAX_CONNECTIONS:
                        self._connections += 1
                        connections.create_task(self._carry(bot))
                    else:
                        self._refuse(bot)
                    await self._wait(self._accepts.take(self._loop.time()), "connections a second")

    def _refuse(self, bot: socket.socket) -> None:
        self._note("connections at once")
        with bot, suppress(OSError):
            bot.send(REFUSAL)

    async def _carry(self, bot: socket.socket) -> None:
        """Carry bytes both ways until one side is gone."""
        try:
            with bot, socket.socket(socket.AF_UNIX) as server:
                server.setblocking(False)
                await self._loop.sock_connect(server, self._server)
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._to_server(bot, server))
                    both.create_task(self._to_bot(server, bot))
        except* (OSError, EOFError):
            pass
        finally:
            self._connections -= 1

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
        """Log that the bot met a bound, once for each."""
        if bound not in self._bounds_met:
            self._bounds_met.add(bound)
            self._log.warning("resident held back", bot=self._bot, bound=bound)
