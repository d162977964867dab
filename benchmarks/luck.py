"""How much of the variance of place points goes when the luck of the cards is subtracted, game by game.

    python -m benchmarks.luck [--matches 400] [--games greed,...] [--redraws 4] [--bot greedy] [--playouts BOT]

The same bot plays every seat. The ratio is the variance of a seat's points divided by that of its luck-adjusted points:
with a ratio of 2, half as many matches show the same gain. Its 95 % interval comes from resampled matches. The z score
is the mean luck of seat 0 in standard errors; it should lie within 2. The matches are not those that the weights were
fitted to. The times are CPU time in this process.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a script finds its neighbours
from benchmarks.machine import machine, machine_line
from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import CutpurseError
from cutpurse.engine.match import Match
from cutpurse.experiments.compare import place_points
from cutpurse.experiments.luck import REDRAWS, PositionValue, adjusted_points, luck_events
from cutpurse.experiments.position_values import PlayoutPoints, expected_points
from cutpurse.games import GAMES, game_named
from cutpurse.sdk.bot import bot_makers
from cutpurse.sdk.playing.seating import play_match

__all__ = ["LuckFigures", "main", "measure", "variance_ratio"]

SEATS: Final = 4
RESAMPLES: Final = 400

Points = list[float]  # by seat


@dataclass(frozen=True, slots=True)
class LuckFigures:
    """What was measured for one game; times in milliseconds for each match."""

    game: str
    matches: int
    ratio: float
    low: float
    high: float
    z_score: float
    play_ms: float
    luck_ms: float


def variance_ratio(raw: Sequence[Points], adjusted: Sequence[Points]) -> float:
    """Return the variance of the raw points by that of the adjusted ones, both the mean over the seats."""
    return _variance(raw) / _variance(adjusted)


def _variance(points: Sequence[Points]) -> float:
    total = 0.0
    for of_seat in zip(*points, strict=True):
        mean = math.fsum(of_seat) / len(of_seat)
        total += math.fsum([(one - mean) ** 2 for one in of_seat])
    return total


def measure(game: str, bot: str, value: PositionValue, matches: int, redraws: int = REDRAWS) -> LuckFigures:
    """Play the matches of one game, and find their luck.

    Raises:
        CutpurseError: For an unknown bot.
    """
    rules, makers = game_named(game), bot_makers([bot] * SEATS)
    raw: list[Points] = []
    adjusted: list[Points] = []
    played = found = 0.0
    for number in range(matches):
        match = Match(rules, [maker.name for maker in makers], match_key("luck", number), log=True)
        began = time.process_time()
        result, _, _ = play_match(match, makers)
        over = time.process_time()
        events = luck_events(match, value, redraws)
        played += over - began
        found += time.process_time() - over
        raw.append(place_points(result.places))
        adjusted.append(adjusted_points(result, events))
    rng = random.Random(game)
    resampled = []
    for _ in range(RESAMPLES):
        drawn = rng.choices(range(matches), k=matches)
        resampled.append(variance_ratio([raw[i] for i in drawn], [adjusted[i] for i in drawn]))
    resampled.sort()
    luck = [before[0] - after[0] for before, after in zip(raw, adjusted, strict=True)]
    mean = math.fsum(luck) / matches
    error = math.sqrt(math.fsum([(one - mean) ** 2 for one in luck]) / (matches - 1) / matches)
    return LuckFigures(
        game,
        matches,
        variance_ratio(raw, adjusted),
        resampled[round(0.025 * RESAMPLES)],
        resampled[round(0.975 * RESAMPLES) - 1],
        mean / error if error else 0.0,
        1000 * played / matches,
        1000 * found / matches,
    )


def line(figures: LuckFigures) -> str:
    """Format the figures as a line of the table."""
    return (
        f"{figures.game:20} {figures.matches:7,} {figures.ratio:6.2f}  {figures.low:.2f} to {figures.high:.2f} "
        f"{figures.z_score:+8.1f} {figures.play_ms:9.1f} {figures.luck_ms:9.1f}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or 2 for a usage error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=400, help="for each game; at least 2")
    parser.add_argument("--games", default=",".join(GAMES), help="(default: all)")
    parser.add_argument("--bot", default="greedy", help="in every seat")
    parser.add_argument("--redraws", type=int, default=REDRAWS, help="for each chance event")
    parser.add_argument("--playouts", metavar="BOT", help="value positions by one playout with this bot")
    asked = parser.parse_args(arguments)
    games = asked.games.split(",")
    if unknown := [game for game in games if game not in GAMES]:
        parser.error(f"unknown game {unknown[0]!r}; the games are {', '.join(GAMES)}")
    if asked.matches < 2 or asked.redraws < 1:
        parser.error("at least 2 matches and 1 redraw: fewer have no variance or no expectation")
    print(machine_line(machine()))
    print(f"{'game':20} matches  ratio  95 %         z score   play ms   luck ms")
    try:
        value = PlayoutPoints(asked.playouts) if asked.playouts else expected_points
        for game in games:
            print(line(measure(game, asked.bot, value, asked.matches, asked.redraws)), flush=True)
    except CutpurseError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
