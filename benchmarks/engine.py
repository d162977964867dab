"""The worker that measures our engine: random playouts of every game, and the time of a fork, a save and a load.

All games have four seats and default settings. The worker uses the public interface and knows no rules. A decision
consists of listing a seat's options, choosing one at random, and applying it. Decisions with a single option (PASS)
take time too, but are not counted as `free`.
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
from cutpurse.engine.knowledge_level import PROOF, SEEN
from cutpurse.games import GAMES

__all__ = ["main"]

SEATS = 4
SEED = 1
POSITIONS = 64  # positions at which a fork, a save and a load are measured
EVERY = 8  # one decision in this many gives a position


def playouts(name: str, seconds: float) -> Sample:
    """Measure random playouts of one game without views."""
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


def playouts_with_a_look(name: str, knowledge: str, seconds: float) -> Sample:
    """Measure random playouts in which each decision builds the seat's view first, even with one option.

    All viewers know hidden cards as far as this level goes, a spectator too.
    """
    chance = random.random
    new_game = GAMES[name].new
    done = free = 0
    watch = Stopwatch(seconds)
    while True:
        game = new_game(SEATS, random.randbytes(KEY_BYTES), knowledge=knowledge)
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


def playouts_inside(name: str, seconds: float) -> Sample:
    """Measure random playouts by `Game.playout`, whose loop is compiled in the compiled build."""
    chance = random.random
    new_game = GAMES[name].new
    done = 0
    watch = Stopwatch(seconds)
    while True:
        game = new_game(SEATS, random.randbytes(KEY_BYTES))
        done += game.playout(lambda options: int(chance() * options))
        game.places()
        if watch.is_over():
            return watch.sample(done)


@cache
def positions(name: str) -> list[Game]:
    """Collect positions from random playouts, the same at each call."""
    dice = random.Random(SEED)
    games: list[Game] = []
    while True:
        game = GAMES[name].new(SEATS, dice.randbytes(KEY_BYTES))
        while waiting := game.waiting():
            if dice.randrange(EVERY) == 0:
                games.append(game.fork())
                if len(games) == POSITIONS:
                    return games
            game.choose(waiting[0], dice.choice(game.options(waiting[0])))


@cache
def saved_positions(name: str) -> list[dict[str, object]]:
    """Return the same positions, saved and parsed from JSON."""
    return [json.loads(json.dumps(game.save())) for game in positions(name)]


def calls(prepare: Callable[[], list[Callable[[], object]]], seconds: float) -> Sample:
    """Measure how often the prepared functions can be called, all in turn."""
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
        rows[f"{build}/{name}/view"] = partial(playouts_with_a_look, name, PROOF)
        rows[f"{build}/{name}/seen"] = partial(playouts_with_a_look, name, SEEN)
        rows[f"{build}/{name}/inside"] = partial(playouts_inside, name)
        rows[f"{build}/{name}/fork"] = partial(calls, partial(forks, name))
        rows[f"{build}/{name}/save"] = partial(calls, partial(saves, name))
        rows[f"{build}/{name}/load"] = partial(calls, partial(loads, name))
    return rows, {"cutpurse": importlib.metadata.version("cutpurse")}


def main() -> None:
    serve(prepare)


if __name__ == "__main__":
    main()
