"""A leak in the arrays, the numbers or the mask is found, or the comparison of twin worlds would show nothing."""

from __future__ import annotations

import pytest

from cutpurse.engine.game import Game
from cutpurse.games import GAMES
from cutpurse.learn import Space
from tests.learn.twins import Look, check_twins, mask
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


@pytest.mark.parametrize("look", [leaking_planes, leaking_numbers, leaking_mask])
@pytest.mark.parametrize("name", EVERY_GAME)
def test_a_planted_leak_is_found(name: str, look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Leak, match=f"gets other {look.__name__} in its twin world$"):
        check_twins(name, GAMES[name].usual_seats, PAIRS, [look], monkeypatch)
