"""How bots did against each other, counted pair by pair; all versions of a bot count together.

Both who writes the ledger and who computes it again take this, so they cannot differ. No database is known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Encounters", "Pair", "HeadToHead"]

Pair: TypeAlias = tuple[int, int]  # ids of two bots, the lower first


@dataclass(slots=True)
class HeadToHead:
    """Of two bots: matches in which both sat, those in which the first was ahead, and those that they shared."""

    matches: int = 0
    ahead: int = 0
    level: int = 0


class Encounters(dict[Pair, HeadToHead]):
    """What pairs of bots met in so far."""

    def add(self, bots: Sequence[int], places: Sequence[int]) -> None:
        """Count a match; both by seat.  Two versions of one bot do not count as having met."""
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
