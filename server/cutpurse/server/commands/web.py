"""`cutpurse web`: the page for spectators, of a server or of a database file, until it is stopped by a signal."""

from __future__ import annotations

import socket
import sys
from functools import partial
from typing import Annotated, Final

import typer

from cutpurse.engine.errors import UsageError
from cutpurse.sdk.commands.league_options import Authority, Database, Server
from cutpurse.sdk.errors import needs
from cutpurse.sdk.online.server_address import server_address
from cutpurse.sdk.terminal import print_message

__all__ = ["REACHED", "USUAL_ADDRESS", "web"]

USUAL_ADDRESS: Final = "127.0.0.1:7780"
PATIENCE_S: Final = 5.0  # seconds to wait for an answer of the server
REACHED: Final = "other machines can read it, without TLS: it shows what is public, and nothing can be changed there"


def web(
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Address for browsers; port 0 means any free one.")
    ] = USUAL_ADDRESS,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    arena: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Address for bots that the page shows. [default: the server's]"),
    ] = None,
    reconnect_timeout: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Exit after this many seconds without an answer of the server. [default: never]",
        ),
    ] = None,
    file: Annotated[int | None, typer.Option("--socket", hidden=True)] = None,  # a listening socket; see `hosting.page`
    parent: Annotated[int | None, typer.Option("--parent", hidden=True)] = None,  # exit when this process does
) -> None:
    """Serve the page for spectators: ladders, bots, matches, replays and live matches.

    Everything on it is public and read-only; private ladders are not shown. It may run on another machine than the
    server, or beside it with `cutpurse serve --web`.

    Example: cutpurse web --db league.db
    """
    with needs("server"), needs("web"):
        from cutpurse.sdk.league import league_at
        from cutpurse.server.logs import capture_library_logs, logger
        from cutpurse.server.web.app import create_app, end_streams
        from cutpurse.server.web.league_client import Asking
        from cutpurse.server.web.serving import serve_page
        from cutpurse.server.web.watchdog import ServerWatchdog
    if reconnect_timeout is not None and not 0 < reconnect_timeout < float("inf"):
        raise UsageError(f"--reconnect-timeout {reconnect_timeout:g}: it is a number of seconds above 0")
    capture_library_logs(logger(sys.stderr))
    with league_at(server, ca, db, PATIENCE_S, as_stranger=True) as league:
        is_live = db is None
        if not is_live:
            Asking(league, live=False).ladders()  # fails early if there is no such file
        bots_dial = arena or (server_address(server) if is_live else "")
        with _socket(listen, file) as listening, ServerWatchdog(league, reconnect_timeout, parent=parent) as patience:
            app = create_app(Asking(league, live=is_live), live=is_live, bots_dial=bots_dial)
            serve_page(app, listening, patience.is_over, partial(end_streams, app))


def _socket(listen: str, file: int | None) -> socket.socket:
    """Return the socket for browsers; print its address unless another process passed it on."""
    from cutpurse.server.hosting.listen_address import is_local
    from cutpurse.server.hosting.page import listening_socket

    if file is not None:
        try:
            return socket.socket(fileno=file)
        except OSError:
            raise UsageError(f"--socket {file}: this is no socket") from None
    listening, address = listening_socket(listen)
    print_message(f"the page is at http://{address}/")
    if not is_local(listen):
        print_message(REACHED)
    return listening
