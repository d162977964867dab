"""The page of a match: its story, seats, result, thinking times, faults and commitment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup
from starlette.exceptions import HTTPException

from cutpurse.engine.errors import CutpurseError
from cutpurse.server.web.language.speaking import gettext, gettext_noop, language, ngettext
from cutpurse.server.web.league_client import Asking
from cutpurse.server.web.luck_process import LuckProcess
from cutpurse.server.web.match_view.scores import decided, luck_of_the_cards, timeline, turning_points
from cutpurse.server.web.pages.replay import Replays
from cutpurse.server.web.rendering import Asked, show
from cutpurse.server.web.visitors import visitor_of
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.errors import NotFound, ServerRefused

__all__ = ["router"]

MOST_BARS: Final = 240  # per chart of thinking times; with more decisions, a bar shows the longest of several
COUNTS_FOR_NOTHING: Final = gettext_noop("it counts for nothing")
FAULT: Final = gettext_noop("a fault")
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


@dataclass(frozen=True, slots=True)
class _Bar:
    """A bar of the chart of thinking times, for one or several decisions."""

    x: float
    width: float
    height: float
    is_fault: bool
    words: str

    @property
    def y(self) -> float:
        """Position of its top edge."""
        return _HEIGHT - self.height


@dataclass(frozen=True, slots=True)
class _Thought:
    """The thinking times of a seat as a chart; `most_ms` is the value at the top."""

    bars: tuple[_Bar, ...]
    decisions: int
    total_ms: int
    longest_ms: int
    most_ms: int


@dataclass(frozen=True, slots=True)
class _MatchFault:
    """A fault in the match: a decision that the server took instead of a bot."""

    seat: int
    decision: int
    at: int
    cause: str


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
        _MatchFault(seat, fault.decision, fault.at, gettext(_CAUSES.get(fault.cause, FAULT)))
        for seat, course in enumerate(told.courses)
        for fault in course.faults
    ]
    is_placed = told.has_record and one.decisions and not one.void_cause
    return show(
        request,
        "match.html",
        told=told,
        story=_story(request, ask, told) if is_placed else None,
        match=one,
        outcome=_outcome(one),
        order=sorted(range(len(one.seats)), key=lambda seat: (one.seats[seat].place, seat)),
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


@dataclass(frozen=True, slots=True)
class _Story:
    """How a match was decided.

    Attributes:
        decided: A sentence.
        timeline: The chart; empty if nothing changed.
        turning_points: Their list.
        luck: What the cards gave; empty if it is not known yet, or if nobody can find it.
        luck_is_known: Whether it was found already, or cannot be found.
        luck_begins: Whether this visitor may have it found now.
    """

    decided: Markup
    timeline: Markup
    turning_points: Markup
    luck: Markup
    luck_is_known: bool
    luck_begins: bool


def _story(request: Request, ask: Asking, told: ladder_pb2.GetMatchResponse) -> _Story | None:
    """Tell the story of a match; None if its record cannot be played again, which its replay says."""
    replays: Replays = request.app.state.replays
    try:
        replayed = replays.get(ask, told)
    except CutpurseError:
        return None
    process: LuckProcess = request.app.state.luck
    luck = process.cached(told.match.match)
    base = f"/matches/{quote(told.match.match)}/replay?at="
    with replayed.lock:
        ats = replayed.path(None).ats

        def link(index: int) -> str:
            return f"{base}{ats[index]}"

        return _Story(
            decided=decided(replayed),
            timeline=timeline(replayed, luck),
            turning_points=turning_points(replayed, link),
            luck=luck_of_the_cards(replayed, luck, link) if luck is not None else Markup(),
            luck_is_known=luck is not None,
            luck_begins=process.has_room_for(visitor_of(request)),
        )


@router.api_route("/matches/{match}/luck", methods=["GET", "HEAD"])
async def luck(request: Request, ask: Asked, match: str) -> Response:
    """Find what the cards of a finished match gave, and lead back to its page, which then shows it."""
    told = await asyncio.to_thread(ask.match, match)  # refuses a match whose result is hidden
    if not told.has_record or told.match.void_cause:
        raise NotFound(gettext("nobody can find the luck of this match: it is void, or has no record"))
    name = told.match.match
    process: LuckProcess = request.app.state.luck
    try:
        await process.get(visitor_of(request), name, partial(ask.record_bytes, name))
    except ServerRefused as refused:  # its text is not the server's, but ours
        raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, f"{refused}.") from None
    return RedirectResponse(f"/matches/{quote(name)}#luck", HTTPStatus.SEE_OTHER)


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


def _thoughts(courses: Sequence[ladder_pb2.SeatCourse]) -> list[_Thought]:
    """Chart the thinking times of all seats to one scale."""
    most = max((ms for course in courses for ms in course.thinking_ms), default=0)
    return [_thought(course, max(most, 1)) for course in courses]


def _thought(course: ladder_pb2.SeatCourse, most: int) -> _Thought:
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
        bars.append(_Bar(round(place * width, 3), round(width * 0.86, 3), round(height, 2), is_fault, words))
    return _Thought(tuple(bars), len(times), sum(times), max(times, default=0), most)
