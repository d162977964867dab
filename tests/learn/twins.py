"""The harness for worlds that a seat cannot tell apart: what a learner gets of each is compared."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from cutpurse.engine.game import Game
from cutpurse.games import GAMES
from cutpurse.learn import Space
from tests.properties import twin_worlds
from tests.properties.random_play import RandomGame
from tests.properties.twin_worlds import Findings, Leak, check_game
from tests.properties.who_sees_what import table_of

__all__ = ["LOOKS", "STEPS", "Look", "check_twins", "features", "mask"]

STEPS = 6  # that a pair goes on for
SHARE = 0.3  # of the decisions of a match have a twin

Look = Callable[[Space, Game, int], object]


def planes(space: Space, game: Game, seat: int) -> object:
    return space.plane_bytes(game.view(seat))


def numbers(space: Space, game: Game, seat: int) -> object:
    return space.observe(game.view(seat))[1].tolist()


def mask(space: Space, game: Game, seat: int) -> object:
    return space.mask(game.view(seat), game.options(seat)).tobytes() if seat in game.waiting() else None


def features(space: Space, game: Game, seat: int) -> object:
    return space.features(game.view(seat), game.options(seat)).tobytes() if seat in game.waiting() else None


def events(space: Space, game: Game, seat: int) -> object:
    trail = space.trail()
    trail.add(game.log or ())
    return space.events(trail, seat).tolist()


def rows(space: Space, game: Game, seat: int) -> object:
    return [array.tobytes() for array in space.zone_rows(game.view(seat))]


def check_twins(
    name: str, seats: int, pairs: int, looks: list[Look], monkeypatch: pytest.MonkeyPatch, steps: int = STEPS
) -> Findings:
    """Compare what a learner gets in this many pairs of worlds.  Raises Leak."""
    space, findings, number = Space(name, seats, history=8, rows=True), Findings(), 0
    as_written = twin_worlds.compare

    def compare(one: Game, twin: Game, viewer: int) -> None:
        as_written(one, twin, viewer)
        if viewer == one.n:
            return
        for look in looks:
            if look(space, one, viewer) != look(space, twin, viewer):
                raise Leak(f"viewer {viewer} gets other {look.__name__} in its twin world")

    monkeypatch.setattr(twin_worlds, "compare", compare)
    while findings.pairs < pairs:
        play = RandomGame(GAMES[name], seats, number)
        number += 1
        check_game(play.begin(log=True), table_of(name), Random("learn/" + play.name), steps, SHARE, findings)
    return findings


LOOKS: list[Look] = [planes, numbers, mask, features, events, rows]
