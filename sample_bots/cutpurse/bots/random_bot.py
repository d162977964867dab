"""A bot that plays every game at random: what any other should beat, and the quickest to watch a game with."""

from __future__ import annotations

from typing import Any

from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.decision import Decision

__all__ = ["RandomBot"]


class RandomBot:
    """Takes any option, all equally likely."""

    reads_events = False  # so a server need not send them

    def start(self, match: MatchInfo) -> None:
        """The chance of the run decides, so that a seed can be played again."""
        self.chance = match.chance

    def choose(self, view: Any, decision: Decision) -> int:
        """The index of an option."""
        return int(self.chance.random() * decision.count)
