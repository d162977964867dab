"""The head-to-head results of bots, counted by pair; all versions of a bot are combined.

The writer of the ledger and `recompute` both use this module, so they cannot differ. It knows no database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Encounters", "Pair", "HeadToHead"]

Pair: TypeAlias = tuple[int, int]  # ids of two bots, the lower first


@dataclass(slots=True)
class HeadToHead:
    """The results of two bots: common matches, matches in which the first was ahead, and shared places."""

    matches: int = 0
    ahead: int = 0
    level: int = 0


class Encounters(dict[Pair, HeadToHead]):
    """The head-to-head results by pair of bots."""

    def add(self, bots: Sequence[int], places: Sequence[int]) -> None:
        """Count a match, given by seat; two versions of one bot are not counted as a pair."""
        seated = sorted(zip(bots, places, strict=True))
        for at, (bot, place) in enumerate(seated):
            for other, others_place in seated[at + 1 :]:
                if bot == other:
                    continue
                tally = self.get((bot, other))
                if tally is None:
                    tally = self[bot, other] = HeadToHead()
                tally.matches += 1
                if place < others_place:
                    tally.ahead += 1
                elif place == others_place:
                    tally.level += 1
