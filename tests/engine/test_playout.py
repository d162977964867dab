"""A playout takes the options that are drawn, to the end of the game."""

from __future__ import annotations

from random import Random

import pytest

from cutpurse.games import GAMES


@pytest.mark.parametrize("name", GAMES)
def test_a_playout_is_what_a_driver_plays_with_the_same_draws(name: str) -> None:
    game = GAMES[name].new()
    copy, random, decisions = game.fork(), Random(7), 0
    while waiting := copy.waiting():
        options = copy.options(waiting[0])
        copy.choose(waiting[0], options[random.randrange(len(options))])
        decisions += 1
    assert game.playout(Random(7).randrange) == decisions
    assert (game.waiting(), game.save()) == ([], copy.save())
