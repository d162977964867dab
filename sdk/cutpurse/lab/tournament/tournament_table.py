"""The table of a tournament: points, intervals, and ranks.

A bot's points on a board are the mean of its place points over the matches, from 0 for last to 1 for first. Intervals
are a bootstrap over boards (Efron, 1979). Boards are drawn with replacement, as many as were played, and the table is
computed for each draw. So bots that met on a board vary together. A draw without a board of some bot says nothing about
that bot. The draws follow from a seed: the same boards give the same table.

All 95 % statements hold for the whole table at once, since readers compare every two bots (Hall and Miller, 2009;
Mogstad and others, 2024). An interval reaches as many standard errors to either side as all bots need at once in 95 %
of the draws. A bot is certainly ahead of another if their difference exceeds a number of standard errors. In 95 % of
the draws, the differences of all pairs stay within that number at once. The range of ranks follows from that. If all
bots are equal, at most 5 tables in 100 call any bot certainly ahead.

Points without the luck of the cards have intervals by the same bootstrap, and decide no rank. This module knows no
file and no game.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final

from cutpurse.lab.tournament.tournament_results import PlayedBoard

__all__ = ["BYE_POINTS", "AdjustedPoints", "Against", "TournamentStanding", "head_to_head", "table_of", "totals"]

BYE_POINTS: Final = 0.5  # for a rested round, per board of the others: the mean of every table
DRAWS: Final = 1_000
_LEAST_DRAWS: Final = 200
_MOST_WORK: Final = 4_000_000  # additions of points and comparisons of pairs, over all draws
_SURE: Final = 0.95
_LEAST_BOARDS: Final = 6  # per bot for an interval: one of two equal bots wins five in a row in 6 of 100 tries


@dataclass(frozen=True, slots=True)
class AdjustedPoints:
    """Mean points per board without the luck of the cards, with their interval, None with too few boards."""

    points: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class TournamentStanding:
    """A row of the table.

    Attributes:
        rank: 1 is the best; equal bots share a rank.
        points: Mean points per board.
        low: Lower end of the interval of the points, None with too few boards.
        high: Upper end of that interval.
        best: Best rank in the range of ranks, None with too few boards.
        worst: Worst rank in that range.
        wins: Matches with a first place, shared ones included.
        taken_over: Matches in which its seat was taken over, so that it came last.
        adjusted: Points without the luck of the cards; None if it was not found on all boards of the bot's stage.
    """

    bot: int
    rank: int
    points: float
    low: float | None
    high: float | None
    best: int | None
    worst: int | None
    boards: int
    byes: int
    matches: int
    wins: int
    mean_score: float
    faults: int
    taken_over: int
    adjusted: AdjustedPoints | None = None


@dataclass(frozen=True, slots=True)
class Against:
    """The results of two bots against each other, in matches of both."""

    bot: int
    other: int
    matches: int
    ahead: int
    level: int


def totals(played: Sequence[PlayedBoard]) -> defaultdict[int, float]:
    """Return the total points of each bot."""
    total: defaultdict[int, float] = defaultdict(float)
    for board in played:
        for bot, points in board.points().items():
            total[bot] += points
    return defaultdict(float, {bot: round(points, 9) for bot, points in total.items()})  # so that thirds add up to 1


def table_of(
    stages: Sequence[tuple[Sequence[int], Sequence[PlayedBoard]]], byes: Mapping[int, int], seed: str, deals: int = 1
) -> list[TournamentStanding]:
    """Return the table, the best first.

    Args:
        stages: Groups of bots, each with its boards; bots of an earlier group rank before those of a later one.
        byes: Rounds that each bot rested.
        seed: Seed of the bootstrap.
        deals: Boards per rested round, each worth the mean of a table.
    """
    rows: list[TournamentStanding] = []
    for bots, boards in stages:
        rows += _stage(bots, boards, byes, deals, f"{seed}/{len(rows)}", len(rows))
    return rows


def head_to_head(played: Sequence[PlayedBoard]) -> list[Against]:
    """Return the results of each pair that met, the lower number first."""
    matches: Counter[tuple[int, int]] = Counter()
    ahead: Counter[tuple[int, int]] = Counter()
    level: Counter[tuple[int, int]] = Counter()
    for board in played:
        for match in board.matches:
            places = dict(zip(match.bots, match.places, strict=True))
            for bot, other in combinations(sorted(places), 2):
                matches[bot, other] += 1
                ahead[bot, other] += places[bot] < places[other]
                level[bot, other] += places[bot] == places[other]
    return [Against(*pair, matches[pair], ahead[pair], level[pair]) for pair in sorted(matches)]


def _stage(
    bots: Sequence[int], boards: Sequence[PlayedBoard], byes: Mapping[int, int], deals: int, seed: str, before: int
) -> list[TournamentStanding]:
    points = [board.points() for board in boards]
    rested = {bot: rounds * deals for bot, rounds in byes.items()}
    unplayed = {bot: BYE_POINTS if rested.get(bot) else 0.0 for bot in bots}
    means = unplayed | _means(bots, points, rested)
    played = Counter(bot for board in points for bot in board)
    draws = _drawn(bots, points, rested, seed)
    place = _ranks(means)
    compared = [bot for bot in bots if played[bot] >= _LEAST_BOARDS]
    intervals = _intervals(compared, means, draws, played)
    ranges = _rank_ranges(compared, means, draws, played, unsure=len(bots) - len(compared))
    adjusted = _adjusted(bots, boards, rested, seed)
    rows = []
    for bot in sorted(bots, key=lambda bot: (place[bot], bot)):
        matches = [(match, match.bots.index(bot)) for board in boards for match in board.matches if bot in match.bots]
        interval, between = intervals.get(bot), ranges.get(bot)
        rows.append(
            TournamentStanding(
                bot,
                before + place[bot],
                means[bot],
                None if interval is None else interval[0],
                None if interval is None else interval[1],
                None if between is None else before + between[0],
                None if between is None else before + between[1],
                played[bot],
                byes.get(bot, 0),
                len(matches),
                sum(match.places[seat] == 1 for match, seat in matches),
                sum(match.scores[seat] for match, seat in matches) / len(matches) if matches else 0.0,
                sum(board.faults.get(bot, 0) for board in boards),
                sum(match.is_taken_over(seat) for match, seat in matches),
                adjusted.get(bot),
            )
        )
    return rows


def _adjusted(
    bots: Sequence[int], boards: Sequence[PlayedBoard], rested: Mapping[int, int], seed: str
) -> dict[int, AdjustedPoints]:
    """Return the points of each bot with boards without the luck of the cards; none if a board does not tell it."""
    points = [board.adjusted_points() for board in boards]
    if not all(points):
        return {}
    means = _means(bots, points, rested)
    played = Counter(bot for board in points for bot in board)
    compared = [bot for bot in means if played[bot] >= _LEAST_BOARDS]
    reaches = _reaches(compared, means, _drawn(bots, points, rested, seed), played)
    return {
        bot: AdjustedPoints(mean, mean - reaches[bot], mean + reaches[bot])
        if bot in reaches
        else AdjustedPoints(mean, None, None)
        for bot, mean in means.items()
    }


def _means(bots: Sequence[int], points: Sequence[Mapping[int, float]], rested: Mapping[int, int]) -> dict[int, float]:
    """Return the mean points per board of each bot with boards; rested boards count with the mean of a table."""
    won = dict.fromkeys(bots, 0.0)
    boards = dict.fromkeys(bots, 0)
    for board in points:
        for bot, gained in board.items():
            if bot in won:
                won[bot] += gained
                boards[bot] += 1
    return {
        bot: round((won[bot] + BYE_POINTS * rested.get(bot, 0)) / (boards[bot] + rested.get(bot, 0)), 9)
        for bot in bots
        if boards[bot]
    }


def _ranks(means: Mapping[int, float]) -> dict[int, int]:
    ordered = sorted(means.values(), reverse=True)
    first: dict[float, int] = {}
    for at, mean in enumerate(ordered, 1):
        first.setdefault(mean, at)
    return {bot: first[mean] for bot, mean in means.items()}


def _drawn(
    bots: Sequence[int], points: Sequence[Mapping[int, float]], rested: Mapping[int, int], seed: str
) -> list[dict[int, float]]:
    """Return the means of each draw, without bots that have no board in it."""
    if not points:
        return []
    chance = random.Random(f"cutpurse/tournament/{seed}")
    work = max(sum(map(len, points)), comb(len(bots), 2))
    draws = max(_LEAST_DRAWS, min(DRAWS, _MOST_WORK // work))
    return [_means(bots, chance.choices(points, k=len(points)), rested) for _ in range(draws)]


def _intervals(
    bots: Sequence[int], means: Mapping[int, float], draws: Sequence[Mapping[int, float]], played: Mapping[int, int]
) -> dict[int, tuple[float, float]]:
    """Return the interval of each bot, within 0 and 1; all intervals hold at once."""
    reaches = _reaches(bots, means, draws, played)
    return {bot: (max(0.0, means[bot] - reach), min(1.0, means[bot] + reach)) for bot, reach in reaches.items()}


def _reaches(
    bots: Sequence[int], means: Mapping[int, float], draws: Sequence[Mapping[int, float]], played: Mapping[int, int]
) -> dict[int, float]:
    """Return how far the interval of each bot reaches to either side of its mean."""
    values = {bot: [draw[bot] for draw in draws if bot in draw] for bot in bots}
    errors = {bot: _standard_error(values[bot], means[bot]) for bot in bots if values[bot]}
    largest = []
    for draw in draws:
        off = [abs(draw[bot] - means[bot]) / error for bot, error in errors.items() if error and bot in draw]
        largest.append(max(off, default=0.0))
    reach = _within(largest)
    return {bot: error * _for_boards(reach, played[bot]) for bot, error in errors.items()}


def _rank_ranges(
    bots: Sequence[int],
    means: Mapping[int, float],
    draws: Sequence[Mapping[int, float]],
    played: Mapping[int, int],
    unsure: int,
) -> dict[int, tuple[int, int]]:
    """Return the best and the worst rank of each bot; all ranges hold at once.

    Args:
        bots: Bots with enough boards.
        means: Mean points.
        draws: Mean points in each draw.
        played: Boards of each bot.
        unsure: Number of further bots, whose ranks are unknown.
    """
    errors: dict[tuple[int, int], float] = {}
    largest = [0.0] * len(draws)
    for bot, other in combinations(bots, 2):
        difference = means[bot] - means[other]
        drawn = {at: draw[bot] - draw[other] for at, draw in enumerate(draws) if bot in draw and other in draw}
        errors[bot, other] = error = _standard_error(list(drawn.values()), difference)
        if error:
            for at, value in drawn.items():
                largest[at] = max(largest[at], abs(value - difference) / error)
    reach = _within(largest)
    ahead = dict.fromkeys(bots, 0)  # number of bots that are certainly ahead of this one
    behind = dict.fromkeys(bots, 0)  # number of bots certainly behind, or level
    for (bot, other), error in errors.items():
        difference = means[bot] - means[other]
        needed = error * _for_boards(reach, min(played[bot], played[other]))
        if difference > needed:
            ahead[other] += 1
            behind[bot] += 1
        elif -difference > needed:
            ahead[bot] += 1
            behind[other] += 1
        elif not error:
            behind[bot] += 1
            behind[other] += 1
    return {bot: (1 + ahead[bot], len(bots) + unsure - behind[bot]) for bot in bots}


def _standard_error(values: Sequence[float], mean: float) -> float:
    """Return the root mean square distance from `mean`; 0 if nothing varied at all."""
    if not values:
        return 0.0
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))


def _for_boards(reach: float, boards: int) -> float:
    """Widen a reach in standard errors that were estimated from few boards, as Student's t does.

    The second factor is the ratio of the quantiles of t and of the normal distribution (Abramowitz and Stegun, 26.7.5).
    """
    free = boards - 1
    square = reach * reach
    ratio = 1 + (square + 1) / (4 * free) + (5 * square * square + 16 * square + 3) / (96 * free * free)
    return reach * math.sqrt(boards / free) * ratio


def _within(largest: Sequence[float]) -> float:
    """Return what at least 95 % of these do not exceed."""
    return sorted(largest)[math.ceil(_SURE * len(largest)) - 1] if largest else 0.0
