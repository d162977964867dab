"""Worlds that a seat cannot tell apart give a model equal texts, events included."""

from __future__ import annotations

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.imagine import imagine
from cutpurse.games import GAMES
from tests.learn.positions import positions
from tests.llm.twins import STEPS, check_twins, text
from tests.properties.random_play import EVERY_GAME, EVERY_TABLE

PAIRS = 10  # for each number of players
PAIRS_IN_SOAK = 100_000  # for each game
STEPS_IN_SOAK = 2  # that a pair goes on for; with as many pairs as that, others begin where it would have gone
IMAGINED = 1_000  # for each game
IMAGINED_IN_SOAK = 10_000


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_twin_worlds_give_equal_texts(name: str, seats: int, soak: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = PAIRS_IN_SOAK // len(GAMES[name].words.seats) if soak else PAIRS
    findings = check_twins(name, seats, pairs, text, monkeypatch, STEPS_IN_SOAK if soak else STEPS)
    assert findings.steps > findings.pairs


@pytest.mark.full
@pytest.mark.parametrize("greedy", [False, True], ids=["random", "greedy"])
@pytest.mark.parametrize("name", EVERY_GAME)
def test_imagined_worlds_give_equal_texts(name: str, greedy: bool, soak: bool) -> None:
    """Many positions, without going on in them; all numbers of players, and half of them led by `greedy`."""
    seats = GAMES[name].words.seats
    each = (IMAGINED_IN_SOAK if soak else IMAGINED) // (2 * len(seats))
    differ = 0
    for count in seats:
        chance = Chance(match_key("imagined texts", count))
        for position in positions(name, count, each, greedy):
            twin = imagine(position.view, chance)
            differ += [zone.cards for zone in twin.zones()] != [zone.cards for zone in position.game.zones()]
            assert text(twin, position.seat, (), None) == text(position.game, position.seat, (), None)
    assert differ > each
