"""The estimate of all skills on a ladder from all its results at once, with 95 % intervals.

    found = estimate([((11, 12, 13, 14), (2, 1, 3, 4)), ...], settings)  # versions, and their places
    found[11].low, found[11].high, found[11].best, found[11].worst

A TrueSkill rating is updated board by board, and cannot use what is learned of its opponents later. Here every result
counts at once: the estimate maximizes the likelihood of all of them. The model is that of the ratings. A performance is
normal around the skill with standard deviation beta, the higher performance is ahead, and two within a margin tie. The
scale is that of the ladder's ratings, because both have the same beta.

* A result of several players is taken as its pairs. The pairs of one result say less than as many results of two
  players. The dispersion measures how much less: it is the variance of the scores, relative to independent pairs (see
  Varin, Reid and Firth, "An overview of composite likelihood methods", 2011). It covers ties and boards of several
  matches too.
* The spread of the skills is fitted to the ladder itself (empirical Bayes).
* The prior of a new version is its parent's skill; its standard deviation is the share `widening` of the spread.
* The draw margin is the one that predicts the observed number of ties.
* Results determine only differences of skills. So the mean of the ranked players, weighted by their results, is fixed.
* If players change, older results get smaller weights. This is tested first, because it costs precision if they don't.

The same results give the same numbers, because the random stream has a fixed seed. This module knows no database and
no clock. `python -m benchmarks.ladder.estimated` measures how well the intervals hold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from operator import mul
from statistics import fmean
from typing import Final, NamedTuple

from cutpurse.leaderboard.estimates.likelihood import (
    Field,
    draw_probability,
    residual_statistics,
    score_and_information,
    tally,
)
from cutpurse.leaderboard.estimates.linear_system import LinearSystem
from cutpurse.leaderboard.estimates.standard_errors import StandardErrors, places_of
from cutpurse.leaderboard.placing import is_placed
from cutpurse.leaderboard.ratings import TrueSkill

__all__ = ["Estimated", "estimate"]

WIDTH: Final = 1.96  # standard deviations on each side that hold 95 % of a normal distribution
LEAST_WIDENING: Final = 0.02  # minimum, because two versions are never quite equal
FIRST_MARGIN: Final = 0.05  # initial draw margin
MOST_MARGIN: Final = 3.0
MOST_SPREAD: Final = math.sqrt(2)  # TrueSkill's default: sigma is twice beta
SPREAD_OF_TWO: Final = math.sqrt(0.5)  # with it, every share of wins is equally likely
ROUNDS: Final = 50  # maximum Newton steps
CLOSE: Final = 1e-4  # the fit has converged when nothing moves by more
LONGEST_STEP: Final = 2.0  # maximum move of a skill in one Newton step
SUPPOSED: Final = 100  # seats by which the assumed dispersion counts beside the measured one
LEAST_FREE: Final = 0.1
LEAST_STEADY: Final = 20  # minimum results of a player in the test for change
SURE: Final = 1.5  # standard deviations that count as change: one constant ladder in fifteen exceeds them
_NULL_MEAN: Final = 1 / 6  # mean of Nyblom's statistic for a constant skill
_NULL_VARIANCE: Final = 1 / 45  # and its variance
_GAIN: Final = 90  # for a changing skill the mean grows by (fading * results) ** 2 divided by this


class Estimated(NamedTuple):
    """The estimate of a player's skill and place.

    Attributes:
        mu: The skill.
        low: Lower end of its 95 % interval.
        high: Upper end of its 95 % interval.
        best: Best place of the 95 % interval of the place among the placed players, which includes the place by `mu`.
            0 for a player that is not ranked or not placed yet (`cutpurse.leaderboard.placing`).
        worst: Worst place of that interval, or 0.
    """

    mu: float
    low: float
    high: float
    best: int
    worst: int


def estimate(
    results: Sequence[Field],
    settings: TrueSkill,
    parents: Mapping[int, int] | None = None,
    ranked: Collection[int] | None = None,
    middle: float | None = None,
) -> dict[int, Estimated]:
    """Estimate the skill of every player in `results`.

    Args:
        results: Players and their places, the oldest result first.
        settings: TrueSkill parameters of the ladder.
        parents: Parent of a version; both must be in `results`.
        ranked: Players that can have a place. Default: all.
        middle: Mean skill of `ranked`, weighted by results. Default: the skill of a newcomer.
    """
    played = Counter(player for who, _ in results for player in who)
    if not played:
        return {}
    numbers = {player: number for number, player in enumerate(played)}
    fields = [(tuple(numbers[player] for player in who), places) for who, places in results]
    links = {numbers[child]: numbers[parent] for child, parent in (parents or {}).items()}
    scale = math.sqrt(2) * settings.beta
    fit = _Fit(fields, len(numbers), links, max(settings.widening, LEAST_WIDENING))
    fit.find()

    counts = [count if ranked is None or player in ranked else 0 for player, count in played.items()]
    shares = [count / sum(counts) for count in counts] if any(counts) else [1 / len(counts)] * len(counts)
    errors = StandardErrors(fit.web, shares)
    centre = (settings.mu if middle is None else middle) - scale * sum(map(mul, shares, fit.skills))
    intervals: dict[int, tuple[float, float, float]] = {}  # by player: mu, low and high
    for player, number in numbers.items():
        mu, half = centre + scale * fit.skills[number], scale * WIDTH * errors.deviations[number]
        intervals[player] = (mu, mu - half, mu + half)
    placed = [
        player
        for player, (_, low, high) in intervals.items()
        if (ranked is None or player in ranked) and is_placed(low, high, settings.beta, played[player])
    ]
    places = dict(zip(placed, places_of(fit.skills, [numbers[player] for player in placed], errors), strict=True))
    return {player: Estimated(*interval, *places.get(player, (0, 0))) for player, interval in intervals.items()}


class _Fit:
    """The fitted skills, spread, margin and dispersion; in the unit of `likelihood`."""

    def __init__(self, fields: Sequence[Field], players: int, links: Mapping[int, int], widening: float) -> None:
        self.skills = [0.0] * players
        self._fields = fields
        self._links = links
        self._roots = [player for player in range(players) if player not in links]
        self._widening = widening
        self._middle = 0.0
        self._spread = MOST_SPREAD
        self._margin = FIRST_MARGIN
        self._seats = sum(len(who) for who, _ in fields)
        self._supposed = sum(len(who) * (len(who) + 1) / 3 for who, _ in fields) / self._seats  # for random places
        self._dispersion = self._supposed
        self._expected = 0.0  # sum of the squared scores, if pairs were independent
        self._gather(0.0)

    def _gather(self, fading: float) -> None:
        self._pairs = tally(self._fields, len(self.skills), fading)
        one, other = [*self._pairs.one, *self._links], [*self._pairs.other, *self._links.values()]
        self.web = LinearSystem(len(self.skills), one, other)

    def find(self) -> None:
        """Fit the skills, then measure dispersion and change, and fit the skills again."""
        self._improve()
        said = residual_statistics(self._fields, self.skills, self._margin)
        free = max(LEAST_FREE, 1 - self._learned() / self._seats)  # share of degrees of freedom not used by the fit
        measured = said.squares / (free * self._expected)
        self._dispersion = (self._seats * measured + SUPPOSED * self._supposed) / (self._seats + SUPPOSED)
        if fading := _fading(said.unsteady, said.played):
            self._gather(fading)
        self._improve()

    def _improve(self) -> None:
        """Take Newton steps until nothing moves any more, and update spread and margin after each."""
        for _ in range(ROUNDS):
            forces, tied = self._weigh()
            step = self.web.solve(forces)
            longest = max(map(abs, step))
            short = min(1.0, LONGEST_STEP / longest) if longest else 1.0
            self.skills = [skill + short * by for skill, by in zip(self.skills, step, strict=True)]
            self._middle = fmean(self.skills[player] for player in self._roots)
            margin, spread = self._margin, self._spread
            wider = min(max((sum(self._pairs.level) + 0.5) / tied, 0.5), 2.0)
            self._margin = min(margin * wider, MOST_MARGIN)
            self._spread = self._how_far_apart()
            if max(longest, abs(margin - self._margin), abs(spread - self._spread)) < CLOSE:
                break
        self._weigh()

    def _weigh(self) -> tuple[list[float], float]:
        """Set the weights of the linear system; return the score of each player and the predicted number of ties."""
        forces = [0.0] * len(self.skills)
        holds = []
        tied = 0.0
        skills, margin, share = self.skills, self._margin, 1 / self._dispersion
        for one, other, ahead, level, behind in zip(*self._pairs, strict=True):
            apart = skills[one] - skills[other]
            force, hold = score_and_information(apart, margin, ahead, level, behind)
            forces[one] += share * force
            forces[other] -= share * force
            holds.append(share * hold)
            tied += (ahead + level + behind) * draw_probability(apart, margin)
        self._expected = 2 * sum(holds) / share
        alone, between = self._supposed_holds()
        for player in self._roots:
            forces[player] -= alone * (skills[player] - self._middle)
        for child, parent in self._links.items():
            force = between * (skills[child] - skills[parent])
            forces[child] -= force
            forces[parent] += force
            holds.append(between)
        self.web.set_weights(holds, [0.0 if player in self._links else alone for player in range(len(skills))])
        return forces, tied

    def _supposed_holds(self) -> tuple[float, float]:
        """Return the information in the prior of a player, and in that of a version with a parent."""
        alone = self._spread**-2
        return alone, alone / self._widening**2

    def _learned(self) -> float:
        """Return the effective number of parameters: how many skills come from results instead of the prior."""
        alone, between = self._supposed_holds()
        held = self.web.diagonal
        return sum(1 - (between if player in self._links else alone) / held[player] for player in range(len(held)))

    def _how_far_apart(self) -> float:
        """Estimate the spread of the skills from their fitted values and uncertainties."""
        total = 0.0
        for player, skill in enumerate(self.skills):
            uncertain = 1 / self.web.diagonal[player]
            parent = self._links.get(player)
            if parent is None:
                total += (skill - self._middle) ** 2 + uncertain
            else:
                total += ((skill - self.skills[parent]) ** 2 + uncertain) / self._widening**2
        free = len(self.skills) - 2
        return min(MOST_SPREAD, math.sqrt(total / free)) if free > 0 else SPREAD_OF_TWO


def _fading(unsteady: Sequence[float], played: Sequence[int]) -> float:
    """Compute the fading rate of old results; 0.0 if there is no clear evidence that players change.

    The best rate for a drifting skill is the square root of a ratio: drift variance per result, over the variance that
    one result leaves. A Kalman filter converges to it. Nyblom's statistic estimates the ratio.
    """
    seen = [(count**2, by - _NULL_MEAN) for by, count in zip(unsteady, played, strict=True) if count >= LEAST_STEADY]
    evidence = sum(weight * by for weight, by in seen)
    squares = sum(weight * weight for weight, _ in seen)
    if evidence <= SURE * math.sqrt(squares * _NULL_VARIANCE):
        return 0.0
    return math.sqrt(_GAIN * evidence / squares)
