"""The page over HTTP: uvicorn on a socket, and when to stop.

This module knows no page and no league.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from cutpurse.sdk.signals import ends
from cutpurse.server.open_files import allow_files

__all__ = ["serve_page"]

MOST_HEAD_BYTES: Final = 65_536  # of a request that uvicorn reads at all
MOST_CONNECTIONS: Final = 2_000  # more are told 503
KEEP_ALIVE_S: Final = 20
HEAD_S: Final = 10.0  # for a request's head, from the connection or its first byte on
STOP_S: Final = 2  # for readers of a stream, once it is over


def serve_page(
    app: ASGIApp,
    listening: socket.socket,
    is_over: Callable[[], bool] = lambda: False,
    end_streams: Callable[[], object] = lambda: None,
) -> None:
    """Answer requests until SIGTERM, SIGHUP, Ctrl-C or `is_over`, which is asked about twice a second.

    end_streams: called on the event loop as soon as that is so; answers that have no end of their own then have one, or
    they would be waited for, cut off, and told of as errors.
    """
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=STOP_S,
    )
    allow_files(2 * MOST_CONNECTIONS)
    asyncio.run(_serve(_Server(config, end_streams), listening, is_over))


class _Server(uvicorn.Server):
    """Ends in order when it is told to, as every command does, where uvicorn would raise the signal again."""

    def __init__(self, config: uvicorn.Config, end_streams: Callable[[], object]) -> None:
        super().__init__(config)
        self._end_streams = end_streams

    def end(self) -> None:
        """Nobody has to be served any more."""
        self._end_streams()
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle a signal; the second Ctrl-C does not wait for answers."""
        self._end_streams()
        super().handle_exit(sig, frame)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """For as long as it serves."""
        loop = asyncio.get_running_loop()
        is_main = threading.current_thread() is threading.main_thread()
        numbers = (signal.SIGINT, *ends()) if is_main else ()
        for number in numbers:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)


class _Protocol(H11Protocol):
    """A connection whose requests have to come in time: else a few that say nothing would keep out everybody."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Note a connection."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(HEAD_S, transport.close)

    def data_received(self, data: bytes) -> None:
        """Take some bytes."""
        try:
            super().data_received(data)
        except h11.ProtocolError:  # more came where nothing may, while an answer was being sent
            self.transport.close()
        if self.conn.their_state is not h11.IDLE:
            self._cancel()
        elif self._timer is None:  # a part of a head
            self._timer = self.loop.call_later(HEAD_S, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is gone."""
        super().connection_lost(exc)
        self._cancel()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


async def _serve(server: _Server, listening: socket.socket, is_over: Callable[[], bool]) -> None:
    async def look() -> None:
        while not is_over():
            await asyncio.sleep(0.5)
        server.end()

    looking = asyncio.create_task(look())
    try:
        await server.serve(sockets=[listening])
    finally:
        looking.cancel()
