"""Synthetic bots of known strength, and simulated matches between them.

The performance of a bot in a match is the sum of its skill, the luck of its cards and the luck of its play. Skills are
standard normal, so the unit of everything is the standard deviation of skill. Places follow from performances, and
performances within a margin of each other tie. This module knows no ladder and no rating.
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
    """The parameters of the simulation.

    Attributes:
        bots: Number of bots.
        seats: Number of seats of a match.
        luck: Standard deviation of all luck in a match.
        cards: Share of its variance due to the cards, which is equal for the same seat of the same deal.
        ties: Probability that two equal bots tie.
        drift: Standard deviation of the change of a bot's skill between two of its matches.

    Raises:
        ValueError: If a value is invalid.
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
        """Largest difference of two performances that tie."""
        return NormalDist().inv_cdf((1 + self.ties) / 2) * math.sqrt(2) * self.luck


class World:
    """The bots 0, 1, ... with their `skills`, and their matches; deterministic for the nature and the seed."""

    def __init__(self, nature: Nature, seed: str) -> None:
        self.nature = nature
        birth = Random(f"{seed}/skills")
        self.skills = [birth.gauss(0.0, 1.0) for _ in range(nature.bots)]
        self._luck = Random(f"{seed}/luck")
        self._cards_sd = nature.luck * math.sqrt(nature.cards)
        self._play_sd = nature.luck * math.sqrt(1 - nature.cards)
        self._margin = nature.margin

    def deal(self) -> tuple[float, ...]:
        """Draw the luck of the cards of each seat."""
        return tuple(self._luck.gauss(0.0, self._cards_sd) for _ in range(self.nature.seats))

    def play(self, bots: Sequence[int], deal: Sequence[float]) -> list[int]:
        """Play a match with bots[i] in seat i, and return the places; afterwards the skills of the bots drift."""
        shown = [
            self.skills[bot] + cards + self._luck.gauss(0.0, self._play_sd)
            for bot, cards in zip(bots, deal, strict=True)
        ]
        if self.nature.drift:
            for bot in bots:
                self.skills[bot] += self._luck.gauss(0.0, self.nature.drift)
        return places_of(shown, self._margin)


def places_of(shown: Sequence[float], margin: float) -> list[int]:
    """Compute places from performances: 1 is the highest; neighbours within the margin tie, also in a chain."""
    order = sorted(range(len(shown)), key=lambda at: -shown[at])
    places = [1] * len(shown)
    for before, (at, last) in enumerate(zip(order[1:], order, strict=False), start=1):
        places[at] = places[last] if shown[last] - shown[at] <= margin else before + 1
    return places
