"""Matches while they are played: what is on; and one table, or those of a ladder in turn, as spectators see it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.sdk.errors import NotFound, ServerRefused
from cutpurse.server.web.league_client import Asking
from cutpurse.server.web.match_view.drawing import symbols
from cutpurse.server.web.match_view.live_feed import Watches
from cutpurse.server.web.rendering import Asked, show
from cutpurse.server.web.stream_shares import StreamShares
from cutpurse.server.web.visitors import visitor_of
from cutpurse.v1 import ladder_pb2

__all__ = ["router"]

RETRY_MS: Final = 1_500  # until a browser comes again
PING_S: Final = 15
UNREAD_S: Final = 20.0  # that a browser may leave what it was sent unread
MOST_NAME: Final = 64
ROTATION: Final = ladder_pb2.BOARD_KIND_ROTATION  # from this kind of boards on a ladder's matches are sealed
LEAST_NAME: Final = 8  # signs that the server takes for a match

router = APIRouter(include_in_schema=False)


@router.api_route("/live", methods=["GET", "HEAD"])
def everything(request: Request, ask: Asked, ladder: Annotated[str, Query(max_length=MOST_NAME)] = "") -> Response:
    """Show what is being played; or with a ladder, its matches one after the other."""
    if not ladder or not ask.live:
        matches = ask.open_matches().matches
        ladders = [one.defined.name for one in ask.ladders() if one.defined.boards < ROTATION] if ask.live else []
        return show(request, "live.html", events="", ladder="", match="", matches=matches, ladders=ladders)
    told = ask.ladder(ladder)
    facts = {**_nothing_else(), "is_frozen": told.is_frozen}
    return show(request, "live.html", events=f"/events/live?ladder={quote(ladder)}", ladder=ladder, **facts)


@router.api_route("/live/{match}", methods=["GET", "HEAD"])
def one(request: Request, ask: Asked, match: str) -> Response:
    """Show an open match; a finished one is shown on its own page."""
    told = ask.match_or_open(match)
    if isinstance(told, ladder_pb2.GetMatchResponse):
        return RedirectResponse(f"/matches/{quote(told.match.match)}")
    name = told.match
    if told.is_over or told.is_sealed:  # whose own page says why it is not shown
        return RedirectResponse(f"/matches/{quote(name)}")
    return show(
        request,
        "live.html",
        events=f"/events/live?match={quote(name)}",
        ladder="",
        **{**_nothing_else(), "match": name},
    )


def _whole(ask: Asking, match: str) -> str:
    """Return the whole name of an open match, so that it is followed once, however short its name is given.

    What is not found is left to the server, which says so.
    """
    if len(match) < LEAST_NAME:
        return match
    try:
        found = [one.match for one in ask.open_matches().matches if one.match.startswith(match)]
    except CutpurseError:
        return match
    return found[0] if len(found) == 1 else match


def _nothing_else() -> dict[str, Any]:
    return {"match": "", "matches": (), "ladders": (), "symbols": symbols(), "is_frozen": False}


@router.get("/events/live")
async def events(
    request: Request,
    ask: Asked,
    match: Annotated[str, Query(max_length=MOST_NAME)] = "",
    ladder: Annotated[str, Query(max_length=MOST_NAME)] = "",
) -> Response:
    """Stream what happens at a table: `whole` and `step`, `status` and `over`, see `Watch`."""
    if bool(match) == bool(ladder):
        raise UsageError("name a match or a ladder")
    if not ask.live:
        raise NotFound("nothing is being played in an archive")
    watches: Watches = request.app.state.watches
    match = await run_in_threadpool(_whole, ask, match)
    if watches.is_closed:
        raise ServerRefused("the page is stopping")
    shares: StreamShares = request.app.state.stream_shares
    visitor = visitor_of(request)
    shares.check(visitor)

    async def told() -> AsyncIterator[ServerSentEvent]:
        # Nobody reads before this is begun: it never is for a browser that goes before it has the head of the answer.
        watch, reader = watches.join(match, ladder, lambda: ask.watch(match, ladder), visitor)
        try:
            with shares.turn(visitor, partial(reader.let_go, at_once=True)):
                yield ServerSentEvent(comment="here it comes", retry=RETRY_MS)
                async for news in reader.read():
                    yield ServerSentEvent(data=news.text, event=news.kind)
        finally:
            watch.leave(reader)

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return EventSourceResponse(told(), headers=headers, ping=PING_S, send_timeout=UNREAD_S, sep="\n")
