"""The page on which an owner, who is signed in, sits down to play on a rated ladder.

The owner plays as a bot of the name that is kept for people, so the ladder's rules for bots hold. The server checks
them, and what it refuses is shown at the table. The form carries the person's key, as every form of an account.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.page.account.calls import find_ladder
from cutpurse.page.account.signed_in import Signed, accounts_of, confirm, look
from cutpurse.page.forms import FormRefused
from cutpurse.page.language.speaking import gettext
from cutpurse.page.seat.pages import person_of, seats_of, take_a_seat
from cutpurse.page.visitors import visitor_of
from cutpurse.v1 import ladder_pb2

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.api_route("/ladders/{ladder}/play", methods=["GET", "HEAD"])
async def terms(request: Request, ladder: str) -> Response:
    """Say what it means to play on a ladder, with the button that seats the person."""
    seats = seats_of(request)
    accounts_of(request)

    def load(signed: Signed) -> Mapping[str, Any]:
        found = find_ladder(signed.account.league, ladder)
        has_unrated = bool(seats.seat_counts(found.defined.game))
        return {"ladder": found, "why_not": _why_not(found), "has_unrated": has_unrated, "person": person_of(request)}

    return await look(request, "play_ladder.html", load)


@router.post("/ladders/{ladder}/play")
async def sit_down(request: Request, ladder: str) -> Response:
    """Put the person in line; a person who sits somewhere already goes on there.

    Raises:
        FormRefused: If nobody is signed in, the ladder admits no people, or the page has no free seat.
    """
    seats = seats_of(request)

    def load(signed: Signed) -> tuple[str, ladder_pb2.LadderShown]:
        return signed.owner, find_ladder(signed.account.league, ladder)

    token, (owner, found) = await confirm(request, load)
    if why := _why_not(found):
        raise FormRefused(why, HTTPStatus.CONFLICT)
    game, visitor = found.defined.game, visitor_of(request)
    return take_a_seat(request, lambda: seats.sit_down_rated(ladder, game, owner, token, visitor))


def _why_not(ladder: ladder_pb2.LadderShown) -> str:
    """Return why nobody can sit down on a ladder now, in one line; empty if owners of it can."""
    if not ladder.defined.terms.people:
        return gettext("This ladder admits programs only, and no people.")
    return gettext("This ladder is frozen: no match starts there.") if ladder.is_frozen else ""
