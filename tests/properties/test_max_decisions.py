"""No match is longer than the limit that its game proves for it."""

from __future__ import annotations

import pytest

from cutpurse.games import GAMES
from tests.engine.toy import Toy
from tests.properties.random_play import EVERY_TABLE, RandomGame

GAMES_EACH = 10


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_no_match_is_longer_than_its_limit(name: str, seats: int) -> None:
    for number in range(GAMES_EACH):
        play = RandomGame(GAMES[name], seats, number)
        game = play.begin()
        decisions = sum(1 for _ in play.play(game))
        assert 0 < decisions <= game.max_decisions(seats, game.settings), play


def test_a_game_without_a_proof_has_no_limit() -> None:
    assert Toy.max_decisions(3, Toy.check(3, {})) == 0
