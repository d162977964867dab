"""The standard errors of skills, and the 95 % intervals of places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from random import Random
from typing import Final

from cutpurse.leaderboard.estimates.linear_system import LinearSystem

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

    def __init__(self, web: LinearSystem, shares: Sequence[float]) -> None:
        """Compute the standard errors.

        Args:
            web: Linear system of the fit, whose inverse is the covariance of the skills.
            shares: Weight of each player in the mean; they add up to 1.
        """
        self.deviations: list[float]
        self._together: list[list[float]] = []
        if web.players > MOST_EXACT:
            self.deviations = [math.sqrt(variance) for variance in web.approximate_inverse_diagonal()]
            return
        columns = web.cholesky_of_inverse()
        mean = [0.0] * web.players  # coefficients of the error of the mean
        for player, column in enumerate(columns):
            if share := shares[player]:
                for at, value in enumerate(column, player):
                    mean[at] += share * value
        square = sum(map(mul, mean, mean))
        self.deviations = [
            math.sqrt(max(0.0, sum(map(mul, column, column)) - 2 * sum(map(mul, column, mean[player:])) + square))
            for player, column in enumerate(columns)
        ]
        if web.players <= MOST_TOGETHER:
            self._together = columns

    def draw(self, random: Random) -> list[float]:
        """Draw random errors of all players, up to a common shift."""
        if not self._together:
            return [random.gauss(0.0, deviation) for deviation in self.deviations]
        chance = [random.gauss(0.0, 1.0) for _ in self._together]
        return [sum(map(mul, column, chance[player:])) for player, column in enumerate(self._together)]


def places_of(skills: Sequence[float], ranked: Sequence[int], errors: StandardErrors) -> list[tuple[int, int]]:
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
    had: list[list[int]] = [[] for _ in ranked]
    for _ in range(DRAWS):
        error = errors.draw(random)
        for place, at in enumerate(_best_first([skills[player] + error[player] for player in ranked]), 1):
            had[at].append(place)
    by_skill = {at: place for place, at in enumerate(_best_first([skills[player] for player in ranked]), 1)}
    cut = int(TAIL * DRAWS)
    bounds = []
    for at, places in enumerate(had):
        places.sort()
        bounds.append((min(places[cut], by_skill[at]), max(places[-1 - cut], by_skill[at])))
    return bounds


def _best_first(skills: Sequence[float]) -> list[int]:
    return sorted(range(len(skills)), key=skills.__getitem__, reverse=True)
