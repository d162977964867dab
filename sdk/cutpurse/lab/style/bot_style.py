"""The style of a bot: its habits as means with 95 % intervals, and how alike two styles are.

A habit is the sum over all matches, divided by the number of choices. Choices of a match are alike, so the interval
comes from the differences between matches (the ratio estimator of cluster sampling; W. Cochran, "Sampling techniques",
1977, chapter 9).

The similarity of two bots is 1 less the mean difference of the habits that both have, each as a share of its largest
value: 1 for equal habits, 0 for opposite ones. Times don't count. Its interval is a bootstrap over the matches of both.
This module knows no game and no record.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from cutpurse.lab.style.style_counts import SeatCounts

__all__ = ["MIN_MATCHES", "HabitNumber", "Similarity", "habit_numbers", "similarity"]

MIN_MATCHES: Final = 8  # fewer give no interval and no similarity
RESAMPLES: Final = 200
Z: Final = 1.96  # for 95 %


@dataclass(frozen=True, slots=True)
class HabitNumber:
    """A habit of a bot; the interval is None with too few matches."""

    name: str
    mean: float
    choices: int
    matches: int  # in which it had such a choice
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Similarity:
    """How alike a bot plays to another one, from 0 to 1, with a 95 % interval."""

    bot: str
    similarity: float
    interval: tuple[float, float]


def habit_numbers(matches: Sequence[SeatCounts], names: Sequence[str]) -> list[HabitNumber]:
    """Return the habits of these names that the bot had a choice in."""
    numbers = []
    for name in names:
        pairs = [counts[name] for counts in matches if name in counts]
        if pairs:
            numbers.append(_habit_number(name, pairs))
    return numbers


def similarity(
    bot: str, own: Sequence[SeatCounts], others: Sequence[SeatCounts], scales: Mapping[str, float]
) -> Similarity | None:
    """Return how alike `own` is to the matches of another bot; None with too few matches, or no common habit."""
    if min(len(own), len(others)) < MIN_MATCHES:
        return None
    mean = _alike(own, others, scales)
    if mean is None:
        return None
    chance = Random(f"cutpurse/style/{bot}")
    resampled = (
        _alike(chance.choices(own, k=len(own)), chance.choices(others, k=len(others)), scales) for _ in range(RESAMPLES)
    )
    drawn = sorted(number for number in resampled if number is not None)
    low, high = drawn[round(0.025 * (len(drawn) - 1))], drawn[round(0.975 * (len(drawn) - 1))]
    return Similarity(bot, mean, (min(low, mean), max(high, mean)))


def _habit_number(name: str, pairs: Sequence[tuple[float, int]]) -> HabitNumber:
    choices, count = sum(times for _, times in pairs), len(pairs)
    mean = sum(total for total, _ in pairs) / choices
    if count < MIN_MATCHES:
        return HabitNumber(name, mean, choices, count, None)
    squares = sum((total - mean * times) ** 2 for total, times in pairs)
    half = Z * math.sqrt(squares * count / (count - 1)) / choices
    return HabitNumber(name, mean, choices, count, (mean - half, mean + half))


def _alike(own: Sequence[SeatCounts], others: Sequence[SeatCounts], scales: Mapping[str, float]) -> float | None:
    mine, theirs = _means(own, scales), _means(others, scales)
    differences = [
        min(1.0, abs(mine[name] - theirs[name]) / scales[name]) for name in scales if name in mine and name in theirs
    ]
    return 1 - sum(differences) / len(differences) if differences else None


def _means(matches: Sequence[SeatCounts], names: Mapping[str, float]) -> dict[str, float]:
    means = {}
    for name in names:
        pairs = [counts[name] for counts in matches if name in counts]
        if pairs:
            means[name] = sum(total for total, _ in pairs) / sum(times for _, times in pairs)
    return means
