"""The savings by boards of several matches: ratios of variances with intervals, as functions of results.

The mean result of a strength, in a seat, with certain opponents, is subtracted; the rest is luck, of cards and of play.
The value of a seat is subtracted too, because a ladder assigns seats evenly. Matches count equally: a ratio of 2 means
that half as many matches on such boards say as much about a bot.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import Final, NamedTuple

from benchmarks.boards.play import Board

__all__ = ["Estimate", "Luck", "Savings", "estimate", "luck_of", "savings"]

RESAMPLED: Final = 1_000  # number of bootstrap samples
WITHIN: Final = 0.05  # desired relative precision of figures


class Estimate(NamedTuple):
    """A figure with its 95 % interval, and the number of matches for an interval of +-5 %, or +-0.05 below 1."""

    value: float
    low: float
    high: float
    matches: int


class Luck(NamedTuple):
    """The luck in the results of one or more boards, as sums; see `luck_of`."""

    plain: float
    rotation: float
    duplicate: float
    same_seat: float


@dataclass(frozen=True)
class Savings:
    """The savings of a game.

    Attributes:
        boards: Number of boards.
        matches: Number of matches.
        cards: Share of a result's variance that two bots in the same seat of the same deal have in common.
        rotation: Variance of a bot's mean over plain matches, divided by that over as many matches of rotation boards.
        duplicate: The same ratio for duplicate boards.
        by_strength: `rotation` of the bots of each strength.
        mean: Mean points of each strength.
        sd: Standard deviation of the luck in a result.
    """

    boards: int
    matches: int
    cards: Estimate
    rotation: Estimate
    duplicate: Estimate
    by_strength: dict[float, Estimate]
    mean: dict[float, float]
    sd: float


def savings(played: Sequence[Board], seed: str) -> Savings:
    """Compute the savings of a game.  Raises ValueError for fewer than two boards of each group of bots."""
    chance = Random(f"{seed}/resampled")
    means = _means(played)
    every = [luck_of(board, means) for board in played]
    matches = len(played) * len(played[0].seats)
    strengths = sorted({bot for board in played for bot in board.bots})
    return Savings(
        len(played),
        matches,
        estimate(every, _cards, matches, chance),
        estimate(every, _rotation, matches, chance),
        estimate(every, _duplicate, matches, chance),
        {
            one: estimate(
                [luck_of(board, means, one) for board in played if one in board.bots], _rotation, matches, chance
            )
            for one in strengths
        },
        {
            one: fmean(
                points[board.bots.index(one)] for board in played if one in board.bots for points in board.points
            )
            for one in strengths
        },
        math.sqrt(fmean([one.plain for one in every])),
    )


_Stratum = tuple[tuple[float, ...], float, int]


def _means(played: Sequence[Board]) -> dict[_Stratum, float]:
    """Return the mean points by opponents, strength and seat."""
    found: dict[_Stratum, list[float]] = defaultdict(list)
    for board in played:
        for stratum, points in _results(board):
            found[stratum].append(points)
    if any(len(points) < 2 for points in found.values()):
        raise ValueError(f"{len(played)} boards are too few: each company has to meet twice at least")
    return {stratum: fmean(points) for stratum, points in found.items()}


def _results(board: Board) -> list[tuple[_Stratum, float]]:
    company = tuple(sorted(board.bots))
    return [
        ((company, bot, seat), points)
        for seats, all_points in zip(board.seats, board.points, strict=True)
        for bot, seat, points in zip(board.bots, seats, all_points, strict=True)
    ]


def luck_of(board: Board, means: dict[_Stratum, float], strength: float | None = None) -> Luck:
    """Compute squares of luck, as means over the board's bots, or for the bot of one strength.

    `plain` is that of a match. `rotation` is that of a bot's mean over the board, times its matches. `duplicate` is
    that of a bot relative to the mean of its seat. `same_seat` is the product for two bots in the same seat.
    """
    size = len(board.bots)
    left = [points - means[stratum] for stratum, points in _results(board)]
    by_bot = [left[bot::size] for bot in range(size)]  # by match
    at_seat: dict[int, list[float]] = defaultdict(list)
    for seats, match in zip(board.seats, range(size), strict=True):
        for bot, seat in enumerate(seats):
            at_seat[seat].append(left[match * size + bot])
    told = [bot for bot in range(size) if strength in (None, board.bots[bot])]
    compared, together = [], []
    for match, seats in enumerate(board.seats):
        for bot in told:
            own = left[match * size + bot]
            others = (sum(at_seat[seats[bot]]) - own) / (size - 1)
            compared.append((own - others) ** 2)
            together.append(own * others)
    return Luck(
        fmean(one**2 for bot in told for one in by_bot[bot]),
        fmean(size * fmean(by_bot[bot]) ** 2 for bot in told),
        fmean(compared),
        fmean(together),
    )


def _cards(total: Luck) -> float:
    return total.same_seat / total.plain


def _rotation(total: Luck) -> float:
    return total.plain / total.rotation


def _duplicate(total: Luck) -> float:
    return total.plain / total.duplicate


def estimate(every: Sequence[Luck], of: Callable[[Luck], float], matches: int, chance: Random) -> Estimate:
    """Compute a figure of all boards, and its interval by the percentile bootstrap over boards."""
    drawn = sorted(of(_sum(chance.choices(every, k=len(every)))) for _ in range(RESAMPLED))
    low, high = drawn[round(0.025 * RESAMPLED)], drawn[round(0.975 * RESAMPLED) - 1]
    value = of(_sum(every))
    wanted = WITHIN * max(1.0, value)
    return Estimate(value, low, high, math.ceil(matches * ((high - low) / 2 / wanted) ** 2))


def _sum(some: Sequence[Luck]) -> Luck:
    return Luck(*map(sum, zip(*some, strict=True)))
