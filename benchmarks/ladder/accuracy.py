"""Measures of how accurate and how fair a ladder is, as functions of true and shown values."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import fmean

from cutpurse.leaderboard.estimates.estimated import Estimated
from cutpurse.leaderboard.placing import is_placed
from cutpurse.leaderboard.ratings import Skill

__all__ = ["WIDE", "covered", "kendall", "reached", "shown_order", "top_found"]

WIDE = 1.96  # standard deviations on each side that hold 95 % of a normal distribution
_BELOW = 1e9  # points between the groups of a ranking
IN_A_ROW = 3  # consecutive looks with the right order, so that it is not right by chance


def kendall(true: Sequence[float], believed: Sequence[float]) -> float:
    """Compute Kendall's tau: pairs in the same order minus pairs in the opposite order, divided by all pairs.

    A pair that is equal in either list counts as neither. Raises ValueError for less than two or for unequal lengths.
    """
    if len(true) != len(believed) or len(true) < 2:
        raise ValueError(f"{len(true)} and {len(believed)} numbers; expected as many of both, two at least")
    right = wrong = 0
    lower: list[float] = []  # believed values of all bots whose true value is lower
    for _, equals in groupby(sorted(zip(true, believed, strict=True)), key=lambda one: one[0]):
        group = [believed_of for _, believed_of in equals]
        for value in group:
            right += bisect_left(lower, value)
            wrong += len(lower) - bisect_right(lower, value)
        for value in group:
            insort(lower, value)
    return (right - wrong) / (len(true) * (len(true) - 1) / 2)


def shown_order(
    bots: Sequence[int], found: Mapping[int, Estimated], boards: Mapping[int, int], beta: float
) -> list[float]:
    """Return the value by which a ladder sorts each bot, the highest first, as `queries.rankings` does.

    Args:
        bots: Bots to list.
        found: Estimates; a bot without one is last.
        boards: Rated boards of each bot.
        beta: Beta of the ladder.
    """
    order = []
    for bot in bots:
        one = found.get(bot)
        if one is None:
            order.append(-2 * _BELOW)
        else:
            order.append(one.mu if is_placed(one.low, one.high, beta, boards[bot]) else one.mu - _BELOW)
    return order


def covered(true: Sequence[float], believed: Sequence[Skill]) -> float:
    """Return the share of bots whose true skill lies within mu +- 1.96 sigma; it should be 0.95.

    True skills are mapped to the scale of ratings by linear regression, because unit and zero of ratings are arbitrary.
    """
    mean_true, mean_mu = fmean(true), fmean(skill.mu for skill in believed)
    variance = sum((one - mean_true) ** 2 for one in true)
    slope = sum((one - mean_true) * skill.mu for one, skill in zip(true, believed, strict=True)) / variance
    return fmean(
        abs(skill.mu - mean_mu - slope * (one - mean_true)) <= WIDE * skill.sigma
        for one, skill in zip(true, believed, strict=True)
    )


def top_found(true: Sequence[float], believed: Sequence[float], count: int) -> float:
    """Return the share of the `count` best bots that are among the `count` highest believed values."""

    def best(of: Sequence[float]) -> set[int]:
        return set(sorted(range(len(of)), key=lambda at: -of[at])[:count])

    return len(best(true) & best(believed)) / count


def reached(games: Sequence[float], values: Sequence[float], mark: float) -> float | None:
    """Return the games after which the values reach the mark for three looks in a row; None if they never do."""
    for at in range(len(values) - IN_A_ROW + 1):
        if all(value >= mark for value in values[at : at + IN_A_ROW]):
            return games[at]
    return None
