"""The list of all bots with their newest versions and ladders, with a search by owner and name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from cutpurse.page.pages.finding import is_named, is_wanted
from cutpurse.page.rendering import Asked, show
from cutpurse.v1 import ladder_pb2

__all__ = ["router"]

MOST_ROWS: Final = 200

router = APIRouter(include_in_schema=False)


@dataclass(slots=True)
class _BotListItem:
    """A bot with its newest version and its ladders."""

    newest: ladder_pb2.BotShown
    versions: int
    ladders: set[str]


@router.api_route("/bots", methods=["GET", "HEAD"])
def bots(request: Request, ask: Asked, find: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Show all bots whose owner/name contains `find`, in upper or lower case, or one of its parts between commas.

    A reader who names one bot in full is led to its page.
    """
    wanted = find.strip()
    rows: dict[tuple[str, str], _BotListItem] = {}
    for one in ask.bots():
        name = (one.bot.owner, one.bot.bot)
        if wanted and not is_wanted(one.bot, wanted):
            continue
        row = rows.setdefault(name, _BotListItem(one, 0, set()))
        row.newest, row.versions = one, row.versions + 1
        row.ladders.update(one.ladders)
    named = [row.newest.bot for row in rows.values() if is_named(row.newest.bot, wanted)]
    if len(named) == 1:
        return RedirectResponse(f"/bots/{quote(named[0].owner)}/{quote(named[0].bot)}", 303)
    return show(request, "bots.html", rows=[*rows.values()][:MOST_ROWS], found=len(rows), wanted=wanted)
