"""What the server requires of the store of its results; the leaderboard's store meets it.

This module knows no match in play, no stream and no database.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from datetime import datetime
from typing import Protocol

from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.results import FinishedMatch, Identity, MatchAnnouncement, StoreOutcome

__all__ = ["ResultStore"]


class ResultStore(Protocol):
    """Where results are stored. No method raises or waits, and futures may be done on any thread.

    Errors are those of the leaderboard. If nothing was stored, a future fails with InvalidEntry for an invalid match,
    and with StoreError if a retry may succeed. It fails with Unsure if the outcome is unknown, and with LedgerCorrupt
    if the store accepts nothing any more.
    """

    def announce(self, match: MatchAnnouncement) -> Future[None]:
        """Store that a match will begin.

        An announced match without a result was played by a server that was killed. The future is done once the
        announcement would survive a crash; no bot is notified earlier.
        """

    def standings(self, player: Identity, seen: datetime) -> Future[Mapping[str, tuple[Skill, int]]]:
        """Return the pairing skill of a bot and its number of rated matches, by ladder; store it if it is new."""

    def submit(self, result: FinishedMatch) -> Future[StoreOutcome]:
        """Store and rate a match once. A repeated result changes nothing.

        The future is done once the result would survive a crash.
        """
