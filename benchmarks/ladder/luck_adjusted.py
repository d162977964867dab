"""The command `python -m benchmarks.ladder.luck_adjusted`: whether a ladder is right sooner without the luck of cards.

Simulated bots of known strength meet at random. Each match has places and the luck of its cards, as an ideal value
function finds it that knows all cards and no bot. Three orders are compared with the truth: that of the ladder's
estimates, which know the places; a least-squares fit to the place points; and the same fit to the points without luck.
The fit sets a bot's points apart from one half by its strength minus the mean strength of its opponents.

The share of the luck that lies in the cards is given by the ratio of the variances of a seat's points, with and without
the luck: see `benchmarks.luck` for those of the games. The figure is the number of games per bot until Kendall's tau is
0.85, by the mean over the runs.
"""

from __future__ import annotations

import math
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import NormalDist, fmean, pvariance
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmarks.ladder.__main__ import LIBRARY, number
from benchmarks.ladder.accuracy import kendall
from benchmarks.ladder.synthetic_bots import Nature, World
from benchmarks.machine import machine, machine_line
from benchmarks.report import table
from cutpurse.experiments.compare import place_points
from cutpurse.leaderboard.estimates.skill_fit import estimate

__all__ = ["LinearFit", "Season", "games_until", "luck_of_deal", "main"]

SHARES: Final = (0.2, 0.5, 0.7)  # of the luck's variance in the cards
MARK: Final = 0.85
_NORMAL: Final = NormalDist()


def luck_of_deal(deal: Sequence[float], play_sd: float) -> list[float]:
    """Return the place points that cards give each seat above expectation, among equal bots."""
    lucks = []
    for seat, cards in enumerate(deal):
        ahead = [_NORMAL.cdf((cards - other) / (math.sqrt(2) * play_sd)) for at, other in enumerate(deal) if at != seat]
        lucks.append(fmean(ahead) - 0.5)
    return lucks


class LinearFit:
    """Strengths fitted to points by least squares, from sums over matches."""

    def __init__(self, bots: int) -> None:
        self._equations: npt.NDArray[np.float64] = np.eye(bots) * 1e-6  # one strength is free: hold the mean at 0
        self._right: npt.NDArray[np.float64] = np.zeros(bots)

    def add(self, bots: Sequence[int], points: Sequence[float]) -> None:
        """Add a match: the bots, and their points."""
        row = np.full((len(bots), len(bots)), -1 / (len(bots) - 1))
        np.fill_diagonal(row, 1.0)
        at = np.array(bots)
        self._equations[np.ix_(at, at)] += row.T @ row
        self._right[at] += row.T @ (np.array(points) - 0.5)

    def strengths(self) -> list[float]:
        """Return the strength of each bot."""
        found: list[float] = np.linalg.solve(self._equations, self._right).tolist()
        return found


@dataclass(slots=True)
class Season:
    """The tau of three orders after each look of a season, and the variances of points with and without luck."""

    estimated: list[float]
    raw: list[float]
    adjusted: list[float]
    variance: float
    adjusted_variance: float


def season(nature: Nature, looks: Sequence[int], seed: str) -> Season:
    """Play a season with random tables, and look after these numbers of games per bot."""
    world, tables = World(nature, seed), Random(f"{seed}/tables")
    play_sd = nature.luck * math.sqrt(1 - nature.cards)
    raw, adjusted = LinearFit(nature.bots), LinearFit(nature.bots)
    results: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    first: list[float] = []
    without: list[float] = []
    found = Season([], [], [], 0.0, 0.0)
    for games in looks:
        while len(results) * nature.seats < games * nature.bots:
            bots = tuple(tables.sample(range(nature.bots), nature.seats))
            deal = world.deal()
            places = world.play(bots, deal)
            points = place_points(places)
            less = [point - luck for point, luck in zip(points, luck_of_deal(deal, play_sd), strict=True)]
            raw.add(bots, points)
            adjusted.add(bots, less)
            results.append((bots, tuple(places)))
            first.append(points[0])
            without.append(less[0])
        everybody = list(range(nature.bots))
        estimates = estimate(results, LIBRARY, {}, sorted({bot for bots, _ in results for bot in bots}))
        mus = [estimates[bot].mu if bot in estimates else LIBRARY.mu for bot in everybody]
        found.estimated.append(kendall(world.skills, mus))
        found.raw.append(kendall(world.skills, raw.strengths()))
        found.adjusted.append(kendall(world.skills, adjusted.strengths()))
    found.variance, found.adjusted_variance = pvariance(first), pvariance(without)
    return found


def games_until(looks: Sequence[int], taus: Sequence[float], mark: float = MARK) -> float:
    """Return the games per bot at which tau reaches the mark, between two looks by a straight line; else infinity."""
    for at, tau in enumerate(taus):
        if tau >= mark:
            if not at:
                return looks[0]
            before = taus[at - 1]
            return looks[at - 1] + (looks[at] - looks[at - 1]) * (mark - before) / (tau - before)
    return math.inf


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0."""
    parser = ArgumentParser(prog="python -m benchmarks.ladder.luck_adjusted", description=__doc__)
    parser.add_argument("--bots", type=number, default=Nature().bots)
    parser.add_argument("--luck", type=float, default=Nature().luck, help="standard deviation, of a match")
    parser.add_argument("--games", type=number, default=400, help="a bot, at most (400)")
    parser.add_argument("--every", type=number, default=40, help="games a bot from look to look (40)")
    parser.add_argument("--runs", type=number, default=4, help="seasons (4)")
    asked = parser.parse_args(arguments)
    looks = list(range(asked.every, asked.games + 1, asked.every))
    rows = []
    for share in SHARES:
        nature = Nature(bots=asked.bots, luck=asked.luck, cards=share)
        seasons = [season(nature, looks, f"luck/{run}") for run in range(asked.runs)]
        ratio = sum(one.variance for one in seasons) / sum(one.adjusted_variance for one in seasons)
        row = [f"{share:.0%}", f"{ratio:.2f}"]
        for taus in (
            [one.estimated for one in seasons],
            [one.raw for one in seasons],
            [one.adjusted for one in seasons],
        ):
            means = [fmean(of_look) for of_look in zip(*taus, strict=True)]
            row.append(f"{games_until(looks, means):.0f}")
        rows.append(row)
    print(machine_line(machine()))
    for line in table(("cards", "ratio", "estimates", "points", "without luck"), rows):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
