"""The overall table: one strength for each bot over all public ladders with rated matches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.experiments.overall import OverallRow, overall_table
from cutpurse.server.web.league_client import Asking
from cutpurse.server.web.rendering import Asked, show
from cutpurse.wire.placed_matches import placed_matches

__all__ = ["OverallTable", "router"]

MAX_LADDERS: Final = 20
MAX_MATCHES: Final = 500  # of each ladder, the newest
KEEP_S: Final = 60.0

router = APIRouter(include_in_schema=False)


class OverallTable:
    """The table of some ladders, computed at most once a minute. It can be used on any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._ladders: Sequence[str] = ()
        self._rows: list[OverallRow] = []
        self._at = 0.0

    def get(self, ladders: Sequence[str], ask: Asking) -> list[OverallRow]:
        """Return the table of these ladders; empty if there are no two bots to compare.

        Raises:
            ModuleNotFoundError: If the extra `overall` is not installed.
        """
        with self._lock:
            if self._ladders != ladders or self._clock() - self._at >= KEEP_S:
                pages = ask.together([partial(ask.matches, ladder, limit=MAX_MATCHES) for ladder in ladders])
                placed = [match for page in pages for match in placed_matches(page.matches)]
                is_table = len({bot for match in placed for bot in match.bots}) > 1
                self._rows = overall_table(placed) if is_table else []
                self._ladders, self._at = ladders, self._clock()
            return self._rows


@router.api_route("/overall", methods=["GET", "HEAD"])
def overall(request: Request, ask: Asked) -> Response:
    """Show the table of all public ladders whose results are not hidden."""
    rated = [one for one in ask.rated_ladders() if one.matches and not one.has_hidden_results]
    rated.sort(key=lambda one: (-one.matches, one.defined.name))
    ladders = [one.defined.name for one in rated[:MAX_LADDERS]]
    is_missing = False
    rows: list[OverallRow] = []
    try:
        rows = request.app.state.overall.get(ladders, ask) if ladders else []
    except ModuleNotFoundError:
        is_missing = True
    return show(request, "overall.html", rows=rows, ladders=ladders, is_missing=is_missing, most=MAX_MATCHES)
