"""How right a ladder is, and how fair: functions of what is true and what is shown, without play or chance."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import fmean

from cutpurse.leaderboard.estimates.skill_fit import Estimated
from cutpurse.leaderboard.placing import is_placed
from cutpurse.leaderboard.ratings import Skill

__all__ = ["WIDE", "covered", "kendall", "reached", "shown_order", "top_found"]

WIDE = 1.96  # sigmas: 95 % of a normal distribution
_BELOW = 1e9  # points between the groups of a ranking
IN_A_ROW = 3  # looks at which the order must be right, so that it is not right by chance


def kendall(true: Sequence[float], believed: Sequence[float]) -> float:
    """Kendall's tau of two orders: pairs in the right order less pairs in the wrong one, of all pairs; 1 is the same.

    A pair that is equal in either is neither. Raises ValueError for less than two or for unequal lengths.
    """
    if len(true) != len(believed) or len(true) < 2:
        raise ValueError(f"{len(true)} and {len(believed)} numbers; expected as many of both, two at least")
    right = wrong = 0
    lower: list[float] = []  # what is believed of all those who truly are less
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
    """Return by what a ladder lists each bot, the highest first, as `cutpurse.leaderboard.queries.rankings` does.

    Args:
        bots: Bots that are listed.
        found: Estimates; a bot that is in none stands last.
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
    """The share of the bots whose true skill lies within mu -+ 1.96 sigma; it should be 0.95.

    True skill comes to the scale of ratings by the straight line that fits best: a rating's unit and zero mean nothing.
    """
    mean_true, mean_mu = fmean(true), fmean(skill.mu for skill in believed)
    variance = sum((one - mean_true) ** 2 for one in true)
    slope = sum((one - mean_true) * skill.mu for one, skill in zip(true, believed, strict=True)) / variance
    return fmean(
        abs(skill.mu - mean_mu - slope * (one - mean_true)) <= WIDE * skill.sigma
        for one, skill in zip(true, believed, strict=True)
    )


def top_found(true: Sequence[float], believed: Sequence[float], count: int) -> float:
    """The share of the `count` best that are believed to be among them."""

    def best(of: Sequence[float]) -> set[int]:
        return set(sorted(range(len(of)), key=lambda at: -of[at])[:count])

    return len(best(true) & best(believed)) / count


def reached(games: Sequence[float], values: Sequence[float], mark: float) -> float | None:
    """After how many games values are at the mark, and still are at the next two looks; None if they never are."""
    for at in range(len(values) - IN_A_ROW + 1):
        if all(value >= mark for value in values[at : at + IN_A_ROW]):
            return games[at]
    return None
