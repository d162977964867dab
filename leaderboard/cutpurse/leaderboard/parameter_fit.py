"""The numbers of TrueSkill that tell best how recorded play went on: how much luck, how many ties, how much change.

    settings = fit([Outcome((1, 2), (1, 2)), Outcome((2, 1), (2, 1)), ...])

Each match is predicted from those before it, and then rated; what counts is how probable its outcome was (`log_loss`),
so that nothing is judged by what it was fitted to. Only ratios can be fitted: mu and sigma of a newcomer stay, and beta
and tau are found beside that sigma, which is how far apart players are. This module knows no ladder, no database and no
chance; a new version of a bot is a newcomer here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, count
from statistics import NormalDist
from typing import Final, NamedTuple

from cutpurse.leaderboard.ratings import Skill, TrueSkill, rate

__all__ = ["RankedMatch", "fit", "log_loss"]

LEAST: Final = 1e-12  # probability of anything that happened; what is less is a rounding error of the tails
BETAS: Final = (1 / 16, 16.0)  # of sigma: where beta is looked for
ROUGHLY: Final = 0.1  # of beta: how near it is found beside each tau
CLOSELY: Final = 0.04  # and beside the one that is likeliest
TAUS: Final = (0.001, 0.003, 0.01, 0.03, 0.1)  # of sigma; never 0, with which no rating would ever move again
_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_NORMAL: Final = NormalDist()


class RankedMatch(NamedTuple):
    """What came of a match: places[i] is that of players[i], the lowest the best, ties equal."""

    players: tuple[Hashable, ...]
    places: tuple[int, ...]


class _Pair(NamedTuple):
    """Two players of a match, before it."""

    ahead: float  # how much more is believed of the one who did at least as well
    spread: float  # standard deviation of what they would show, one less the other
    is_tied: bool


def log_loss(results: Sequence[RankedMatch], settings: TrueSkill, after: int = 0) -> float:
    """Predict each match from those before it, and return the log loss: mean of -ln p of two players' order, in nats.

    results: in the order in which they are rated; all begin as newcomers. after: so many matches are rated and not
    judged. For two players who could as well be one, without ties, it is ln 2 = 0.693. Raises ValueError if no match is
    left to be judged.
    """
    if after >= len(results):
        raise ValueError(f"{len(results)} matches, of which the first {after} are not to be judged: none is left")
    return _loss(list(_predictions(results, settings, after)), _margin(settings))


def fit(
    results: Sequence[RankedMatch],
    start: TrueSkill | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TrueSkill:
    """Find the settings with the least `log_loss`: beta to 4 %, the likeliest tau of five, draws as often as they were.

    start: what is not fitted comes from it, mu, sigma and widening; the library's values if it is missing. About 70
    times all matches are rated. With less than some thousand pairs of players, chance has a large part in it.
    progress: called with how many of how many settings were tried.
    Raises ValueError if there are no results.
    """
    if not results:
        raise ValueError("nothing to fit to: no results")
    found = start or TrueSkill(draw_probability=0.1)

    low, high = (math.log(share * found.sigma) for share in BETAS)
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

    # Luck and change explain the same surprises, so each tau is judged with the beta that suits it. Chance alone would
    # choose some tau, so a larger one has to be likelier by a nat, as any further number (Akaike 1974), where of all
    # the pairs of a match of n only n - 1 say something of their own.
    _, found = best_beta(replace(found, tau=TAUS[0] * found.sigma), low, high, ROUGHLY)
    found = _fit_draw_margin(results, found)
    trials = [best_beta(replace(found, tau=share * found.sigma), low, high, ROUGHLY) for share in TAUS]
    enough = min(loss for loss, _ in trials) + 1 / sum(len(one.places) - 1 for one in results)
    found = _fit_draw_margin(results, next(settings for loss, settings in trials if loss <= enough))
    near = math.log(found.beta)
    _, found = best_beta(found, near - ROUGHLY, near + ROUGHLY, CLOSELY)
    return _fit_draw_margin(results, found)


def _predictions(results: Sequence[RankedMatch], settings: TrueSkill, after: int = 0) -> Iterator[_Pair]:
    """Each two players of each match, before it is rated."""
    skills: dict[Hashable, Skill] = {}
    luck = 2 * (settings.beta**2 + settings.tau**2)
    for number, (players, places) in enumerate(results):
        before = [skills.get(player, settings.newcomer) for player in players]
        if number >= after:
            for (one, place), (other, other_place) in combinations(zip(before, places, strict=True), 2):
                ahead = one.mu - other.mu if place <= other_place else other.mu - one.mu
                yield _Pair(ahead, math.sqrt(luck + one.sigma**2 + other.sigma**2), place == other_place)
        skills.update(zip(players, rate(places, before, settings), strict=True))


def _loss(pairs: Sequence[_Pair], margin: float) -> float:
    total = 0.0
    for pair in pairs:
        likely = _tied(pair, margin) if pair.is_tied else _below((pair.ahead - margin) / pair.spread)
        total -= math.log(max(likely, LEAST))
    return total / len(pairs)


def _fit_draw_margin(results: Sequence[RankedMatch], settings: TrueSkill) -> TrueSkill:
    """Fit the draw margin that predicts as many ties as there were, plus half a tie."""
    pairs = list(_predictions(results, settings))
    wanted = sum(pair.is_tied for pair in pairs) + 0.5
    low, high = 0.0, 1e-3 * settings.beta
    while high < 1e3 * settings.beta and sum(_tied(pair, high) for pair in pairs) < wanted:
        low, high = high, 2 * high
    for _ in range(20):
        middle = (low + high) / 2
        if sum(_tied(pair, middle) for pair in pairs) < wanted:
            low = middle
        else:
            high = middle
    share = 2 * _below(high / (math.sqrt(2) * settings.beta)) - 1
    return replace(settings, draw_probability=min(max(share, 1e-6), 1 - 1e-6))


def _margin(settings: TrueSkill) -> float:
    """How far apart two performances of a free-for-all are at most if they tie."""
    return _NORMAL.inv_cdf((1 + settings.draw_probability) / 2) * math.sqrt(2) * settings.beta


def _tied(pair: _Pair, margin: float) -> float:
    return _below((margin - pair.ahead) / pair.spread) - _below((-margin - pair.ahead) / pair.spread)


def _below(deviations: float) -> float:
    """Compute the standard normal distribution function."""
    return math.erfc(-deviations / math.sqrt(2)) / 2


def _tries(width: float, within: float) -> int:
    """Return how often `_lowest` evaluates its function between limits that are so far apart."""
    return 2 + max(0, math.ceil(math.log(within / width) / math.log(_GOLDEN)))


def _lowest(of: Callable[[float], float], low: float, high: float, within: float) -> tuple[float, float]:
    """Where a function with one valley is lowest, by golden section, and how low."""
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
