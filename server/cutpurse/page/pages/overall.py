"""The overall table: one strength for each bot over all public ladders with rated matches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.leaderboard.statistics.overall import OverallRow, overall_table
from cutpurse.page.league_client import AnswerCache, Asking
from cutpurse.page.rendering import Asked, show
from cutpurse.sdk.matches.placed_matches import placed_matches
from cutpurse.wire.installation import install_command

__all__ = ["KEEP_S", "router"]

MAX_LADDERS: Final = 20
MAX_MATCHES: Final = 500  # of each ladder, the newest
KEEP_S: Final = 60.0

router = APIRouter(include_in_schema=False)


@router.api_route("/overall", methods=["GET", "HEAD"])
def overall(request: Request, ask: Asked) -> Response:
    """Show the table of all public ladders whose results are not hidden; it is worked out at most once a minute."""
    rated = [one for one in ask.ladders() if one.matches and not one.has_hidden_results]
    rated.sort(key=lambda one: (-one.matches, one.defined.name))
    ladders = tuple([one.defined.name for one in rated[:MAX_LADDERS]])
    tables: AnswerCache = request.app.state.overall
    rows = tables.get(ladders, partial(_table, ask, ladders))
    missing = install_command("overall") if rows is None else ""
    return show(request, "overall.html", rows=rows, ladders=ladders, missing=missing, most=MAX_MATCHES)


def _table(ask: Asking, ladders: Sequence[str]) -> list[OverallRow] | None:
    """Work out the table of ladders: empty without two bots to compare, None without the extra `overall`."""
    pages = ask.together([partial(ask.matches, ladder, limit=MAX_MATCHES) for ladder in ladders])
    placed = [match for page in pages for match in placed_matches(page.matches)]
    try:
        return overall_table(placed) if len({bot for match in placed for bot in match.bots}) > 1 else []
    except ModuleNotFoundError:
        return None
