"""Rewards at the end of a match.

Ladders rank by place, so a net that learns from scores alone learns another game. This module knows no game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from cutpurse.engine.errors import UsageError, did_you_mean

__all__ = ["REWARDS", "Reward", "reward_named"]

Reward = Callable[[Sequence[int], Sequence[int]], tuple[float, ...]]


def by_place(places: Sequence[int], scores: Sequence[int]) -> tuple[float, ...]:
    """Return +1 for the first to -1 for the last; equal places share what they take up, so the sum is 0."""
    most = len(places) - 1
    return tuple([1 - (2 * (place - 1) + places.count(place) - 1) / most for place in places])


def by_first(places: Sequence[int], scores: Sequence[int]) -> tuple[float, ...]:
    """Return 1 divided by the number of seats that share the first place, 0 for the others."""
    first = places.count(1)
    return tuple([1 / first if place == 1 else 0.0 for place in places])


def by_first_and_place(places: Sequence[int], scores: Sequence[int]) -> tuple[float, ...]:
    """Return half for coming first, and half for each one behind: 1 for the first to 0 for the last."""
    pairs = zip(by_first(places, scores), by_place(places, scores), strict=True)
    return tuple([first / 2 + (1 + place) / 4 for first, place in pairs])


def by_score(places: Sequence[int], scores: Sequence[int]) -> tuple[float, ...]:
    """Return each score less the mean of all."""
    mean = sum(scores) / len(scores)
    return tuple([score - mean for score in scores])


REWARDS: Final[dict[str, Reward]] = {
    "place": by_place,
    "first": by_first,
    "first+place": by_first_and_place,
    "score": by_score,
}


def reward_named(name: str) -> Reward:
    """Return the reward of this name.

    Raises:
        UsageError: If there is none; lists the names.
    """
    if name not in REWARDS:
        raise UsageError(f"no reward is called {name!r}{did_you_mean(name, REWARDS)}; there are: {', '.join(REWARDS)}")
    return REWARDS[name]
