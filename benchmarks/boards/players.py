"""Bots of any strength between the random bot and the greedy one, and search bots.

A strength up to 1 is the probability of taking the greedy bot's option instead of a random one. A higher strength is
the number of playouts per decision of the search bot. Each bot has its own random stream, because that of the match
would be the same for each bot in a seat of the same deal.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.bots.search_bot import SearchBot
from cutpurse.sdk.bot import Bot, BotMaker, MatchInfo
from cutpurse.sdk.decision import Decision, Option

__all__ = ["Mixed", "Searching", "bot_of", "in_words"]


class Mixed:
    """A bot that takes the greedy bot's option with probability `share`, else a random one."""

    reads_events = False

    def __init__(self, share: float, luck: Random) -> None:
        self.share = share
        self.luck = luck
        self.greedy: Bot = GreedyBot()

    def start(self, match: MatchInfo) -> None:
        """Do nothing: the greedy bot does not need the start of a match."""

    def choose(self, view: Any, decision: Decision) -> Option | int:
        """Return an option, or its index."""
        if self.luck.random() < self.share:
            return self.greedy.choose(view, decision)
        return int(self.luck.random() * decision.count)


class Searching(SearchBot):
    """The search bot with its own random stream."""

    def __init__(self, playouts: int, luck: Random) -> None:
        super().__init__(playouts)
        self.luck = luck

    def start(self, match: MatchInfo) -> None:
        """Use the bot's own random stream for determinizations."""
        super().start(match)
        self.chance = self.luck


def bot_of(strength: float, luck: str) -> BotMaker:
    """Create the maker of a bot for a match; `luck` is the seed of its random stream."""
    own = Random(luck)
    made = partial(Searching, int(strength), own) if strength > 1 else partial(Mixed, strength, own)
    return BotMaker(in_words(strength), made)


def in_words(strength: float) -> str:
    """Describe a strength."""
    return f"search {strength:g}" if strength > 1 else f"{strength:.0%} greedy"
