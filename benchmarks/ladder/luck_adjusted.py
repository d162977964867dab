"""The command `python -m benchmarks.ladder.luck_adjusted`: whether a ladder is right sooner without the luck of cards.

Bots of known strength meet at random. Each match has places and the luck of its cards. In simulated matches an ideal
value function finds it, which knows all cards and no bot; with `--game` bots play the game, and the luck is that of
`cutpurse.experiments.luck`. Three orders are compared with the truth: that of the ladder's
estimates, which know the places; a least-squares fit to the place points; and the same fit to the points without luck.
The fit sets a bot's points apart from one half by its strength minus the mean strength of its opponents.

How much of the luck lies in the cards is said by the ratio of the variances of a seat's points, with and without
the luck: see `benchmarks.luck` for those of the games. The figure is the number of games per bot until Kendall's tau is
0.85, by the mean over the runs.
"""

from __future__ import annotations

import math
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from random import Random
from statistics import NormalDist, fmean, pvariance
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.ladder.__main__ import LIBRARY, number
from benchmarks.ladder.accuracy import kendall
from benchmarks.ladder.synthetic_bots import Nature, World
from benchmarks.machine import machine, machine_line
from benchmarks.report import table
from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.engine.chance import match_key
from cutpurse.engine.match import Match
from cutpurse.experiments.compare import place_points
from cutpurse.experiments.luck import luck_events, total_luck
from cutpurse.experiments.position_features import FEATURES
from cutpurse.experiments.position_values import expected_points
from cutpurse.games import game_named
from cutpurse.leaderboard.estimates.skill_fit import estimate
from cutpurse.sdk.bot import BotMaker, MatchInfo
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.playing.seating import play_match

__all__ = [
    "LinearFit",
    "PlayedMatch",
    "Season",
    "games_until",
    "luck_of_deal",
    "main",
    "real_matches",
    "season",
    "simulated_matches",
]

