"""Decisions a second of many tables with what a learner needs: `python -m benchmarks.learn`.

Each row adds a part: the engine alone, then the view of the seat that is asked, the planes, the numbers, and the mask.
All answers are random. A second of this process's CPU time is counted, not of the clock.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a script finds its neighbours
from benchmarks.machine import machine, machine_line
from cutpurse.engine.agenda import Option
from cutpurse.engine.chance import match_key
from cutpurse.engine.game import Game
from cutpurse.engine.view import View
from cutpurse.games import BUILT_IN, GAMES, game_named
from cutpurse.learn import Space
from cutpurse.learn.batch import Batch
from cutpurse.learn.table_block import TableBlock

__all__ = ["main"]

PARTS = ("engine", "+ view", "+ planes", "+ numbers", "+ mask", "Batch")


class Tables:
    """Tables of a game, which play at random."""

    def __init__(self, game: str, tables: int, seats: int | None) -> None:
        self.rules = game_named(game)
        self.space = Space(game, seats)
        self.random = Random(1)
        self.dealt = 0
        self.games = [self.deal() for _ in range(tables)]
        self.mask = np.zeros((tables, self.space.actions), np.int8)
        self.offered: list[list[int]] = [[] for _ in range(tables)]

    def deal(self) -> Game:
        self.dealt += 1
        return self.rules.new(self.space.seats, match_key("bench", self.dealt))

    def ask(self, table: int) -> tuple[Game, int, list[Option]]:
        """Go on to the next choice of a table."""
        while True:
            game = self.games[table]
            waiting = game.waiting()
            if not waiting:
                self.games[table] = self.deal()
                continue
            options = game.options(waiting[0])
            if len(options) > 1:
                return game, waiting[0], options
            game.choose(waiting[0], options[0])

    def step(self, part: int) -> None:
        """Answer once on every table, with everything up to this part."""
        views: list[View] = []
        asked = [self.ask(table) for table in range(len(self.games))]
        for table, (game, seat, options) in enumerate(asked):
            if part >= 1:
                views.append(game.view(seat))
            if part >= 4:
                row = self.mask[table]
                row[self.offered[table]] = 0
                self.offered[table] = self.space.option_numbers(views[-1], options)
                row[self.offered[table]] = 1
        if part == 2:
            np.frombuffer(bytearray().join([self.space.plane_bytes(view) for view in views]), np.uint8)
        elif part >= 3:
            self.space.observe_all(views)
        for game, seat, options in asked:
            game.choose(seat, options[int(self.random.random() * len(options))])


def rate(step: Callable[[], object], tables: int, seconds: float) -> float:
    """Measure the decisions in a second of CPU time."""
    for _ in range(10):
        step()
    steps, began = 0, time.process_time()
    while (spent := time.process_time() - began) < seconds:
        step()
        steps += 1
    return steps * tables / spent


def rates(game: str, tables: int, seats: int | None, seconds: float) -> list[float]:
    """Measure every part of one game."""
    found = []
    for part in range(len(PARTS) - 1):
        found.append(rate(partial(Tables(game, tables, seats).step, part), tables, seconds))
    batch, random = Batch(game, tables, seats, seed=1), Random(1)
    assert isinstance(batch.source, TableBlock)
    block = batch.source

    def step() -> None:
        batch.step([offered[int(random.random() * len(offered))] for offered in block.offered])

    return [*found, rate(step, tables, seconds)]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.learn", description="Decisions a second with what a learner needs."
    )
    parser.add_argument("--games", default=",".join(BUILT_IN), help="names, with commas; default: all")
    parser.add_argument("--tables", type=int, default=64)
    parser.add_argument("--seats", type=int, help="default: the game's own")
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU time of each figure")
    given = parser.parse_args(argv)
    print(f"Decisions a second on one core, {given.tables} tables; {machine_line(machine())}\n")
    print(f"| | {' | '.join(PARTS)} | + mask, of engine + view |")
    print(f"|---|{'---:|' * (len(PARTS) + 1)}")
    for game in given.games.split(","):
        found = rates(game, given.tables, given.seats, given.seconds)
        cells = " | ".join(f"{each:,.0f}" for each in found)
        print(f"| {GAMES[game].words.title} | {cells} | {found[4] / found[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
