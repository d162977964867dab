"""How strong everybody on a ladder is, from all of its results at once, and within which bounds that is certain.

    found = estimate([((11, 12, 13, 14), (2, 1, 3, 4)), ...], settings)  # versions, and their places
    found[11].low, found[11].high, found[11].best, found[11].worst

A rating goes on from board to board and forgets who its opponents turned out to be. Here every result counts at once:
the skills are those with which all of them are likeliest, in the model that rates: what is shown is normal around the
skill with beta, who shows more is ahead, and within a margin two tie. They are on the scale of the ladder's ratings,
for that is beta's.

* A result of several is taken as its pairs, and pairs of one result say less than as many results of two. How much less
  is measured: by the variance of what results say, over what it would be if pairs were independent (see Varin, Reid and
  Firth, "An overview of composite likelihood methods", 2011). That allows for ties and boards of several matches too.
* How far apart players are is taken from the ladder itself (empirical Bayes).
* A new version lies around the one before it, a share of that apart, `widening`.
* The margin is the one that predicts as many ties as there were.
* Only differences can be known. So each skill is one less the mean of those who are ranked, counted by their results.
* Where players change, older results count less. Whether they do is tested, for it costs those who do not.

The same results give the same numbers: chance here is a stream of its own. This module knows no database and no clock.
What it promises is measured by `python -m benchmarks.ladder.estimated`.
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

WIDTH: Final = 1.96  # standard deviations to either side hold 95 % of a normal distribution
LEAST_WIDENING: Final = 0.02  # two versions are never quite the same
FIRST_MARGIN: Final = 0.05
MOST_MARGIN: Final = 3.0
MOST_SPREAD: Final = math.sqrt(2)  # as the library has it: sigma is twice beta
SPREAD_OF_TWO: Final = math.sqrt(0.5)  # with which any share of wins is as likely as another
ROUNDS: Final = 50
CLOSE: Final = 1e-4  # of what two show: when nothing moves by more, it is found
LONGEST_STEP: Final = 2.0
SUPPOSED: Final = 100  # seats whose dispersion is supposed, before it is measured
LEAST_FREE: Final = 0.1
LEAST_STEADY: Final = 20  # results of a player from which on changes are looked for
SURE: Final = 1.5  # standard deviations that change must stand out by: one ladder in fifteen does by chance
_NULL_MEAN: Final = 1 / 6  # of Nyblom's statistic of somebody who does not change
_NULL_VARIANCE: Final = 1 / 45
_GAIN: Final = 90  # what part of (fading * results) ** 2 it is more of one who does


class Estimated(NamedTuple):
    """A player's skill, and the place that it deserves among the placed ones (`cutpurse.leaderboard.placing`).

    low, high: the skill lies between these with a probability of 95 %. best, worst: the place does; both are 0 for a
    player that is not ranked or not placed yet. The place by `mu` is always among them.
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
    """Collect every player in a result.  results: the players and their places, in the order in which they came.

    parents: the version before a version, of those in results. ranked: whose places count, once they are placed; all,
    if it is None. middle: the mean of the skills of those, each counted by its results; that of a newcomer, if it is
    None.
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
    """What is found of some players; in the unit of `pairs`."""

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
        self._supposed = sum(len(who) * (len(who) + 1) / 3 for who, _ in fields) / self._seats  # if places were chance
        self._dispersion = self._supposed
        self._expected = 0.0  # the variance of what results say, if pairs were independent
        self._gather(0.0)

    def _gather(self, fading: float) -> None:
        self._pairs = tally(self._fields, len(self.skills), fading)
        one, other = [*self._pairs.one, *self._links], [*self._pairs.other, *self._links.values()]
        self.web = LinearSystem(len(self.skills), one, other)

    def find(self) -> None:
        """Skills; then how much the results say, and whether anybody changes; and skills again."""
        self._improve()
        said = residual_statistics(self._fields, self.skills, self._margin)
        free = max(LEAST_FREE, 1 - self._learned() / self._seats)  # of what results say, the rest went into skills
        measured = said.squares / (free * self._expected)
        self._dispersion = (self._seats * measured + SUPPOSED * self._supposed) / (self._seats + SUPPOSED)
        if fading := _fading(said.unsteady, said.played):
            self._gather(fading)
        self._improve()

    def _improve(self) -> None:
        """Newton's steps, with spread and margin after each, until nothing moves any more."""
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
        """How firmly everybody is held where he is; what would have him elsewhere, and how many ties are foretold."""
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
        """How firmly a player is held by what is supposed of all, and a version by the one before."""
        alone = self._spread**-2
        return alone, alone / self._widening**2

    def _learned(self) -> float:
        """How many of the skills, all in all, are from results and not supposed."""
        alone, between = self._supposed_holds()
        held = self.web.diagonal
        return sum(1 - (between if player in self._links else alone) / held[player] for player in range(len(held)))

    def _how_far_apart(self) -> float:
        """How far apart players are, from how far apart they are found and how uncertain that is."""
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
    """By how much less each result counts than the next one; 0.0 unless it is plain that players change.

    Whoever wanders is followed best by weights that fade at the root of what changes from one result to the next, over
    what one result leaves unknown (where Kalman's filter settles). Nyblom's statistic tells that ratio.
    """
    seen = [(count**2, by - _NULL_MEAN) for by, count in zip(unsteady, played, strict=True) if count >= LEAST_STEADY]
    evidence = sum(weight * by for weight, by in seen)
    squares = sum(weight * weight for weight, _ in seen)
    if evidence <= SURE * math.sqrt(squares * _NULL_VARIANCE):
        return 0.0
    return math.sqrt(_GAIN * evidence / squares)
