"""The likelihood of results for given skills, where a result of several players is taken as its pairs.

The unit of skills and of the draw margin is the standard deviation of the difference of two performances. Players are
numbered 0, 1, .... This module knows no prior, no rating scale and no versions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from cutpurse.leaderboard.estimates.estimated import Field
from cutpurse.leaderboard.estimates.linear_system import FloatArray, IntArray

__all__ = ["Comparisons", "Pairs", "ResidualStatistics", "draw_probability", "score_and_information"]

FADED: Final = 1e-3  # pairs of a smaller weight are left out
_LOG_PEAK: Final = -math.log(2 * math.pi) / 2  # of the normal density


class Pairs(NamedTuple):
    """The results by pair of players: both players, the lower number first, and how often that one was ahead."""

    one: IntArray
    other: IntArray
    ahead: FloatArray
    level: FloatArray
    behind: FloatArray


class ResidualStatistics(NamedTuple):
    """Statistics of the residual scores: what comparisons say beyond what the skills predict.

    Attributes:
        squares: Sum of the squared scores over all players of all comparisons.
        unsteady: Nyblom's statistic by player: how much the scores drift over time. Its mean is 1/6 for a player of
            constant skill.
        played: Number of comparisons by player.
    """

    squares: float
    unsteady: FloatArray
    played: IntArray


class Comparisons:
    """All comparisons of a ladder, as arrays by seat and by pair of seats.

    A seat is one player of one comparison, in the order of the comparisons.
    """

    def __init__(self, fields: Sequence[Field], players: int) -> None:
        """Convert comparisons, the oldest first; each of `players` players has at least one."""
        self._players = players
        self._player = np.fromiter(chain.from_iterable(who for who, _ in fields), np.int32)
        place = np.fromiter(chain.from_iterable(places for _, places in fields), np.int32)
        sizes = np.fromiter((len(who) for who, _ in fields), np.int32, len(fields))
        starts = np.cumsum(sizes, dtype=np.int32) - sizes
        pairs = []
        for size in np.unique(sizes):
            pair = np.transpose(np.triu_indices(size, 1)).astype(np.int32)
            pairs.append((starts[sizes == size, np.newaxis, np.newaxis] + pair).reshape(-1, 2))
        first, other = np.concatenate(pairs).T
        is_turned = self._player[first] > self._player[other]
        self._one, self._other = np.where(is_turned, other, first), np.where(is_turned, first, other)
        order = np.sign(place[self._one] - place[self._other])
        self._outcome = (1 + order).astype(np.int8)  # 0 ahead, 1 level, 2 behind
        keys = self._player[self._one].astype(np.int64) * players + self._player[self._other]
        self._keys, pair_of = np.unique(keys, return_inverse=True)
        self._pair = pair_of.astype(np.int32)
        self.played: IntArray = np.bincount(self._player, minlength=players)
        self._by_player: IntArray = np.argsort(self._player, kind="stable")  # seats of player 0, then of player 1, ...

    def pairs(self, fading: float = 0.0) -> Pairs:
        """Add up the results by pair of players.

        Args:
            fading: A comparison has weight e ** -(fading * later), with `later` the number of later comparisons of each
                player, averaged over the pair. 0 means equal weights.
        """
        weights = None
        if fading:
            later = np.empty(len(self._player))
            later[self._by_player] = np.repeat(np.cumsum(self.played), self.played) - np.arange(1, len(later) + 1)
            weights = np.exp(-fading * (later[self._one] + later[self._other]) / 2)
            weights[weights < FADED] = 0.0
        count = len(self._keys)
        sums = np.bincount(3 * self._pair + self._outcome, weights, 3 * count).reshape(count, 3)
        is_counted = sums.any(axis=1)
        first, other = np.divmod(self._keys[is_counted], self._players)
        return Pairs(first, other, *sums[is_counted].T)

    def residual_statistics(self, skills: FloatArray, margin: float) -> ResidualStatistics:
        """Compute the residual statistics of all comparisons for these skills."""
        first, other = np.divmod(self._keys, self._players)
        apart = skills[first] - skills[other]
        scores = np.stack([_beyond(apart - margin)[0], _within(apart, margin)[0], -_beyond(-apart - margin)[0]])
        by_pair = scores[self._outcome, self._pair]
        seats = len(self._player)
        by_seat = np.bincount(self._one, by_pair, seats) - np.bincount(self._other, by_pair, seats)
        courses = np.split(by_seat[self._by_player], np.cumsum(self.played)[:-1])
        return ResidualStatistics(float(by_seat @ by_seat), np.array([_unsteady(of) for of in courses]), self.played)


def score_and_information(
    apart: FloatArray, margin: float, ahead: FloatArray, level: FloatArray, behind: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Compute the score and the information of the results of pairs of players.

    Args:
        apart: Skill of the first player minus that of the second.
        margin: Draw margin.
        ahead: Weight of the results in which the first player was ahead.
        level: Weight of the ties.
        behind: Weight of the results in which the first player was behind.

    Returns:
        The first and the negative second derivative of the log-likelihood in `apart`.
    """
    (won, won_information), (lost, lost_information) = _beyond(apart - margin), _beyond(-apart - margin)
    tied, tied_information = _within(apart, margin)
    return (
        ahead * won + level * tied - behind * lost,
        ahead * won_information + level * tied_information + behind * lost_information,
    )


def draw_probability(apart: FloatArray, margin: float) -> FloatArray:
    """Return the probability that two players tie whose skills are `apart`."""
    probability: FloatArray = ndtr(margin - apart) - ndtr(-margin - apart)
    return probability


def _unsteady(course: FloatArray) -> float:
    """Compute Nyblom's statistic of a series of scores, from its cumulative sums.

    Nyblom, "Testing for the constancy of parameters over time" (1989).
    """
    residuals = course - course.mean()
    sums = np.cumsum(residuals)
    squares = residuals @ residuals
    return float(sums @ sums / (len(course) * squares)) if squares else 0.0


def _beyond(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first and the negative second derivative of log P(X > 0) in z, for a normal X with mean z."""
    v = np.exp(_log_density(z) - log_ndtr(z))
    return v, v * (v + z)


def _within(apart: FloatArray, margin: float) -> tuple[FloatArray, FloatArray]:
    """Return the first and the negative second derivative of log P(|X| < margin) in `apart`, the mean of a normal X."""
    a, b = margin - np.abs(apart), -margin - np.abs(apart)  # in the lower tail, where nothing cancels out
    log_likely = log_ndtr(a) + np.log1p(-np.exp(log_ndtr(b) - log_ndtr(a)))
    at_a, at_b = np.exp(_log_density(a) - log_likely), np.exp(_log_density(b) - log_likely)
    v = at_b - at_a
    return np.sign(apart) * v, v * v + a * at_a - b * at_b


def _log_density(z: FloatArray) -> FloatArray:
    """Return the logarithm of the normal density."""
    return _LOG_PEAK - z * z / 2
