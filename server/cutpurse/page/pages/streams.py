"""The event streams that keep parts of the pages up to date."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from cutpurse.page.event_broadcast import EventBroadcaster
from cutpurse.page.league_client import Asking
from cutpurse.page.pages.home import now_playing
from cutpurse.page.pages.ladder import standings
from cutpurse.page.rendering import Asked, Rendering, rendering_of
from cutpurse.page.visitors import visitor_of

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/streams/home")
async def home(request: Request, ask: Asked) -> Response:
    """Stream the ladders and open matches of the first page."""
    return _news(request).response("home", partial(_home, ask, rendering_of(request)), visitor_of(request))


@router.get("/streams/ladders/{ladder}")
async def ladder(request: Request, ask: Asked, ladder: str, every_version: bool = False) -> Response:
    """Stream the rankings of a ladder."""
    await run_in_threadpool(ask.ladder, ladder)  # raises NotFound for an unknown ladder
    await run_in_threadpool(ask.open_matches, ladder)  # raises NotAuthorised while results are hidden
    name = f"ladder {every_version} {ladder}"
    render = partial(_standings, ask, rendering_of(request), ladder, every_version)
    return _news(request).response(name, render, visitor_of(request))


def _news(request: Request) -> EventBroadcaster:
    news: EventBroadcaster = request.app.state.news
    return news


def _home(ask: Asking, rendering: Rendering) -> str:
    return rendering.html("now.html", **now_playing(ask))


def _standings(ask: Asking, rendering: Rendering, ladder: str, every_version: bool) -> str:
    return rendering.html("standings.html", **standings(ask, ladder, every_version))
