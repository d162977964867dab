"""The rule by which bots of one ladder run at places of like speed, so that none of them gets more thinking per second.

Nobody sets the speed of a ladder. Its first bot goes to the group of like places with the most free cores; the slowest
of them is the ladder's slowest place. While the ladder has bots at places, its other bots go only to places that leave
the fastest at most LIKE times as fast as the slowest. A place that becomes UNLIKE the others with bots of the ladder
loses these bots, and their matches are void. This module knows no place and no bot.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

__all__ = ["LIKE", "UNLIKE", "are_like", "largest_group"]

LIKE: Final = 1.10
UNLIKE: Final = 1.25  # more than LIKE, so that a measurement that is a little off voids nothing


def are_like(speeds: Collection[float], ratio: float = LIKE) -> bool:
    """Return whether the fastest of these speeds is at most `ratio` times the slowest; True for none."""
    return not speeds or max(speeds) <= ratio * min(speeds)


def largest_group(weighted: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the lowest and the highest speed of the group of like speeds with the most weight, the faster if equal.

    Args:
        weighted: Pairs of a speed and its weight, at least one.
    """

    def weight(slowest: float) -> tuple[float, float]:
        return sum(weight for speed, weight in weighted if slowest <= speed <= LIKE * slowest), slowest

    slowest = max((speed for speed, _ in weighted), key=weight)
    return slowest, LIKE * slowest
