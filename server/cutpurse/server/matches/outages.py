"""How many matches the outages of language models may void: at most `MOST_VOID` a day for each owner and ladder.

A bot alone says that its model cannot be reached. Without a limit it could leave every match that it is about to lose.
A server without tokens does not know owners, so there the limit is one of each bot. A restart counts anew. This module
knows no match and no clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import date, datetime
from typing import Final

from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tokens import NOBODY

__all__ = ["MOST_VOID", "OutageLimit"]

MOST_VOID: Final = 3  # matches a day, by UTC


class OutageLimit:
    """The matches that outages have voided on the current day."""

    def __init__(self, utc: Callable[[], datetime]) -> None:
        """Start with none.  `utc` returns the time of day."""
        self._utc = utc
        self._day = date.min
        self._void: Counter[tuple[str, str, str]] = Counter()  # by ladder, owner and, without owners, bot

    def take(self, ladder: str, bot: Identity) -> bool:
        """Return whether an outage of this bot may void a match on the ladder, and count the match if so."""
        if (today := self._utc().date()) != self._day:
            self._day = today
            self._void.clear()
        key = ladder, bot.owner, bot.bot if bot.owner == NOBODY else ""
        if self._void[key] >= MOST_VOID:
            return False
        self._void[key] += 1
        return True
