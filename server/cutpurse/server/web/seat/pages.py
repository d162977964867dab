"""The pages on which a person chooses a game and plays it.

Every change is a POST from a page of this host, with the key of the seat in a cookie that scripts cannot read and other
sites cannot send.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse

from cutpurse.games import GAMES, game_named
from cutpurse.server.web.forms import FormRefused, is_script, private, read_form
from cutpurse.server.web.language.game_words import game_title
from cutpurse.server.web.language.speaking import gettext, gettext_noop
from cutpurse.server.web.match_view.drawing import symbols
from cutpurse.server.web.rendering import show
from cutpurse.server.web.seat.person import Person
from cutpurse.server.web.seat.seats import PageSeats
from cutpurse.server.web.stream_shares import StreamShares
from cutpurse.server.web.visitors import visitor_of
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
STRENGTH: Final[Mapping[str, str]] = {
    "random": gettext_noop("plays by chance"),
    "greedy": gettext_noop("takes what is best at the moment"),
    "search": gettext_noop("thinks ahead"),
    "expert": gettext_noop("was trained, and thinks ahead"),
}
NO_SEAT: Final = gettext_noop("You have no seat at a table, or its match is long over. Choose a game to sit down.")
SITS: Final = gettext_noop("You sit at a table already; leave it to join this one.")

router = APIRouter(include_in_schema=False)


@router.api_route("/play", methods=["GET", "HEAD"])
async def games(request: Request) -> Response:
    """Show the games that a person can play."""
    seats = seats_of(request)
    rows = [
        {"name": name, "title": game_title(name), "players": counts}
        for name, rules in GAMES.items()
        if (counts := seats.seat_counts(name))
    ]
    return private(show(request, "play.html", games=rows, person=person_of(request)))


@router.api_route("/play/{game}", methods=["GET", "HEAD"])
async def opponents(request: Request, game: str) -> Response:
    """Show the opponents at a game, and the button that seats the person."""
    seats = seats_of(request)
    if game not in GAMES or not seats.seat_counts(game):
        raise NotFound(gettext("no game that can be played here is called %(name)s", name=f"{game!r:.40}"))
    counts = seats.seat_counts(game)
    preferred = sorted(seats.house, key=lambda bot: bot != "greedy")[: counts[-1] - 1]
    return private(
        show(
            request,
            "play_game.html",
            game=game,
            title=game_title(game),
            counts=[count - 1 for count in counts],
            bots=[(bot, gettext(STRENGTH[bot]) if bot in STRENGTH else "", bot in preferred) for bot in seats.house],
            person=person_of(request),
        )
    )


@router.post("/play/{game}")
async def sit_down(request: Request, game: str) -> Response:
    """Seat the person, who gets the key of the seat; a person who sits somewhere already goes on there."""
    seats = seats_of(request)
    fields = await read_form(request)
    game_named(game)
    bots, visitor = fields.get("opponent", []), visitor_of(request)
    if fields.get("with") == ["friends"]:
        origin = f"{request.url.scheme}://{request.url.netloc}"
        return take_a_seat(request, lambda: seats.open_table(game, bots, visitor, origin))
    return take_a_seat(request, lambda: seats.sit_down(game, bots, visitor))


def take_a_seat(request: Request, sit_down: Callable[[], str]) -> Response:
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
            person=person,
        )
    )


@router.post("/join/{secret}")
async def join(request: Request, secret: str) -> Response:
    """Seat a friend at the table of a link."""
    seats = seats_of(request)
    await read_form(request)
    table = seats.table(secret)
    person = person_of(request)
    if person is not None and not person.is_over and person not in table.people:
        raise FormRefused(gettext(SITS), HTTPStatus.CONFLICT)
    return take_a_seat(request, lambda: seats.join(table, visitor_of(request)))


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
    return private(
        show(
            request,
            "seat.html",
            title=game_title(person.game),
            game=person.game,
            where=person.status,
            moment=Markup(person.html()),  # safe: our own template, which escapes
            is_over=person.is_over,
            problem=person.problem,
            rated_on=person.rated_on,
            symbols=symbols(),
        )
    )


@router.get("/seat/events")
async def events(request: Request) -> Response:
    """Stream the person's table as events `status`, `whole` and `over`."""
    person = _needed(request)
    shares: StreamShares = request.app.state.stream_shares
    visitor = visitor_of(request)
    shares.check(visitor)

    async def told() -> AsyncIterator[ServerSentEvent]:
        with shares.turn(visitor, person.close):
            yield ServerSentEvent(comment="here it comes", retry=RETRY_MS)
            async with aclosing(person.listen()) as moments:
                async for news in moments:
                    yield ServerSentEvent(data=news.text, event=news.kind)

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return EventSourceResponse(told(), headers=headers, ping=PING_S, send_timeout=UNREAD_S, sep="\n")


@router.post("/seat/answer")
async def answer(request: Request) -> Response:
    """Answer the open decision."""
    fields = await read_form(request)
    person = _needed(request)
    number, option = (fields.get(name, [""])[0] for name in ("decision", "option"))
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
