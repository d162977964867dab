"""The pages on which a person chooses a game and plays it.

Every change is a POST from a page of this host, with the key of the seat in a cookie that scripts cannot read and other
sites cannot send.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse

from cutpurse.games import GAMES, game_named
from cutpurse.page.forms import FormRefused, count_of, field_of, is_script, private, read_form
from cutpurse.page.language.game_words import game_title
from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.page.league_client import Asking
from cutpurse.page.match_view.drawing import symbols
from cutpurse.page.rendering import Asked, show
from cutpurse.page.seat.introductions import FIRST, introduce
from cutpurse.page.seat.opponents import beginners, house_opponents, league_opponents
from cutpurse.page.seat.own_name import keep_name, own_name, read_name
from cutpurse.page.seat.person import Person
from cutpurse.page.seat.seats import PageSeats
from cutpurse.page.seat.shared_drawing import Listener
from cutpurse.page.stream_shares import StreamShares
from cutpurse.page.visitors import visitor_of
from cutpurse.wire.errors import NotFound, ServerRefused

__all__ = [
    "COOKIE",
    "person_of",
    "router",
    "seats_of",
    "take_a_seat",
]

COOKIE: Final = "cutpurse_seat"
KEEP_S: Final = 86_400  # lifetime of the cookie
RETRY_MS: Final = 1_500
PING_S: Final = 15
UNREAD_S: Final = 20.0
MOST_OFFERED: Final = 20  # bots of the league, the best first
MOST_MINUTES: Final = 99  # games of unknown length come last
NO_SEAT: Final = gettext_noop("You have no seat at a table, or its match is long over. Choose a game to sit down.")
SITS: Final = gettext_noop("You sit at a table already; leave it to join this one.")

router = APIRouter(include_in_schema=False)


@router.api_route("/play", methods=["GET", "HEAD"])
async def games(request: Request) -> Response:
    """Show the games that a person can play."""
    seats = seats_of(request)
    games = [(introduce(name), counts) for name in GAMES if (counts := seats.seat_counts(name))]
    games.sort(key=lambda row: (row[0].name != FIRST, row[0].minutes or MOST_MINUTES))
    return private(
        show(
            request,
            "play.html",
            games=games,
            first=FIRST,
            beginners=beginners(seats.house, seats.seat_counts(FIRST)),
            symbols=symbols(),
            person=person_of(request),
        )
    )


@router.api_route("/play/{game}", methods=["GET", "HEAD"])
async def opponents(request: Request, ask: Asked, game: str, against: str = "") -> Response:
    """Show the opponents at a game, with the bot `against` chosen, and the button that seats the person."""
    seats = seats_of(request)
    if game not in GAMES or not seats.seat_counts(game):
        raise NotFound(gettext("no game that can be played here is called %(name)s", name=f"{game!r:.40}"))
    counts = seats.seat_counts(game)
    bots = await run_in_threadpool(league_opponents, ask, game, [against] if against else [])
    weakest = beginners(seats.house, counts)
    if any(bot.is_chosen for bot in bots):
        weakest = weakest[: max(1, counts[0] - 2)]
    return private(
        show(
            request,
            "play_game.html",
            game=introduce(game),
            players=counts,
            counts=[count - 1 for count in counts],
            bots=house_opponents(seats.house, weakest),
            league_bots=bots[:MOST_OFFERED],
            is_away=bool(against) and not any(bot.is_chosen for bot in bots),
            own_name=own_name(request),
            symbols=symbols(),
            person=person_of(request),
        )
    )


@router.post("/play/{game}")
async def sit_down(request: Request, ask: Asked, game: str) -> Response:
    """Seat the person, who gets the key of the seat; a person who sits somewhere already goes on there."""
    seats = seats_of(request)
    fields = await read_form(request)
    game_named(game)
    await run_in_threadpool(_check_picked, ask, game, fields.get("opponent", []))
    bots, visitor, name = fields.get("opponent", []), visitor_of(request), read_name(fields)
    if fields.get("with") == ["friends"]:
        origin = f"{request.url.scheme}://{request.url.netloc}"
        return take_a_seat(request, lambda: seats.open_table(game, bots, visitor, origin, name), name)
    return take_a_seat(request, lambda: seats.sit_down(game, bots, visitor), name)


def _check_picked(ask: Asking, game: str, opponents: Sequence[str]) -> None:
    """Check that people may pick these bots of the league.  Raises FormRefused."""
    picked = [name for name in opponents if "/" in name]
    there = {bot.name for bot in league_opponents(ask, game)} if picked else set()
    for name in picked:
        if name not in there:
            text = gettext(
                "%(bot)s cannot be played now: it is away, all its tables are for its ladders, or its owner lets no "
                "people pick it. Choose another opponent.",
                bot=f"{name!r:.80}",
            )
            raise FormRefused(text, HTTPStatus.CONFLICT)


def take_a_seat(request: Request, sit_down: Callable[[], str], name: str = "") -> Response:
    """Give the browser the key of a new seat; a person who sits somewhere already goes on there.

    Raises:
        FormRefused: If the page has no free seat.
    """
    person = person_of(request)
    response = RedirectResponse("/seat", HTTPStatus.SEE_OTHER)
    if person is None or person.is_over:
        try:
            key = sit_down()
        except ServerRefused as refused:
            raise FormRefused(f"{refused}.", HTTPStatus.SERVICE_UNAVAILABLE) from None
        is_secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, key, KEEP_S, path="/", secure=is_secure, httponly=True, samesite="strict")
        if name:
            keep_name(request, response, name)
    return private(response)


# -- with friends
@router.api_route("/join/{secret}", methods=["GET", "HEAD"])
async def invitation(request: Request, secret: str) -> Response:
    """Show the table of a link; only the button below it takes a seat, as chats open links by themselves."""
    table = seats_of(request).table(secret)
    person = person_of(request)
    if person in table.people:
        return private(RedirectResponse("/seat", HTTPStatus.SEE_OTHER))
    table.check()
    return private(
        show(
            request,
            "join.html",
            game=table.game,
            title=game_title(table.game),
            people=len(table.people),
            seats=table.seats,
            secret=secret,
            own_name=own_name(request),
            person=person,
        )
    )


@router.post("/join/{secret}")
async def join(request: Request, secret: str) -> Response:
    """Seat a friend at the table of a link."""
    seats = seats_of(request)
    name = read_name(await read_form(request))
    table = seats.table(secret)
    person = person_of(request)
    if person is not None and not person.is_over and person not in table.people:
        raise FormRefused(gettext(SITS), HTTPStatus.CONFLICT)
    return take_a_seat(request, lambda: seats.join(table, visitor_of(request), name), name)


@router.post("/seat/begin")
async def begin(request: Request) -> Response:
    """Begin the match of a table with friends."""
    await read_form(request)
    _needed(request)
    seats_of(request).begin(request.cookies[COOKIE])
    return private(RedirectResponse("/seat", HTTPStatus.SEE_OTHER))


@router.api_route("/seat", methods=["GET", "HEAD"])
async def seat(request: Request) -> Response:
    """Show the person's table."""
    person = _needed(request)
    person.come_back()
    html = await person.html()

    def page() -> Response:
        return show(
            request,
            "seat.html",
            title=game_title(person.game),
            game=person.game,
            where=person.status,
            moment=Markup(html),  # safe: our own template, which escapes
            is_over=person.is_over,
            problem=person.problem,
            rated_on=person.rated_on,
            symbols=symbols(),
        )

    return private(await run_in_threadpool(page))


