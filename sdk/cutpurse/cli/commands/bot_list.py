"""`cutpurse bot list`: the bots of a league, and which of them are online or paused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.league_options import (
    Authority,
    Database,
    Server,
    WithInner,
    bot_row,
    iso,
    local_time,
    open_league,
)
from cutpurse.process.terminal import print_json, print_lines, table
from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.v1 import ladder_pb2

__all__ = ["bot_shown_row", "list_bots"]


def list_bots(
    owner: Annotated[
        str | None, typer.Option(metavar="OWNER", help="Only bots of this owner. [default: all owners]")
    ] = None,
    ladder: Annotated[
        str | None,
        typer.Option(
            metavar="LADDER",
            help="Only bots that are rated or online on this ladder. [default: all ladders]",
            autocompletion=complete_ladders,
        ),
    ] = None,
    with_inner: WithInner = False,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List bots by owner, name and version, with state and number of tables.

    Only the owner, with a token, sees why a bot is paused.

    Example: cutpurse bot list --owner ann
    """
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import format_bot_name

    with open_league(server, ca, db) as league:
        request = ladder_pb2.ListBotsRequest(owner=owner or "", ladder=ladder or "", with_inner=with_inner)
        bots = league.ListBots(request).bots
    if as_json:
        print_json([bot_shown_row(entry) for entry in bots])
        return
    head = ("bot", "state", "tables", "known since", "ladders")
    cells = [
        (
            format_bot_name(entry.bot),
            _state(entry),
            entry.tables,
            local_time(entry.created_ms),
            ", ".join(printable(name, 64) for name in entry.ladders),
        )
        for entry in bots
    ]
    print_lines(table(head, cells))


def bot_shown_row(entry: ladder_pb2.BotShown) -> dict[str, Any]:
    """Return a bot for a JSON document."""
    return {
        **bot_row(entry.bot),
        "created": iso(entry.created_ms),
        "is_here": entry.is_here,
        "tables": entry.tables,
        "ladders": list(entry.ladders),
        "paused": iso(entry.paused_ms),
        "paused_for": entry.paused_for or None,
        "declines_people": entry.declines_people,
        "publishes_notes": entry.publishes_notes,
    }


def _state(entry: ladder_pb2.BotShown) -> str:
    if entry.paused_ms:
        said = f": {printable(entry.paused_for)}" if entry.paused_for else ""
        return f"paused since {local_time(entry.paused_ms)}{said}"
    return ", ".join((["person"] if entry.bot.person else []) + (["here"] if entry.is_here else []))
