"""The first page: every ladder with its leader, what is being played, the newest matches, and how to join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.engine.errors import CutpurseError
from cutpurse.server.web.asking import Asking
from cutpurse.server.web.rendering import Asked, show
from cutpurse.v1 import ladder_pb2

__all__ = ["router"]

OPEN: Final = 8
NEWEST: Final = 12

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A ladder, and who leads it, if somebody does."""

    ladder: ladder_pb2.LadderShown
    leader: ladder_pb2.Ranking | None


@router.api_route("/", methods=["GET", "HEAD"])
def home(request: Request, ask: Asked) -> Response:
    """The page."""
    entries = [_Entry(one, _leader(ask, one)) for one in ask.ladders()]
    return show(
        request,
        "home.html",
        entries=entries,
        open_matches=ask.open_matches().matches[:OPEN],
        newest=ask.matches(limit=NEWEST).matches,
    )


def _leader(ask: Asking, ladder: ladder_pb2.LadderShown) -> ladder_pb2.Ranking | None:
    try:
        return next(iter(ask.rankings(ladder.defined.name)), None)
    except CutpurseError:  # it has just gone
        return None
