"""The page of a season: its divisions with those who would go up and down, and its final, live while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from cutpurse.server.web.pages.tournament import tournament_facts
from cutpurse.server.web.rendering import Asked, show
from cutpurse.v1 import ladder_pb2

__all__ = ["router", "season_facts"]

MAX_NUMBER: Final = 1_000_000  # of a season

router = APIRouter(include_in_schema=False)


@router.api_route("/seasons/{series}", methods=["GET", "HEAD"])
def newest_season(request: Request, ask: Asked, series: str) -> Response:
    """Show the newest season of a series on public ladders."""
    return show(request, "season.html", **season_facts(ask.season(series)))


@router.api_route("/seasons/{series}/{number}", methods=["GET", "HEAD"])
def season(request: Request, ask: Asked, series: str, number: Annotated[int, Path(ge=1, le=MAX_NUMBER)]) -> Response:
    """Show a season of a series on public ladders."""
    return show(request, "season.html", **season_facts(ask.season(series, number)))


def season_facts(shown: ladder_pb2.SeasonShown) -> Mapping[str, Any]:
    """Return what the templates of a season need."""
    over = (ladder_pb2.SEASON_PHASE_OVER, ladder_pb2.SEASON_PHASE_STOPPED)
    return {
        "season": shown,
        "final": tournament_facts(shown.final) if shown.HasField("final") else None,
        "is_pending": shown.phase not in over,
    }
