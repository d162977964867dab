"""How often a seat aims at another one with some verb, from the habits of both.

Without habits, each seat that is offered is equally likely. Habits multiply its odds (a multinomial logit, D. McFadden
1974):

* how much a bot is aimed at by all others,
* whether the one who aims prefers strong or weak opponents,
* how far to the left the target sits.

A bot may have any of these habits without dealing with anybody. The residual is what is left of the aims. Within a
match a bot's aims are alike, since the hands are; the dispersion measures how much.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from cutpurse.lab.pairs.place_model import CLOSE, LEAST_LEFT, ROUNDS, FloatArray, IntArray

__all__ = ["AimModel"]

PRIOR: Final = 1.0  # inverse variance of the habits, in log-odds
LONGEST_STEP: Final = 1.0  # log-odds
NOBODY: Final = 1e-12  # aims expected at a seat that was never offered


class AimModel:
    """Habits fitted to the aims with one verb.

    Arrays have a row for each actor of a match, and a column for each other seat: the next to the left first.

    Attributes:
        residuals: Aims beyond expectation.
        variance: Variance of the aims if the choices of a match were independent.
        dispersion: By player, the variance of its residuals relative to that.
    """

    def __init__(
        self, actors: IntArray, targets: IntArray, times: FloatArray, even: FloatArray, strengths: FloatArray
    ) -> None:
        """Fit the habits.

        Args:
            actors: By row, the number of the player that aims.
            targets: The player of each other seat.
            times: Aims at each other seat.
            even: Aims expected without habits; 0 at seats that were not offered.
            strengths: By player, as `PlaceModel.strengths`.
        """
        players, others = len(strengths), targets.shape[1]
        self._size = 2 * players + others
        offsets = np.broadcast_to(2 * players + np.arange(others), targets.shape)
        own = np.broadcast_to(players + actors[:, None], targets.shape)
        self._columns = np.stack([targets, own, offsets], axis=2)
        self._values = np.stack([np.ones(targets.shape), strengths[targets], np.ones(targets.shape)], axis=2)
        totals = times.sum(axis=1, keepdims=True)
        habits = np.zeros(self._size)
        for _ in range(ROUNDS):
            odds = np.maximum(even, NOBODY) * np.exp((habits[self._columns] * self._values).sum(axis=2))
            self._expected: FloatArray = totals * odds / odds.sum(axis=1, keepdims=True)
            self._totals = totals
            score = self._sums(self._values * (times - self._expected)[:, :, None], self._columns) - PRIOR * habits
            information = self._information()
            step = np.linalg.solve(information, score)
            step *= min(1.0, LONGEST_STEP / max(CLOSE, float(np.abs(step).max())))
            habits = habits + step
            if np.abs(step).max() < CLOSE:
                break
        self.residuals: FloatArray = times - self._expected
        self.variance: FloatArray = self._expected * (1 - self._expected / totals)
        self._inverse = np.linalg.inv(information)
        squares, variance = (self.residuals**2).sum(axis=1), self.variance.sum(axis=1)
        by_player = np.bincount(actors, squares, players) / np.maximum(NOBODY, np.bincount(actors, variance, players))
        self.dispersion: FloatArray = np.maximum(by_player, max(1.0, float(squares.sum() / variance.sum())))

    def share_left(self, rows: IntArray, seats: IntArray) -> float:
        """Return the share of the summed residuals of some cells that is left after fitting the habits."""
        columns, values = self._columns[rows], self._values[rows]
        expected = self._expected[rows]
        cells = expected[np.arange(len(rows)), seats][:, None]
        weights = -cells * expected / self._totals[rows]
        weights[np.arange(len(rows)), seats] += cells[:, 0]
        slope = self._sums(values * weights[:, :, None], columns)
        used = np.flatnonzero(slope)
        taken = slope[used] @ self._inverse[np.ix_(used, used)] @ slope[used]
        return max(LEAST_LEFT, 1 - float(taken) / max(NOBODY, float(self.variance[rows, seats].sum())))

    def _information(self) -> FloatArray:
        """Return the negative second derivative of the log-likelihood."""
        weighted = self._values * self._expected[:, :, None]
        flat = (len(weighted), -1)
        columns, means = self._columns.reshape(flat), weighted.reshape(flat)
        information = np.eye(self._size) * PRIOR
        for column in range(columns.shape[1]):
            for other in range(columns.shape[1]):
                products = -means[:, column] * means[:, other] / self._totals[:, 0]
                if column // 3 == other // 3:  # of the same seat
                    products += means[:, column] * self._values.reshape(flat)[:, other]
                cells = columns[:, column] * self._size + columns[:, other]
                information += np.bincount(cells, products, self._size**2).reshape(information.shape)
        return information

    def _sums(self, values: FloatArray, columns: IntArray) -> FloatArray:
        return np.asarray(np.bincount(columns.ravel(), values.ravel(), self._size), dtype=np.float64)
