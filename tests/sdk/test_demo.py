"""`cutpurse demo` plays every game and shows a table for each."""

from __future__ import annotations

import json

import pytest

from cutpurse.games import GAMES
from cutpurse.sdk.commands import demo
from tests.sdk.test_command_line import run


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """All seats are played at random, which is quickest."""
    monkeypatch.setattr(demo, "ONE", "random")


def test_every_game_gets_a_table() -> None:
    shown = run("demo", "--matches", 1)
    assert (shown.exit_code, shown.stderr) == (0, "")
    tables = shown.stdout.strip().split("\n\n")
    assert [table.splitlines()[0] for table in tables] == [game.words.title for game in GAMES.values()]
    assert all(
        table.splitlines()[-1].startswith(f"1 match of {name}, ") for name, table in zip(GAMES, tables, strict=True)
    )


def test_with_json_there_is_one_document() -> None:
    runs = json.loads(run("demo", "--matches", 1, "--json").stdout)
    assert [(one["game"], len(one["seats"])) for one in runs] == [
        (name, game.usual_seats) for name, game in GAMES.items()
    ]
