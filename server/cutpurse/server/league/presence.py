"""What a running lobby knows of the moment, for whoever asks the league: who is there, and what is being played.

This module knows no caller: what of it he may see is decided in `cutpurse.server.league.league_queries`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from cutpurse.server.finished_match import Identity
from cutpurse.server.ladder_config import Ladder

__all__ = ["NOWHERE", "OnlineBotView", "LiveMatchView", "Presence"]


class OnlineBotView(Protocol):
    """A bot that is there, as the lobby tells of it."""

    @property
    def identity(self) -> Identity:
        """Who."""

    @property
    def ladders(self) -> tuple[str, ...]:
        """Where it is to be paired, by name."""


class LiveMatchView(Protocol):
    """A match that is being played, or was and is not stored yet, as the lobby tells of it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def ladder(self) -> Ladder:
        """Where it is played."""

    @property
    def started(self) -> datetime:
        """When it began."""

    @property
    def seats(self) -> tuple[Identity, ...]:
        """Who sits where."""

    @property
    def requested_by(self) -> str:
        """Who asked for it; empty: nobody."""

    @property
    def is_sealed(self) -> bool:
        """Whether its cards are played at other tables, or again, so that it is not to be watched."""


def _nothing(name: str) -> str:
    return ""


class Presence(NamedTuple):
    """What the running lobby knows at a moment.

    requested: what becomes of a match on request, by its name, see `ListOpenMatchesResponse`; on any thread. unstored:
    matches that are over, and whose results are not stored yet.
    """

    bots: Sequence[OnlineBotView] = ()
    matches: Sequence[LiveMatchView] = ()
    requested: Callable[[str], str] = _nothing
    unstored: Sequence[LiveMatchView] = ()


NOWHERE: Final = Presence()
