"""Sums over the results of matches, by bot, in memory that does not grow with their number.

The sums are whole numbers. So sums of parts of a run add up to exactly the sums of the run, in any order. This module
knows no match and no bot.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["BotSums", "mean", "place_moments", "variance"]


class BotSums:
    """The sums of one bot."""

    def __init__(self, places: int) -> None:
        """Begin with no matches; `places` is the number of seats."""
        self.places = [0] * places  # matches that ended with each place, the best first
        self.score_sum = 0
        self.score_squares = 0
        self.min_score: int | None = None
        self.max_score: int | None = None
        self.taken_over = 0
        self.faults = 0

    def add(self, place: int, score: int, is_taken_over: bool, faults: int) -> None:
        """Add a match."""
        self.places[place - 1] += 1
        self.score_sum += score
        self.score_squares += score * score
        self.taken_over += is_taken_over
        self.faults += faults
        self._widen(score, score)

    def merge(self, other: BotSums) -> None:
        """Add the matches of another part of the run."""
        self.places = [mine + theirs for mine, theirs in zip(self.places, other.places, strict=True)]
        self.score_sum += other.score_sum
        self.score_squares += other.score_squares
        self.taken_over += other.taken_over
        self.faults += other.faults
        if other.min_score is not None and other.max_score is not None:
            self._widen(other.min_score, other.max_score)

    def _widen(self, low: int, high: int) -> None:
        self.min_score = low if self.min_score is None else min(self.min_score, low)
        self.max_score = high if self.max_score is None else max(self.max_score, high)


def mean(count: int, total: int) -> float:
    """Return the mean of some whole numbers, given their sum; 0 for none."""
    return total / count if count else 0.0


def variance(count: int, total: int, squares: int) -> float:
    """Return the sample variance of some whole numbers, given their sum and the sum of their squares; 0 for one."""
    return (count * squares - total * total) / (count * (count - 1)) if count > 1 else 0.0


def place_moments(places: Sequence[int]) -> tuple[int, int]:
    """Return the sum and the sum of squares of places, given how often each occurred."""
    return (
        sum(place * count for place, count in enumerate(places, 1)),
        sum(place * place * count for place, count in enumerate(places, 1)),
    )
