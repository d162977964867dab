"""The page of a bot: its versions, ratings, opponents, thinking times and faults."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from cutpurse.engine.errors import CutpurseError
from cutpurse.page.anchors import anchors_of, strength
from cutpurse.page.charts import Line, bars, over_time
from cutpurse.page.forms import field_of, read_form
from cutpurse.page.language.speaking import gettext
from cutpurse.page.league_client import Asking
from cutpurse.page.rating_display import placed
from cutpurse.page.rendering import Asked, show
from cutpurse.page.style_process import STYLE_MATCHES, StyleMatch, StyleProcess
from cutpurse.page.visitors import visitor_of
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound

__all__ = ["is_version", "named_bot", "router", "share", "usual_ladder"]

STEPS: Final = 20  # rating steps shown
MATCHES: Final = 200  # newest matches counted by seat
THOUGHT: Final = 10  # newest matches whose thinking times are counted
NEWEST: Final = 8  # matches that are listed
FAULTED: Final = 6  # matches whose faults are shown
FAULTS: Final = 4  # faults shown per match
TIMES_MS: Final = (1, 3, 10, 30, 100, 300, 1_000, 3_000)  # bounds between the bars of thinking times

Order = Literal["met", "worst", "best"]

router = APIRouter(include_in_schema=False)


@dataclass(slots=True)
class _BySeat:
    """The results of a bot from one seat."""

    matches: int = 0
    wins: int = 0
    places: int = 0


@dataclass(slots=True)
class _LadderRecord:
    """The record of a bot on one ladder."""

    ladder: ladder_pb2.LadderShown
    ranking: ladder_pb2.Ranking | None = None
    placed: int = 0
    strength: str = ""  # by the house bots
    steps: Sequence[ladder_pb2.RatingStep] = ()
    opponents: Sequence[ladder_pb2.Opponent] = ()
    seats: dict[int, _BySeat] = field(default_factory=dict)
    counted: int = 0
    newest: list[tuple[ladder_pb2.MatchShown, int]] = field(default_factory=list)  # with the bot's seat
    faults: list[dict[str, Any]] = field(default_factory=list)  # decisions that the server took instead
    chart: Markup = field(default_factory=Markup)
    thinking: Markup = field(default_factory=Markup)


# The names are read from the raw path, where an encoded slash does not end a name.
@router.api_route("/bots/{rest:path}", methods=["GET", "HEAD"])
def bot(request: Request, ask: Asked, rest: str, ladder: str = "", order: Order = "met") -> Response:
    """Show a bot or one of its versions, on `ladder` or else its ladder with the most matches.

    Args:
        request: Request to answer.
        ask: Client of the league.
        rest: Path after "/bots/".
        ladder: Name of the ladder.
        order: Order of its opponents: those met most first, those that it does worst against, or best.
    """
    if not rest:
        return RedirectResponse("/bots", HTTPStatus.PERMANENT_REDIRECT)
    name = named_bot(request)
    versions = [entry for entry in ask.bots(name.owner) if (entry.bot.owner, entry.bot.bot) == (name.owner, name.bot)]
    chosen = [entry for entry in versions if is_version(entry.bot, name)]
    if not chosen:
        raise NotFound(gettext("There is no such bot here."))
    ladders = sorted({name for entry in chosen for name in entry.ladders})
    if ladder and ladder not in ladders:
        raise NotFound(gettext("That bot was never rated on such a ladder."))
    hidden = {entry.defined.name: entry for entry in ask.ladders() if entry.has_hidden_results}
    shown_ladders = [entry for entry in ladders if entry not in hidden]
    course = _course(ask, name, ladder or usual_ladder(ask, shown_ladders)) if ladder or shown_ladders else None
    if course is not None and order != "met":
        course.opponents = sorted(course.opponents, key=share, reverse=order == "best")
    return show(
        request,
        "bot.html",
        bot=name,
        versions=versions,
        newest=chosen[-1],
        ladders=shown_ladders,
        hidden=[hidden[entry] for entry in ladders if entry in hidden],
        course=course,
        order=order,
        style=None if course is None else _style(request, course, name),
    )


@router.post("/bots/{rest:path}")
async def style(request: Request, ask: Asked) -> Response:
    """Find what a bot does on a ladder, and lead back to its page, which then shows it."""
    name = named_bot(request)
    ladder = field_of(await read_form(request), "ladder")
    public = await asyncio.to_thread(ask.ladders)
    if ladder not in [one.defined.name for one in public if not one.has_hidden_results]:
        raise NotFound(gettext("That bot was never rated on such a ladder."))
    answer = await asyncio.to_thread(partial(ask.matches, ladder, [name], limit=MATCHES))
    matches = [match for match in answer.matches if not match.void_cause]
    if not matches:
        raise NotFound(gettext("That bot was never rated on such a ladder."))
    process: StyleProcess = request.app.state.styles
    key = (name.owner, name.bot, name.version, ladder, matches[0].match)
    await process.find(visitor_of(request), key, partial(_style_matches, ask, name, matches))
    return RedirectResponse(f"{request.url.path}?ladder={quote(ladder)}#style", HTTPStatus.SEE_OTHER)


def _style(request: Request, course: _LadderRecord, bot: ladder_pb2.BotName) -> list[dict[str, Any]] | None:
    """Return the style of the bot as of its newest match, if somebody has asked for it."""
    process: StyleProcess = request.app.state.styles
    newest = next((match.match for match, _ in course.newest if not match.void_cause), "")
    return process.style_of((bot.owner, bot.bot, bot.version, course.ladder.defined.name, newest))


def _style_matches(
    ask: Asking, bot: ladder_pb2.BotName, matches: Sequence[ladder_pb2.MatchShown]
) -> Iterator[StyleMatch]:
    """Yield the newest matches that have a record."""
    for match in matches[:STYLE_MATCHES]:
        told = ask.match(match.match, slow=True)
        if told.has_record:
            times = {seat: list(course.thinking_ms) for seat, course in enumerate(told.courses)}
            own = [seat for seat, sat in enumerate(match.seats) if is_version(sat.bot, bot)]
            yield [(seat, times.get(seat, [])) for seat in own], ask.record_bytes(match.match)


def named_bot(request: Request, above: str = "") -> ladder_pb2.BotName:
    """Return the bot of the address; its version is empty if it has none.

    Args:
        request: Request to answer.
        above: Path before "/bots".

    Raises:
        NotFound: If the address has another form.
    """
    raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
    path = raw.partition(b"?")[0].decode("ascii", "replace").removeprefix(above)
    parts = [unquote(part) for part in path.rstrip("/").split("/")[2:]]
    if len(parts) not in (2, 3) or not all(parts):
        raise NotFound(gettext("A bot's page is at %(address)s.", address=f"{above}/bots/OWNER/BOT"))
    owner, bot, *rest = parts
    return ladder_pb2.BotName(owner=owner, bot=bot, version=rest[0] if rest else "")


def usual_ladder(ask: Asking, ladders: Sequence[str]) -> str:
    """Return the ladder with the most matches."""
    matches = {ladder.defined.name: ladder.matches for ladder in ask.ladders()}
    return max(ladders, key=lambda name: matches.get(name, 0))


def _course(ask: Asking, bot: ladder_pb2.BotName, ladder: str) -> _LadderRecord:
    course = _LadderRecord(ask.ladder(ladder))
    rankings = ask.rankings(ladder, every_version=bool(bot.version))
    course.placed = len(placed(rankings))
    course.ranking = next((ranking for ranking in rankings if is_version(ranking.bot, bot)), None)
    if course.ranking is not None:
        course.strength = strength(course.ranking, anchors_of(rankings))
    try:
        course.steps = ask.history(ladder, bot, STEPS)
        course.chart = _chart(ask.ratings(ladder, bot))
        course.opponents = ask.opponents(ladder, ladder_pb2.BotName(owner=bot.owner, bot=bot.bot))
    except CutpurseError:  # the bot has no rating yet
        pass
    matches = ask.matches(ladder, [bot], limit=MATCHES).matches
    _count_seats(course, bot, matches)
    _look_at_courses(ask, course, bot, matches)
    return course


def share(met: ladder_pb2.Opponent) -> float:
    """Return the share of matches in which the bot was ahead of an opponent, ties counted half."""
    return (met.ahead + met.level / 2) / max(met.matches, 1)


def is_version(name: ladder_pb2.BotName, bot: ladder_pb2.BotName) -> bool:
    """Return whether a name is that of `bot`, in its version if it has one."""
    return (name.owner, name.bot) == (bot.owner, bot.bot) and bot.version in ("", name.version)


def _chart(points: Sequence[ladder_pb2.RatingPoint]) -> Markup:
    """Draw the ratings over time, one line per version."""
    versions: dict[str, list[ladder_pb2.RatingPoint]] = {}
    for point in reversed(points):
        versions.setdefault(point.version, []).append(point)
    lines = [
        Line(
            gettext("version %(version)s", version=version),
            [(point.boards, point.rating) for point in of_version],
            [(point.low, point.high) for point in of_version],
        )
        for version, of_version in versions.items()
    ]
    return over_time(
        lines,
        title=gettext("Its rating over time, and how far off it may be"),
        x_name=gettext("rated boards of the ladder"),
    )


def _count_seats(course: _LadderRecord, bot: ladder_pb2.BotName, matches: Sequence[ladder_pb2.MatchShown]) -> None:
    for match in matches:
        for number, seat in enumerate(match.seats):
            if seat.place and is_version(seat.bot, bot):
                by_seat = course.seats.setdefault(number, _BySeat())
                by_seat.matches += 1
                by_seat.wins += seat.place == 1
                by_seat.places += seat.place
                if len(course.newest) < NEWEST:
                    course.newest.append((match, number))
    course.counted = len(matches)


def _look_at_courses(
    ask: Asking, course: _LadderRecord, bot: ladder_pb2.BotName, matches: Sequence[ladder_pb2.MatchShown]
) -> None:
    """Add the thinking times of the newest matches, and the faults of the newest matches with faults."""
    faulted = [match for match in matches if any(seat.faults and is_version(seat.bot, bot) for seat in match.seats)]
    times: Counter[int] = Counter()
    newest = matches[:THOUGHT]
    for match in {one.match: one for one in [*newest, *faulted[:FAULTED]]}.values():
        try:
            courses = ask.match(match.match, slow=True).courses
        except CutpurseError:  # the match is not available
            continue
        for number, (seat, told) in enumerate(zip(match.seats, courses, strict=False)):
            if is_version(seat.bot, bot):
                course.faults += [{"match": match.match, "seat": number, "said": one} for one in told.faults[:FAULTS]]
                if match in newest:
                    times.update(_column(ms) for ms in told.thinking_ms)
    columns = [(_column_name(number), times[number]) for number in range(len(TIMES_MS) + 1)]
    course.thinking = bars(
        columns,
        title=gettext("How long it thought, in its newest matches"),
        x_name=gettext("milliseconds for a decision"),
    )


def _column(ms: int) -> int:
    return sum(ms >= most for most in TIMES_MS)


def _column_name(number: int) -> str:
    names = [f"{most // 1_000} s" if most >= 1_000 else f"{most}" for most in TIMES_MS]
    return f"< {names[number]}" if number < len(names) else f"{names[-1]} +"
