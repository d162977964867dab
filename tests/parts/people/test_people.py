"""People who play on the page: their ladders, token and opponents, and that other ladders lose nothing to them."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from cutpurse.engine.clocks import PEOPLE_CLOCK
from cutpurse.games import GAMES
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.owner_registry import NewToken
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE, new_token, read_token
from cutpurse.page.seat.seats import PageSeats
from cutpurse.server.access.owners import ANYBODY, Grant, HouseGuard, OpenGuard
from cutpurse.server.hosting.open_arena import open_arena
from cutpurse.server.hosting.page import Page
from cutpurse.server.hosting.part import PartWithSettings
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.ladder_setup import LadderSelection, played
from cutpurse.server.logs import logger
from cutpurse.server.matches.requests import MOST_OF_ONE, MatchRequest
from cutpurse.server.parts.people.kind import MAX_PEOPLE
from cutpurse.server.parts.people.people_house import PeopleHouse
from cutpurse.server.parts.people.people_ladders import people_ladders
from cutpurse.wire.connection import Dialling
from cutpurse.wire.person_names import people_ladder, seat_counts
from tests.looking import until_so
from tests.parts.people.seats import seats_for_people
from tests.server.arenas import running_arena
from tests.server.small_world import World
from tests.server.test_house import HERE, Programs, bearing
from tests.typed import run

NOW = datetime(2026, 11, 26, tzinfo=UTC)


def test_each_game_has_a_ladder_for_each_number_of_players_that_the_house_can_sit_down_with() -> None:
    assert seat_counts("greed", ["random"]) == [2]
    assert seat_counts("greed", ["random", "greedy", "search"]) == [2, 3, 4]
    assert seat_counts("steal_and_plunder", ["random"]) == []
    ladders = people_ladders(("random", "greedy"))
    assert {ladder.game for ladder in ladders} == set(GAMES)
    for ladder in ladders:
        assert ladder.name == people_ladder(ladder.game, ladder.seats)
        assert len(ladder.name) <= 32
        assert ladder.is_for_people
        assert ladder.control == PEOPLE_CLOCK
        assert ladder.terms.house == ("people.random", "people.greedy")


def test_a_server_keeps_their_ladders_and_follows_a_change_of_the_house(tmp_path: Path) -> None:
    log = logger(said := io.StringIO())

    def played_with(house: Sequence[str]) -> Mapping[str, Ladder]:
        parts = [seats_for_people(house, games=["greed"])]
        selection = LadderSelection(games=["greed"], house=house)
        wanted = partial(played, wanted=selection, now=NOW, log=log)
        with open_arena("127.0.0.1:0", tmp_path / "test.db", wanted, log, parts=parts) as opened:
            return {ladder.name: ladder for ladder in opened.lobby.own_ladders}

    assert list(played_with(("random",))) == ["greed", "people.greed.2"]
    ladders = played_with(("greedy", "random"))
    assert list(ladders) == ["greed", "people.greed.2", "people.greed.3"]
    assert ladders["people.greed.2"].terms.house == ("people.greedy", "people.random")
    assert "people." not in said.getvalue()


def test_a_match_begins_on_their_ladders_only_on_request() -> None:
    (ladder, *_) = people_ladders(("random",), ["greed"])
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
    (ladder, *_) = people_ladders(("random",), ["greed"])
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
    house = PeopleHouse(["random"], ["people.greed.2", "people.szmal.2"], 5, logger(said), programs)
    house.look("127.0.0.1:1", 0.0)
    ((name, command, environment, nice),) = programs.started
    assert name == "people.random"
    words = " ".join(command)
    assert "bot run random --name people.random" in words
    assert "--tables 5" in words
    assert "--first-tables 5" in words
    assert "--ladder people.greed.2 --ladder people.szmal.2" in words
    assert environment["CUTPURSE_TOKEN"] == house.token.reveal()
    assert nice > 0


async def page_started(folder: Path, *parts: PartWithSettings) -> tuple[Sequence[str], str, str]:
    """Return the command of the page of a server with these parts, the token that it gets, and the log."""
    programs = Programs()
    async with running_arena(folder, parts=parts) as running:
        with Page("127.0.0.1:0", logger(running.said), programs) as page:
            page.begin(running.opened.arena, "", [part.page() for part in running.opened.parts.values()])
            await until_so(lambda: bool(programs.started))
    ((_, command, environment, _),) = programs.started
    return command, environment["CUTPURSE_TOKEN"], running.log


async def test_the_page_has_a_token_only_where_people_play(tmp_path: Path) -> None:
    command, secret, _ = await page_started(tmp_path)
    assert "--people" not in command
    assert secret == ""
    command, secret, log = await page_started(tmp_path, seats_for_people(["random", "greedy"], 3))
    assert command[-4:] == ("--people", "3", "--house", "random,greedy")
    assert read_token(secret) is not None
    assert secret not in " ".join(command) + log


async def test_an_address_has_half_of_the_seats_or_as_many_as_the_server_says(tmp_path: Path) -> None:
    command, *_ = await page_started(tmp_path, seats_for_people(["random"], 30, of_one_address=28))
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