@router.get("/seat/events")
async def events(request: Request) -> Response:
    """Stream the person's table as events `status`, `whole`, `step` and `over`, from where a lost stream ended."""
    person = _needed(request)
    shares: StreamShares = request.app.state.stream_shares
    visitor = visitor_of(request)
    shares.check(visitor)
    after = count_of(request.headers.get("last-event-id", ""))

    async def told() -> AsyncIterator[ServerSentEvent]:
        listener = Listener()
        with shares.turn(visitor, listener.end):
            yield ServerSentEvent(comment="here it comes", retry=RETRY_MS)
            async with aclosing(person.listen(listener, after)) as moments:
                async for news in moments:
                    number = None if news.step is None else str(news.step)
                    yield ServerSentEvent(data=news.text, event=news.kind, id=number)

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return EventSourceResponse(told(), headers=headers, ping=PING_S, send_timeout=UNREAD_S, sep="\n")


@router.post("/seat/answer")
async def answer(request: Request) -> Response:
    """Answer the open decision."""
    fields = await read_form(request)
    person = _needed(request)
    number, option = (field_of(fields, name) for name in ("decision", "option"))
    person.answer(number, option)
    if is_script(request):
        return private(Response(status_code=HTTPStatus.NO_CONTENT))
    return private(RedirectResponse("/seat", HTTPStatus.SEE_OTHER))


@router.api_route("/seat/answer", methods=["GET", "HEAD"])
@router.api_route("/seat/begin", methods=["GET", "HEAD"])
@router.api_route("/seat/leave", methods=["GET", "HEAD"])
async def back(request: Request) -> Response:
    """Show the table to a browser that loads the address of a form."""
    seats_of(request)
    return private(RedirectResponse("/seat", HTTPStatus.SEE_OTHER))


@router.post("/seat/leave")
async def leave(request: Request) -> Response:
    """Leave the table."""
    await read_form(request)
    _needed(request)
    seats_of(request).leave(request.cookies[COOKIE])
    response = RedirectResponse("/play", HTTPStatus.SEE_OTHER)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return private(response)


# -- who asks, and with what
def seats_of(request: Request) -> PageSeats:
    """Return the seats of the page.

    Raises:
        NotFound: If nobody can play here.
    """
    seats: PageSeats | None = request.app.state.seats
    if seats is None:
        raise NotFound(gettext("nobody can play on this page: its server seats no people"))
    return seats


def person_of(request: Request) -> Person | None:
    """Return the person whose seat the browser has the key of; None if it has none."""
    key = request.cookies.get(COOKIE)
    return None if key is None else seats_of(request).person(key)


def _needed(request: Request) -> Person:
    """Return the person who asks.

    Raises:
        FormRefused: If there is no key, or it opens no seat.
    """
    seats_of(request)
    person = person_of(request)
    if person is None:
        raise FormRefused(gettext(NO_SEAT), HTTPStatus.FORBIDDEN)
    return person
