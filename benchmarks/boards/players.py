"""Bots of any strength between the random bot and the greedy one, and some that search.

A strength up to 1 is the probability with which a decision is the greedy bot's, and any option otherwise; one above is
the number of the search bot's playouts a decision. Each bot has luck of its own: a match's would be the same for
whoever holds the seat on the same deal.
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
    """Takes the greedy bot's answer with the probability `share`, else any option."""

    reads_events = False

    def __init__(self, share: float, luck: Random) -> None:
        self.share = share
        self.luck = luck
        self.greedy: Bot = GreedyBot()

    def start(self, match: MatchInfo) -> None:
        """The greedy bot needs nothing of it."""

    def choose(self, view: Any, decision: Decision) -> Option | int:
        """An option, or its index."""
        if self.luck.random() < self.share:
            return self.greedy.choose(view, decision)
        return int(self.luck.random() * decision.count)


class Searching(SearchBot):
    """The search bot."""

    def __init__(self, playouts: int, luck: Random) -> None:
        super().__init__(playouts)
        self.luck = luck

    def start(self, match: MatchInfo) -> None:
        """What it imagines is its own."""
        self.chance = self.luck


def bot_of(strength: float, luck: str) -> BotMaker:
    """One for a match.  luck: the seed of its own."""
    own = Random(luck)
    made = partial(Searching, int(strength), own) if strength > 1 else partial(Mixed, strength, own)
    return BotMaker(in_words(strength), made)


def in_words(strength: float) -> str:
    """What it is."""
    return f"search {strength:g}" if strength > 1 else f"{strength:.0%} greedy"
