"""How far off skills may be, and which places they may have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from random import Random
from typing import Final

from cutpurse.leaderboard.estimates.linear_system import LinearSystem

__all__ = ["StandardErrors", "places_of"]

MOST_TOGETHER: Final = 150  # players whose errors are drawn together; of more, each hangs too little on any other
MOST_EXACT: Final = 1_000  # players whose errors are computed exactly, which takes n ** 3 / 3 steps
DRAWS: Final = 1_000
TAIL: Final = 0.025  # of the places, on either side


class StandardErrors:
    """Of skills, each less a mean of all of them.  deviations: standard, by player."""

    def __init__(self, web: LinearSystem, shares: Sequence[float]) -> None:
        """web: what holds the skills. shares: each one's in the mean; they add up to 1."""
        self.deviations: list[float]
        self._together: list[list[float]] = []
        if web.players > MOST_EXACT:
            self.deviations = [math.sqrt(variance) for variance in web.approximate_inverse_diagonal()]
            return
        columns = web.cholesky_of_inverse()
        mean = [0.0] * web.players  # the error of the mean, as what chance is multiplied by
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
        """Errors of all players as they may be, but for one that they share."""
        if not self._together:
            return [random.gauss(0.0, deviation) for deviation in self.deviations]
        chance = [random.gauss(0.0, 1.0) for _ in self._together]
        return [sum(map(mul, column, chance[player:])) for player, column in enumerate(self._together)]


def places_of(skills: Sequence[float], ranked: Sequence[int], errors: StandardErrors) -> list[tuple[int, int]]:
    """By ranked player: between which places he is with a probability of 95 %; his place by `skills` is among them."""
    if not ranked:
        return []
    random = Random("the places of a ladder")  # so that the same results give the same places
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
