"""The guided match of a game: a replay with comments, opened from the game in a minute."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from cutpurse.page.guided_matches import GuidedMatch, guided_match
from cutpurse.page.match_view.replay_context import ReplayRequest, moments_text, replay_context
from cutpurse.page.pages.replay import MOST, batch_of
from cutpurse.page.rendering import show

__all__ = ["guided_context", "router"]

_READ: Final = ["GET", "HEAD"]

router = APIRouter(include_in_schema=False)


# Not coroutines: the first to open a guided match replays it, and readers of other pages must not wait.
@router.api_route("/rules/{game}/guided", methods=_READ)
def guided(request: Request, game: str, at: Annotated[int, Query(ge=-MOST, le=MOST)] = 0) -> Response:
    """Show the guided match of a game at the moment with index `at` in the record."""
    return show(request, "guided.html", **guided_context(game, at))


@router.api_route("/rules/{game}/guided/moments", methods=_READ)
def moments(request: Request, game: str, first: Annotated[int, Query(ge=0, le=MOST)] = 0) -> Response:
    """Respond with a batch of moments of a guided match."""
    return batch_of(request, _wanted(game, guided_match(game)), first)


def guided_context(game: str, at: int = 0, *, is_whole: bool = False) -> dict[str, Any]:
    """Return the variables of `guided.html`.

    Args:
        game: Name of the game.
        at: Index in the record of the moment to show.
        is_whole: Whether all moments are in the page.

    Raises:
        NotFound: If the game has no guided match.
    """
    match = guided_match(game)
    wanted = _wanted(game, match)
    return {
        **replay_context(wanted, at, moments=moments_text(wanted) if is_whole else ""),
        "places": [wanted.path.index(comment.at) for comment in match.comments],
        "texts": [comment.text for comment in match.comments],
        "addresses": [wanted.address(comment.at) for comment in match.comments],
    }


def _wanted(game: str, match: GuidedMatch) -> ReplayRequest:
    with match.replayed.lock:
        path = match.replayed.path(None)
    return ReplayRequest(f"/rules/{game}/guided", f"guided match of {game}", match.replayed, None, path)
