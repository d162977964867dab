"""A replay elsewhere: as one file to keep, and as the only page that other sites may frame."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from cutpurse.page.match_view.replay_context import replay_context
from cutpurse.page.pages.replay import MOST, batch_of, replay_wanted, seat_wanted
from cutpurse.page.rendering import Asked, show
from cutpurse.page.replay_file import ReplayFileProcess
from cutpurse.page.security_headers import FRAMED
from cutpurse.page.visitors import visitor_of

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.api_route("/matches/{match}/page.html", methods=["GET", "HEAD"])
async def file(request: Request, ask: Asked, match: str) -> Response:
    """Send a replay as one file, with all cards or as a seat saw it."""
    seat = seat_wanted(request)
    replay, answer = await asyncio.to_thread(replay_wanted, request, ask, match, seat)
    process: ReplayFileProcess = request.app.state.replay_files
    record = partial(ask.record_bytes, replay.match)
    html = await process.make(visitor_of(request), answer, seat, str(request.base_url).rstrip("/"), record)
    headers = {
        "Content-Disposition": f'attachment; filename="cutpurse-{replay.match[:8]}.html"',
        "Cache-Control": "no-cache",
    }
    return Response(html, media_type="text/html", headers=headers)


@router.api_route("/matches/{match}/embed", methods=["GET", "HEAD"])
def embed(request: Request, ask: Asked, match: str, at: Annotated[int, Query(ge=-MOST, le=MOST)] = 0) -> Response:
    """Show a replay that other sites may frame, at the moment with index `at` in the record."""
    replay, answer = replay_wanted(request, ask, match, seat_wanted(request))
    framed = replace(replay, base=f"/matches/{replay.match}/embed")
    context = replay_context(framed, at, is_placed=not answer.match.void_cause)
    response = show(request, "embed.html", **context, match=answer.match, is_signed_in=False)
    response.headers["Content-Security-Policy"] = FRAMED
    return response


@router.api_route("/matches/{match}/embed/moments", methods=["GET", "HEAD"])
def moments(request: Request, ask: Asked, match: str, first: Annotated[int, Query(ge=0, le=MOST)] = 0) -> Response:
    """Respond with a batch of moments of a framed replay."""
    replay, _ = replay_wanted(request, ask, match, seat_wanted(request))
    return batch_of(request, replay, first)
