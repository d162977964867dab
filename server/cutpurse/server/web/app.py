"""The web application: its routes, headers, error pages and static files.

It reads the league through an `Asking` only. This module knows no server that runs it.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from cutpurse.server.web.account import acts as account_acts
from cutpurse.server.web.account import home as account_home
from cutpurse.server.web.account import host as account_host
from cutpurse.server.web.account import own_match, provider_pages
from cutpurse.server.web.account import pages as account_pages
from cutpurse.server.web.account.calls import Accounts
from cutpurse.server.web.account.pair_search import PairSearch
from cutpurse.server.web.account.search_process import SearchProcess
from cutpurse.server.web.api import routes as api
from cutpurse.server.web.api import tables
from cutpurse.server.web.award_work import AwardWork
from cutpurse.server.web.downloads import Downloads
from cutpurse.server.web.event_broadcast import EventBroadcaster
from cutpurse.server.web.forms import FormRefused, refuse_in_a_line
from cutpurse.server.web.language.choosing import Speaking
from cutpurse.server.web.language.languages import offered_languages
from cutpurse.server.web.league_client import Asking
from cutpurse.server.web.luck_process import LuckProcess
from cutpurse.server.web.match_view import drawing
from cutpurse.server.web.match_view.live_feed import Watches
from cutpurse.server.web.pages import (
    bot,
    bots,
    docs,
    events,
    feeds,
    guided,
    home,
    ladder,
    ladders,
    live,
    match,
    matches,
    overall,
    pictures,
    replay,
    season,
    tournament,
)
from cutpurse.server.web.picture_process import PictureProcess
from cutpurse.server.web.problems import add_problems, refuse
from cutpurse.server.web.rendering import Rendering, rendering_of
from cutpurse.server.web.seat import in_person, play_on
from cutpurse.server.web.seat import pages as seat_pages
from cutpurse.server.web.seat.friends import JoinRefused
from cutpurse.server.web.seat.person import AnswerRefused
from cutpurse.server.web.seat.seats import PageSeats
from cutpurse.server.web.security_headers import Guarded
from cutpurse.server.web.stream_shares import StreamShares

__all__ = ["create_app", "end_streams"]

FOR_EVER: Final = "public, max-age=31536000, immutable"
PAGES: Final = (
    *(home, ladders, ladder, bots, bot, feeds, events, matches, match, replay, pictures, live, guided, docs),
    *(tournament, season, overall),
    *(seat_pages, play_on, in_person, account_pages, provider_pages, account_home, account_acts),
    *(account_host, own_match, api, tables),
)
ROUTERS: Final = tuple([page.router for page in PAGES])


def create_app(
    ask: Asking,
    *,
    live: bool,
    bots_dial: str = "",
    seats: PageSeats | None = None,
    accounts: Accounts | None = None,
) -> FastAPI:
    """Create the web application.

    Args:
        ask: Client that reads the league.
        live: Whether the league belongs to a running server, not to a file.
        bots_dial: Address that bots connect to; empty if there is none.
        seats: Where people sit down to play; None if nobody can.
        accounts: The calls of people who sign in; None if nobody can.
    """
    app = FastAPI(
        title="Cutpurse",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        # Report nothing about readers, whatever the environment variables ask of FastAPI.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.ask = ask
    app.state.bots_dial = bots_dial
    app.state.seats = seats
    app.state.accounts = accounts
    app.state.stream_shares = StreamShares()
    app.state.news = EventBroadcaster(app.state.stream_shares)
    app.state.downloads = Downloads()
    app.state.rendering = Rendering(live=live, has_seats=seats is not None, has_accounts=accounts is not None)
    offered_languages()  # reads the catalogues now, like the templates
    drawing.environment()  # reads its templates now, before an upgrade can replace them
    app.state.replays = replay.Replays()
    app.state.awards = AwardWork()
    app.state.overall = overall.OverallTable()
    app.state.pictures = PictureProcess()
    app.state.luck = LuckProcess()
    app.state.search = SearchProcess()
    app.state.pairs = PairSearch()
    app.state.watches = Watches()
    add_problems(app)
    for refusal in (FormRefused, AnswerRefused, JoinRefused):
        app.add_exception_handler(refusal, refuse_in_a_line)
    app.add_middleware(GZipMiddleware, minimum_size=1_000, compresslevel=5)
    app.add_middleware(Guarded, refuse=refuse)
    app.add_middleware(Speaking)
    for router in ROUTERS:
        app.include_router(router)
    app.add_api_route("/static/{name:path}", _static, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/favicon.ico", _icon, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/robots.txt", _robots, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/healthz", _healthz, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/{path:path}/", _without_slash, methods=["GET", "HEAD"], include_in_schema=False)
    return app


def end_streams(app: FastAPI) -> None:
    """End all event streams and live matches of an app. Call it on the app's event loop."""
    app.state.news.close()
    app.state.watches.close()
    if app.state.seats is not None:
        app.state.seats.close()


# Coroutines need no thread, so these answer even while all threads wait for the server.
async def _static(request: Request, name: str) -> Response:
    file = rendering_of(request).by_address.get(f"/static/{name}")
    if file is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return Response(file.content, media_type=file.kind, headers={"Cache-Control": FOR_EVER})


def _icon(request: Request) -> Response:
    """Redirect to the icon, for responses that name none, such as those of the API."""
    return RedirectResponse(rendering_of(request).static["icon.svg"].address)


async def _robots() -> Response:
    # Every match has a page for each of its decisions: too many for a crawler.
    closed = ("/matches/", "/live", "/play", "/join/", "/seat", "/me", "/host", "/sign-in", "/api/", "/events/")
    return PlainTextResponse("User-agent: *\n" + "".join(f"Disallow: {path}\n" for path in closed))


async def _without_slash(request: Request, path: str) -> Response:
    """Redirect an address with a slash at its end to the page without it.

    Raises:
        HTTPException: 404, if no page can have that address.
    """
    sent = bytes(request.scope["raw_path"]).partition(b"?")[0].decode("latin-1")
    address = sent.rstrip("/")
    # Not found: an encoded slash inside a name; a redirect to another host; a path that is not printable text.
    if (
        address in ("", sent)
        or not re.match(r"/[^/]", address)
        or not path.isprintable()
        or "\N{REPLACEMENT CHARACTER}" in path
    ):
        raise HTTPException(HTTPStatus.NOT_FOUND)
    query = request.url.query
    return RedirectResponse(f"{address}?{query}" if query else address, HTTPStatus.PERMANENT_REDIRECT)


async def _healthz() -> Response:
    return PlainTextResponse("alive\n")
