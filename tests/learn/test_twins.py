"""Worlds that a seat cannot tell apart give a learner equal arrays, numbers and masks."""

from __future__ import annotations

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.imagine import imagine
from cutpurse.games import GAMES
from cutpurse.learn import Space
from tests.learn.positions import positions
from tests.learn.twins import LOOKS, STEPS, check_twins
from tests.properties.random_play import EVERY_GAME, EVERY_TABLE

PAIRS = 10  # for each number of players
PAIRS_IN_SOAK = 100_000  # for each game
STEPS_IN_SOAK = 2  # that a pair goes on for; with as many pairs as that, others begin where it would have gone
IMAGINED = 1_500  # for each game; fewer in the quick run


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_twin_worlds_give_equal_arrays(name: str, seats: int, soak: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = PAIRS_IN_SOAK // len(GAMES[name].words.seats) if soak else PAIRS
    findings = check_twins(name, seats, pairs, LOOKS, monkeypatch, STEPS_IN_SOAK if soak else STEPS)
    assert findings.steps > findings.pairs


@pytest.mark.parametrize("greedy", [False, True], ids=["random", "greedy"])
@pytest.mark.parametrize("pairs", [IMAGINED // 6, pytest.param(IMAGINED, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", EVERY_GAME)
def test_imagined_worlds_give_equal_arrays(name: str, pairs: int, greedy: bool, soak: bool) -> None:
    """Many positions, without going on in them; all numbers of players, and half of them led by `greedy`."""
    seats = GAMES[name].words.seats
    each = (PAIRS_IN_SOAK if soak else pairs) // (2 * len(seats))
    differ = 0
    for count in seats:
        space, chance = Space(name, count, rows=True), Chance(match_key("imagined", count))
        for position in positions(name, count, each, greedy):
            twin = imagine(position.view, chance)
            differ += [zone.cards for zone in twin.zones()] != [zone.cards for zone in position.game.zones()]
            for look in LOOKS:
                assert look(space, twin, position.seat) == look(space, position.game, position.seat), look.__name__
    assert differ > each
