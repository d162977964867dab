"""Pictures of a finished match: the table at a moment as SVG or PNG, and a stretch of moments as an animated GIF."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import partial
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.engine.errors import UsageError
from cutpurse.page.conditional_response import conditional_response
from cutpurse.page.language.speaking import gettext, language
from cutpurse.page.league_client import Asking
from cutpurse.page.match_view.match_pictures import (
    moment_index,
    moment_picture,
    stretch_pictures,
    stretch_range,
)
from cutpurse.page.match_view.pixels import GIF, PNG, has_pixels
from cutpurse.page.match_view.pixels import request as pixels_request
from cutpurse.page.match_view.replay_context import ReplayRequest
from cutpurse.page.pages.replay import KEPT_BY_BROWSERS_S, Replays, replay_wanted, seat_wanted
from cutpurse.page.picture_process import PictureProcess
from cutpurse.page.rendering import Asked
from cutpurse.page.visitors import visitor_of
from cutpurse.wire.errors import NotFound
from cutpurse.wire.installation import install_command

__all__ = ["router"]

SVG: Final = "svg"
_KINDS: Final = {SVG: "image/svg+xml", PNG: "image/png", GIF: "image/gif"}
_NUMBER: Final = re.compile(r"-?[0-9]{1,9}")

router = APIRouter(include_in_schema=False)


@router.api_route("/matches/{match}/picture.{kind}", methods=["GET", "HEAD"])
async def pictured(request: Request, ask: Asked, match: str, kind: str) -> Response:
    """Respond with a picture of the table at the moment `at`, or at the end, with all cards or as a seat saw it."""
    if kind not in (SVG, PNG):
        raise NotFound(gettext("a picture of a moment is picture.svg or picture.png"))
    at = _number(request, "at")
    replay = await asyncio.to_thread(_wanted, request, ask, match)
    index = await asyncio.to_thread(_index, replay, at)
    if kind == SVG:
        return _response(request, await asyncio.to_thread(_svg, request, replay, index), kind)
    return await _pixels(request, replay, kind, (index, index), partial(_moment, replay, index))


@router.api_route("/matches/{match}/animation.{kind}", methods=["GET", "HEAD"])
async def animated(request: Request, ask: Asked, match: str, kind: str) -> Response:
    """Respond with an animation of the moments `from` to `to`, with all cards or as a seat saw them."""
    if kind != GIF:
        raise NotFound(gettext("an animation is animation.gif"))
    first, last = _number(request, "from"), _number(request, "to")
    if first is None or last is None:
        raise UsageError(gettext("an animation needs its first and its last moment: ?from=30&to=41"))
    replay = await asyncio.to_thread(_wanted, request, ask, match)
    stretch = await asyncio.to_thread(_stretch, replay, first, last)
    draw = partial(_moments, replay, stretch)
    return await _pixels(request, replay, kind, (stretch.start, stretch.stop), draw)


def _number(request: Request, name: str) -> int | None:
    """Return a number of the query; None if it is missing.

    Raises:
        UsageError: If it is not a number.
    """
    text = request.query_params.get(name, "")
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise UsageError(gettext("%(name)s is the number of a moment, from 0", name=name))
    return int(text)


# -- in threads, because the server is asked and a match may be replayed
def _wanted(request: Request, ask: Asking, match: str) -> ReplayRequest:
    return replay_wanted(request, ask, match, seat_wanted(request))[0]


def _index(replay: ReplayRequest, at: int | None) -> int:
    with replay.replayed.lock:
        return moment_index(replay.replayed, replay.viewer, at)


def _stretch(replay: ReplayRequest, first: int, last: int) -> range:
    with replay.replayed.lock:
        return stretch_range(replay.replayed, replay.viewer, first, last)


def _moment(replay: ReplayRequest, index: int) -> Sequence[str]:
    with replay.replayed.lock:
        return [moment_picture(replay.replayed, replay.viewer, index)]


def _svg(request: Request, replay: ReplayRequest, index: int) -> bytes:
    """Return the SVG of a moment; cached, because the first page shows some."""
    replays: Replays = request.app.state.replays

    def drawn() -> bytes:
        return moment_picture(replay.replayed, replay.viewer, index).encode()

    return replays.batch(replay.match, replay.replayed, replay.viewer, f"picture {index}", drawn)


def _moments(replay: ReplayRequest, stretch: range) -> Sequence[str]:
    with replay.replayed.lock:
        return list(stretch_pictures(replay.replayed, replay.viewer, stretch))


# -- responses
async def _pixels(
    request: Request, replay: ReplayRequest, kind: str, moments: tuple[int, int], draw: partial[Sequence[str]]
) -> Response:
    if not has_pixels():
        raise NotFound(
            gettext(
                "this page draws no PNG and no GIF, only picture.svg: %(command)s adds them",
                command=install_command("pictures"),
            )
        )
    process: PictureProcess = request.app.state.pictures
    key = (kind, replay.match, language(), replay.viewer, moments)
    picture = await process.get(visitor_of(request), key, lambda: pixels_request(kind, draw()))
    return _response(request, picture, kind)


def _response(request: Request, body: bytes, kind: str) -> Response:
    headers = {"Cache-Control": f"public, max-age={KEPT_BY_BROWSERS_S}"}
    return conditional_response(request, body, _KINDS[kind], headers)
