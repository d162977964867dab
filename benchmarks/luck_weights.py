"""Fit the weights of the value functions anew, and print them as `cutpurse.lab.position_weights` has them.

    python -m benchmarks.luck_weights [--matches 600] [--games greed,...]

`greedy` plays all four seats. For every match the luck of each number of `position_features` is added up over its
chance events, as `cutpurse.lab.luck` does it with a whole value function. Then the weights are found for which
the place points without luck vary least: a least-squares regression, with a small penalty so that numbers that go
together do not get large weights against each other. So the numbers are weighted for what they are needed for, and not
for guessing the result.

The regression is linear, and the value function is logistic. Where the seats are nearly equal, a unit of strength is
worth 1 / (seats - 1) place points, so strengths are as many times the weights of the regression.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a script finds its neighbours
from benchmarks.machine import machine, machine_line
from cutpurse.engine.chance import match_key
from cutpurse.engine.game import Game
from cutpurse.engine.match import Match
from cutpurse.games import game_named
from cutpurse.lab.luck import luck_events
from cutpurse.lab.position_features import FEATURES
from cutpurse.lab.position_weights import WEIGHTS
from cutpurse.leaderboard.statistics.place_points import place_points
from cutpurse.sdk.bot import bot_makers
from cutpurse.sdk.playing.seating import play_match

__all__ = ["fit", "luck_of_numbers", "main"]

SEATS: Final = 4
PENALTY: Final = 0.01  # in units of the variance of a number's luck
LEVEL: Final = 0.5  # place points of every seat before anything is known

Floats = npt.NDArray[np.float64]


def luck_of_numbers(game: str, matches: int) -> tuple[Floats, Floats]:
    """Play matches, and add up the luck of each number.

    Returns:
        For each seat of each match a row with the luck of its numbers, then of the numbers times how far the match had
        come; and the place points that these have to explain.
    """
    rules, makers = game_named(game), bot_makers(["greedy"] * SEATS)
    width = 2 * len(WEIGHTS[game]) + 1

    def value(position: Game) -> list[float]:
        """Return the numbers of all seats, one after the other, in place of one value for each seat."""
        rows = np.zeros((SEATS, width))
        if position.waiting():
            by_seat, progress = FEATURES[game](position)
            numbers = np.array(by_seat) - np.mean(by_seat, axis=0)  # only differences between seats count
            rows[:, :-1] = np.hstack([numbers, progress * numbers])
            rows[:, -1] = LEVEL
        else:
            rows[:, -1] = place_points(position.places())
        return [float(number) for number in rows.ravel()]

    luck, points = [], []
    for number in range(matches):
        match = Match(rules, [maker.name for maker in makers], match_key("luck weights", number), log=True)
        result, _, _ = play_match(match, makers)
        total = np.sum([event.luck for event in luck_events(match, value)], axis=0).reshape(SEATS, width)
        luck.append(total[:, :-1])
        points.append(np.array(place_points(result.places)) - LEVEL - total[:, -1])
    return np.concatenate(luck), np.concatenate(points)


def fit(luck: Floats, points: Floats) -> Floats:
    """Return the weights with which the points without luck vary least; 0 for what has no luck."""
    spread = luck.std(axis=0)
    used = spread > 0
    scaled = luck[:, used] / spread[used]
    weights = np.zeros(luck.shape[1])
    penalty = PENALTY * len(points) * np.eye(scaled.shape[1])
    weights[used] = np.linalg.solve(scaled.T @ scaled + penalty, scaled.T @ points) / spread[used]
    return weights


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and print; return 0, or 2 for a usage error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=600, help="for each game; at least 2")
    parser.add_argument("--games", default=",".join(WEIGHTS), help="(default: all)")
    options = parser.parse_args(arguments)
    games = options.games.split(",")
    if unknown := [game for game in games if game not in WEIGHTS]:
        parser.error(f"unknown game {unknown[0]!r}; the games are {', '.join(WEIGHTS)}")
    if options.matches < 2:
        parser.error("at least 2 matches: fewer have no variance")
    print(machine_line(machine()))
    for game in games:
        weights = (SEATS - 1) * fit(*luck_of_numbers(game, options.matches))
        names = [name for name, _, _ in WEIGHTS[game]]
        print(f'    "{game}": (')
        for name, begin, late in zip(names, weights[: len(names)], weights[len(names) :], strict=True):
            print(f'        ("{name}", {begin:.3f}, {late + 0.0:.3f}),')
        print("    ),", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
