"""The live pages: the list of open matches, and one match or a ladder's matches in turn, as spectators see them."""

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
from cutpurse.page.language.speaking import gettext
from cutpurse.page.league_client import Asking
from cutpurse.page.match_view.drawing import symbols
from cutpurse.page.match_view.live_feed import Watches
from cutpurse.page.pages.home import recent_match
from cutpurse.page.pages.showing import ShownMatch, best_of_day, newest_first, show_one
from cutpurse.page.rendering import Asked, show
from cutpurse.page.stream_shares import StreamShares
from cutpurse.page.visitors import visitor_of
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerRefused

__all__ = ["router"]

RETRY_MS: Final = 1_500  # until a browser reconnects
PING_S: Final = 15
UNREAD_S: Final = 20.0  # maximum time for a browser to accept an event
MOST_NAME: Final = 64
ROTATION: Final = ladder_pb2.BOARD_KIND_ROTATION  # matches on this and later kinds of boards are sealed
HOUSE: Final = "house"  # owner of the bots that fill seats
LEAST_NAME: Final = 8  # characters that the server needs to find a match

router = APIRouter(include_in_schema=False)


@router.api_route("/live", methods=["GET", "HEAD"])
def everything(
    request: Request,
    ask: Asked,
    ladder: Annotated[str, Query(max_length=MOST_NAME)] = "",
    number: Annotated[int, Query(ge=0, lt=10**6)] = 0,
) -> Response:
    """Show a ladder's matches in turn: those of `ladder`, else of the best open match, with the list of all below.

    While nothing runs, the newest matches and the best of the day are replayed in turn.
    """
    if ladder and ask.live:
        return _follow(request, ask, ladder)
    matches = ask.open_matches().matches
    ladders = _followed(ask) if ask.live else []
    facts: dict[str, Any] = {"matches": matches, "ladders": ladders}
    watched = [match for match in matches if match.ladder in ladders and not match.is_sealed]
    if watched:
        return _follow(request, ask, max(watched, key=_worth).ladder, is_first=True, **facts)
    newest = [ShownMatch(match) for match in newest_first(ask, ladder) if match.decisions and not match.void_cause][:1]
    best = best_of_day(request, ask, ladder)
    entries = [*newest, *[entry for entry in best if entry.match.match != newest[0].match.match]]
    page = show_one(request, ask, entries, number, "/live", {"ladder": ladder}, **facts)
    return page or show(request, "live.html", events="", ladder="", **{**_nothing_else(), **facts})


def _worth(match: ladder_pb2.OpenMatch) -> tuple[int, int]:
    """Return the sort key of an open match: one with more bots of owners is better, then a newer one."""
    return sum(seat.owner != HOUSE for seat in match.seats), match.started_ms


def _follow(request: Request, ask: Asking, ladder: str, **facts: Any) -> Response:
    """Show the matches of a ladder in turn."""
    followed = ask.ladder(ladder)
    ask.open_matches(ladder)  # refused while results are hidden
    facts = {**_nothing_else(), "is_frozen": followed.is_frozen, "last": recent_match(ask, ladder), **facts}
    return show(request, "live.html", events=f"/streams/live?ladder={quote(ladder)}", ladder=ladder, **facts)


def _followed(ask: Asking) -> list[str]:
    """Return the ladders whose matches can be watched one after the other."""
    ladders = ask.ladders()
    return [
        ladder.defined.name
        for ladder in ladders
        if ladder.defined.boards < ROTATION and not (ladder.has_hidden_results or ladder.has_hidden_replays)
    ]


@router.api_route("/live/{match}", methods=["GET", "HEAD"])
def one(request: Request, ask: Asked, match: str) -> Response:
    """Show an open match; redirect to the match's own page if it is finished or sealed."""
    told = ask.match_or_open(match)
    if isinstance(told, ladder_pb2.GetMatchResponse):
        return RedirectResponse(f"/matches/{quote(told.match.match)}")
    name = told.match
    if told.is_over or told.is_sealed:  # the match's own page says why it can't be watched
        return RedirectResponse(f"/matches/{quote(name)}")
    return show(
        request,
        "live.html",
        events=f"/streams/live?match={quote(name)}",
        ladder="",
        **{**_nothing_else(), "match": name},
    )


def _whole(ask: Asking, match: str) -> str:
    """Return the full ID of an open match, so that all its spectators share one watch.

    Return `match` unchanged if it is not found; the server then reports that.
    """
    if len(match) < LEAST_NAME:
        return match
    try:
        names = [open_match.match for open_match in ask.open_matches().matches if open_match.match.startswith(match)]
    except CutpurseError:
        return match
    return names[0] if len(names) == 1 else match


def _check_shown(ask: Asking, match: str, ladder: str) -> None:
    """Check that results of the ladder are not hidden.  Raises NotAuthorised; the watch finds every other problem."""
    try:
        if ladder:
            ask.open_matches(ladder)
        elif all(open_match.match != match for open_match in ask.open_matches().matches):
            ask.match(match)
    except NotAuthorised:
        raise
    except CutpurseError:
        return


def _nothing_else() -> dict[str, Any]:
    facts = {"match": "", "matches": (), "ladders": (), "symbols": symbols(), "is_frozen": False, "last": None}
    return {**facts, "is_first": False}


@router.get("/streams/live")
async def events(
    request: Request,
    ask: Asked,
    match: Annotated[str, Query(max_length=MOST_NAME)] = "",
    ladder: Annotated[str, Query(max_length=MOST_NAME)] = "",
) -> Response:
    """Stream an open match, or a ladder's matches in turn, as events `whole`, `step`, `status` and `over`.

    See `Watch`.

    Raises:
        UsageError: If not exactly one of `match` and `ladder` is given.
        NotFound: If the league is a file.
        ServerRefused: If there are too many streams, or the page is stopping.
    """
    if bool(match) == bool(ladder):
        raise UsageError(gettext("name a match or a ladder"))
    if not ask.live:
        raise NotFound(gettext("nothing is being played in an archive"))
    watches: Watches = request.app.state.watches
    match = await run_in_threadpool(_whole, ask, match)
    await run_in_threadpool(_check_shown, ask, match, ladder)
    if watches.is_closed:
        raise ServerRefused(gettext("the page is stopping"))
    shares: StreamShares = request.app.state.stream_shares
    visitor = visitor_of(request)
    shares.check(visitor)

    async def told() -> AsyncIterator[ServerSentEvent]:
        # Join only here: this never runs if the browser disconnects before the response begins.
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
