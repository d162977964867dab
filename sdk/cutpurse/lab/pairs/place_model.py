"""What each seat of a table is expected to get, from the strengths of all its players.

Two players of a table are compared as in R. Bradley and M. Terry (1952): the stronger is ahead with the probability
1 / (1 + exp(-difference)). The strengths are fitted to all tables at once, with a weak prior, so that a player with few
tables stays near the middle. The residual of a seat is what it got beyond its expectation.

What two bots gain together also raises their fitted strengths, the more so the more of their tables they share.
`PlaceModel.share_left` says how much of a sum of residuals is left after that.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["FloatArray", "IntArray", "PlaceModel"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

PRIOR: Final = 1.0  # comparisons with a player of mean strength, half of them won
ROUNDS: Final = 50  # most Newton steps
CLOSE: Final = 1e-6  # the fit has converged when no strength moves by more
LONGEST_STEP: Final = 2.0  # log-odds
LEAST_LEFT: Final = 0.05  # of a sum of residuals, so that two bots that always meet do not divide by zero


class PlaceModel:
    """Strengths fitted to tables of equal size.

    Attributes:
        strengths: By player, as log-odds.
        residuals: By table and seat, place points beyond expectation.
    """

    def __init__(self, seats: IntArray, points: FloatArray) -> None:
        """Fit the strengths.

        Args:
            seats: By table and seat, the number of a player.
            points: By table and seat, place points from 0 to 1.
        """
        self._seats = seats
        self._size = int(seats.max()) + 1
        self.strengths = np.zeros(self._size)
        for _ in range(ROUNDS):
            chances = _chances(self.strengths[seats])
            residuals = points - _expected(chances)
            score = -PRIOR / 4 * self.strengths
            score += np.bincount(seats.ravel(), residuals.ravel() * (seats.shape[1] - 1), self._size)
            information = self._information(chances)
            step = np.linalg.solve(information, score)
            step *= min(1.0, LONGEST_STEP / max(CLOSE, float(np.abs(step).max())))
            self.strengths = self.strengths + step
            if np.abs(step).max() < CLOSE:
                break
        self.residuals: FloatArray = residuals
        self._spread = _spread(chances)
        self._inverse = np.linalg.inv(information)

    def share_left(self, tables: IntArray, weights: FloatArray) -> float:
        """Return the share of a weighted sum of residuals that is left after fitting the strengths.

        Args:
            tables: Numbers of tables.
            weights: By table of these and seat, the weight of its residual.
        """
        seats, spread = self._seats[tables], self._spread[tables]
        slope_of_seats = weights * spread.sum(axis=2) - np.einsum("tij,tj->ti", spread, weights)
        slope = np.bincount(seats.ravel(), slope_of_seats.ravel(), self._size)
        pull = np.bincount(seats.ravel(), weights.ravel() * (seats.shape[1] - 1), self._size)
        used = np.flatnonzero(slope)
        taken = slope[used] @ self._inverse[used] @ pull
        return max(LEAST_LEFT, 1 - float(taken) / float((weights * weights).sum()))

    def _information(self, chances: FloatArray) -> FloatArray:
        """Return the negative second derivative of the log-likelihood."""
        information = np.eye(self._size) * PRIOR / 4
        spread = _spread(chances) * (chances.shape[1] - 1)
        count = spread.shape[1]
        for seat in range(count):
            for other in range(count):
                pairs = self._seats[:, seat] * self._size + self._seats[:, other]
                added = np.bincount(pairs, spread[:, seat, other], self._size**2).reshape(self._size, self._size)
                information -= added
                information[np.diag_indices(self._size)] += added.sum(axis=1)
        return information


def _chances(strengths: FloatArray) -> FloatArray:
    """Return how likely each seat of each table is ahead of each other one."""
    chances: FloatArray = 1 / (1 + np.exp(strengths[:, None, :] - strengths[:, :, None]))
    return chances


def _expected(chances: FloatArray) -> FloatArray:
    """Return the expected place points; the comparison of a seat with itself does not count."""
    expected: FloatArray = (chances.sum(axis=2) - 0.5) / (chances.shape[1] - 1)
    return expected


def _spread(chances: FloatArray) -> FloatArray:
    """Return by how much the expected points of a seat change with its lead over each other seat."""
    spread: FloatArray = chances * (1 - chances) / (chances.shape[1] - 1)
    for seat in range(spread.shape[1]):
        spread[:, seat, seat] = 0.0
    return spread
