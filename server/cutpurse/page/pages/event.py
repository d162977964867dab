"""The pages of events: a list, and one page for each, live while it goes on. Each kind has its own tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Path, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from cutpurse.games.awards import Award, AwardKind, AwardUnit
from cutpurse.page.account.cookie import token_of
from cutpurse.page.account.signed_in import Signed, look
from cutpurse.page.bracket import lanes_of, round_title
from cutpurse.page.language.speaking import gettext, language, ngettext
from cutpurse.page.rendering import Asked, show
from cutpurse.v1 import event_pb2
from cutpurse.wire.errors import NotAuthorised, NotFound

__all__ = ["event_facts", "router"]

MAX_NUMBER: Final = 1_000_000  # of a season
Number = Annotated[int, Path(ge=1, le=MAX_NUMBER)]

router = APIRouter(include_in_schema=False)


@router.api_route("/events", methods=["GET", "HEAD"])
def events(request: Request, ask: Asked) -> Response:
    """List the tournaments and seasons of public ladders."""
    return show(request, "events.html", events=ask.events())


@router.api_route("/events/{event}", methods=["GET", "HEAD"])
async def event(request: Request, ask: Asked, event: str) -> Response:
    """Show an event that everybody may see, or one that the person who is signed in may see."""
    return await _event(request, ask, event, 0)


@router.api_route("/events/{event}/{number}", methods=["GET", "HEAD"])
async def season(request: Request, ask: Asked, event: str, number: Number) -> Response:
    """Show a season of a series."""
    return await _event(request, ask, event, number)


@router.api_route("/tournaments/{event}", methods=["GET", "HEAD"])
@router.api_route("/tests/{event}", methods=["GET", "HEAD"])
@router.api_route("/seasons/{event}", methods=["GET", "HEAD"])
@router.api_route("/seasons/{event}/{number}", methods=["GET", "HEAD"])
@router.api_route("/host/tournaments/{event}", methods=["GET", "HEAD"])
@router.api_route("/host/seasons/{event}", methods=["GET", "HEAD"])
async def moved(request: Request, event: str, number: int | None = None) -> Response:
    """Redirect an address of earlier versions to that of the event."""
    host = "/host" if request.url.path.startswith("/host/") else ""
    address = f"{host}/events/{quote(event, safe='')}" + ("" if number is None else f"/{number}")
    return RedirectResponse(address, HTTPStatus.PERMANENT_REDIRECT)


async def _event(request: Request, ask: Asked, event: str, number: int) -> Response:
    try:
        shown = await run_in_threadpool(ask.event, event, number)
    except (NotFound, NotAuthorised):
        if request.app.state.accounts is None or not token_of(request):
            raise
        get = event_pb2.GetEventRequest(event=event, season=number)

        def load(signed: Signed) -> Mapping[str, Any]:
            return {**event_facts(signed.account.league.GetEvent(get).event), "is_public": False}

        return await look(request, "event.html", load)
    facts = event_facts(shown)
    is_played_out = shown.HasField("tournament") and shown.outcome == "finished"
    awards = request.app.state.awards.get(shown, ask) if is_played_out else ()
    facts |= {"awards": _award_rows(awards), "is_pending": facts["is_pending"] or awards is None}
    return await run_in_threadpool(show, request, "event.html", **facts, is_public=True, signed=None)


def event_facts(event: event_pb2.EventShown) -> dict[str, Any]:
    """Return what the template of an event needs, but who looks at it."""
    final = event.season.final if event.season.HasField("final") else None
    tournament = event if event.HasField("tournament") else final
    is_over = event.season.phase in (event_pb2.SEASON_PHASE_OVER, event_pb2.SEASON_PHASE_STOPPED)
    return {
        "event": event,
        "duels": None if tournament is None else _duel_facts(tournament.tournament),
        "is_pending": bool(event.event) and not event.ended_ms and not (event.HasField("season") and is_over),
        "awards": (),
        "fields": {},
        "is_of_host": False,
    }


def _duel_facts(tournament: event_pb2.TournamentShown) -> Mapping[str, Any]:
    """Return what the tables and the bracket of a tournament need."""
    forms = {
        event_pb2.TOURNAMENT_FORMAT_ELIMINATION: gettext("Elimination"),
        event_pb2.TOURNAMENT_FORMAT_DOUBLE_ELIMINATION: gettext("Double elimination"),
    }
    is_knockout = tournament.format in forms
    return {
        "lanes": lanes_of(tournament) if is_knockout else (),
        "titled": _titled(tournament.duels) if is_knockout else [("", duel) for duel in tournament.duels],
        "bots": {standing.seed: standing.bot for standing in tournament.standings},
        "form": forms.get(tournament.format, gettext("Round robin")),
        "is_knockout": is_knockout,
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


def _titled(duels: Sequence[event_pb2.TournamentDuel]) -> list[tuple[str, event_pb2.TournamentDuel]]:
    """Return the duels of a knock-out that have boards, each with the title of its round."""
    rounds: dict[int, int] = {}
    for duel in duels:
        rounds[duel.lane] = max(rounds.get(duel.lane, 0), duel.round)
    lanes = {
        event_pb2.TOURNAMENT_LANE_WINNERS: gettext("Winners' bracket"),
        event_pb2.TOURNAMENT_LANE_LOSERS: gettext("Losers' bracket"),
    }
    titled = []
    for duel in duels:
        if duel.boards:
            title = round_title(duel.lane, duel.round, rounds[duel.lane])
            titled.append((f"{lanes[duel.lane]}: {title}" if duel.lane in lanes else title, duel))
    return titled
