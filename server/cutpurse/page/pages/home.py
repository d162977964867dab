"""The first page: ladders with their leaders, open matches, the newest results, and how to join."""

from __future__ import annotations

from functools import partial
from time import time
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.engine.errors import CutpurseError
from cutpurse.page.charts import axis_of
from cutpurse.page.forms import private
from cutpurse.page.joining import how_to_join
from cutpurse.page.league_client import Asking
from cutpurse.page.rating_display import lead_of, placed, rating_ends
from cutpurse.page.rendering import Asked, show
from cutpurse.page.seat.pages import person_of
from cutpurse.v1 import ladder_pb2

__all__ = ["now_playing", "order", "recent_match", "router"]

MOST_LADDERS: Final = 24  # shown with their leaders; each costs one call per second
LEADERS: Final = 3
OPEN: Final = 8
NEWEST: Final = 10
RECENT: Final = 5  # newest matches of a ladder among which one is pictured

router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=["GET", "HEAD"])
def home(request: Request, ask: Asked) -> Response:
    """Show the first page."""
    person = person_of(request) if request.app.state.seats is not None else None
    response = show(request, "home.html", join=how_to_join(request), person=person, **now_playing(ask))
    return response if person is None else private(response)


def now_playing(ask: Asking) -> dict[str, Any]:
    """Load the part of the page that is updated live."""
    ladders = sorted(ask.ladders(), key=order)
    pictured = {one.defined.game: one.defined.name for one in reversed(ladders)}.values()
    *entries, open_matches, newest = ask.together(
        [
            *[partial(_entry, ask, ladder, ladder.defined.name in pictured) for ladder in ladders[:MOST_LADDERS]],
            ask.open_matches,
            partial(ask.matches, limit=NEWEST),
        ]
    )
    return {
        "entries": entries,
        "all_ladders": len(ladders),
        "open_matches": open_matches.matches[:OPEN],
        "newest": newest.matches,
    }


def order(ladder: ladder_pb2.LadderShown) -> tuple[bool, int, str]:
    """Return the sort key of a ladder: open ladders first, then by number of matches, then by name.

    The number is rounded to powers of two, so that ladders do not change places every second.
    """
    return ladder.is_frozen, -ladder.matches.bit_length(), ladder.defined.name


def _entry(ask: Asking, ladder: ladder_pb2.LadderShown, is_pictured: bool) -> dict[str, Any]:
    """Return a ladder with its leaders, and the match whose table is pictured, if one is."""
    try:
        rankings = ask.rankings(ladder.defined.name)
    except CutpurseError:  # the ladder was just deleted
        rankings = []
    leaders = placed(rankings)[:LEADERS]
    recent = recent_match(ask, ladder.defined.name) if is_pictured else None
    return {
        "ladder": ladder,
        "is_played": bool(rankings),
        "leaders": leaders,
        "lead": lead_of(rankings),
        "axis": axis_of(rating_ends(leaders)),
        "recent": recent,
    }


def recent_match(ask: Asking, ladder: str) -> ladder_pb2.MatchShown | None:
    """Return the last match that was over when this minute began, so that a picture stays for a minute.

    On a ladder whose first match was over in this minute, it is the last one.
    """
    minute_ms = int(time()) // 60 * 60_000
    try:
        newest = (
            ask.matches(ladder, limit=RECENT, until_ms=minute_ms).matches or ask.matches(ladder, limit=RECENT).matches
        )
        ended = [one for one in newest if one.decisions and not one.void_cause]
        return next((one for one in ended if ask.match(one.match).has_record), None)
    except CutpurseError:
        return None
