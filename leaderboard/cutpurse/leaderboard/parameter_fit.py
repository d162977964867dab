"""The fit of the TrueSkill parameters beta, tau and draw probability to stored matches.

    settings = fit([RankedMatch((1, 2), (1, 2)), RankedMatch((2, 1), (2, 1)), ...])

Each match is predicted from the earlier ones, and then rated. The best parameters have the smallest `log_loss` of these
predictions, so no match is predicted by ratings that already contain it. Only ratios can be fitted: mu and sigma of a
newcomer stay, and beta and tau are fitted relative to that sigma. This module knows no ladder, no database and no
randomness; it treats a new version of a bot as a newcomer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, count
from statistics import NormalDist
from typing import Final, NamedTuple

from cutpurse.leaderboard.ratings import Skill, TrueSkill, difference, draw_margin, rate

__all__ = ["RankedMatch", "fit", "log_loss"]

LEAST: Final = 1e-12  # minimum probability of an outcome; smaller values are rounding errors of the tails
BETAS: Final = (1 / 16, 16.0)  # search interval of beta, relative to sigma
ROUGHLY: Final = 0.1  # relative precision of beta for each tau
CLOSELY: Final = 0.04  # relative precision of beta for the chosen tau
TAUS: Final = (0.001, 0.003, 0.01, 0.03, 0.1)  # relative to sigma; never 0, or ratings would stop moving
_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_NORMAL: Final = NormalDist()


class RankedMatch(NamedTuple):
    """The outcome of a match: places[i] is that of players[i], the lowest is best, ties are equal."""

    players: tuple[Hashable, ...]
    places: tuple[int, ...]


class _Pair(NamedTuple):
    """The prediction for two players of a match."""

    ahead: float  # mu of the player with the better or equal place, minus mu of the other
    spread: float  # standard deviation of the difference of their performances
    is_tied: bool


def log_loss(results: Sequence[RankedMatch], settings: TrueSkill, after: int = 0) -> float:
    """Predict each match from the earlier ones, and return the log loss: the mean of -ln p over pairs, in nats.

    p is the predicted probability of the order of two players. A coin has ln 2 = 0.693.

    Args:
        results: Matches in the order of rating; all players begin as newcomers.
        settings: Parameters to judge.
        after: Number of first matches that are rated but not judged.

    Raises:
        ValueError: If no match is left to judge.
    """
    if after >= len(results):
        raise ValueError(f"{len(results)} matches, of which the first {after} are not to be judged: none is left")
    return _loss(list(_predictions(results, settings, after)), draw_margin(settings))


def fit(
    results: Sequence[RankedMatch],
    start: TrueSkill | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TrueSkill:
    """Find the parameters with the smallest `log_loss`.

    beta is fitted to 4 %, tau is the best of five, and the draw probability matches the number of ties. All matches are
    rated about 70 times. With fewer than about a thousand pairs of players, the result is mostly noise.

    Args:
        results: Matches in the order of rating.
        start: Source of mu, sigma and widening, which are not fitted. Default: TrueSkill's values.
        progress: Called with the number of settings tried, and of all settings to try.

    Raises:
        ValueError: If there are no results.
    """
    if not results:
        raise ValueError("nothing to fit to: no results")
    parameters = start or TrueSkill(draw_probability=0.1)

    low, high = (math.log(share * parameters.sigma) for share in BETAS)
    total = (1 + len(TAUS)) * _tries(high - low, ROUGHLY) + _tries(2 * ROUGHLY, CLOSELY)
    tried = count(1)

    def best_beta(settings: TrueSkill, low: float, high: float, within: float) -> tuple[float, TrueSkill]:
        def loss_of(log_beta: float) -> float:
            loss = log_loss(results, replace(settings, beta=math.exp(log_beta)))
            if progress is not None:
                progress(next(tried), total)
            return loss

        log_beta, loss = _lowest(loss_of, low, high, within)
        return loss, replace(settings, beta=math.exp(log_beta))

    # beta and tau both explain unexpected results, so each tau is judged with its own best beta. Noise alone would
    # favour some tau, so a larger one must improve the likelihood by a nat, as any additional parameter (Akaike 1974).
    # Of all pairs of a match with n players, n - 1 count as independent.
    _, parameters = best_beta(replace(parameters, tau=TAUS[0] * parameters.sigma), low, high, ROUGHLY)
    parameters = _fit_draw_margin(results, parameters)
    trials = [best_beta(replace(parameters, tau=share * parameters.sigma), low, high, ROUGHLY) for share in TAUS]
    enough = min(loss for loss, _ in trials) + 1 / sum(len(result.places) - 1 for result in results)
    parameters = _fit_draw_margin(results, next(settings for loss, settings in trials if loss <= enough))
    near = math.log(parameters.beta)
    _, parameters = best_beta(parameters, near - ROUGHLY, near + ROUGHLY, CLOSELY)
    return _fit_draw_margin(results, parameters)


def _predictions(results: Sequence[RankedMatch], settings: TrueSkill, after: int = 0) -> Iterator[_Pair]:
    """Predict each pair of players of each match before the match is rated."""
    skills: dict[Hashable, Skill] = {}
    apart_and_spread = difference(settings)
    for number, (players, places) in enumerate(results):
        before = [skills.get(player, settings.newcomer) for player in players]
        if number >= after:
            for (skill, place), (other, other_place) in combinations(zip(before, places, strict=True), 2):
                apart, spread = apart_and_spread(skill, other)
                yield _Pair(apart if place <= other_place else -apart, spread, place == other_place)
        skills.update(zip(players, rate(places, before, settings), strict=True))


def _loss(pairs: Sequence[_Pair], margin: float) -> float:
    total = 0.0
    for pair in pairs:
        likely = _tied(pair, margin) if pair.is_tied else _NORMAL.cdf((pair.ahead - margin) / pair.spread)
        total -= math.log(max(likely, LEAST))
    return total / len(pairs)


def _fit_draw_margin(results: Sequence[RankedMatch], settings: TrueSkill) -> TrueSkill:
    """Fit the draw margin that predicts as many ties as there were, plus half a tie."""
    pairs = list(_predictions(results, settings))
    ties = sum(pair.is_tied for pair in pairs) + 0.5
    low, high = 0.0, 1e-3 * settings.beta
    while high < 1e3 * settings.beta and sum(_tied(pair, high) for pair in pairs) < ties:
        low, high = high, 2 * high
    for _ in range(20):
        middle = (low + high) / 2
        if sum(_tied(pair, middle) for pair in pairs) < ties:
            low = middle
        else:
            high = middle
    share = 2 * _NORMAL.cdf(high / (math.sqrt(2) * settings.beta)) - 1
    return replace(settings, draw_probability=min(max(share, 1e-6), 1 - 1e-6))


def _tied(pair: _Pair, margin: float) -> float:
    return _NORMAL.cdf((margin - pair.ahead) / pair.spread) - _NORMAL.cdf((-margin - pair.ahead) / pair.spread)


def _tries(width: float, within: float) -> int:
    """Return how often `_lowest` evaluates its function on an interval of this width."""
    return 2 + max(0, math.ceil(math.log(within / width) / math.log(_GOLDEN)))


def _lowest(of: Callable[[float], float], low: float, high: float, within: float) -> tuple[float, float]:
    """Minimize a function with one minimum by golden-section search; return its place and its value."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = of(left), of(right)
    while high - low > within:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = of(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = of(right)
    return (left, at_left) if at_left <= at_right else (right, at_right)
