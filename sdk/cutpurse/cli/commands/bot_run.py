"""`cutpurse bot run`: a bot plays on a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cutpurse.cli.arguments import AsJson, run_bots_in
from cutpurse.cli.completion import complete_bots, complete_games, complete_ladders
from cutpurse.engine.errors import UsageError
from cutpurse.process.signals import run_async
from cutpurse.process.terminal import print_json
from cutpurse.wire.errors import BOT_FAILED
from cutpurse.wire.server_address import CA_VARIABLE, DEFAULT_SERVER, SERVER_VARIABLE, TRUST_VARIABLE

if TYPE_CHECKING:
    from cutpurse.sdk.run import PlayedMatch

__all__ = ["run"]


def run(
    context: typer.Context,
    bot: Annotated[
        str,
        typer.Argument(
            metavar="BOT", help="Name of a built-in bot, my_bot.py, or my_bot.py:MyBot.", autocompletion=complete_bots
        ),
    ],
    server: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help=f"host:port, https://host:port or unix:/path. [default: ${SERVER_VARIABLE}, or {DEFAULT_SERVER}]",
        ),
    ] = None,
    ca: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"Certificates to trust, PEM. [default: ${CA_VARIABLE}, or the system's]"),
    ] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            help=f"Another host of the league, which may get the token (repeatable). [default: ${TRUST_VARIABLE}]",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name in the rankings. [default: name of the class or file]")
    ] = None,
    version: Annotated[
        str, typer.Option(metavar="VERSION", help="Version; each has its own entry in the rankings.")
    ] = "1",
    game: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GAME",
            help="Game to play (repeatable). [default: every game]",
            autocompletion=complete_games,
        ),
    ] = None,
    ladder: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LADDER",
            help="Ladder to play on (repeatable). [default: every ladder of its games]",
            autocompletion=complete_ladders,
        ),
    ] = None,
    tables: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Maximum simultaneous matches. [default: as many as the bot is fast enough for]"
        ),
    ] = None,
    first_tables: Annotated[int, typer.Option("--first-tables", hidden=True)] = 1,  # before its speed is known
    matches: Annotated[
        int | None, typer.Option(metavar="N", help="Leave after this many matches. [default: never]")
    ] = None,
    reconnect_timeout: Annotated[
        float | None,
        typer.Option(
            metavar="S", help="Seconds to keep reconnecting. [default: 10 for the first connection, then no limit]"
        ),
    ] = None,
    send_output: Annotated[
        bool,
        typer.Option(
            "--send-output", help="Store what the bot prints on the server; only you can read it, with `bot logs`."
        ),
    ] = False,
    decline_requests: Annotated[
        bool, typer.Option("--decline-requests", help="Refuse matches that other owners request.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no line per match.")] = False,
    as_json: AsJson = False,
) -> None:
    """Play on a server until stopped. Ctrl-C finishes open matches first; a second Ctrl-C exits at once.

    If the server needs a token, it is read from CUTPURSE_TOKEN, or from the file ~/.config/cutpurse/token, which only
    you may be able to read.

    Example: cutpurse bot run my_bot.py --ladder greed
    """
    from cutpurse.sdk.run import connect  # imported late, for a quick `cutpurse games`

    if reconnect_timeout is not None and reconnect_timeout < 0:
        raise UsageError(f"--reconnect-timeout {reconnect_timeout:g}: a number of seconds is 0 or more")
    rows: list[dict[str, Any]] = []

    def note(match: PlayedMatch) -> None:
        if as_json:
            rows.append(_row(match))

    def note_opened(match: PlayedMatch) -> None:
        rows[:] = [_row(match) if row["match"] == match.match else row for row in rows]

    run_bots_in(context)
    stay = run_async(
        lambda: connect(
            bot,
            game or (),
            ladders=ladder or (),
            server=server,
            ca=ca,
            trust=trust or (),
            name=name,
            version=version,
            max_tables=tables,
            matches=matches,
            on_match=note,
            on_opened=note_opened,
            first_tables=first_tables,
            reconnect_timeout_s=reconnect_timeout,
            send_output=send_output,
            decline_requests=decline_requests,
            quiet=quiet,
            debug=bool(context.obj),
        )
    )
    if as_json:
        print_json(
            {
                "bot": stay.bot,
                "version": stay.version,
                "server": stay.server,
                "faults": stay.faults,
                "taken_over": stay.taken_over,
                "matches": rows,
            }
        )
    if stay.has_failed:
        raise typer.Exit(BOT_FAILED)


def _row(match: PlayedMatch) -> dict[str, Any]:
    return {
        "match": match.match,
        "game": match.game,
        "ladder": match.ladder,
        "seat": match.seat,
        "seats": list(match.seats),
        "places": list(match.result.places),
        "scores": list(match.result.scores),
        "end_causes": [cause.value for cause in match.result.end_causes],
        "voided": match.voided,
        "rated": match.rated,
        "commitment": match.commitment,
        "nonce": match.nonce,
        "opened": match.opened,
    }
