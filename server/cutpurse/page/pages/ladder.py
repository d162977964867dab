"""The pages of a ladder: its rankings with intervals, ratings over time, and head-to-head results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from markupsafe import Markup

from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard.statistics.circles import Circle, Edge, edges_of, sure_circles
from cutpurse.page.anchors import anchors_of
from cutpurse.page.charts import Line, axis_of, over_time
from cutpurse.page.language.speaking import gettext
from cutpurse.page.league_client import Asking
from cutpurse.page.pages.finding import around, is_wanted
from cutpurse.page.rating_display import lead_of, rating_ends
from cutpurse.page.rendering import Asked, show
from cutpurse.sdk.matches.encounters import encounters
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import format_bot_name

__all__ = ["router", "standings"]

MOST_ROWS: Final = 200  # unless the request asks for all rows
LINES: Final = 8
MOST_MATRIX: Final = 16  # bots in the head-to-head table
MOST_CIRCLES: Final = 5  # the strongest ones

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the head-to-head table: the share of the row's bot, its interval, and whether it is in a circle.

    Without matches there is no share.
    """

    share: float = 0.5
    low: float = 0.0
    high: float = 1.0
    matches: int = 0
    is_in_circle: bool = False

    @property
    def tone(self) -> int:
        """The colour, from 0, rarely ahead, to 8, nearly always."""
        return min(int(self.share * 9), 8)


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
    entry, text = ask.ladder(ladder), find.strip()
    bots = [ranking.bot for ranking in ask.rankings(ladder) if not text or is_wanted(ranking.bot, text)]
    most = bots[:MOST_MATRIX]
    edges = edges_of(encounters(most, partial(_opponents, ask, ladder)))
    circles = sure_circles(edges)
    return show(
        request,
        "head_to_head.html",
        ladder=entry,
        bots=most,
        found=len(bots),
        rows=_matrix(len(most), edges, circles[:MOST_CIRCLES]),
        pairs=len(edges),
        sure=sum(edge.is_sure for edge in edges),
        circles=circles[:MOST_CIRCLES],
        all=len(circles),
        wanted=text,
    )


def standings(ask: Asking, ladder: str, every_version: bool, everybody: bool = False, find: str = "") -> dict[str, Any]:
    """Load the part of a ladder's page that is updated live.

    Raises:
        NotFound: If there is no such ladder.
    """
    entry, rankings = ask.ladder(ladder), ask.rankings(ladder, every_version)
    state = ask.rankings_page(ladder, every_version)  # the first page, cached by the line above
    rows = around(rankings, find) if find else rankings
    if not everybody:
        rows = rows[:MOST_ROWS]
    return {
        "ladder": entry,
        "rows": rows,
        "first": rankings[0] if rankings else None,
        "all": len(rankings),
        "wanted": find,
        "found": {ranking.bot.SerializeToString() for ranking in rows if find and is_wanted(ranking.bot, find)},
        "state": state,
        "lead": lead_of(rankings),
        "anchors": anchors_of(rankings),
        "axis": axis_of(rating_ends(rows), 4),
        "every_version": every_version,
        "open_matches": ask.open_matches(ladder).matches,
    }


def _chart(ask: Asking, ladder: str, rankings: Sequence[ladder_pb2.Ranking]) -> Markup:
    lines = []
    for ranking in rankings:
        try:
            points = ask.ratings(ladder, ranking.bot, slow=True)
        except CutpurseError:  # the bot has no history yet
            continue
        lines.append(Line(format_bot_name(ranking.bot), [(point.boards, point.rating) for point in reversed(points)]))
    return over_time(
        lines,
        title=gettext("The ratings of the first %(number)s over time", number=len(lines)),
        x_name=gettext("rated boards of the ladder"),
    )


def _matrix(count: int, edges: Sequence[Edge], circles: Sequence[Circle]) -> list[list[Cell]]:
    """Return one row per bot, with a cell for each bot in the same order."""
    rows = [[Cell() for _ in range(count)] for _ in range(count)]
    in_circle = {(edge.bot, edge.other) for circle in circles for edge in circle.edges}
    for edge in edges:
        pair = (edge.bot, edge.other)
        rows[edge.bot][edge.other] = Cell(edge.share, edge.low, edge.high, edge.matches, pair in in_circle)
        rows[edge.other][edge.bot] = Cell(1 - edge.share, 1 - edge.high, 1 - edge.low, edge.matches)
    return rows


def _opponents(ask: Asking, ladder: str, bot: ladder_pb2.BotName) -> Sequence[ladder_pb2.Opponent]:
    try:
        return ask.opponents(ladder, bot, slow=True)
    except CutpurseError:
        return []