SHARES: Final = (0.2, 0.5, 0.7)  # of the luck's variance in the cards
MARK: Final = 0.85
MOST_AT_RANDOM: Final = 0.5  # of the questions of the weakest bot
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


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match: the bots by seat, their places, and the luck of their cards in place points."""

    bots: tuple[int, ...]
    places: tuple[int, ...]
    luck: Sequence[float]


@dataclass(slots=True)
class Season:
    """The tau of three orders after each look of a season, and the variances of points with and without luck."""

    estimated: list[float]
    raw: list[float]
    adjusted: list[float]
    variance: float
    adjusted_variance: float


def simulated_matches(nature: Nature, seed: str) -> tuple[list[float], Iterator[PlayedMatch]]:
    """Return the skills of simulated bots, and their matches at random tables without end."""
    world, tables = World(nature, seed), Random(f"{seed}/tables")
    play_sd = nature.luck * math.sqrt(1 - nature.cards)

    def matches() -> Iterator[PlayedMatch]:
        while True:
            bots = tuple(tables.sample(range(nature.bots), nature.seats))
            deal = world.deal()
            yield PlayedMatch(bots, tuple(world.play(bots, deal)), luck_of_deal(deal, play_sd))

    return world.skills, matches()


def real_matches(game: str, bots: int, seed: str) -> tuple[list[float], Iterator[PlayedMatch]]:
    """Return the skills of bots of a game, and their matches at random tables without end.

    Each plays as `greedy`, but answers a share of the questions at random: from none of the first bot's to most of the
    last one's. So the order of their strengths is known.
    """
    rules, tables = game_named(game), Random(f"{seed}/tables")
    shares = [MOST_AT_RANDOM * bot / (bots - 1) for bot in range(bots)]
    makers = [BotMaker(f"{share:.2f}", partial(Distracted, share)) for share in shares]

    def matches() -> Iterator[PlayedMatch]:
        for played in count():
            seated = tuple(tables.sample(range(bots), rules.usual_seats))
            names = [makers[bot].name for bot in seated]
            match = Match(rules, names, match_key(seed, played), log=True)
            result, _, _ = play_match(match, [makers[bot] for bot in seated])
            luck = total_luck(luck_events(match, expected_points), len(seated))
            yield PlayedMatch(seated, tuple(result.places), luck)

    return [-share for share in shares], matches()


class Distracted(GreedyBot):
    """A bot that plays as `greedy`, and answers a share of the questions at random."""

    def __init__(self, share: float) -> None:
        self.share = share

    def start(self, match: MatchInfo) -> None:
        """Remember the chance of the match."""
        self.chance = match.chance

    def choose(self, view: Any, decision: Decision) -> Option:
        """Choose at random, or as `greedy` does."""
        if self.chance.random() < self.share:
            return self.chance.choice(list(decision.options))
        return super().choose(view, decision)


def season(skills: Sequence[float], matches: Iterator[PlayedMatch], looks: Sequence[int]) -> Season:
    """Take matches, and look at three orders after these numbers of games per bot."""
    bots = len(skills)
    raw, adjusted = LinearFit(bots), LinearFit(bots)
    results: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    first: list[float] = []
    without: list[float] = []
    found = Season([], [], [], 0.0, 0.0)
    played = 0
    for games in looks:
        while played < games * bots:
            match = next(matches)
            points = place_points(match.places)
            less = [point - luck for point, luck in zip(points, match.luck, strict=True)]
            raw.add(match.bots, points)
            adjusted.add(match.bots, less)
            results.append((match.bots, match.places))
            first.append(points[0])
            without.append(less[0])
            played += len(match.bots)
        estimates = estimate(results, LIBRARY, {}, sorted({bot for seated, _ in results for bot in seated}))
        mus = [estimates[bot].mu if bot in estimates else LIBRARY.mu for bot in range(bots)]
        found.estimated.append(kendall(skills, mus))
        found.raw.append(kendall(skills, raw.strengths()))
        found.adjusted.append(kendall(skills, adjusted.strengths()))
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
    parser.add_argument("--game", choices=list(FEATURES), help="bots of this game instead of simulated ones")
    parser.add_argument("--bots", type=number, default=0, help="(64, of a game 16)")
    parser.add_argument("--luck", type=float, default=Nature().luck, help="standard deviation, of a simulated match")
    parser.add_argument("--games", type=number, default=400, help="a bot, at most (400)")
    parser.add_argument("--every", type=number, default=40, help="games a bot from look to look (40)")
    parser.add_argument("--runs", type=number, default=4, help="seasons (4)")
    asked = parser.parse_args(arguments)
    looks = list(range(asked.every, asked.games + 1, asked.every))
    seeds = [f"luck/{run}" for run in range(asked.runs)]
    rows = []
    if asked.game:
        rows.append(
            _row(
                asked.game, [season(*real_matches(asked.game, asked.bots or 16, seed), looks) for seed in seeds], looks
            )
        )
    else:
        for share in SHARES:
            nature = Nature(bots=asked.bots or Nature().bots, luck=asked.luck, cards=share)
            seasons = [season(*simulated_matches(nature, seed), looks) for seed in seeds]
            rows.append(_row(f"{share:.0%} cards", seasons, looks))
    print(machine_line(machine()))
    for line in table(("matches", "ratio", "estimates", "points", "without luck"), rows):
        print(line)
    return 0


def _row(name: str, seasons: Sequence[Season], looks: Sequence[int]) -> list[str]:
    """Return the cells of a row: the ratio of variances, and the games until each order is right."""
    ratio = sum(one.variance for one in seasons) / sum(one.adjusted_variance for one in seasons)
    row = [name, f"{ratio:.2f}"]
    for taus in ([one.estimated for one in seasons], [one.raw for one in seasons], [one.adjusted for one in seasons]):
        means = [fmean(of_look) for of_look in zip(*taus, strict=True)]
        row.append(f"{games_until(looks, means):.0f}")
    return row


if __name__ == "__main__":
    sys.exit(main())
