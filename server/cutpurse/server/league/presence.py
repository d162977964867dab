"""The state of a running lobby for queries: online bots and open matches.

This module knows no caller; `league_queries` decides what they may see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from cutpurse.leaderboard.results import Identity
from cutpurse.server.ladder_config import Ladder

__all__ = ["NOWHERE", "OnlineBotView", "LiveMatchView", "Presence"]


class OnlineBotView(Protocol):
    """An online bot, as the lobby reports it."""

    @property
    def identity(self) -> Identity:
        """Owner, bot and version."""

    @property
    def ladders(self) -> tuple[str, ...]:
        """Names of the ladders that it is paired on."""

    @property
    def takes_requests(self) -> bool:
        """Whether it plays matches that other owners request."""


class LiveMatchView(Protocol):
    """A match that is being played, or is not stored yet, as the lobby reports it."""

    @property
    def name(self) -> str:
        """Its ID."""

    @property
    def ladder(self) -> Ladder:
        """Its ladder."""

    @property
    def started(self) -> datetime:
        """When it began."""

    @property
    def seats(self) -> tuple[Identity, ...]:
        """Its bots by seat."""

    @property
    def requested_by(self) -> str:
        """The owner who requested it; empty for a ladder's match."""

    @property
    def is_sealed(self) -> bool:
        """Whether its cards are also dealt in other matches, so that it may not be watched."""


def _nothing(name: str) -> str:
    return ""


def _nobody_ready(bot: Identity, ladder: Ladder, is_requested: bool) -> str:
    return "is away"


class Presence(NamedTuple):
    """The running lobby's state at one time.

    Args:
        bots: Online bots.
        matches: Open matches.
        requested: Returns the state of a requested match by ID, see `ListOpenMatchesResponse`; thread-safe.
        unstored: Finished matches whose results are not stored yet.
        why_not_ready: Returns why a bot cannot play on a ladder now, see `Lobby.why_not_ready`; thread-safe.
    """

    bots: Sequence[OnlineBotView] = ()
    matches: Sequence[LiveMatchView] = ()
    requested: Callable[[str], str] = _nothing
    unstored: Sequence[LiveMatchView] = ()
    why_not_ready: Callable[[Identity, Ladder, bool], str] = _nobody_ready


NOWHERE: Final = Presence()
