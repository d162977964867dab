"""`cutpurse web`: the page for spectators, of a server or of a database file, until it is stopped by a signal."""

from __future__ import annotations

import socket
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from cutpurse.cli.league_options import Authority, Database, Server
from cutpurse.cli.progress import Spinner
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_message
from cutpurse.sdk.matches.record_league import record_league
from cutpurse.wire.connection import dialling
from cutpurse.wire.errors import needs
from cutpurse.wire.league import League, league_at
from cutpurse.wire.server_address import server_address

__all__ = ["REACHED", "USUAL_ADDRESS", "web"]

USUAL_ADDRESS: Final = "127.0.0.1:7780"
PATIENCE_S: Final = 5.0  # seconds to wait for an answer of the server
REACHED: Final = "other machines can read it, without TLS: it shows what is public; to sign in takes a TLS proxy"


def web(
    records: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Show the matches of this file, as `cutpurse play --record` writes one."),
    ] = None,
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
    people: Annotated[int, typer.Option("--people", hidden=True)] = 0,  # who may play, as `serve --people`
    people_share: Annotated[int, typer.Option("--people-per-address", hidden=True)] = 0,  # 0 means half
    house: Annotated[str, typer.Option("--house", hidden=True)] = "",  # their opponents
    file: Annotated[int | None, typer.Option("--socket", hidden=True)] = None,  # a listening socket; see `hosting.page`
    parent: Annotated[int | None, typer.Option("--parent", hidden=True)] = None,  # exit when this process does
) -> None:
    """Serve the page for spectators: ladders, bots, matches, replays and live matches.

    It shows what is public. Owners sign in there for what is theirs, over TLS or on this machine. The page may run on
    another machine than the server, or beside it with `cutpurse serve --web`.

    Example: cutpurse web --db league.db

    Example: cutpurse web matches.jsonl
    """
    with needs("server"), needs("web"):
        from cutpurse.page.account.calls import Accounts
        from cutpurse.page.app import create_app, end_streams
        from cutpurse.page.league_client import Asking
        from cutpurse.page.seat.seats import PageSeats
        from cutpurse.page.serving import serve_page
        from cutpurse.page.watchdog import ServerWatchdog
        from cutpurse.server.logs import capture_library_logs, logger
    if reconnect_timeout is not None and not 0 < reconnect_timeout < float("inf"):
        raise UsageError(f"--reconnect-timeout {reconnect_timeout:g}: it is a number of seconds above 0")
    capture_library_logs(logger(sys.stderr))
    with _league(records, server, ca, db) as league:
        is_live = records is None and db is None
        if not is_live:
            Asking(league, live=False).ladders()  # fails early if there is no such file
        bots_dial = server_address(arena or server) if arena or is_live else ""
        with _socket(listen, file) as listening, ServerWatchdog(league, reconnect_timeout, parent=parent) as patience:
            seats = PageSeats(dialling(server, ca), people, house.split(","), people_share) if people else None
            # without the token of this process, which could be read on the way to some servers
            to = dialling(server, ca, as_stranger=True)
            accounts = Accounts(to) if is_live and to.is_confidential else None
            app = create_app(
                Asking(league, live=is_live), live=is_live, bots_dial=bots_dial, seats=seats, accounts=accounts
            )
            serve_page(app, listening, patience.is_over, partial(end_streams, app))


def _league(
    records: Path | None, server: str | None, ca: Path | None, db: str | None
) -> AbstractContextManager[League]:
    """Open the league to show: that of a file of matches, of a database, or of a server."""
    if records is None:
        return league_at(server, ca, db, PATIENCE_S, as_stranger=True)
    if server is not None or db is not None:
        raise UsageError(f"{records} is a file of matches, --server and --db are for leagues: name one of them")
    with Spinner(f"reading {records}"):
        return nullcontext(record_league(records))


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
