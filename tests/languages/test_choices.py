"""Bots in other languages choose as the rule that they begin with says, in every seat of every game."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cutpurse.games import GAMES
from cutpurse.sdk import program
from cutpurse.sdk.local import play
from tests.languages.rule import Starter
from tests.languages.workshop import Made

OF_ITS_OWN = ("javascript",)  # has a plan for each game


@pytest.fixture(autouse=True)
def time_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy with other tests starts programs slowly."""
    monkeypatch.setattr(program, "DIAL_IN_S", 60.0)


def record(game: str, bot: Any, file: Path) -> list[tuple[Any, ...]]:
    """What was chosen in matches of one bot with random ones; it has every seat once."""
    seats = GAMES[game].usual_seats
    played = play(game, [bot, *["random"] * (seats - 1)], matches=seats, seed=9, record=file)
    assert played.failures == ()
    matches = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(match["choices"], match["result"]) for match in matches]


def test_it_chooses_as_the_rule_says(made: Made, tmp_path: Path) -> None:
    if made.language in OF_ITS_OWN:
        pytest.skip(f"{made.language} chooses by rules of its own")
    for game in GAMES:
        assert record(game, made.spec, tmp_path / "theirs") == record(game, Starter, tmp_path / "ours"), game


def test_the_rule_wins_against_chance() -> None:
    for game in GAMES:
        seats = GAMES[game].usual_seats
        played = play(game, [Starter, *["random"] * (seats - 1)], matches=40, seed=1)
        assert played.seats[0].mean_place < (seats + 1) / 2 - 0.2, game
