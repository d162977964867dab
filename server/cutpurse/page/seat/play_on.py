"""Playing on from a moment of a finished match: the person takes a seat of it, against house bots.

The server deals the cards anew that the seat did not know. So this page sends only where the match goes on.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from cutpurse.page.forms import FormRefused, count_of, field_of, private, read_form
from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.page.league_client import Asking
from cutpurse.page.pages.replay import Replays
from cutpurse.page.rendering import Asked
from cutpurse.page.seat.pages import seats_of, take_a_seat
from cutpurse.page.visitors import visitor_of
from cutpurse.v1 import ladder_pb2

__all__ = ["router"]

NO_MOMENT: Final = gettext_noop("This names no moment and seat of the match; use the buttons below its replay.")
NOTHING: Final = gettext_noop("This seat decided nothing in the match, so nobody can play on from there.")

router = APIRouter(include_in_schema=False)


@router.post("/matches/{match}/play-on")
async def play_on(request: Request, ask: Asked, match: str) -> Response:
    """Seat the person in a finished match, where the seat was asked last before the moment, or else first."""
    seats = seats_of(request)
    fields = await read_form(request)
    at, seat = (count_of(field_of(fields, name)) for name in ("at", "as"))
    if at is None or seat is None:
        raise FormRefused(gettext(NO_MOMENT), HTTPStatus.BAD_REQUEST)
    replays: Replays = request.app.state.replays
    game, position, count = await run_in_threadpool(_position, ask, replays, match, at, seat)
    return take_a_seat(request, lambda: seats.play_on(game, count, position, visitor_of(request)))


@router.api_route("/matches/{match}/play-on", methods=["GET", "HEAD"])
async def back(request: Request, match: str) -> Response:
    """Show the replay to a browser that loads the address of the form."""
    seats_of(request)
    return private(RedirectResponse(str(request.url.path).removesuffix("play-on") + "replay", HTTPStatus.SEE_OTHER))


def _position(
    ask: Asking, replays: Replays, match: str, at: int, seat: int
) -> tuple[str, ladder_pb2.StartPosition, int]:
    """Find the seat's decision at a moment; return the game, the position and the number of seats.

    Raises:
        FormRefused: If the match has no such seat, or the seat decided nothing.
        NotFound: If there is no such finished match, or it has no record.
    """
    told = ask.match(match)
    replayed = replays.get(ask, told)
    if seat >= replayed.seats:
        raise FormRefused(gettext(NO_MOMENT), HTTPStatus.BAD_REQUEST)
    with replayed.lock:
        path = replayed.path(seat)
    if len(path.ats) < 2:  # the last moment is the end
        raise FormRefused(gettext(NOTHING), HTTPStatus.CONFLICT)
    choice = path.ats[min(path.index(at), len(path.ats) - 2)]
    position = ladder_pb2.StartPosition(match=told.match.match, choice=choice, seat=seat)
    return told.match.game, position, replayed.seats
