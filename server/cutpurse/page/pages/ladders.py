"""The list of all ladders with their games and match counts, with a search by name, title and game."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from cutpurse.page.pages.home import order
from cutpurse.page.rendering import Asked, show

__all__ = ["router"]

MOST_ROWS: Final = 500

router = APIRouter(include_in_schema=False)


@router.api_route("/ladders", methods=["GET", "HEAD"])
def ladders(request: Request, ask: Asked, find: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Show all ladders whose name, title or game contains `find`, in any case, in the order of the first page."""
    wanted = find.strip()
    rows = sorted(
        [
            one
            for one in ask.ladders()
            if wanted.casefold() in f"{one.defined.name} {one.defined.terms.title} {one.defined.game}".casefold()
        ],
        key=order,
    )
    return show(request, "ladders.html", rows=rows[:MOST_ROWS], found=len(rows), wanted=wanted)
