"""The pages of a ladder: its rankings with intervals, ratings over time, and head-to-head results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from markupsafe import Markup

from cutpurse.engine.errors import CutpurseError
from cutpurse.server.web.anchors import anchors_of
from cutpurse.server.web.charts import Line, axis_of, over_time
from cutpurse.server.web.language.speaking import gettext
from cutpurse.server.web.league_client import Asking
from cutpurse.server.web.pages.finding import around, is_wanted
from cutpurse.server.web.rating_display import lead_of, rating_ends
from cutpurse.server.web.rendering import Asked, show
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import format_bot_name

__all__ = ["router", "standings"]

MOST_ROWS: Final = 200  # unless the request asks for all rows
LINES: Final = 8
MOST_MATRIX: Final = 16  # bots in the head-to-head table

router = APIRouter(include_in_schema=False)


@router.api_route("/ladders/{ladder}", methods=["GET", "HEAD"])
def ladder(
    request: Request,
    ask: Asked,
    ladder: str,
    every_version: bool = False,
    everybody: bool = False,
    find: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Show a ladder; `everybody` shows all its rows, `find` those of some bots with their neighbours."""
    shown_now = standings(ask, ladder, every_version, everybody, find.strip())
    return show(request, "ladder.html", chart=_chart(ask, ladder, shown_now["rows"][:LINES]), **shown_now)


@router.api_route("/ladders/{ladder}/head-to-head", methods=["GET", "HEAD"])
def head_to_head(
    request: Request, ask: Asked, ladder: str, find: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """Show how often each of the best bots, or of those to `find`, finishes ahead of each other one."""
    found, wanted = ask.ladder(ladder), find.strip()
    bots = [one.bot for one in ask.rankings(ladder) if not wanted or is_wanted(one.bot, wanted)]
    shown = bots[:MOST_MATRIX]
    rows = _matrix(ask, ladder, shown)
    return show(request, "head_to_head.html", ladder=found, bots=shown, found=len(bots), rows=rows, wanted=wanted)


def standings(ask: Asking, ladder: str, every_version: bool, everybody: bool = False, find: str = "") -> dict[str, Any]:
    """Load the part of a ladder's page that is updated live.

    Raises:
        NotFound: If there is no such ladder.
    """
    found, rankings = ask.ladder(ladder), ask.rankings(ladder, every_version)
    state = ask.rankings_page(ladder, every_version)  # the first page, cached by the line above
    rows = around(rankings, find) if find else rankings
    if not everybody:
        rows = rows[:MOST_ROWS]
    return {
        "ladder": found,
        "rows": rows,
        "first": rankings[0] if rankings else None,
        "all": len(rankings),
        "wanted": find,
        "found": {one.bot.SerializeToString() for one in rows if find and is_wanted(one.bot, find)},
        "state": state,
        "lead": lead_of(rankings),
        "anchors": anchors_of(rankings),
        "axis": axis_of(rating_ends(rows), 4),
        "every_version": every_version,
        "open_matches": ask.open_matches(ladder).matches,
    }


def _chart(ask: Asking, ladder: str, rankings: Sequence[ladder_pb2.Ranking]) -> Markup:
    lines = []
    for one in rankings:
        try:
            points = ask.ratings(ladder, one.bot, slow=True)
        except CutpurseError:  # the bot has no history yet
            continue
        lines.append(Line(format_bot_name(one.bot), [(point.boards, point.rating) for point in reversed(points)]))
    return over_time(
        lines,
        title=gettext("The ratings of the first %(number)s over time", number=len(lines)),
        x_name=gettext("rated boards of the ladder"),
    )


@dataclass(frozen=True, slots=True)
class Meeting:
    """A bot's head-to-head result against another.

    Attributes:
        bot: The other bot.
        share: Share of matches in which the bot was ahead, ties counted half; None if they never met.
        matches: Number of matches against each other.
    """

    bot: ladder_pb2.BotName
    share: float | None
    matches: int

    @property
    def tone(self) -> int:
        """Colour of its cell, from 0 (rarely ahead) to 8 (nearly always ahead)."""
        return 4 if self.share is None else min(int(self.share * 9), 8)


def _matrix(ask: Asking, ladder: str, bots: Sequence[ladder_pb2.BotName]) -> list[list[Meeting]]:
    """Return one row per bot, with its head-to-head results against all bots in the same order."""
    rows = []
    for bot in bots:
        met = {
            (one.bot.owner, one.bot.bot): one
            for one in _opponents(ask, ladder, ladder_pb2.BotName(owner=bot.owner, bot=bot.bot))
        }
        row = []
        for other in bots:
            one = met.get((other.owner, other.bot))
            is_met = one is not None and one.matches > 0
            share = (one.ahead + one.level / 2) / one.matches if one is not None and is_met else None
            row.append(Meeting(other, share, one.matches if one is not None else 0))
        rows.append(row)
    return rows


def _opponents(ask: Asking, ladder: str, bot: ladder_pb2.BotName) -> Sequence[ladder_pb2.Opponent]:
    try:
        return ask.opponents(ladder, bot, slow=True)
    except CutpurseError:
        return []
