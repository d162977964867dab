"""How often a seat aims at another one with some verb, from the habits of both.

Without habits, each seat that is offered is equally likely. On top of that, linear in `expected`:

* how much a bot is aimed at by all others,
* whether the one who aims prefers strong or weak opponents,
* how far to the left the target sits.

A bot may have any of these habits without dealing with anybody. The residual is what is left of `times - expected`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from cutpurse.experiments.pairs.place_model import LEAST_LEFT, FloatArray, IntArray

__all__ = ["AimModel"]

RIDGE: Final = 1.0  # expected aims; habits seen in fewer are hardly believed


class AimModel:
    """Habits fitted to the aims with one verb.

    Attributes:
        residuals: By row, aims beyond expectation.
        dispersion: By player, the variance of the residuals of its own aims, relative to independent choices.
    """

    def __init__(
        self,
        actors: IntArray,
        targets: IntArray,
        offsets: IntArray,
        excess: FloatArray,
        expected: FloatArray,
        variance: FloatArray,
        strengths: FloatArray,
    ) -> None:
        """Fit the habits. A row is an actor and a target of one match.

        Args:
            actors: Number of the player that aims.
            targets: Number of the player that is aimed at.
            offsets: Seats from the actor to the left to the target, from 1.
            excess: `times - expected`.
            expected: As `Aim.expected`.
            variance: As `Aim.variance`.
            strengths: By player, as `PlaceModel.strengths`.
        """
        players, seats = len(strengths), int(offsets.max()) + 1
        self._columns = np.stack([targets, players + actors, 2 * players + offsets - 1], axis=1)
        self._values = np.stack([expected, expected * strengths[targets], expected], axis=1)
        self._size = 2 * players + seats
        gram = np.eye(self._size) * RIDGE
        for one in range(3):
            for other in range(3):
                cells = self._columns[:, one] * self._size + self._columns[:, other]
                products = self._values[:, one] * self._values[:, other]
                gram += np.bincount(cells, products, self._size**2).reshape(gram.shape)
        self._inverse = np.linalg.inv(gram)
        habits = self._inverse @ self._sums(self._values * excess[:, None], self._columns)
        self.residuals: FloatArray = excess - (self._values * habits[self._columns]).sum(axis=1)
        squares = self.residuals**2
        overall = squares.sum() / variance.sum()
        own = np.bincount(actors, squares, players) / np.maximum(1e-9, np.bincount(actors, variance, players))
        self.dispersion: FloatArray = np.maximum(1.0, np.maximum(overall, own))

    def share_left(self, rows: IntArray) -> float:
        """Return the share of the summed residuals of some rows that is left after fitting the habits."""
        columns, values = self._columns[rows], self._values[rows]
        expected = values[:, :1]
        slope, pull = self._sums(values, columns), self._sums(values * expected, columns)
        used = np.flatnonzero(slope)
        taken = slope[used] @ self._inverse[np.ix_(used, used)] @ pull[used]
        return max(LEAST_LEFT, 1 - float(taken) / float(expected.sum()))

    def _sums(self, values: FloatArray, columns: IntArray) -> FloatArray:
        return np.asarray(np.bincount(columns.ravel(), values.ravel(), self._size), dtype=np.float64)
