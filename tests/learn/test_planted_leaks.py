"""A leak in any array is found, or the comparison of twin worlds would show nothing."""

from __future__ import annotations

import pytest

from cutpurse.engine.game import Game
from cutpurse.games import GAMES
from cutpurse.learn import Space
from tests.learn.twins import Look, check_twins, features, mask
from tests.properties.random_play import EVERY_GAME
from tests.properties.twin_worlds import Leak

PAIRS = 400


def leaking_planes(space: Space, game: Game, seat: int) -> object:
    return space.plane_bytes(game.view((seat + 1) % game.n))


def leaking_numbers(space: Space, game: Game, seat: int) -> object:
    return space.observe(game.view(seat))[1].tolist(), game.zones()[0].cards[-1:]


def leaking_mask(space: Space, game: Game, seat: int) -> object:
    left = (seat + 1) % game.n
    return mask(space, game, left)


def leaking_features(space: Space, game: Game, seat: int) -> object:
    return features(space, game, (seat + 1) % game.n)


def leaking_events(space: Space, game: Game, seat: int) -> object:
    trail = space.trail()
    trail.add(game.log or ())
    return space.events(trail, (seat + 1) % game.n).tolist()


def leaking_rows(space: Space, game: Game, seat: int) -> object:
    return space.zone_rows(game.view((seat + 1) % game.n))[0].tobytes()


LEAKS: list[Look] = [
    leaking_planes,
    leaking_numbers,
    leaking_mask,
    leaking_features,
    leaking_events,
    leaking_rows,
]


@pytest.mark.parametrize("look", LEAKS)
@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_planted_leak_is_found(name: str, look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Leak, match=f"gets other {look.__name__} in its twin world$"):
        check_twins(name, GAMES[name].usual_seats, PAIRS, [look], monkeypatch)
