"""Bots of known strength, and games of luck between them.

A bot shows in a match its skill, and the luck of its cards, and the luck of its play. Skills are drawn from the
standard normal distribution, so everything here is in standard deviations of skill. Who shows more is placed before who
shows less, and those who are within a margin of each other tie. This module knows no ladder and no rating.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import NormalDist

__all__ = ["Nature", "World", "places_of"]


@dataclass(frozen=True, slots=True)
class Nature:
    """How things are.

    luck: standard deviation of all luck in a match. cards: the share of its variance that is the cards': two who
    hold the same seat of the same deal share it. ties: how often two equal bots tie. drift: standard deviation
    of what a bot's skill changes from one match of its own to the next. Raises ValueError.
    """

    bots: int = 64
    seats: int = 4
    luck: float = 3.0
    cards: float = 0.6
    ties: float = 0.02
    drift: float = 0.0

    def __post_init__(self) -> None:
        if not 2 <= self.seats <= self.bots:
            raise ValueError(f"{self.bots} bots at {self.seats} seats: there are 2 seats at least, and a bot for each")
        if not (0 < self.luck < math.inf and 0 <= self.drift < math.inf):
            raise ValueError(f"luck {self.luck} and drift {self.drift} are standard deviations; there is always luck")
        if not (0 <= self.cards <= 1 and 0 <= self.ties < 1):
            raise ValueError(f"cards {self.cards} and ties {self.ties} are shares, and not all matches tie")

    @property
    def margin(self) -> float:
        """How far apart two may be that tie."""
        return NormalDist().inv_cdf((1 + self.ties) / 2) * math.sqrt(2) * self.luck


class World:
    """The bots 0, 1, ... with their `skills`, and what they play; the same for the same nature and seed."""

    def __init__(self, nature: Nature, seed: str) -> None:
        self.nature = nature
        birth = Random(f"{seed}/skills")
        self.skills = [birth.gauss(0.0, 1.0) for _ in range(nature.bots)]
        self._luck = Random(f"{seed}/luck")
        self._cards_sd = nature.luck * math.sqrt(nature.cards)
        self._play_sd = nature.luck * math.sqrt(1 - nature.cards)
        self._margin = nature.margin

    def deal(self) -> tuple[float, ...]:
        """How good the cards of each seat are."""
        return tuple(self._luck.gauss(0.0, self._cards_sd) for _ in range(self.nature.seats))

    def play(self, bots: Sequence[int], deal: Sequence[float]) -> list[int]:
        """The places of a match; bots[i] has seat i.  Then those who played are a little changed, if bots drift."""
        shown = [
            self.skills[bot] + cards + self._luck.gauss(0.0, self._play_sd)
            for bot, cards in zip(bots, deal, strict=True)
        ]
        if self.nature.drift:
            for bot in bots:
                self.skills[bot] += self._luck.gauss(0.0, self.nature.drift)
        return places_of(shown, self._margin)


def places_of(shown: Sequence[float], margin: float) -> list[int]:
    """Places from 1, the most shown the best: 1 + how many are before. Neighbours within the margin tie, in a chain."""
    order = sorted(range(len(shown)), key=lambda at: -shown[at])
    places = [1] * len(shown)
    for before, (at, last) in enumerate(zip(order[1:], order, strict=False), start=1):
        places[at] = places[last] if shown[last] - shown[at] <= margin else before + 1
    return places
