"""Which ladders a server finds in its database, and which it makes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.results import Announcement, LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladders import default_ladders
from cutpurse.server.logs import logger
from cutpurse.server.open_arena import open_arena
from cutpurse.server.played import played
from tests.leaderboard.sample_results import DAWN, DEAL, LADDER, prepare, result

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


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
    first = played(store, NOW)
    assert {(one.name, one.game) for one in first} == {(game, game) for game in GAMES}
    assert first == sorted(default_ladders(), key=lambda ladder: ladder.name)
    assert played(store, NOW) == first


def test_a_database_with_a_ladder_is_played_as_it_is(store: Store) -> None:
    make(store, "duel", "greed", 2, clock=asdict(TimeControl(base_ms=300)))
    (duel,) = played(store, NOW)
    assert (duel.name, duel.game, duel.seats, duel.control.base_ms, duel.rating.draw_probability) == (
        "duel",
        "greed",
        2,
        300,
        0.03,
    )
    assert [entry.name for entry in store.ladders()] == ["duel"]


def test_games_that_are_named_are_played_alone_and_get_a_ladder_where_they_have_none(store: Store) -> None:
    make(store, "duel", "greed", 2)
    make(store, "many", "greed", 5)
    assert [ladder.name for ladder in played(store, NOW, ["greed"])] == ["duel", "many"]
    assert [ladder.name for ladder in played(store, NOW, ["szmal"])] == ["szmal"]
    assert [ladder.name for ladder in played(store, NOW)] == ["duel", "many", "szmal"]


def test_a_ladder_of_another_version_is_one_line(store: Store) -> None:
    make(store, "old", "greed", 4, colour="red")
    with pytest.raises(UsageError, match=r"ladder old cannot be played by this version: .*colour"):
        played(store, NOW)


def test_house_bots_play_on_the_ladders_that_are_named_after_their_game_and_name_none(store: Store) -> None:
    make(store, "duel", "greed", 2)
    make(store, "szmal", "szmal", 4)
    store.change_ladder("szmal", LadderTerms(house=("search",), most_bots=7))
    played(store, NOW, [*GAMES])
    played(store, NOW, house=["random", "greedy"])
    terms = {entry.name: entry.terms for entry in store.ladders()}
    assert terms["szmal"] == LadderTerms(house=("search",), most_bots=7)
    assert terms["duel"].house == ()
    assert {name for name in terms if terms[name].house == ("random", "greedy")} == {*GAMES} - {"greed", "szmal"}


def test_a_ladder_that_is_made_knows_since_when_it_is_there(store: Store) -> None:
    played(store, NOW, ["greed"])
    assert store.ladder("greed").created == NOW


def test_what_an_earlier_server_announced_and_did_not_finish_is_void_at_the_start(tmp_path: Path) -> None:
    path, said = tmp_path / "test.db", io.StringIO()
    with Store(path) as store:
        versions = prepare(store)
        store.announce(Announcement("over", "b1", LADDER, "1", DAWN, DEAL, (*versions[:4],))).result()
        store.announce(Announcement("cut off", "b2", LADDER, "1", DAWN, DEAL, (*versions[4:8],))).result()
        store.submit(result("over", versions[:4], board="b1")).result()
    for _ in range(2):
        with open_arena("127.0.0.1:0", path, [], logger(said)) as opened:
            causes = {match.match: match.void_cause for match in opened.store.matches()}
            assert causes == {"over": None, "cut off": "void_server"}
    (line,) = [json.loads(line) for line in said.getvalue().splitlines()]
    assert (line["event"], line["count"]) == ("unfinished matches are void", 1)
