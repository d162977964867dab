"""How often the interval of `compare --luck-adjusted` says something wrong, or nothing, in simulated comparisons.

    python -m benchmarks.luck_interval [--boards 100] [--games greed,...] [--runs 1000]

Boards of two bots are played against `greedy`, with and without the luck of the cards. Both bots play like `greedy`,
but one aims at the leader and one at its left neighbour (`benchmarks.collusion.planted_bots`).

A simulated comparison draws from them with
replacement, after their mean was taken out. Versions that hardly differ play most boards alike, so a part of the boards
has no difference at all. Somebody looks after every board from the 20th to the 4,000th:

* A false alarm: the true gain is 0, and at one of these looks the interval lies wholly above or below 0.
* A miss: the true gain is the one that `compare` looks for, and the interval never lies above 0.

Both should be below 5 %. The boards until the gain is found are the median over all runs.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a script finds its neighbours
from benchmarks.collusion.planted_bots import HONEST
from benchmarks.machine import machine, machine_line
from cutpurse.experiments.adjusted_gain import ALPHA, RHO_SQUARED
from cutpurse.experiments.comparison import ComparisonRun, field_for
from cutpurse.experiments.sprt import Design
from cutpurse.games import GAMES, game_named
from cutpurse.sdk.bot import BotMaker

__all__ = ["IntervalFigures", "Laws", "boards_of", "intervals", "main", "simulate"]

FIRST_LOOK: Final = Design().min_boards
LAST_LOOK: Final = Design().max_boards
ALIKE: Final = (0.0, 0.8, 0.95)  # parts of the boards that both versions play alike
BATCH: Final = 100  # runs at once: some 20 MB

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Laws:
    """Differences of played boards, in place points: raw, and without the luck of the cards."""

    raw: Floats
    adjusted: Floats


@dataclass(frozen=True, slots=True)
class IntervalFigures:
    """Results of simulated comparisons: shares of the runs, and the median of boards until the gain was found.

    The median is infinite if half of the runs or more missed the gain.
    """

    false_alarms: float
    misses: float
    boards: float


def boards_of(game: str, boards: int) -> Laws:
    """Play boards of two bots of about equal strength against `greedy`."""
    rules = game_named(game)
    new, old = (BotMaker(habit, HONEST[habit]) for habit in ("leader", "left"))
    run = ComparisonRun(rules, new, old, field_for(["greedy"], rules.usual_seats), "luck", {}, 0, luck_adjusted=True)
    played = [run.board(number) for number in range(boards)]
    return Laws(np.array([board.difference for board in played]), np.array([board.adjusted for board in played]))


def intervals(differences: Floats) -> tuple[Floats, Floats]:
    """Return the limits of `AdjustedGain.interval` after each board, for runs in rows; the first board has none."""
    boards = np.arange(2, differences.shape[1] + 1)
    totals = np.cumsum(differences, axis=1)[:, 1:]
    squares = np.cumsum(differences * differences, axis=1)[:, 1:]
    means = totals / boards
    variances = np.maximum(0.0, (squares - totals * means) / (boards - 1))
    grown = boards * RHO_SQUARED + 1
    widths = np.sqrt(variances * grown / RHO_SQUARED * np.log(grown / ALPHA**2)) / boards
    return means - widths, means + widths


def simulate(law: Floats, gain: float, alike: float, runs: int, seed: int = 0) -> IntervalFigures:
    """Run comparisons with the gain 0, and as many with the gain that is looked for.

    Args:
        law: Differences of boards that are not alike.
        gain: The gain that is looked for.
        alike: Part of the boards without any difference.
        runs: Comparisons of each kind.
        seed: Seed of the draws.
    """
    rng = np.random.default_rng(seed)
    centred = law - law.mean()
    differing = 1 - alike
    alarms = 0
    found: list[float] = []
    for _ in range(-(-runs // BATCH)):
        shape = (min(BATCH, runs), LAST_LOOK)
        differs = rng.random(shape) < differing
        low, high = intervals(np.where(differs, rng.choice(centred, shape), 0.0))
        looks = slice(FIRST_LOOK - 2, None)
        alarms += int(np.any((low[:, looks] > 0) | (high[:, looks] < 0), axis=1).sum())
        low, _ = intervals(np.where(differs, rng.choice(centred, shape) + gain / differing, 0.0))
        is_above = low[:, looks] > 0
        first = np.where(is_above.any(axis=1), is_above.argmax(axis=1) + FIRST_LOOK, np.inf)
        found += first.tolist()
    count = len(found)
    return IntervalFigures(alarms / count, sum(np.isinf(found)) / count, float(np.median(found)))


def gain_looked_for(raw: Floats, alike: float) -> float:
    """Return the gain that `compare` looks for: of its raw differences, where a part of the boards is alike."""
    design = Design()
    return max(design.effect * float(raw.std()) * math.sqrt(1 - alike), design.smallest_gain)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, simulate and print; return 0, or 2 for a usage error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=100, help="played for each game; at least 2")
    parser.add_argument("--games", default=",".join(GAMES), help="(default: all)")
    parser.add_argument("--runs", type=int, default=1_000, help="comparisons of each kind")
    asked = parser.parse_args(arguments)
    games = asked.games.split(",")
    if unknown := [game for game in games if game not in GAMES]:
        parser.error(f"unknown game {unknown[0]!r}; the games are {', '.join(GAMES)}")
    if asked.boards < 2 or asked.runs < 1:
        parser.error("at least 2 boards and 1 run: fewer have no spread")
    print(machine_line(machine()))
    print(f"{'game':20} {'alike':>6} {'gain':>6}  {'false alarms':>16} {'misses':>16} {'boards':>14}")
    print(f"{'':20} {'':>6} {'':>6}  {'raw, adjusted':>16} {'raw, adjusted':>16} {'raw, adjusted':>14}")
    for game in games:
        laws = boards_of(game, asked.boards)
        for alike in ALIKE:
            gain = gain_looked_for(laws.raw, alike)
            raw, adjusted = (simulate(law, gain, alike, asked.runs) for law in (laws.raw, laws.adjusted))
            print(_line(game, alike, gain, raw, adjusted), flush=True)
    return 0


def _line(game: str, alike: float, gain: float, raw: IntervalFigures, adjusted: IntervalFigures) -> str:
    """Format the figures as a line of the table."""
    cells = [f"{game:20} {alike:6.0%} {gain:6.3f} "]
    for one, other in ((raw.false_alarms, adjusted.false_alarms), (raw.misses, adjusted.misses)):
        cells.append(f"{f'{one:.1%}, {other:.1%}':>16}")
    cells.append(f"{f'{raw.boards:,.0f}, {adjusted.boards:,.0f}':>14}")
    return " ".join(cells)


if __name__ == "__main__":
    sys.exit(main())
