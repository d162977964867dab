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
    asked,
    bot_row,
    iso,
    local_time,
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

    with asked(server, ca, db) as league:
        bots = league.ListBots(ladder_pb2.ListBotsRequest(owner=owner or "", ladder=ladder or "")).bots
    if as_json:
        print_json([bot_shown_row(one) for one in bots])
        return
    head = ("bot", "state", "tables", "known since", "ladders")
    cells = [
        (
            format_bot_name(one.bot),
            _state(one),
            one.tables,
            local_time(one.created_ms),
            ", ".join(printable(name, 64) for name in one.ladders),
        )
        for one in bots
    ]
    print_lines(table(head, cells))


def bot_shown_row(one: ladder_pb2.BotShown) -> dict[str, Any]:
    """Return a bot for a JSON document."""
    return {
        **bot_row(one.bot),
        "created": iso(one.created_ms),
        "is_here": one.is_here,
        "tables": one.tables,
        "ladders": list(one.ladders),
        "paused": iso(one.paused_ms),
        "paused_for": one.paused_for or None,
    }


def _state(one: ladder_pb2.BotShown) -> str:
    if one.paused_ms:
        said = f": {printable(one.paused_for)}" if one.paused_for else ""
        return f"paused since {local_time(one.paused_ms)}{said}"
    return ", ".join((["person"] if one.bot.person else []) + (["here"] if one.is_here else []))
