"""Worlds that a seat cannot tell apart give a model equal texts, events included."""

from __future__ import annotations

import pytest

from cutpurse.games import GAMES
from tests.llm.twins import STEPS, check_twins, text
from tests.properties.random_play import EVERY_TABLE

PAIRS = 20  # for each number of players
PAIRS_IN_SOAK = 100_000  # for each game
STEPS_IN_SOAK = 2  # that a pair goes on for; with as many pairs as that, others begin where it would have gone

pytestmark = pytest.mark.timeout(0)  # the number of pairs sets the time


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_twin_worlds_give_equal_texts(name: str, seats: int, soak: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = PAIRS_IN_SOAK // len(GAMES[name].words.seats) if soak else PAIRS
    findings = check_twins(name, seats, pairs, text, monkeypatch, STEPS_IN_SOAK if soak else STEPS)
    assert findings.steps > findings.pairs
