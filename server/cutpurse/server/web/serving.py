"""The page over HTTP: a socket, uvicorn on it, and when to stop.

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

from cutpurse.server.address import checked
from cutpurse.server.errors import AddressError, CannotListen

__all__ = ["listening_socket", "serve_page"]

MOST_HEAD_BYTES: Final = 65_536  # of a request that uvicorn reads at all
MOST_CONNECTIONS: Final = 2_000  # more are told 503
KEEP_ALIVE_S: Final = 20
STOP_S: Final = 2  # for readers of a stream, once it is over
BACKLOG: Final = 256


def listening_socket(address: str) -> tuple[socket.socket, str]:
    """A socket at HOST:PORT (port 0: any that is free), and its address as it can be asked.

    Raises AddressError for what is no such address, CannotListen for one that cannot be had.
    """
    if checked(address, may_be_reached=True).startswith("unix:"):
        raise AddressError(f"{address!r:.80} cannot be asked over HTTP; it can be HOST:PORT, as 127.0.0.1:7780")
    host, _, port = address.rpartition(":")
    try:
        family, _, _, _, where = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(where[:2], family=family, backlog=BACKLOG)
    except OSError:
        raise CannotListen(
            f"cannot listen on {address}: another program does, or the system does not allow it"
        ) from None
    return listening, f"{host}:{listening.getsockname()[1]}"


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
