"""The worker that measures our own engine: random playouts of every game, and what a fork, a save and a load cost.

Four seats, default settings.  It drives the games as anyone does and knows no rule.  A decision is one seat's options,
a random one of them, and choosing it; those with a single option (the driver's PASS) take time too but are not `free`.
"""

import importlib.metadata
import json
import random
from collections.abc import Callable
from functools import cache, partial

from benchmarks.protocol import Measure, Sample, Stopwatch, serve
from cutpurse.engine import zones
from cutpurse.engine.chance import KEY_BYTES
from cutpurse.engine.game import Game
from cutpurse.games import GAMES

__all__ = ["main"]

SEATS = 4
SEED = 1
POSITIONS = 64  # as many as a fork, a save and a load are measured at
EVERY = 8  # of so many decisions, one gives a position


def playouts(name: str, seconds: float) -> Sample:
    """Random playouts of one game, nothing looked at."""
    chance = random.random
    new_game = GAMES[name].new
    done = free = 0
    watch = Stopwatch(seconds)
    while True:
        game = new_game(SEATS, random.randbytes(KEY_BYTES))
        while waiting := game.waiting():
            seat = waiting[0]
            options = game.options(seat)
            game.choose(seat, options[int(chance() * len(options))])
            done += 1
            if len(options) > 1:
                free += 1
        game.places()
        if watch.is_over():
            return watch.sample(done, free)


def playouts_with_a_look(name: str, seconds: float) -> Sample:
    """The same, and whoever decides is given the view of the seat first, even where there is but one option."""
    chance = random.random
    new_game = GAMES[name].new
    done = free = 0
    watch = Stopwatch(seconds)
    while True:
        game = new_game(SEATS, random.randbytes(KEY_BYTES))
        while waiting := game.waiting():
            seat = waiting[0]
            game.view(seat)
            options = game.options(seat)
            game.choose(seat, options[int(chance() * len(options))])
            done += 1
            if len(options) > 1:
                free += 1
        game.places()
        if watch.is_over():
            return watch.sample(done, free)


@cache
def positions(name: str) -> list[Game]:
    """Positions from all along random playouts, the same each time."""
    dice = random.Random(SEED)
    found: list[Game] = []
    while True:
        game = GAMES[name].new(SEATS, dice.randbytes(KEY_BYTES))
        while waiting := game.waiting():
            if dice.randrange(EVERY) == 0:
                found.append(game.fork())
                if len(found) == POSITIONS:
                    return found
            game.choose(waiting[0], dice.choice(game.options(waiting[0])))


@cache
def saved_positions(name: str) -> list[dict[str, object]]:
    """The same positions as they come back from a file."""
    return [json.loads(json.dumps(game.save())) for game in positions(name)]


def calls(prepare: Callable[[], list[Callable[[], object]]], seconds: float) -> Sample:
    """How often these can be called, all of them in turn."""
    each = prepare()
    done = 0
    watch = Stopwatch(seconds)
    while True:
        for call in each:
            call()
        done += len(each)
        if watch.is_over():
            return watch.sample(done)


def forks(name: str) -> list[Callable[[], object]]:
    return [game.fork for game in positions(name)]


def saves(name: str) -> list[Callable[[], object]]:
    return [game.save for game in positions(name)]


def loads(name: str) -> list[Callable[[], object]]:
    return [partial(GAMES[name].load, saved) for saved in saved_positions(name)]


def prepare() -> tuple[dict[str, Measure], dict[str, str]]:
    random.seed(SEED)
    build = "cutpurse" if zones.__file__.endswith(".py") else "compiled"
    rows: dict[str, Measure] = {}
    for name in GAMES:
        rows[f"{build}/{name}"] = partial(playouts, name)
        rows[f"{build}/{name}/view"] = partial(playouts_with_a_look, name)
        rows[f"{build}/{name}/fork"] = partial(calls, partial(forks, name))
        rows[f"{build}/{name}/save"] = partial(calls, partial(saves, name))
        rows[f"{build}/{name}/load"] = partial(calls, partial(loads, name))
    return rows, {"cutpurse": importlib.metadata.version("cutpurse")}


def main() -> None:
    serve(prepare)


if __name__ == "__main__":
    main()
