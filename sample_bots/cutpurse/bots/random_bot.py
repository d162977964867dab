"""A bot that plays every game at random. Every other bot should beat it, and it is the fastest one to watch."""

from __future__ import annotations

from typing import Any

from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.decision import Decision

__all__ = ["RandomBot"]


class RandomBot:
    """A bot that chooses among the options with equal probability."""

    reads_events = False  # so a server need not send them
    reads_knowledge = False  # so what it could prove need not be worked out beside a learner
    hides_time = False  # it answers within a few milliseconds

    def start(self, match: MatchInfo) -> None:
        """Use the match's random generator, so that the same seed repeats the run."""
        self.chance = match.chance

    def choose(self, view: Any, decision: Decision) -> int:
        """Return the index of a random option."""
        return int(self.chance.random() * decision.count)
