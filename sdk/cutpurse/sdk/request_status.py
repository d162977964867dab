"""What becomes of a match that a server was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutpurse.sdk.errors import NotFound
from cutpurse.sdk.terminal import printable
from cutpurse.v1 import ladder_pb2

if TYPE_CHECKING:
    from cutpurse.sdk.league import League

__all__ = ["RequestStatus", "requested"]


@dataclass(frozen=True, slots=True)
class RequestStatus:
    """How a match stands.

    state: "waiting" for its bots, "open", "dropped" (why says why), "over" (match tells it), or "unknown": it is being
    stored, or the server was killed before it was over. why: for people.
    """

    state: str
    why: str = ""
    match: ladder_pb2.MatchShown | None = None


def requested(league: League, name: str) -> RequestStatus:
    """Ask a server how a match stands that it was asked for."""
    now = league.ListOpenMatches(ladder_pb2.ListOpenMatchesRequest(match=name)).requested
    if now.startswith("dropped"):
        return RequestStatus("dropped", printable(now.removeprefix("dropped").lstrip(": ")))
    if now:
        return RequestStatus(now)
    try:
        return RequestStatus("over", match=league.GetMatch(ladder_pb2.GetMatchRequest(match=name)).match)
    except NotFound:
        return RequestStatus("unknown")
