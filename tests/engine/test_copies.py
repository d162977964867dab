"""A copy of a game or of a view, made by `copy` or `pickle`, is as good as the original: it sees and goes on alike."""

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any, Final

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import imagine
from cutpurse.engine.match import Match
from cutpurse.games import GAMES
from cutpurse.sdk.views import VIEWS

STEPS: Final = 150


def pickled(one: Any) -> Any:
    """As another process would have it."""
    return pickle.loads(pickle.dumps(one))


COPIES: Final[dict[str, Callable[[Any], Any]]] = {"pickle": pickled, "deepcopy": copy.deepcopy, "copy": copy.copy}


def seen(game: Game) -> list[bytes]:
    """What each seat and the spectator see, and what those that are asked may answer."""
    views = [game.view(seat).to_bytes() for seat in (*range(game.n), None)]
    return [*views, repr([game.options(seat) for seat in game.waiting()]).encode()]


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", GAMES)
def test_a_copy_of_a_game_sees_and_goes_on_alike(name: str, how: str) -> None:
    chance = random.Random(name)
    game = GAMES[name].new(4, match_key("copies", 0))
    other = game
    for step in range(STEPS):
        if step % 10 == 0:
            before = seen(game)
            other = COPIES[how](other)
            assert seen(game) == before
        assert seen(other) == seen(game), step
        if not (seats := game.waiting()):
            break
        option = chance.choice(game.options(seats[0]))
        game.choose(seats[0], option)
        other.choose(seats[0], option)
    assert other.save() == game.save()
    assert (other.scores(), other.places()) == (game.scores(), game.places())


def test_a_copy_of_a_game_is_independent_and_keeps_its_events() -> None:
    match = Match(GAMES["greed"], ["a", "b"], match_key("copies", 1), log=True)
    game = match.game
    told, before = list(game.log or ()), seen(game)
    for how, made in COPIES.items():
        other = made(game)
        seat = other.waiting()[0]
        other.choose(seat, other.options(seat)[0])
        assert (seen(game), game.log) == (before, told), how
        assert other.log[: len(told)] == told, how
        assert len(other.log) > len(told), how


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", GAMES)
def test_a_copy_of_a_view_is_equal_and_imagined_alike(name: str, how: str) -> None:
    game = GAMES[name].new(3, match_key("copies", 2))
    for _ in range(20):
        for seat in game.waiting():
            game.choose(seat, game.options(seat)[-1])
    for viewer in (0, None):
        view = game.view(viewer)
        other = COPIES[how](view)
        assert other == view
        assert [zone.kind for zone in other.zones] == [zone.kind for zone in view.zones]
        worlds = [imagine(one, Chance(bytes(32))).save() for one in (view, other)]
        assert worlds[0] == worlds[1]
        assert COPIES[how](VIEWS[name](view)).raw == view
