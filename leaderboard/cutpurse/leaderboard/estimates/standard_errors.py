"""The standard errors of skills, and the 95 % intervals of places."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

import numpy as np
import numpy.typing as npt

from cutpurse.leaderboard.estimates.linear_system import FloatArray, LinearSystem

__all__ = ["StandardErrors", "places_of"]

MOST_TOGETHER: Final = 150  # maximum players with correlated draws; with more, correlations hardly matter
MOST_EXACT: Final = 1_000  # maximum players for exact errors, which take n ** 3 / 3 steps
DRAWS: Final = 1_000
TAIL: Final = 0.025  # share of the places outside the interval, on each side


class StandardErrors:
    """The errors of skills relative to their weighted mean.

    Attributes:
        deviations: Standard error by player.
    """

    def __init__(self, web: LinearSystem, shares: FloatArray) -> None:
        """Compute the standard errors.

        Args:
            web: Linear system of the fit, whose inverse is the covariance of the skills.
            shares: Weight of each player in the mean; they add up to 1.
        """
        self.deviations: FloatArray
        self._together: FloatArray | None = None
        if web.players > MOST_EXACT:
            self.deviations = np.sqrt(web.approximate_inverse_diagonal())
            return
        root = web.cholesky_of_inverse()
        self.deviations = np.linalg.norm(root - (root @ shares)[:, np.newaxis], axis=0)
        if web.players <= MOST_TOGETHER:
            self._together = root

    def draw(self, random: Random) -> FloatArray:
        """Draw random errors of all players, up to a common shift."""
        chance = np.array([random.gauss(0.0, 1.0) for _ in self.deviations])
        return chance * self.deviations if self._together is None else chance @ self._together


def places_of(skills: FloatArray, ranked: Sequence[int], errors: StandardErrors) -> list[tuple[int, int]]:
    """Return the 95 % interval of the place of each ranked player, which includes its place by `skills`.

    Args:
        skills: Skill by player.
        ranked: Players to rank.
        errors: Errors of the skills.

    Returns:
        Best and worst place, in the order of `ranked`.
    """
    if not ranked:
        return []
    random = Random("the places of a ladder")  # a fixed seed: the same results give the same places
    drawn = np.sort([_places((skills + errors.draw(random))[ranked]) for _ in range(DRAWS)], axis=0)
    by_skill = _places(skills[ranked])
    cut = int(TAIL * DRAWS)
    best, worst = np.minimum(drawn[cut], by_skill), np.maximum(drawn[-1 - cut], by_skill)
    return list(zip(best.tolist(), worst.tolist(), strict=True))


def _places(skills: FloatArray) -> npt.NDArray[np.int32]:
    """Return the place of each player, the highest skill first."""
    places = np.empty(len(skills), np.int32)
    places[np.argsort(-skills, kind="stable")] = np.arange(1, len(skills) + 1)
    return places
