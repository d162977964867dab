"""How much a board of several matches saves: ratios of variances, with intervals.  Functions of results, without play.

What a bot of this strength gets in this seat beside these opponents on average is its strength, and is taken off; what
is left is luck, the cards' and that of the play. Seats are even, as a ladder has them, so what a seat is worth is off
too. Matches are counted alike: a ratio of 2 means that half as many matches of such boards tell as much of a bot.
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

RESAMPLED: Final = 1_000  # times
WITHIN: Final = 0.05  # how near figures are wanted, in shares of them


class Estimate(NamedTuple):
    """A figure with its 95 % interval; with so many matches that would be -+ 5 %, or -+ 0.05 of what is below 1."""

    value: float
    low: float
    high: float
    matches: int


class Luck(NamedTuple):
    """What one board, or some, say of luck, as sums over its results; see `luck_of`."""

    plain: float
    rotation: float
    duplicate: float
    same_seat: float


@dataclass(frozen=True)
class Savings:
    """What was found of a game.

    cards: the share of a result's variance that two in the same seat of the same deal have in common. rotation and
    duplicate: the variance of a bot's mean over plain matches by that over as many matches of such boards. by_strength:
    rotation, of the bots of each strength. mean: points of each. sd: of a result, luck alone.
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
    """All of it.  Raises ValueError for less than two boards of each company."""
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
    """What a bot gets on average: by its company, its strength and its seat."""
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
    """Squares, as means over the board's bots, or of the one of this strength alone.

    plain: of the luck in a match. rotation: of the mean luck of a bot over the board, times its matches. duplicate: of
    the luck of a bot less the mean of those who held its seat. same_seat: the luck of two in the same seat, multiplied.
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
    """A figure of all boards, and its interval by boards drawn again with chance (percentiles)."""
    drawn = sorted(of(_sum(chance.choices(every, k=len(every)))) for _ in range(RESAMPLED))
    low, high = drawn[round(0.025 * RESAMPLED)], drawn[round(0.975 * RESAMPLED) - 1]
    value = of(_sum(every))
    wanted = WITHIN * max(1.0, value)
    return Estimate(value, low, high, math.ceil(matches * ((high - low) / 2 / wanted) ** 2))


def _sum(some: Sequence[Luck]) -> Luck:
    return Luck(*map(sum, zip(*some, strict=True)))
