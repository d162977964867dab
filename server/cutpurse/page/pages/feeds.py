"""The Atom feeds: the newest finished matches of a ladder or a bot, for feed readers (RFC 4287)."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.page.conditional_response import conditional_response
from cutpurse.page.pages.bot import is_version, named_bot
from cutpurse.page.rendering import Asked, rendering_of
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound
from cutpurse.wire.league import format_bot_name

__all__ = ["router"]

ENTRIES: Final = 50  # newest matches in a feed

router = APIRouter(include_in_schema=False)


@router.api_route("/feeds/ladders/{ladder}", methods=["GET", "HEAD"])
def ladder(request: Request, ask: Asked, ladder: str) -> Response:
    """Send the feed of a ladder."""
    ask.ladder(ladder)  # raises NotFound for an unknown ladder
    return _feed(request, ask.matches(ladder, limit=ENTRIES), ladder, f"/ladders/{quote(ladder, safe='')}")


@router.api_route("/feeds/bots/{rest:path}", methods=["GET", "HEAD"])
def bot(request: Request, ask: Asked, rest: str) -> Response:
    """Send the feed of a bot or one of its versions; the names are read from the raw path, as on its page."""
    bot = named_bot(request, "/feeds")
    if not any(is_version(one.bot, bot) for one in ask.bots(bot.owner)):
        raise NotFound("There is no such bot here.")
    page = "/bots/" + "/".join(quote(part, safe="") for part in (bot.owner, bot.bot, bot.version) if part)
    return _feed(request, ask.matches(bots=[bot], limit=ENTRIES), format_bot_name(bot), page)


def _feed(request: Request, told: ladder_pb2.ListMatchesResponse, title: str, page: str) -> Response:
    """Respond with the feed of these matches, whose page is at the quoted path `page`."""
    xml = rendering_of(request).html(
        "feed.xml",
        title=title,
        site=str(request.base_url).rstrip("/"),
        page=page,
        matches=told.matches,
        updated_ms=max((match.finished_ms for match in told.matches), default=0),
    )
    return conditional_response(request, xml.encode(), "application/atom+xml", {"Cache-Control": "no-cache"})
