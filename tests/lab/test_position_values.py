"""Value functions: their points add up, end in the result, and know the order of no pile."""

from __future__ import annotations

import math

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.errors import UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.words import Words
from cutpurse.games import GAMES, game_named
from cutpurse.lab.luck import shuffle_unseen_piles
from cutpurse.lab.position_features import FEATURES
from cutpurse.lab.position_values import PlayoutPoints, check_has_value, expected_points
from cutpurse.lab.position_weights import WEIGHTS
from cutpurse.leaderboard.statistics.place_points import place_points


def positions(game: str, seats: int) -> list[Game]:
    """Play a match with drawn options, and return a position of every tenth decision and the last one."""
    current = game_named(game).new(seats, match_key("values", 0))
    draw = Chance(bytes(32))
    found = []
    for number in range(400):
        if not (waiting := current.waiting()):
            break
        if number % 10 == 0:
            found.append(current.fork())
        options = current.options(waiting[0])
        current.choose(waiting[0], options[draw.below(len(options))])
    return [*found, current]


@pytest.mark.parametrize("seats", [3, 5])
@pytest.mark.parametrize("game", GAMES)
def test_points_of_all_seats_add_up(game: str, seats: int) -> None:
    for position in positions(game, seats):
        points = expected_points(position)
        assert math.fsum(points) == pytest.approx(seats / 2)
        assert all(0 <= point <= 1 for point in points)


@pytest.mark.parametrize("game", GAMES)
def test_the_order_of_unseen_piles_changes_no_value(game: str) -> None:
    for position in positions(game, 3):
        before = expected_points(position)
        shuffle_unseen_piles(position, Chance(bytes(range(32))))
        assert expected_points(position) == before


@pytest.mark.parametrize("game", GAMES)
def test_every_number_of_a_seat_has_a_weight(game: str) -> None:
    for position in positions(game, 4)[:3]:
        numbers, progress = FEATURES[game](position)
        assert {len(of_seat) for of_seat in numbers} == {len(WEIGHTS[game])}
        assert 0 <= progress <= 1


def test_a_finished_match_is_worth_its_result() -> None:
    game = game_named("greed").new(3, bytes(32))
    game.playout(lambda options: options - 1)
    assert expected_points(game) == PlayoutPoints("first_option")(game) == place_points(game.places())


def test_playouts_leave_the_position_alone_and_know_no_order() -> None:
    value = PlayoutPoints("first_option", playouts=2)
    game = game_named("greed").new(2, bytes(32))
    before = game.save()
    points = value(game)
    assert math.fsum(points) == pytest.approx(1)
    assert game.save() == before
    shuffle_unseen_piles(game, Chance(bytes(range(32))))
    assert value(game) == points


def test_a_game_without_a_value_function_is_refused() -> None:
    class Unknown(Game):
        words = Words("unknown", "Unknown", "UN", "1", seats=range(2, 3))

    with pytest.raises(UsageError, match="Unknown has no value function"):
        check_has_value(Unknown)
