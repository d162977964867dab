"""A ladder: who stands where, how sure that is, and how it came about."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.server.web.rendering import Asked, show

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.api_route("/ladders/{ladder}", methods=["GET", "HEAD"])
def ladder(request: Request, ask: Asked, ladder: str, every_version: bool = False) -> Response:
    """The page."""
    return show(
        request,
        "ladder.html",
        ladder=ask.ladder(ladder),
        rankings=ask.rankings(ladder, every_version),
        every_version=every_version,
    )
