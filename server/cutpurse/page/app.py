"""The web application: its routes, headers, error pages and static files.

It reads the league through an `Asking` only. This module knows no server that runs it.
"""

from __future__ import annotations

import re
import time
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import PlainTextResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from cutpurse.page.account import acts as account_acts
from cutpurse.page.account import home as account_home
from cutpurse.page.account import host as account_host
from cutpurse.page.account import host_events, own_match, provider_pages
from cutpurse.page.account import pages as account_pages
from cutpurse.page.account.calls import Accounts
from cutpurse.page.account.pair_search import PairSearch
from cutpurse.page.account.search_process import SearchProcess
from cutpurse.page.api import routes as api
from cutpurse.page.api import tables
from cutpurse.page.award_work import AwardWork
from cutpurse.page.downloads import Downloads
from cutpurse.page.event_broadcast import EventBroadcaster
from cutpurse.page.forms import FormRefused, refuse_in_a_line
from cutpurse.page.language.choosing import Speaking
from cutpurse.page.language.languages import offered_languages
from cutpurse.page.league_client import AnswerCache, Asking
from cutpurse.page.luck_process import LuckProcess
from cutpurse.page.match_view import drawing
from cutpurse.page.match_view.live_feed import Watches
from cutpurse.page.pages import (
    badges,
    bot,
    bots,
    docs,
    event,
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
    showing,
    streams,
    taken_replay,
)
from cutpurse.page.picture_process import PictureProcess
from cutpurse.page.problems import add_problems, refuse
from cutpurse.page.record_remarks import RecordRemarks
from cutpurse.page.rendering import Rendering, rendering_of
from cutpurse.page.replay_file import ReplayFileProcess
from cutpurse.page.seat import in_person, play_on
from cutpurse.page.seat import pages as seat_pages
from cutpurse.page.seat.friends import JoinRefused
from cutpurse.page.seat.person import AnswerRefused
from cutpurse.page.seat.seats import PageSeats
from cutpurse.page.security_headers import Guarded
from cutpurse.page.stream_shares import StreamShares
from cutpurse.page.style_process import StyleProcess
from cutpurse.page.worst_process import WorstProcess

__all__ = ["create_app", "end_streams"]

# Those who fetch a page because somebody linked to it, and read robots.txt.
_PREVIEWS: Final = (
    *("facebookexternalhit", "Twitterbot", "LinkedInBot", "Slackbot", "Discordbot", "TelegramBot", "WhatsApp"),
    *("SkypeUriPreview", "Embedly", "redditbot", "Mastodon", "Iframely"),
)
FOR_EVER: Final = "public, max-age=31536000, immutable"
PAGES: Final = (
    *(home, ladders, ladder, bots, bot, badges, feeds, streams, matches, match, replay, taken_replay),
    *(pictures, live, showing, guided, docs),
    *(event, overall),
    *(seat_pages, play_on, in_person, account_pages, provider_pages, account_home, account_acts),
    *(account_host, host_events, own_match, api, tables),
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
    app.state.overall = AnswerCache(1, overall.KEEP_S, time.monotonic)
    app.state.pictures = PictureProcess()
    app.state.luck = LuckProcess()
    app.state.record_remarks = RecordRemarks()
    app.state.replay_files = ReplayFileProcess()
    app.state.worst = WorstProcess()
    app.state.styles = StyleProcess()
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
    closed = ("/play", "/join/", "/seat", "/me", "/host", "/sign-in", "/api/", "/streams/")
    # Every match has a page for each of its decisions: too many for a crawler, but a preview fetches what was linked.
    groups = [(_PREVIEWS, closed), (("*",), ("/matches/", "/live", "/show", *closed))]
    lines = [
        "\n".join([*[f"User-agent: {agent}" for agent in agents], *[f"Disallow: {path}" for path in paths]])
        for agents, paths in groups
    ]
    return PlainTextResponse("\n\n".join(lines) + "\n")


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
