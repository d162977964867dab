"""The HTTP server of the page: uvicorn on a socket, with time limits and an orderly stop.

This module knows no page and no league.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from cutpurse.process.open_files import allow_files
from cutpurse.process.signals import ends

__all__ = ["serve_page"]

MOST_HEAD_BYTES: Final = 65_536  # maximum size of a request's head
MOST_CONNECTIONS: Final = 2_000  # further connections get 503
KEEP_ALIVE_S: Final = 20
HEAD_S: Final = 10.0  # for a request's head, from the start of the connection or the head's first byte
STOP_S: Final = 2  # for open responses, after the stop
# Threads that build downloads hold Python's lock for this long at most before the event loop gets it. At Python's
# default of 0.005 the first page takes twice as long beside downloads (300 and 600 ms; `make siege`).
SWITCH_S: Final = 0.0005


def serve_page(
    app: ASGIApp,
    listening: socket.socket,
    is_over: Callable[[], bool] = lambda: False,
    end_streams: Callable[[], object] = lambda: None,
) -> None:
    """Serve an app until SIGTERM, SIGHUP, Ctrl-C, or until `is_over` returns True.

    Args:
        app: App that answers the requests.
        listening: Listening socket.
        is_over: Called twice per second; True stops the server.
        end_streams: Called on the event loop at the stop. It must end all endless responses; otherwise uvicorn waits
            for them, cuts them off and logs errors.
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
    sys.setswitchinterval(SWITCH_S)
    asyncio.run(_serve(_Server(config, end_streams), listening, is_over))


class _Server(uvicorn.Server):
    """A uvicorn server that ends normally on a signal; uvicorn itself would raise the signal again."""

    def __init__(self, config: uvicorn.Config, end_streams: Callable[[], object]) -> None:
        super().__init__(config)
        self._end_streams = end_streams

    def end(self) -> None:
        """Stop serving."""
        self._end_streams()
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop serving on a signal; a second Ctrl-C does not wait for open responses."""
        self._end_streams()
        super().handle_exit(sig, frame)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals that end a command while the block runs."""
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
    """A connection with a time limit for each request's head.

    Without it, silent connections could use up MOST_CONNECTIONS and keep out all readers.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit of the first head."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(HEAD_S, transport.close)

    def data_received(self, data: bytes) -> None:
        """Process bytes from the client. The time limit runs from the first byte of a head to its last."""
        try:
            super().data_received(data)
        except h11.ProtocolError:  # the client sent bytes where none are allowed, during a response
            self.transport.close()
        if self.conn.their_state is not h11.IDLE:
            self._cancel()
        elif self._timer is None:  # the head is incomplete
            self._timer = self.loop.call_later(HEAD_S, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time limit."""
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
