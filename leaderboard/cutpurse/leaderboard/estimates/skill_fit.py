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
no clock. `benchmarks/results/simulated_ladder.md` says how well the intervals hold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from cutpurse.leaderboard.estimates.estimated import Estimated, Field
from cutpurse.leaderboard.estimates.likelihood import Comparisons, draw_probability, score_and_information
from cutpurse.leaderboard.estimates.linear_system import FloatArray, IntArray, LinearSystem
from cutpurse.leaderboard.estimates.standard_errors import StandardErrors, places_of
from cutpurse.leaderboard.placing import is_placed
from cutpurse.leaderboard.ratings import TrueSkill

__all__ = ["estimate"]

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

    counts = np.array([count if ranked is None or player in ranked else 0 for player, count in played.items()])
    shares = counts / counts.sum() if counts.any() else np.full(len(counts), 1 / len(counts))
    errors = StandardErrors(fit.web, shares)
    mus = (settings.mu if middle is None else middle) + scale * (fit.skills - shares @ fit.skills)
    halves = scale * WIDTH * errors.deviations
    intervals = dict(zip(numbers, np.stack([mus, mus - halves, mus + halves], axis=1).tolist(), strict=True))
    placed = [player for player in intervals if (ranked is None or player in ranked) and is_placed(played[player])]
    places = dict(zip(placed, places_of(fit.skills, [numbers[player] for player in placed], errors), strict=True))
    return {
        player: Estimated(mu, low, high, *places.get(player, (0, 0))) for player, (mu, low, high) in intervals.items()
    }


class _Fit:
    """The fitted skills, spread, margin and dispersion; in the unit of `likelihood`."""

    def __init__(self, fields: Sequence[Field], players: int, links: Mapping[int, int], widening: float) -> None:
        self.skills: FloatArray = np.zeros(players)
        self._comparisons = Comparisons(fields, players)
        self._children: IntArray = np.fromiter(links.keys(), np.intp)
        self._parents: IntArray = np.fromiter(links.values(), np.intp)
        self._roots: IntArray = np.setdiff1d(np.arange(players), self._children)
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
        self._pairs = self._comparisons.pairs(fading)
        first, other = [self._pairs.one, self._children], [self._pairs.other, self._parents]
        self.web = LinearSystem(len(self.skills), np.concatenate(first), np.concatenate(other))

    def find(self) -> None:
        """Fit the skills, then measure dispersion and change, and fit the skills again."""
        self._improve()
        residuals = self._comparisons.residual_statistics(self.skills, self._margin)
        free = max(LEAST_FREE, 1 - self._learned() / self._seats)  # share of degrees of freedom not used by the fit
        measured = residuals.squares / (free * self._expected)
        self._dispersion = (self._seats * measured + SUPPOSED * self._supposed) / (self._seats + SUPPOSED)
        if fading := _fading(residuals.unsteady, residuals.played):
            self._gather(fading)
        self._improve()

    def _improve(self) -> None:
        """Take Newton steps until nothing moves any more, and update spread and margin after each."""
        for _ in range(ROUNDS):
            score, tied = self._weigh()
            step = self.web.solve(score)
            longest = float(np.abs(step).max())
            self.skills = self.skills + (min(1.0, LONGEST_STEP / longest) if longest else 1.0) * step
            self._middle = float(self.skills[self._roots].mean())
            margin, spread = self._margin, self._spread
            wider = min(max((float(self._pairs.level.sum()) + 0.5) / tied, 0.5), 2.0)
            self._margin = min(margin * wider, MOST_MARGIN)
            self._spread = self._how_far_apart()
            if max(longest, abs(margin - self._margin), abs(spread - self._spread)) < CLOSE:
                break
        self._weigh()

    def _weigh(self) -> tuple[FloatArray, float]:
        """Set the weights of the linear system; return the score of each player and the predicted number of ties."""
        players = len(self.skills)
        first, other, *results = self._pairs
        apart = self.skills[first] - self.skills[other]
        scores, information = score_and_information(apart, self._margin, *results)
        self._expected = 2 * float(information.sum())
        tied = float(sum(results) @ draw_probability(apart, self._margin))
        alone, between = self._supposed_holds()
        own = np.zeros(players)
        own[self._roots] = alone
        scores, information = scores / self._dispersion, information / self._dispersion
        pulls = between * (self.skills[self._children] - self.skills[self._parents])
        score = (
            np.bincount(first, scores, players)
            - np.bincount(other, scores, players)
            - own * (self.skills - self._middle)
            - np.bincount(self._children, pulls, players)
            + np.bincount(self._parents, pulls, players)
        )
        self.web.set_weights(np.concatenate([information, np.full(len(pulls), between)]), own)
        return score, tied

    def _supposed_holds(self) -> tuple[float, float]:
        """Return the information in the prior of a player, and in that of a version with a parent."""
        alone = self._spread**-2
        return alone, alone / self._widening**2

    def _learned(self) -> float:
        """Return the effective number of parameters: how many skills come from results instead of the prior."""
        alone, between = self._supposed_holds()
        held = np.full(len(self.skills), alone)
        held[self._children] = between
        return float((1 - held / self.web.diagonal).sum())

    def _how_far_apart(self) -> float:
        """Estimate the spread of the skills from their fitted values and uncertainties."""
        squares = 1 / self.web.diagonal
        squares[self._roots] += (self.skills[self._roots] - self._middle) ** 2
        squares[self._children] += (self.skills[self._children] - self.skills[self._parents]) ** 2
        squares[self._children] /= self._widening**2
        free = len(self.skills) - 2
        return min(MOST_SPREAD, math.sqrt(float(squares.sum()) / free)) if free > 0 else SPREAD_OF_TWO


def _fading(unsteady: FloatArray, played: IntArray) -> float:
    """Compute the fading rate of old results; 0.0 if there is no clear evidence that players change.

    The best rate for a drifting skill is the square root of a ratio: drift variance per result, over the variance that
    one result leaves. A Kalman filter converges to it. Nyblom's statistic estimates the ratio.
    """
    weights = np.where(played >= LEAST_STEADY, played.astype(np.float64) ** 2, 0.0)
    evidence, squares = float(weights @ (unsteady - _NULL_MEAN)), float(weights @ weights)
    if evidence <= SURE * math.sqrt(squares * _NULL_VARIANCE):
        return 0.0
    return math.sqrt(_GAIN * evidence / squares)
