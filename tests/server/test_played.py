"""Which ladders a server finds in its database, and which it makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladders import default_ladders
from cutpurse.server.played import played


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "test.db") as store:
        yield store


def make(store: Store, name: str, game: str, seats: int, **more: object) -> None:
    clock = more.pop("clock", asdict(TimeControl()))
    assert isinstance(clock, dict)
    store.ensure_ladder(
        name, game=game, seats=seats, rating=TrueSkill(draw_probability=0.03), settings=more, clock=clock
    )


def test_an_empty_database_gets_a_ladder_for_each_game_and_no_other_at_the_second_start(store: Store) -> None:
    first = played(store)
    assert {(one.name, one.game) for one in first} == {(game, game) for game in GAMES}
    assert first == sorted(default_ladders(), key=lambda ladder: ladder.name)
    assert played(store) == first


def test_a_database_with_a_ladder_is_played_as_it_is(store: Store) -> None:
    make(store, "duel", "greed", 2, clock=asdict(TimeControl(base_ms=300)))
    (duel,) = played(store)
    assert (duel.name, duel.game, duel.seats, duel.control.base_ms, duel.ties) == ("duel", "greed", 2, 300, 0.03)
    assert [entry.name for entry in store.ladders()] == ["duel"]


def test_games_that_are_named_are_played_alone_and_get_a_ladder_where_they_have_none(store: Store) -> None:
    make(store, "duel", "greed", 2)
    make(store, "many", "greed", 5)
    assert [ladder.name for ladder in played(store, ["greed"])] == ["duel", "many"]
    assert [ladder.name for ladder in played(store, ["szmal"])] == ["szmal"]
    assert [ladder.name for ladder in played(store)] == ["duel", "many", "szmal"]


def test_a_ladder_of_another_version_is_one_line(store: Store) -> None:
    make(store, "old", "greed", 4, colour="red")
    with pytest.raises(UsageError, match=r"ladder old cannot be played by this version: .*colour"):
        played(store)
