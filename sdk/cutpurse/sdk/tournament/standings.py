"""The table of a tournament: points, how sure they are, and the places that follow.

Points of a board are the mean of a bot's place points over its matches, from 0 for last to 1 for first. Intervals are
a bootstrap over boards (Efron, 1979, percentiles): boards are drawn with replacement, as many as were played, and the
table is made of each draw; so bots that met on one board vary together. A draw may hold no board of a bot: it says
nothing of that bot, which stands in it by all its boards, and is no part of its interval. The draws follow from a
seed: the same boards give the same table. This module knows no file and no game.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from cutpurse.sdk.tournament.results import PlayedBoard

__all__ = ["BYE_POINTS", "Against", "Row", "head_to_head", "table_of", "totals"]

BYE_POINTS: Final = 0.5  # of a round that a bot rests, for each board of the others: the mean of every table
DRAWS: Final = 1_000
_LEAST_DRAWS: Final = 200
_MOST_WORK: Final = 4_000_000  # points that are added up for all draws
_TAIL: Final = 0.025
_LEAST_BOARDS: Final = 2  # of a bot, for an interval


@dataclass(frozen=True, slots=True)
class Row:
    """How a bot stands.

    rank: 1 is the best, equals share. points: the mean of a board. low, high: they lie between these with a
    probability of 95 %, best and worst the same of the rank; None with too few boards. wins: matches with a first
    place, shared ones too. taken_over: matches in which its seat was taken over, and so came last.
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


@dataclass(frozen=True, slots=True)
class Against:
    """How two bots did against each other, in matches of both."""

    bot: int
    other: int
    matches: int
    ahead: int
    level: int


def totals(played: Sequence[PlayedBoard]) -> defaultdict[int, float]:
    """The points of each bot, added up."""
    total: defaultdict[int, float] = defaultdict(float)
    for board in played:
        for bot, points in board.points().items():
            total[bot] += points
    return defaultdict(float, {bot: round(points, 9) for bot, points in total.items()})  # so that thirds add up to 1


def table_of(
    stages: Sequence[tuple[Sequence[int], Sequence[PlayedBoard]]], byes: Mapping[int, int], seed: str, deals: int = 1
) -> list[Row]:
    """The table, the best first: bots of an earlier stage of `stages` rank before those of a later one.

    byes: how many rounds each bot rested. deals: the boards of each, for which it has the mean of a table.
    """
    rows: list[Row] = []
    for bots, boards in stages:
        rows += _stage(bots, boards, byes, deals, f"{seed}/{len(rows)}", len(rows))
    return rows


def head_to_head(played: Sequence[PlayedBoard]) -> list[Against]:
    """Each two that met, the lower number first."""
    matches: Counter[tuple[int, int]] = Counter()
    ahead: Counter[tuple[int, int]] = Counter()
    level: Counter[tuple[int, int]] = Counter()
    for board in played:
        for match in board.matches:
            places = dict(zip(match.bots, match.places, strict=True))
            for one, other in combinations(sorted(places), 2):
                matches[one, other] += 1
                ahead[one, other] += places[one] < places[other]
                level[one, other] += places[one] == places[other]
    return [Against(*pair, matches[pair], ahead[pair], level[pair]) for pair in sorted(matches)]


def _stage(
    bots: Sequence[int], boards: Sequence[PlayedBoard], byes: Mapping[int, int], deals: int, seed: str, before: int
) -> list[Row]:
    points = [board.points() for board in boards]
    rested = {bot: rounds * deals for bot, rounds in byes.items()}
    unplayed = {bot: BYE_POINTS if rested.get(bot) else 0.0 for bot in bots}
    means = unplayed | _means(bots, points, rested)
    played = Counter(bot for board in points for bot in board)
    spread = _drawn(bots, points, rested, seed)
    ranks = [_ranks(means | draw) for draw in spread]
    place = _ranks(means)
    rows = []
    for bot in sorted(bots, key=lambda bot: (place[bot], bot)):
        matches = [(match, match.bots.index(bot)) for board in boards for match in board.matches if bot in match.bots]
        held = [at for at, draw in enumerate(spread) if bot in draw] if played[bot] >= _LEAST_BOARDS else []
        interval = _interval([spread[at][bot] for at in held]) if held else None
        between = _interval([ranks[at][bot] for at in held]) if held else None
        rows.append(
            Row(
                bot,
                before + place[bot],
                means[bot],
                None if interval is None else interval[0],
                None if interval is None else interval[1],
                None if between is None else before + int(between[0]),
                None if between is None else before + int(between[1]),
                played[bot],
                byes.get(bot, 0),
                len(matches),
                sum(match.places[seat] == 1 for match, seat in matches),
                sum(match.scores[seat] for match, seat in matches) / len(matches) if matches else 0.0,
                sum(board.faults.get(bot, 0) for board in boards),
                sum(match.is_taken_over(seat) for match, seat in matches),
            )
        )
    return rows


def _means(bots: Sequence[int], points: Sequence[Mapping[int, float]], rested: Mapping[int, int]) -> dict[int, float]:
    """The mean of a board, of all that have one; those that were rested count with the mean of a table."""
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
    """The means of each draw, without the bots that are on none of its boards."""
    if not points:
        return []
    chance = random.Random(f"cutpurse/tournament/{seed}")
    work = sum(map(len, points))
    draws = max(_LEAST_DRAWS, min(DRAWS, _MOST_WORK // work))
    return [_means(bots, chance.choices(points, k=len(points)), rested) for _ in range(draws)]


def _interval(values: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(values)
    cut = int(_TAIL * len(ordered))
    return ordered[cut], ordered[len(ordered) - 1 - cut]
