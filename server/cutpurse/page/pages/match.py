"""The page of a match: its story, seats, result, thinking times, faults and commitment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from cutpurse.engine.errors import CutpurseError
from cutpurse.page.forms import count_of, field_of, read_form
from cutpurse.page.language.speaking import gettext, gettext_noop, language, ngettext
from cutpurse.page.league_client import Asking
from cutpurse.page.luck_process import LuckProcess
from cutpurse.page.match_view.match_end import match_end
from cutpurse.page.match_view.pairing_reason import reason_text
from cutpurse.page.match_view.scores import (
    decided,
    luck_of_the_cards,
    names_for,
    timeline,
    turning_points,
    worst_decisions,
)
from cutpurse.page.pages.replay import Replays
from cutpurse.page.rendering import Asked, show
from cutpurse.page.visitors import visitor_of
from cutpurse.page.worst_process import WorstProcess
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.errors import NotFound

__all__ = ["router"]

MOST_BARS: Final = 240  # per chart of thinking times; with more decisions, a bar shows the longest of several
COUNTS_FOR_NOTHING: Final = gettext_noop("it counts for nothing")
FAULT: Final = gettext_noop("a fault")
MAX_SEATS: Final = 16
_HEIGHT: Final = 28.0
_CAUSES: Final = {
    arena_pb2.END_CAUSE_NORMAL: gettext_noop("played to the end"),
    arena_pb2.END_CAUSE_TIMEOUT: gettext_noop("too slow"),
    arena_pb2.END_CAUSE_ILLEGAL: gettext_noop("illegal answer"),
    arena_pb2.END_CAUSE_CRASHED: gettext_noop("crashed"),
    arena_pb2.END_CAUSE_DISCONNECTED: gettext_noop("away"),
    arena_pb2.END_CAUSE_VOID_SERVER: gettext_noop("void"),
    arena_pb2.END_CAUSE_VOID_OPERATOR: gettext_noop("void"),
    arena_pb2.END_CAUSE_VOID_OUTAGE: gettext_noop("void"),
}
_VOID: Final = {
    "void_server": gettext_noop("by a fault of the server it counts for nothing"),
    "void_operator": gettext_noop("the operator of the server ended it, and it does not count"),
    "void_outage": gettext_noop(
        "the provider of a bot's language model was down, and on this ladder it does not count then"
    ),
}

router = APIRouter(include_in_schema=False)


@router.api_route("/matches/{match}", methods=["GET", "HEAD"])
def match(request: Request, ask: Asked, match: str) -> Response:
    """Show a finished match; for an open one, show where to watch it or that it is being stored."""
    told = ask.match_or_open(match)
    if isinstance(told, ladder_pb2.OpenMatch):
        return show(request, "match_going_on.html", match=told)
    one = told.match
    if match != one.match:  # the address has only the first characters of the ID
        return RedirectResponse(f"/matches/{quote(one.match)}")
    faults = [
        {"seat": seat, "said": fault, "cause": gettext(_CAUSES.get(fault.cause, FAULT))}
        for seat, course in enumerate(told.courses)
        for fault in course.faults
    ]
    is_placed = told.has_record and one.decisions and not one.void_cause
    return show(
        request,
        "match.html",
        told=told,
        story=_story(request, ask, told) if is_placed else None,
        reason=reason_text(one.reason),
        match=one,
        outcome=_outcome(one),
        order=_best_first(one),
        causes={cause: gettext(text) for cause, text in _CAUSES.items()},
        thoughts=_thoughts(told.courses),
        faults=faults,
        others=[name for name in one.board_matches if name != one.match],
        uses=any(seat.HasField("usage") for seat in one.seats),
        commitment=told.commitment.hex(),
        seed=told.opening.seed.hex(),
        nonces=[nonce.hex() for nonce in told.opening.nonces],
        params=told.opening.params.decode("utf-8", "replace"),
    )


def _story(
    request: Request, ask: Asking, told: ladder_pb2.GetMatchResponse, you: int | None = None
) -> dict[str, Any] | None:
    """Tell the story of a match, to the player in a seat or to anybody.

    None if its record cannot be played again, which its replay says.
    """
    replays: Replays = request.app.state.replays
    try:
        replayed = replays.get(ask, told)
    except CutpurseError:
        return None
    process: LuckProcess = request.app.state.luck
    name = told.match.match
    luck = process.luck_of(name)
    worst: WorstProcess = request.app.state.worst
    with replayed.lock:
        link = partial(_moment_address, f"/matches/{quote(name)}/replay", replayed.path(None).ats)
        names = names_for(replayed, you)
        return {
            "legend": [(seat, names[seat]) for seat in _best_first(told.match)],
            "decided": decided(replayed, link, you),
            "timeline": timeline(replayed, luck, link if you is not None else None),
            "turning_points": turning_points(replayed, link, you),
            "luck": luck_of_the_cards(replayed, luck, link) if luck is not None else Markup(),
            "luck_is_known": luck is not None,  # or nobody can find it
            "luck_begins": process.has_room_for(visitor_of(request)),  # now, for this visitor
            "worst": [
                worst_decisions(replayed, name, seat, worst.worst_of(name, seat), is_yours=you is not None)
                for seat in (_best_first(told.match) if you is None else [you])
            ],
        }


def _moment_address(replay: str, ats: Sequence[int], index: int) -> str:
    return f"{replay}?at={ats[index]}"


def _best_first(match: ladder_pb2.MatchShown) -> list[int]:
    return sorted(range(len(match.seats)), key=lambda seat: (match.seats[seat].place, seat))


@router.api_route("/matches/{match}/end", methods=["GET", "HEAD"])
def end(request: Request, ask: Asked, match: str, seat: Annotated[int, Query(ge=0, lt=MAX_SEATS)] = 0) -> Response:
    """Respond with a part of a page: the end of a match for the player in a seat, with all cards open.

    The answer is empty (204) while nobody can tell it: before the match is stored, and for one that is void.
    """
    try:
        told = ask.match(match)
    except NotFound:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    is_open = told.has_record and not told.match.void_cause and seat < len(told.match.seats)
    story = _story(request, ask, told, seat) if is_open else None
    if story is None:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    replays: Replays = request.app.state.replays
    return HTMLResponse(match_end(replays.get(ask, told), told.match.match, seat, story))


@router.api_route("/matches/{match}/luck", methods=["GET", "HEAD"])
async def luck(request: Request, ask: Asked, match: str) -> Response:
    """Find what the cards of a finished match gave, and lead back to its page, which then shows it."""
    told = await asyncio.to_thread(ask.match, match)  # refuses a match whose result is hidden
    if not told.has_record or told.match.void_cause:
        raise NotFound(gettext("nobody can find the luck of this match: it is void, or has no record"))
    name = told.match.match
    process: LuckProcess = request.app.state.luck
    await process.get(visitor_of(request), name, partial(ask.record_bytes, name))
    return RedirectResponse(f"/matches/{quote(name)}#luck", HTTPStatus.SEE_OTHER)


@router.post("/matches/{match}/worst")
async def worst(request: Request, ask: Asked, match: str) -> Response:
    """Find the worst decisions of a seat of a finished match, and lead back to its page, which then shows them."""
    fields = await read_form(request)
    told = await asyncio.to_thread(ask.match, match)  # refuses a match whose result is hidden
    seat = count_of(field_of(fields, "seat"))
    if seat is None or seat >= len(told.match.seats):
        raise NotFound(gettext("this match has seats 0 to %(last)s", last=len(told.match.seats) - 1))
    if not told.has_record or told.match.void_cause:
        raise NotFound(gettext("nobody can look for worse decisions in this match: it is void, or has no record"))
    name = told.match.match
    process: WorstProcess = request.app.state.worst
    await process.find(visitor_of(request), name, seat, partial(ask.record_bytes, name))
    page = f"/matches/{quote(name)}"
    address = f"{page}/end?seat={seat}" if fields.get("you") else f"{page}#worst-{seat}"
    return RedirectResponse(address, HTTPStatus.SEE_OTHER)


def _outcome(match: ladder_pb2.MatchShown) -> str:
    """Describe whether a match was rated or void, as the end of a sentence."""
    if match.void_cause:
        return gettext(_VOID.get(match.void_cause, COUNTS_FOR_NOTHING))
    if match.rated_number:
        place = gettext("number %(number)s of its ladder", number=match.rated_number)
        count = len(match.board_matches)
        if count > 1:
            rated = ngettext(
                "rated with the whole board of %(num)s match", "rated with the whole board of %(num)s matches", count
            )
            return f"{rated}, {place}"
        return ", ".join([gettext("rated"), place])
    if match.board_kind == ladder_pb2.BOARD_KIND_TEST:
        return gettext("not rated: a version test")
    return gettext("not rated: somebody asked for it") if match.requested_by else gettext("not rated")


def _thoughts(courses: Sequence[ladder_pb2.SeatCourse]) -> list[dict[str, Any]]:
    """Chart the thinking times of all seats to one scale."""
    most = max((ms for course in courses for ms in course.thinking_ms), default=0)
    return [_thought(course, max(most, 1)) for course in courses]


def _thought(course: ladder_pb2.SeatCourse, most: int) -> dict[str, Any]:
    times = list(course.thinking_ms)
    faults = {fault.decision for fault in course.faults}
    together = -(-len(times) // MOST_BARS) if times else 1
    bars = []
    width = 100.0 / max(1, -(-len(times) // together))
    for place, first in enumerate(range(0, len(times), together)):
        some = times[first : first + together]
        numbers = range(first + 1, first + len(some) + 1)
        is_fault = any(number in faults for number in numbers)
        which = gettext("decision %(number)s", number=numbers[0])
        if len(some) > 1:
            which = gettext("decisions %(first)s to %(last)s", first=numbers[0], last=numbers[-1])
        words = f"{which}: {language().number(max(some))} ms"
        if is_fault:
            words = ", ".join([words, gettext("taken by the server")])
        height = max(_HEIGHT * max(some) / most, 2.0 if is_fault else 0.4)
        bars.append(
            {
                "x": round(place * width, 3),
                "y": _HEIGHT - round(height, 2),
                "width": round(width * 0.86, 3),
                "height": round(height, 2),
                "is_fault": is_fault,
                "words": words,
            }
        )
    return {"bars": bars, "times": times, "most_ms": most}
