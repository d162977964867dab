"""The page of a tournament: its standings, and its duels round by round, live while it is played."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.server.web.language.speaking import gettext
from cutpurse.server.web.rendering import Asked, show
from cutpurse.v1 import ladder_pb2

__all__ = ["router", "tournament_facts"]

router = APIRouter(include_in_schema=False)


@router.api_route("/tournaments/{tournament}", methods=["GET", "HEAD"])
def tournament(request: Request, ask: Asked, tournament: str) -> Response:
    """Show a tournament of a public ladder."""
    return show(request, "tournament.html", **tournament_facts(ask.tournament(tournament)))


def tournament_facts(shown: ladder_pb2.TournamentShown) -> Mapping[str, Any]:
    """Return what the templates of a tournament need."""
    rounds: dict[int, list[ladder_pb2.TournamentDuel]] = {}
    for duel in shown.duels:
        rounds.setdefault(duel.round, []).append(duel)
    is_bracket = shown.format == ladder_pb2.TOURNAMENT_FORMAT_ELIMINATION
    return {
        "shown": shown,
        "rounds": [_titled(number, len(rounds), is_bracket, duels) for number, duels in rounds.items()],
        "bots": {one.seed: one.bot for one in shown.standings},
        "form": gettext("Elimination") if is_bracket else gettext("Round robin"),
        "is_pending": bool(shown.tournament) and not shown.ended_ms,
    }


def _titled(
    number: int, count: int, is_bracket: bool, duels: list[ladder_pb2.TournamentDuel]
) -> tuple[str, list[ladder_pb2.TournamentDuel]]:
    """Return the title of a round, and its duels."""
    if not is_bracket:
        return gettext("Duels"), duels
    titles = {count: gettext("Final"), count - 1: gettext("Semi-finals")}
    return titles.get(number, gettext("Round %(number)s", number=number)), duels
