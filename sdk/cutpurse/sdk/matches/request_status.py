"""The status of a match that was requested from a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound
from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.wire.league import League

__all__ = ["RequestStatus", "requested"]


@dataclass(frozen=True, slots=True)
class RequestStatus:
    """The status of a requested match.

    Attributes:
        state: "waiting" for its bots, "open", "dropped", "over", or "unknown". Unknown means that it is being stored,
            or that the server was killed before its end.
        why: The reason of "dropped", for people.
        match: The finished match.
    """

    state: str
    why: str = ""
    match: ladder_pb2.MatchShown | None = None


def requested(league: League, name: str) -> RequestStatus:
    """Ask a server for the status of a requested match, by its name."""
    now = league.ListOpenMatches(ladder_pb2.ListOpenMatchesRequest(match=name)).requested
    if now.startswith("dropped"):
        return RequestStatus("dropped", printable(now.removeprefix("dropped").lstrip(": ")))
    if now:
        return RequestStatus(now)
    try:
        return RequestStatus("over", match=league.GetMatch(ladder_pb2.GetMatchRequest(match=name)).match)
    except NotFound:
        return RequestStatus("unknown")
