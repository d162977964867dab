"""The worker that measures rows for learners: views of each level of knowledge, planes, numbers, masks and events.

64 tables of each game play at random. Every kind of row does all that the kinds before it do, so the cost of a kind is
the difference. Only decisions with a choice are counted, as learners are asked nothing else.
"""

import gc
import importlib.metadata
import random
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.protocol import Measure, Sample, Stopwatch, serve
from cutpurse.engine import zones
from cutpurse.engine.agenda import Option
from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.game import Game
from cutpurse.engine.knowledge_level import NONE, PROOF, SEEN, viewers_at
from cutpurse.engine.view import View
from cutpurse.games import GAMES
from cutpurse.learn import Space

__all__ = ["main"]

SEATS = 4
TABLES = 64
SPREAD = 100  # choices that a table has at most before its first look
EVENTS = 16  # in a history
Look = Callable[["Tables", list[View]], None]


class Tables:
    """Tables of a game whose seats have a level of knowledge, and a spectator none, as in `Batch`."""

    def __init__(self, name: str, level: str, look: Look | None, log: bool = False) -> None:
        self.rules = GAMES[name]
        self.space = Space(name, SEATS, EVENTS if log else 0, knowledge=level)
        self.viewers = viewers_at([*[level] * SEATS, NONE], SEATS + 1)
        self.look = look
        self.log = log
        self.dealt = 0
        self.games = [self.deal() for _ in range(TABLES)]
        self.trails = [self.space.trail() for _ in range(TABLES)]
        self.mask = np.zeros((TABLES, self.space.actions), np.int8)
        self.marked: list[int] = []
        self.questions: list[tuple[Game, int, list[Option]]] = []
        for table in range(TABLES):  # so that they are in different parts of their matches
            for _ in range(random.randrange(SPREAD)):
                game, seat, options = self.ask(table)
                game.choose(seat, random.choice(options))
        gc.freeze()  # else each collection walks the tables of all rows

    def deal(self) -> Game:
        self.dealt += 1
        game = self.rules(SEATS, self.rules.check(SEATS, {}), Chance(match_key("rows", self.dealt)))
        game.remember(*self.viewers)
        game.start(self.log)
        return game

    def ask(self, table: int) -> tuple[Game, int, list[Option]]:
        """Go on to the next choice of a table."""
        while True:
            game = self.games[table]
            waiting = game.waiting()
            if not waiting:
                self.games[table] = self.deal()
                self.trails[table] = self.space.trail()
                continue
            options = game.options(waiting[0])
            if len(options) > 1:
                return game, waiting[0], options
            game.choose(waiting[0], options[0])

    def step(self) -> None:
        """Look and answer once on every table."""
        self.questions = [self.ask(table) for table in range(TABLES)]
        if self.look is not None:
            self.look(self, [game.view(seat) for game, seat, _ in self.questions])
        chance = random.random
        for game, seat, options in self.questions:
            game.choose(seat, options[int(chance() * len(options))])


def view_only(tables: Tables, views: list[View]) -> None:
    """Make no row of a view."""


def planes(tables: Tables, views: list[View]) -> None:
    np.frombuffer(bytearray().join([tables.space.plane_bytes(view) for view in views]), np.uint8)


def planes_and_numbers(tables: Tables, views: list[View]) -> None:
    tables.space.observe_all(views)


def planes_numbers_and_mask(tables: Tables, views: list[View]) -> None:
    tables.space.observe_all(views)
    marks, width = tables.mask.reshape(-1), tables.space.actions
    marks[tables.marked] = 0
    tables.marked = []
    for table, (view, (_, _, options)) in enumerate(zip(views, tables.questions, strict=True)):
        tables.marked += [table * width + number for number in tables.space.option_numbers(view, options)]
    marks[tables.marked] = 1


def events(tables: Tables, views: list[View]) -> None:
    for trail, (game, seat, _) in zip(tables.trails, tables.questions, strict=True):
        trail.add(game.log or ())
        tables.space.events(trail, seat)


def decisions(make: Callable[[], Tables], made: list[Tables], seconds: float) -> Sample:
    """Measure the decisions with a choice of all tables."""
    if not made:
        made.append(make())
    done = 0
    watch = Stopwatch(seconds)
    while not watch.is_over():
        made[0].step()
        done += TABLES
    return watch.sample(done)


def prepare() -> tuple[dict[str, Measure], dict[str, str]]:
    random.seed(1)
    build = "cutpurse" if zones.__file__.endswith(".py") else "compiled"
    kinds: dict[str, tuple[str, Look | None, bool]] = {
        "bare": (NONE, None, False),
        "none": (NONE, view_only, False),
        "seen": (SEEN, view_only, False),
        "proof": (PROOF, view_only, False),
        "planes": (PROOF, planes, False),
        "numbers": (PROOF, planes_and_numbers, False),
        "mask": (PROOF, planes_numbers_and_mask, False),
        "logged": (NONE, view_only, True),
        "history": (NONE, events, True),
    }
    rows: dict[str, Measure] = {
        f"{build}/{game}/{kind}": partial(decisions, partial(Tables, game, *how), [])
        for game in GAMES
        for kind, how in kinds.items()
    }
    return rows, {name: importlib.metadata.version(name) for name in ("cutpurse", "numpy")}


def main() -> None:
    serve(prepare)


if __name__ == "__main__":
    main()
