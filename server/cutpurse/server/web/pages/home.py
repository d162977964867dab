"""The first page: ladders with their leaders, open matches, the newest results, and how to join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import time
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.engine.errors import CutpurseError
from cutpurse.server.web.charts import Axis, axis_of
from cutpurse.server.web.joining import how_to_join
from cutpurse.server.web.league_client import Asking
from cutpurse.server.web.rating_display import Lead, lead_of, placed, rating_ends
from cutpurse.server.web.rendering import Asked, show
from cutpurse.v1 import ladder_pb2

__all__ = ["now_playing", "order", "recent_match", "router"]

MOST_LADDERS: Final = 24  # shown with their leaders; each costs one call per second
LEADERS: Final = 3
OPEN: Final = 8
NEWEST: Final = 10
RECENT: Final = 5  # newest matches of a ladder among which one is pictured

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class _LadderCard:
    """A ladder with its leaders.

    Attributes:
        ladder: The ladder.
        is_played: Whether it has bots, placed or not.
        leaders: Its best bots.
        lead: How sure it is that the first is the best; None if no bot is placed.
        axis: Axis for the leaders' rating intervals.
        recent: Match whose table is pictured: one for each game, on its first ladder.
    """

    ladder: ladder_pb2.LadderShown
    is_played: bool
    leaders: Sequence[ladder_pb2.Ranking]
    lead: Lead | None
    axis: Axis
    recent: ladder_pb2.MatchShown | None


@router.api_route("/", methods=["GET", "HEAD"])
def home(request: Request, ask: Asked) -> Response:
    """Show the first page."""
    return show(request, "home.html", join=how_to_join(request), **now_playing(ask))


def now_playing(ask: Asking) -> dict[str, Any]:
    """Load the part of the page that is updated live."""
    ladders = sorted(ask.rated_ladders(), key=order)
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


def _entry(ask: Asking, ladder: ladder_pb2.LadderShown, is_pictured: bool) -> _LadderCard:
    try:
        rankings = ask.rankings(ladder.defined.name)
    except CutpurseError:  # the ladder was just deleted
        rankings = []
    leaders = placed(rankings)[:LEADERS]
    recent = recent_match(ask, ladder.defined.name) if is_pictured else None
    return _LadderCard(ladder, bool(rankings), leaders, lead_of(rankings), axis_of(rating_ends(leaders)), recent)


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
