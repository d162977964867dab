"""People who play on the page: their ladders, token and opponents, and that other ladders lose nothing to them."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutpurse.games import GAMES
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.owner_registry import NewToken
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE, new_token
from cutpurse.server.access.owners import ANYBODY, Grant, HouseGuard, OpenGuard
from cutpurse.server.hosting.house_processes import House
from cutpurse.server.hosting.page import Page
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.ladder_setup import LadderSelection, played
from cutpurse.server.logs import logger
from cutpurse.server.matches.requests import MOST_OF_ONE, MatchRequest
from cutpurse.server.people import CLOCK, MAX_PEOPLE, is_people_ladder, people_ladder, seat_counts
from cutpurse.server.web.seat.seats import PageSeats
from cutpurse.wire.connection import Dialling
from tests.sdk.test_command_line import run
from tests.server.small_world import World
from tests.server.test_house import HERE, Programs, bearing

NOW = datetime(2026, 11, 26, tzinfo=UTC)


def test_each_game_has_a_ladder_for_each_number_of_players_that_the_house_can_sit_down_with() -> None:
    assert seat_counts("greed", ["random"]) == [2]
    assert seat_counts("greed", ["random", "greedy", "search"]) == [2, 3, 4]
    assert seat_counts("steal_and_plunder", ["random"]) == []
    ladders = LadderSelection(house=("random", "greedy"), people=True).people_ladders
    assert {ladder.game for ladder in ladders} == set(GAMES)
    for ladder in ladders:
        assert ladder.name == people_ladder(ladder.game, ladder.seats)
        assert len(ladder.name) <= 32
        assert is_people_ladder(ladder.name)
        assert ladder.is_for_people
        assert ladder.control == CLOCK
        assert ladder.terms.house == ("people.random", "people.greedy")
    assert LadderSelection(house=("random",)).people_ladders == []


def test_a_server_keeps_their_ladders_and_follows_a_change_of_the_house(tmp_path: Path) -> None:
    log = logger(said := io.StringIO())
    with Store(tmp_path / "test.db") as store:
        selection = LadderSelection(games=["greed"], house=("random",), people=True)
        assert [ladder.name for ladder in played(store, selection, NOW, log)] == ["greed", "people.greed.2"]
        selection = LadderSelection(games=["greed"], house=("greedy", "random"), people=True)
        ladders = {ladder.name: ladder for ladder in played(store, selection, NOW, log)}
        assert list(ladders) == ["greed", "people.greed.2", "people.greed.3"]
        assert ladders["people.greed.2"].terms.house == ("people.greedy", "people.random")
    assert "people." not in said.getvalue()


def test_a_match_begins_on_their_ladders_only_on_request() -> None:
    (ladder, *_) = LadderSelection(games=["greed"], house=("random",), people=True).people_ladders
    world = World([ladder])
    person = world.bot("person-1", 1, owner=PEOPLE)
    other = world.bot("person-2", 1, owner=PEOPLE)
    house = world.bot("people.random", MOST_OF_ONE + 2, owner=HOUSE)
    stranger = world.bot("sneak", 4, owner="ann")
    world.now += 60
    world.run()
    assert world.most_open == 0
    assert stranger.problems
    for bots in ((house, person), (other, house)):
        world.lobby.request(MatchRequest(ladder.name, tuple(bot.identity for bot in bots), None, PEOPLE), world.now)
    world.run(lambda: bool(person.done) and bool(other.done))
    assert world.most_open == 2
    assert all(not one.ended.rated for one in (*person.done, *other.done) if one.ended is not None)


def test_they_may_have_more_matches_at_once_than_an_owner() -> None:
    (ladder, *_) = LadderSelection(games=["greed"], house=("random",), people=True).people_ladders
    world = World([ladder, Ladder("it", "greed", 2, matches_wanted=0)])
    house = world.bot("people.random", MOST_OF_ONE + 2, owner=HOUSE)
    people = [world.bot(f"person-{number}", 1, owner=PEOPLE) for number in range(MOST_OF_ONE + 2)]
    for person in people:
        bots = (person.identity, house.identity)
        world.lobby.request(MatchRequest(ladder.name, bots, None, PEOPLE), world.now)
    world.run(lambda: all(person.done for person in people))


def test_their_token_lets_in_people_and_rules_nothing() -> None:
    token = new_token()
    guard = HouseGuard(HouseGuard(OpenGuard(), new_token()), token, PEOPLE)
    assert guard.enter(bearing(token.reveal()), HERE, "play", 0.0) == Grant(PEOPLE, token.id, ("play", "read"))
    assert guard.enter(bearing(new_token().reveal()), HERE, "play", 0.0) == ANYBODY
    with pytest.raises(InvalidEntry, match=r"the owner people is reserved for people who play on the page"):
        NewToken(PEOPLE)


def test_each_house_bot_has_a_second_process_for_people() -> None:
    programs, said = Programs(), io.StringIO()
    house = House(["random"], logger(said), programs, people=5, people_ladders=["people.greed.2", "people.szmal.2"])
    house.look("127.0.0.1:1", 0.0)
    (_, usual, *_), (name, command, environment, nice) = programs.started
    assert "--ladder" not in usual
    assert name == "people.random"
    words = " ".join(command)
    assert "bot run random --name people.random" in words
    assert "--tables 5" in words
    assert "--first-tables 5" in words
    assert "--first-tables" not in usual
    assert "--ladder people.greed.2 --ladder people.szmal.2" in words
    assert environment["CUTPURSE_TOKEN"] == house.token.reveal()
    assert nice > 0


def test_the_page_has_a_token_only_where_people_play() -> None:
    programs, said = Programs(), io.StringIO()
    with Page("127.0.0.1:0", logger(said), programs) as page:
        page.look("127.0.0.1:1", 0.0)
        assert page.token is None
    with Page("127.0.0.1:0", logger(said), programs, people=3, house=["random", "greedy"]) as page:
        page.look("127.0.0.1:1", 0.0)
        assert page.token is not None
        secret = page.token.reveal()
    (_, plain, without, _), (_, command, environment, _) = programs.started
    assert without["CUTPURSE_TOKEN"] == ""
    assert "--people" not in plain
    assert command[-4:] == ("--people", "3", "--house", "random,greedy")
    assert environment["CUTPURSE_TOKEN"] == secret
    assert secret not in " ".join(command) + said.getvalue()


def test_an_address_has_half_of_the_seats_or_as_many_as_the_server_says() -> None:
    programs = Programs()
    with Page("127.0.0.1:0", logger(io.StringIO()), programs, people=30, people_share=28, house=["random"]) as page:
        page.look("127.0.0.1:1", 0.0)
    ((_, command, _, _),) = programs.started
    assert "--people-per-address 28 --people 30" in " ".join(command)
    dials = Dialling("127.0.0.1:1")
    assert [PageSeats(dials, 30, ["random"], share).share for share in (0, 28)] == [15, 28]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--people", "4"), "--people 4: people play house bots on the page; add --web and --house"),
        (("--people", "4", "--web", "127.0.0.1:0"), "add --web and --house"),
        (("--people", "-1"), f"--people -1: it can be 0 to {MAX_PEOPLE}"),
        (("--people", "1000"), f"--people 1000: it can be 0 to {MAX_PEOPLE}"),
        (("--people-per-address", "1"), "--people-per-address 1: it can be 1 to the number of --people"),
    ],
)
def test_a_number_of_people_that_cannot_be_is_refused(tmp_path: Path, words: tuple[str, ...], line: str) -> None:
    shown = run("serve", "--db", str(tmp_path / "test.db"), *words)
    assert shown.exit_code == 2
    assert line in " ".join(shown.stderr.split())
    assert not (tmp_path / "test.db").exists()
