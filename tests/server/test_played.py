"""Which ladders a server finds in its database, and which it makes."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from cutpurse.cli.ladder_file import read_ladders
from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import NewLadder, change_ladder, ensure_ladder
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.results import LadderTerms, MatchAnnouncement
from cutpurse.leaderboard.schema import newest_revision
from cutpurse.leaderboard.store import Store
from cutpurse.server.hosting.open_arena import open_arena
from cutpurse.server.ladder_config import Ladder, default_ladders
from cutpurse.server.league.ladder_setup import LadderSelection, played
from cutpurse.server.logs import logger
from tests.leaderboard.sample_results import DAWN, DEAL, LADDER, add_version, prepare, result
from tests.leaderboard.store_calls import replace_call
from tests.leaderboard.test_schema import schema_22
from tests.roots import CHECKOUT

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def found(store: Store, said: io.StringIO | None = None, **wanted: Any) -> list[Ladder]:
    return played(store, LadderSelection(**wanted), NOW, logger(said or io.StringIO()))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "test.db") as store:
        yield store


def make(store: Store, name: str, game: str, seats: int, **more: object) -> None:
    clock = more.pop("clock", asdict(TimeControl()))
    assert isinstance(clock, dict)
    store.write(
        ensure_ladder,
        NewLadder(name, game=game, seats=seats, rating=TrueSkill(draw_probability=0.03), settings=more, clock=clock),
    )


def test_an_empty_database_gets_a_ladder_for_each_game_and_no_other_at_the_second_start(store: Store) -> None:
    first = found(store)
    assert {(one.name, one.game) for one in first} == {(game, game) for game in GAMES}
    assert first == sorted(default_ladders(), key=lambda ladder: ladder.name)
    assert len(store.run(queries.ladders)) == len(GAMES)
    assert found(store) == first


def test_two_servers_that_start_at_once_make_each_ladder_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first = found(store)
    looked_before = ["the other server had made them"]

    def made(new: NewLadder, created: datetime | None = None) -> int:
        looked_before.clear()
        return cast("int", ensure(new, created))

    ladders = replace_call(monkeypatch, store, queries.ladders, lambda: [] if looked_before else ladders())
    ensure = replace_call(monkeypatch, store, ensure_ladder, made)
    assert found(store) == first
    assert len(ladders()) == len(GAMES)


def test_a_database_with_a_ladder_is_played_as_it_is(store: Store) -> None:
    make(store, "duel", "greed", 2, clock=asdict(TimeControl(base_ms=300)))
    (duel,) = found(store)
    assert (duel.name, duel.game, duel.seats, duel.control.base_ms, duel.rating.draw_probability) == (
        "duel",
        "greed",
        2,
        300,
        0.03,
    )
    assert [entry.name for entry in store.run(queries.ladders)] == ["duel"]


def test_games_that_are_named_are_played_alone_and_get_a_ladder_where_they_have_none(store: Store) -> None:
    make(store, "duel", "greed", 2)
    make(store, "many", "greed", 5)
    assert [ladder.name for ladder in found(store, games=["greed"])] == ["duel", "many"]
    assert [ladder.name for ladder in found(store, games=["szmal"])] == ["szmal"]
    assert [ladder.name for ladder in found(store)] == ["duel", "many", "szmal"]


def test_a_ladder_of_another_version_is_one_line(store: Store) -> None:
    make(store, "old", "greed", 4, colour="red")
    with pytest.raises(UsageError, match=r"ladder old cannot be played by this version: .*colour"):
        found(store)


def test_a_ladder_of_a_game_that_is_not_installed_is_left_out_and_that_is_said(store: Store) -> None:
    make(store, "away", "kuhn_poker", 2)
    with pytest.raises(
        UsageError, match=r"^no ladder of the database can be played; install its game, or name another"
    ):
        found(store)
    make(store, "duel", "greed", 2)
    log = io.StringIO()
    assert [ladder.name for ladder in found(store, log)] == ["duel"]
    (line,) = [json.loads(line) for line in log.getvalue().splitlines()]
    assert (line["event"], line["level"], line["ladder"]) == ("ladder left out", "warning", "away")
    assert line["text"].startswith("no game is called 'kuhn_poker'; there are: ")
    assert [entry.name for entry in store.run(queries.ladders)] == ["away", "duel"]


def test_a_ladder_of_an_earlier_rules_version_goes_on_and_that_is_said_until_a_new_match(store: Store) -> None:
    old = {"advanced": "true", "ditch_per_turn": "unlimited"}  # as rules version 1 wrote "any number"
    make(store, LADDER, "bag_o_loot", 4, **old)
    versions = [add_version(store, "ann", f"bot {n}", "1") for n in range(4)]
    store.submit(result("early", versions, rules="1")).result()
    ratings = store.run(queries.rankings, LADDER)
    said = io.StringIO()
    (ladder,) = found(store, said)
    assert ladder.settings == old
    assert ladder.rules.check(4, ladder.settings).text("ditch_per_turn") == "unlimited"
    (line,) = [json.loads(line) for line in said.getvalue().splitlines()]
    assert (line["level"], line["event"]) == ("warning", "rules version changed")
    assert (line["ladder"], line["was"], line["version"]) == (LADDER, "1", "3")
    assert store.run(queries.rankings, LADDER) == ratings
    store.submit(result("late", versions, rules="3")).result()
    assert [match.rules for match in store.run(queries.matches, LADDER)] == ["3", "1"]
    said = io.StringIO()
    found(store, said)
    assert said.getvalue() == ""


def test_house_bots_play_on_the_ladders_that_are_named_after_their_game_and_name_none(store: Store) -> None:
    make(store, "duel", "greed", 2)
    make(store, "szmal", "szmal", 4)
    store.write(change_ladder, "szmal", LadderTerms(house=("search",), most_bots=7))
    found(store, games=[*GAMES])
    found(store, house=["random", "greedy"])
    terms = {entry.name: entry.terms for entry in store.run(queries.ladders)}
    assert terms["szmal"] == LadderTerms(house=("search",), most_bots=7)
    assert terms["duel"].house == ()
    assert {name for name in terms if terms[name].house == ("random", "greedy")} == {*GAMES} - {"greed", "szmal"}


def test_a_house_bot_that_a_ladder_names_and_nobody_runs_is_told(store: Store) -> None:
    make(store, "duel", "greed", 2)
    store.write(change_ladder, "duel", LadderTerms(house=("random", "search")))
    said = io.StringIO()
    found(store, said, house=["random"])
    (line,) = [json.loads(line) for line in said.getvalue().splitlines()]
    assert (line["event"], line["ladder"], line["bots"]) == ("house bots are not run", "duel", ["search"])


def test_a_ladder_that_no_house_bot_fills_is_told_where_there_are_house_bots(store: Store) -> None:
    for name in ("duel", "filled", "frozen"):
        make(store, name, "greed", 2)
    store.write(change_ladder, "filled", LadderTerms(house=("random",)))
    store.write(change_ladder, "frozen", LadderTerms(frozen=NOW))
    said = io.StringIO()
    found(store, said)
    assert "ladder without house bots" not in said.getvalue()
    found(store, said, house=["random"])
    told = [json.loads(line) for line in said.getvalue().splitlines()]
    (line,) = [line for line in told if line["event"] == "ladder without house bots"]
    assert (line["level"], line["ladder"]) == ("warning", "duel")


def test_a_ladder_with_too_few_house_bots_for_a_bot_that_is_alone_is_told(store: Store) -> None:
    for name, seats, house in (("duel", 2, ("random",)), ("trio", 3, ("random", "search")), ("greed", 4, ())):
        make(store, name, "greed", seats)
        store.write(change_ladder, name, LadderTerms(house=house))
    said = io.StringIO()
    found(store, said, house=["random", "greedy"])
    few = [line for line in map(json.loads, said.getvalue().splitlines()) if line["event"] == "too few house bots"]
    assert [(line["level"], line["ladder"]) for line in few] == [("warning", "greed"), ("warning", "trio")]
    assert few[0]["text"] == (
        "with random, greedy a bot that is alone gets no match of 4; cutpurse ladder change greed --house gives it "
        "more, of those that serve --house runs"
    )


def test_house_bots_that_the_documents_tell_to_run_are_enough_for_a_bot_that_is_alone() -> None:
    most = max(ladder.seats for ladder in default_ladders())
    told = [
        (page.name, line.strip(), found["bots"].split(","))
        for page in (CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").rglob("*.md")))
        for line in page.read_text(encoding="utf-8").splitlines()
        if (found := re.search(r"cutpurse serve .*--house (?P<bots>[a-z,]+)", line))
    ]
    assert {"README.md", "first_bot.md"} <= {page for page, _, _ in told}
    assert [(page, line) for page, line, bots in told if len(bots) < most - 1] == []


def test_a_ladder_that_is_made_knows_since_when_it_is_there(store: Store) -> None:
    found(store, games=["greed"])
    assert store.run(queries.ladder, "greed").created == NOW


def test_what_an_earlier_server_announced_and_did_not_finish_is_void_at_the_start(tmp_path: Path) -> None:
    path, said = tmp_path / "test.db", io.StringIO()
    with Store(path) as store:
        versions = prepare(store)
        store.announce(
            MatchAnnouncement("over", LADDER, "1", DEAL._replace(board="b1"), DAWN, (*versions[:4],))
        ).result()
        store.announce(
            MatchAnnouncement("cut off", LADDER, "1", DEAL._replace(board="b2"), DAWN, (*versions[4:8],))
        ).result()
        store.submit(result("over", versions[:4], board="b1")).result()
    for _ in range(2):
        with open_arena("127.0.0.1:0", path, [], logger(said)) as opened:
            causes = {match.match: match.void_cause for match in opened.store.run(queries.matches)}
            assert causes == {"over": None, "cut off": "void_server"}
    (line,) = [json.loads(line) for line in said.getvalue().splitlines()]
    assert (line["event"], line["count"]) == ("unfinished matches are void", 1)


def test_a_database_that_everybody_can_read_is_told_at_the_start(tmp_path: Path) -> None:
    path, told = tmp_path / "test.db", []
    for mode in (0o600, 0o640, 0o644):
        said = io.StringIO()
        Store(path).close()
        path.chmod(mode)
        with open_arena("127.0.0.1:0", path, [], logger(said)):
            told.append([(line["event"], line["mode"]) for line in map(json.loads, said.getvalue().splitlines())])
    assert told == [[], [], [("others can read the database", "644")]]


def test_a_database_that_is_upgraded_is_told_at_the_start(tmp_path: Path) -> None:
    path, told = schema_22(tmp_path / "old.db"), []
    path.chmod(0o600)
    for _ in range(2):
        said = io.StringIO()
        with open_arena("127.0.0.1:0", path, [], logger(said)):
            lines = [json.loads(line) for line in said.getvalue().splitlines()]
            told.append([line for line in lines if line["event"] == "database upgraded"])
    ((line,), after) = told
    assert (line["database"], line["before"], line["schema"]) == (str(path), "22", newest_revision())
    assert after == []


# -- from a file
FILE = """
[[ladder]]
name = "duel"
game = "greed"
seats = 2
clock = { base_ms = 300 }
owners = ["ann", "bob"]
house = ["random"]
[[ladder]]
name = "class"
game = "szmal"
"""


def from_file(tmp_path: Path, text: str = FILE) -> dict[str, Any]:
    path = tmp_path / "ladders.toml"
    path.write_text(text, encoding="utf-8")
    return {"defined": read_ladders(path), "file": "ladders.toml"}


def test_ladders_of_a_file_are_made_where_they_are_missing_and_no_others(store: Store, tmp_path: Path) -> None:
    for _ in range(2):
        first, second = found(store, **from_file(tmp_path))
        assert (first.name, second.name) == ("class", "duel")
        assert (second.seats, second.control.base_ms) == (2, 300)
        assert second.terms == LadderTerms(owners=("ann", "bob"), house=("random",))
    assert [ladder.name for ladder in found(store, games=["greed", "bag_o_loot"], **from_file(tmp_path))] == [
        "bag_o_loot",
        "duel",
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("seats = 2", "seats = 3", "ladder duel has seats 3, and 2 in the database; a ladder never changes"),
        ('game = "greed"', 'game = "szmal"', "ladder duel has the game szmal, and greed in the database"),
        ("base_ms = 300", "base_ms = 301", "ladder duel has the clock {'base_ms': 301"),
    ],
)
def test_a_ladder_of_the_file_that_is_another_one_is_a_line(
    store: Store, tmp_path: Path, old: str, new: str, says: str
) -> None:
    found(store, **from_file(tmp_path))
    with pytest.raises(UsageError, match=re.escape(f"ladders.toml: {says}")):
        found(store, **from_file(tmp_path, FILE.replace(old, new)))


SIX = """
[[ladder]]
name = "six"
game = "stolen_treasure"
seats = 6
"""
USELESS = """
[[ladder]]
name = "bags"
game = "bag_o_loot"
settings = { ditch_per_turn = "unlimited" }
"""


def test_a_new_ladder_gets_the_defaults_of_its_number_of_players(store: Store, tmp_path: Path) -> None:
    (six,) = found(store, **from_file(tmp_path, SIX))
    assert (dict(six.settings), store.run(queries.ladder, "six").settings) == ({"target": "1000"}, {"target": "1000"})
    assert found(store, **from_file(tmp_path, SIX)) == [six]


def test_a_ladder_that_was_made_without_a_target_keeps_1500(store: Store, tmp_path: Path) -> None:
    make(store, "six", "stolen_treasure", 6)
    (six,) = found(store, **from_file(tmp_path, SIX))
    assert dict(six.settings) == {}
    assert six.rules.check(6, six.settings).text("target") == "1500"


def test_a_ladder_with_a_setting_without_effect_is_refused_but_opens_if_it_was_made_before(
    store: Store, tmp_path: Path
) -> None:
    with pytest.raises(
        UsageError, match=r"ladder 'bags': setting ditch_per_turn has no effect unless advanced is true"
    ):
        found(store, **from_file(tmp_path, USELESS))
    make(store, "bags", "bag_o_loot", 4, ditch_per_turn="unlimited")
    (bags,) = found(store, **from_file(tmp_path, USELESS))
    assert dict(bags.settings) == {"ditch_per_turn": "unlimited"}


def test_a_house_bot_of_the_file_that_there_is_not_is_refused(store: Store, tmp_path: Path) -> None:
    wanted = from_file(tmp_path, FILE.replace('"random"', '"rando"'))
    with pytest.raises(UsageError, match=r"ladder 'duel': there is no house bot 'rando'; there are: random, greedy, s"):
        found(store, **wanted)
    assert store.run(queries.ladders) == []


def test_a_house_bot_that_an_older_version_took_is_only_told(store: Store) -> None:
    make(store, "duel", "greed", 2)
    store.write(change_ladder, "duel", LadderTerms(house=("rando",)))
    said = io.StringIO()
    (duel,) = found(store, said)
    assert duel.terms.house == ("rando",)
    assert "house bots are not run" in said.getvalue()


def test_a_ladder_of_the_file_has_the_house_bots_that_the_file_names(store: Store, tmp_path: Path) -> None:
    said = io.StringIO()
    for _ in range(2):
        text = '[[ladder]]\nname = "greed"\ngame = "greed"\n'
        (greed,) = found(store, said, **from_file(tmp_path, text), house=["random"])
        assert greed.terms == LadderTerms()
    assert "terms differ" not in said.getvalue()


def test_terms_that_were_changed_since_count_and_that_is_told(store: Store, tmp_path: Path) -> None:
    found(store, **from_file(tmp_path))
    store.write(change_ladder, "duel", LadderTerms(most_bots=3))
    said = io.StringIO()
    assert found(store, said, **from_file(tmp_path))[1].terms == LadderTerms(most_bots=3)
    (line,) = [json.loads(line) for line in said.getvalue().splitlines()]
    assert (line["event"], line["ladder"]) == ("ladder terms differ", "duel")


def test_what_cannot_be_played_is_said_before_anything_is_made(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"ladders\.toml, ladder 'class': no game is called 'chess'"):
        found(store, **from_file(tmp_path, FILE.replace("szmal", "chess")))
    assert store.run(queries.ladders) == []


def test_the_ladder_of_the_page_can_be_played(store: Store, tmp_path: Path) -> None:
    page = (CHECKOUT / "docs/how-to/manage_ladders.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```toml\n(\[\[ladder\]\].*?)^```", page, re.MULTILINE | re.DOTALL)
    (ladder,) = found(store, **from_file(tmp_path, text))
    assert (ladder.name, ladder.seats, ladder.control.bank_ms) == ("class", 3, 5_000)
    terms = ladder.terms
    assert terms.owners == ("ann", "bob", "cid")
    assert terms.is_private
    assert terms.most_bots == 60
    assert terms.frozen is not None
    assert terms.house == ("random", "greedy")
