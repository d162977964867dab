"""The page of a tournament: its standings, its bracket and its duels, live while it is played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.games.awards import Award, AwardKind, AwardUnit
from cutpurse.server.web.bracket import lanes_of, round_title
from cutpurse.server.web.language.speaking import gettext, language, ngettext
from cutpurse.server.web.rendering import Asked, show
from cutpurse.v1 import ladder_pb2

__all__ = ["router", "tournament_facts"]

router = APIRouter(include_in_schema=False)


@router.api_route("/tournaments/{tournament}", methods=["GET", "HEAD"])
def tournament(request: Request, ask: Asked, tournament: str) -> Response:
    """Show a tournament of a public ladder, with its awards when it has finished."""
    shown = ask.tournament(tournament)
    facts = tournament_facts(shown)
    awards = request.app.state.awards.get(shown, ask) if shown.outcome == "finished" else ()
    is_pending = facts["is_pending"] or awards is None
    return show(request, "tournament.html", **{**facts, "is_pending": is_pending}, awards=_award_rows(awards))


def tournament_facts(shown: ladder_pb2.TournamentShown) -> Mapping[str, Any]:
    """Return what the templates of a tournament need."""
    forms = {
        ladder_pb2.TOURNAMENT_FORMAT_ELIMINATION: gettext("Elimination"),
        ladder_pb2.TOURNAMENT_FORMAT_DOUBLE_ELIMINATION: gettext("Double elimination"),
    }
    is_knockout = shown.format in forms
    return {
        "shown": shown,
        "lanes": lanes_of(shown) if is_knockout else (),
        "duels": _titled(shown.duels) if is_knockout else [("", duel) for duel in shown.duels],
        "bots": {one.seed: one.bot for one in shown.standings},
        "form": forms.get(shown.format, gettext("Round robin")),
        "is_knockout": is_knockout,
        "is_pending": bool(shown.tournament) and not shown.ended_ms,
    }


def _award_rows(awards: Sequence[Award] | None) -> list[tuple[str, str, Award]] | None:
    """Return each award with its title and what it is for; None while they are worked out."""
    if awards is None:
        return None
    titles = {
        AwardKind.STEAL: gettext("Largest steal"),
        AwardKind.COMEBACK: gettext("Longest comeback"),
        AwardKind.CLOCK: gettext("Calmest clock"),
    }
    return [(titles[award.kind], _award_text(award), award) for award in awards]


def _award_text(award: Award) -> str:
    match award.unit:
        case AwardUnit.CARDS:
            return ngettext("took %(num)s card at once", "took %(num)s cards at once", int(award.value))
        case AwardUnit.MONEY:
            return gettext("took $%(money)s at once", money=language().number(int(award.value)))
        case AwardUnit.SHARE:
            return gettext("was last for %(percent)s %% of a match, and won it", percent=round(100 * award.value))
        case AwardUnit.MILLISECONDS:
            return gettext("its slowest answer took %(ms)s ms", ms=language().number(int(award.value)))


def _titled(duels: Sequence[ladder_pb2.TournamentDuel]) -> list[tuple[str, ladder_pb2.TournamentDuel]]:
    """Return the duels of a knock-out that have boards, each with the title of its round."""
    rounds: dict[int, int] = {}
    for duel in duels:
        rounds[duel.lane] = max(rounds.get(duel.lane, 0), duel.round)
    lanes = {
        ladder_pb2.TOURNAMENT_LANE_WINNERS: gettext("Winners' bracket"),
        ladder_pb2.TOURNAMENT_LANE_LOSERS: gettext("Losers' bracket"),
    }
    titled = []
    for duel in duels:
        if duel.boards:
            title = round_title(duel.lane, duel.round, rounds[duel.lane])
            titled.append((f"{lanes[duel.lane]}: {title}" if duel.lane in lanes else title, duel))
    return titled
