"""A bot: its versions, where it stands, and why its rating is what it is."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.sdk.errors import NotFound
from cutpurse.server.web.rendering import Asked, show

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.api_route("/bots/{owner}/{bot}", methods=["GET", "HEAD"])
def bot(request: Request, ask: Asked, owner: str, bot: str) -> Response:
    """The page."""
    versions = [one for one in ask.bots(owner) if one.bot.bot == bot and one.bot.owner == owner]
    if not versions:
        raise NotFound("There is no such bot here.")
    return show(request, "bot.html", bot=versions[-1].bot, versions=versions)
