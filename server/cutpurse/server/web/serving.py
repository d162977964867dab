"""The page over HTTP: uvicorn on a socket, and when to stop.

This module knows no page and no league.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Final

import uvicorn
from starlette.types import ASGIApp

__all__ = ["serve_page"]

MOST_HEAD_BYTES: Final = 65_536  # of a request that uvicorn reads at all
MOST_CONNECTIONS: Final = 2_000  # more are told 503
KEEP_ALIVE_S: Final = 20
STOP_S: Final = 2  # for readers of a stream, once it is over


def serve_page(app: ASGIApp, listening: socket.socket, is_over: Callable[[], bool] = lambda: False) -> None:
    """Answer requests until SIGTERM, Ctrl-C or `is_over`, which is asked about twice a second."""
    config = uvicorn.Config(
        app,
        http="h11",
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
    asyncio.run(_serve(_Server(config), listening, is_over))


class _Server(uvicorn.Server):
    """Ends in order when it is told to, as every command does, where uvicorn would raise the signal again."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """For as long as it serves."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)


async def _serve(server: _Server, listening: socket.socket, is_over: Callable[[], bool]) -> None:
    async def look() -> None:
        while not is_over():
            await asyncio.sleep(0.5)
        server.should_exit = True

    looking = asyncio.create_task(look())
    try:
        await server.serve(sockets=[listening])
    finally:
        looking.cancel()
