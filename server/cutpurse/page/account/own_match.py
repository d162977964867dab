"""The replay of a match in which a person has a bot: its notes and prints, and what search would have done.

The replay page fetches both. Nobody else gets them: each request names the person by the cookie, and the server says
which notes are theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from cutpurse.page.account.cookie import check_key, token_of
from cutpurse.page.account.search_process import BASE_MS, SearchProcess
from cutpurse.page.account.signed_in import NO_KEY, Signed, accounts_of, load_for
from cutpurse.page.forms import FormRefused, count_of, field_of, private, read_form
from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.page.league_client import Asking
from cutpurse.page.match_view.drawing import rendered
from cutpurse.page.match_view.seat_names import short_names
from cutpurse.page.match_view.seat_question import SeatQuestion, seat_question
from cutpurse.page.pages.replay import Replays
from cutpurse.page.rendering import Asked, cause_text
from cutpurse.page.visitor_process import WorkRefused
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.text import printable

__all__ = ["router"]

MOST_NAME: Final = 100  # characters of a bot's name
NOTHING: Final[Sequence[ladder_pb2.SeatLog]] = ()
NOT_YOURS: Final = gettext_noop("None of your bots played in this match, or nobody was asked at this moment.")

router = APIRouter(include_in_schema=False)


@router.api_route("/me/matches/{match}/decisions", methods=["GET", "HEAD"])
async def decisions(request: Request, ask: Asked, match: str) -> Response:
    """Respond with the notes of the person's bots in a match, by the decision's index in the record."""
    replays: Replays = request.app.state.replays

    def load(signed: Signed) -> dict[str, Any]:
        told = ask.match(match)
        own = _own_seats(told, signed)
        if not own:
            return {"own": [], "notes": {}, "before": [], "problem": "", "key": ""}
        replayed = replays.get(ask, told)
        with replayed.lock:
            at_of = {seat: replayed.decisions_of(seat) for seat in own}
        logs, problem = signed.tried(lambda: _logs(signed, told), NOTHING)
        notes: dict[int, list[str]] = {}
        before: list[str] = []
        for log in logs:
            for note in log.notes:
                at = at_of[log.seat].get(note.decision)
                (before if at is None else notes.setdefault(at, [])).append(note.text)
            for fault in log.course.faults:
                reason = cause_text(fault.cause)
                notes.setdefault(fault.at, []).append(f"{reason}: {fault.text}" if fault.text else reason)
        return {
            "own": sorted(at for numbers in at_of.values() for at in numbers.values()),
            "notes": notes,
            "before": before,
            "problem": problem,
            "key": signed.key,
        }

    return private(JSONResponse(await load_for(request, load)))


@router.post("/me/matches/{match}/search")
async def search(request: Request, ask: Asked, match: str) -> Response:
    """Respond with what search would have done at a decision of a match of the person's bot, as HTML in JSON."""
    accounts_of(request)
    fields = await read_form(request)
    if not check_key(token_of(request), field_of(fields, "key")):
        raise FormRefused(gettext(NO_KEY), HTTPStatus.FORBIDDEN)
    at, replays = count_of(field_of(fields, "at")), request.app.state.replays
    if at is None:
        raise FormRefused(gettext(NOT_YOURS), HTTPStatus.BAD_REQUEST)
    question, names = await load_for(request, lambda signed: _question(ask, replays, signed, match, at))
    process: SearchProcess = request.app.state.search
    try:
        advice = await process.ask(question)
    except WorkRefused as refused:  # for the script of the page, in a line
        raise FormRefused(f"{refused}.", HTTPStatus.SERVICE_UNAVAILABLE) from None
    html = rendered("search_advice.html", advice=advice, names=names, game=question.game)
    return private(JSONResponse({"html": html}))


def _own_seats(told: ladder_pb2.GetMatchResponse, signed: Signed) -> list[int]:
    return [seat for seat, taken in enumerate(told.match.seats) if taken.bot.owner == signed.owner]


def _logs(signed: Signed, told: ladder_pb2.GetMatchResponse) -> Sequence[ladder_pb2.SeatLog]:
    """Load the notes of the person's bots in a match."""
    own = _own_seats(told, signed)
    bots = {told.match.seats[seat].bot.bot for seat in own}
    wanted = [ladder_pb2.ListLogsRequest(bot=ladder_pb2.BotName(bot=bot), match=told.match.match) for bot in bots]
    logs = [log for one in wanted for log in signed.account.league.ListLogs(one).logs]
    return [log for log in logs if log.match.match == told.match.match and log.seat in own]


def _question(
    ask: Asking, replays: Replays, signed: Signed, match: str, at: int
) -> tuple[SeatQuestion, tuple[str, ...]]:
    """Return the question that a seat was asked in a match of the person's bot, and the short names of all seats.

    Everybody can read the match when it is over, so other seats' decisions are no secret.

    Raises:
        FormRefused: If none of the person's bots played in it, or nobody was asked there.
    """
    told = ask.match(match)
    own = _own_seats(told, signed)
    replayed = replays.get(ask, told) if own else None
    if replayed is not None:
        with replayed.lock:
            found = replayed.decision_at(at)
            if found is not None:
                names = tuple([printable(name, MOST_NAME) for name in short_names(replayed.names)])
                return seat_question(*found, BASE_MS), names
    raise FormRefused(gettext(NOT_YOURS), HTTPStatus.FORBIDDEN)
