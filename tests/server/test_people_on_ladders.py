"""Ladders that admit people: their terms and clocks, who is let in, and that bots at their tables lose nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

import pytest

from cutpurse.engine.clocks import PEOPLE_CLOCK, TimeControl
from cutpurse.games import GAMES
from cutpurse.leaderboard.results import Identity, LadderTerms
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.access.owners import Grant
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import MIN_BASE_MS, Ladder, ladder_defined
from cutpurse.server.league.messages import bot_name
from cutpurse.server.limits import ServerLimits
from cutpurse.server.matches.requests import MatchRequest
from cutpurse.server.streams.hello import introduction
from cutpurse.v1 import arena_pb2, ladder_pb2
from tests.properties.random_play import RandomGame
from tests.properties.who_sees_what import table_of
from tests.server.session.house import House
from tests.server.small_world import Manner, World
from tests.server.test_terms import refused
from tests.server.test_twin_tables import probe, seat_at

SLOW = Manner(least_s=20.0, most_s=85.0)  # within the clock of people
THINKS = Manner(least_s=1.0, most_s=3.0)
ANN = Identity("ann", "person", "1")


def ladder(name: str = "duel", seats: int = 2, clock: TimeControl = PEOPLE_CLOCK, **terms: object) -> Ladder:
    return Ladder(name, "greed", seats, {}, clock, terms=LadderTerms(**{"admits_people": True} | terms))  # type: ignore[arg-type]


# -- terms
def test_a_ladder_for_people_has_their_clock_unless_it_names_another() -> None:
    defined = ladder_pb2.LadderDefined(name="duel", game="greed", terms=ladder_pb2.LadderTerms(people=True))
    made = ladder_defined(defined)
    assert made.terms.admits_people
    assert made.control == PEOPLE_CLOCK
    defined.clock.base_ms = MIN_BASE_MS
    assert ladder_defined(defined).control == TimeControl(MIN_BASE_MS, PEOPLE_CLOCK.bank_ms, PEOPLE_CLOCK.grace_ms)
    defined.terms.people = False
    defined.ClearField("clock")
    assert ladder_defined(defined).control == TimeControl()


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"boards": 2}, "its boards are rotations, for bots that keep no memory"),
        ({"hosted": True}, "its matches are played by workers, which have no memory of bots"),
    ],
)
def test_a_ladder_on_which_bots_keep_no_memory_gives_them_none(changed: dict[str, object], why: str) -> None:
    fields = {"name": "duel", "game": "greed", "terms": {"memory_kib": 64}} | changed
    with pytest.raises(CallRefused) as problem:
        ladder_defined(ladder_pb2.LadderDefined(**fields))  # type: ignore[arg-type]
    assert problem.value.ending.text == f"bots cannot have a memory of 64 KiB: {why}"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"clock": {"base_ms": 19_999}}, "base_ms is 19,999, and people need at least 20,000 for each decision"),
        ({"boards": 2}, "its boards are of kind rotation, and people play plain ones, where no deal is seen twice"),
        ({"boards": 3}, "its boards are of kind duplicate, and people play plain ones, where no deal is seen twice"),
        ({"hosted": True}, "its matches are played by workers, and people play on the page"),
    ],
)
def test_a_ladder_on_which_people_cannot_play_does_not_admit_them(changed: dict[str, object], why: str) -> None:
    fields = {"name": "duel", "game": "greed", "terms": {"people": True}} | changed
    with pytest.raises(CallRefused) as problem:
        ladder_defined(ladder_pb2.LadderDefined(**fields))  # type: ignore[arg-type]
    assert (problem.value.ending.reason, problem.value.ending.text) == ("SETTINGS", f"people cannot be admitted: {why}")


# -- at the door
PERSON = Grant("ann", "token", ("play",), is_person=True)


def test_people_are_let_in_by_the_same_rules_as_bots() -> None:
    world = World(
        [
            ladder("open"),
            ladder("machines", admits_people=False),
            ladder("of-bob", owners=("bob",)),
            ladder("old", frozen=datetime(2020, 1, 1, tzinfo=UTC)),
            ladder("one-bot", most_bots=1),
            ladder("one-of-each", most_per_owner=1),
        ]
    )
    world.bot("thug", owner="bob")
    world.bot("sneak", owner="ann")

    def check(name: str) -> tuple[str, str]:
        try:
            world.lobby.check(ANN, {"greed": [name]})
        except CallRefused as problem:
            return problem.ending.reason, problem.ending.text
        return "", ""

    assert check("open") == ("", "")
    assert check("machines") == ("NOT_YOURS", "ladder machines admits programs only, and no people")
    assert check("of-bob") == ("NOT_YOURS", "ladder of-bob is not for bots of ann; ask the operator of the server")
    assert check("old")[0] == "FROZEN"
    assert check("one-bot")[0] == "FULL"
    assert check("one-of-each")[1].startswith("ladder one-of-each takes one bot of an owner, and ann has sneak there")


def test_a_program_is_not_called_a_person() -> None:
    world = World([ladder()])
    assert refused(world.lobby, "ann", "duel", bot="person") == (
        "HELLO",
        "'person' is the name of people who play on the page; give the bot another one",
    )


def test_a_person_has_one_version_and_one_table_and_is_lent_to_nobody() -> None:
    hello = arena_pb2.Hello(protocol_major=1, bot="person", version="7", max_tables=9)
    hello.games.add(game="greed", ladders=["duel"])
    told = introduction(hello, PERSON, {"greed": ["duel", "other"]}, ServerLimits())
    assert (told.identity, told.max_tables, told.most_tables, told.declines_requests) == (ANN, 1, 1, True)
    assert bot_name(*told.identity).person
    assert not bot_name("ann", "sneak").person


def test_a_match_with_a_person_is_void_if_the_page_is_lost() -> None:
    house = House()
    games = [arena_pb2.GameWanted(game="greed", ladders=["greed"])]
    ann = house.dial("person", PERSON, games=games).welcomed()
    bob = house.dial("thug", Grant("bob", "other")).welcomed()
    ann.tables(1)
    for peer in (ann, bob):
        peer.link.lost(house.now)
    house.now += house.limits.resume_window_ms / 1_000 + 1.0
    house.sessions.tick(house.now)
    assert len(house.sessions) == 0
    assert house.lobby.lost == [ANN]


def test_it_is_void_too_if_the_page_comes_back_and_the_person_plays_again() -> None:
    house = House()
    games = [arena_pb2.GameWanted(game="greed", ladders=["greed"])]
    house.dial("person", PERSON, games=games).welcomed().tables(1)
    house.dial("person", PERSON, games=games).welcomed()
    assert house.lobby.lost == [ANN]
    house.bad.add(PERSON.token)  # the owner's own doing: the seat is taken over, as that of any bot
    house.sessions.check_tokens(house.now)
    assert house.lobby.lost == [ANN]


# -- play
def test_a_slow_person_is_rated_with_a_bot_that_loses_nothing() -> None:
    world = World([ladder(), ladder("other", admits_people=False)])
    ann = world.bot("person", 1, SLOW, owner="ann")
    bob, cid = (world.bot("thug", 2, THINKS, owner=owner) for owner in ("bob", "cid"))
    ann.plays = lambda game, ladder: ladder == "duel"  # type: ignore[method-assign]
    world.run(lambda: bool(ann.done))
    (match,) = ann.done
    assert match.ended is not None
    assert match.ended.rated
    results = [*world.store.kept.values()]
    assert sum(result.ladder == "other" for result in results) > 3, "the bots' other tables are played on"
    assert all(seat.faults == 0 for result in results for seat in result.seats)
    assert all(result.is_void is False for result in results)
    assert bob.done
    assert cid.done


def test_house_bots_fill_the_table_of_a_person_who_is_alone() -> None:
    world = World([ladder(seats=3, house=("random", "greedy"))])
    ann = world.bot("person", 1, owner="ann")
    for name in ("random", "greedy"):
        world.bot(name, 2, owner=HOUSE)
    world.run(lambda: bool(ann.done))
    (result, *_) = world.store.kept.values()
    assert {seat.player.owner for seat in result.seats} == {"ann", HOUSE}
    assert result.is_rated


def test_an_owner_does_not_meet_their_own_bots() -> None:
    world = World([ladder()])
    ann = world.bot("person", 1, owner="ann")
    world.bot("sneak", 2, owner="ann")
    world.now += 60
    world.run()
    assert world.most_open == 0
    assert not ann.done


def test_a_person_in_line_is_told_when_the_ladder_admits_people_no_more() -> None:
    world = World([ladder()])
    ann = world.bot("person", 1, owner="ann")
    world.run()
    assert ann.problems == []
    world.lobby.set_ladder(ladder(admits_people=False))
    world.run()
    assert ann.problems == [("NOT_YOURS", "ladder duel admits programs only, and no people")]


def test_a_match_that_has_begun_is_rated_though_the_term_changes() -> None:
    world = World([ladder()])
    ann = world.bot("person", 1, SLOW, owner="ann")
    world.bot("thug", 1, owner="bob")
    world.run(lambda: world.lobby.tables == 1)
    world.lobby.set_ladder(ladder(admits_people=False))
    world.run(lambda: bool(ann.done))
    (result,) = world.store.kept.values()
    assert result.is_rated


def test_nobody_requests_a_match_with_a_person() -> None:
    world = World([ladder()])
    world.bot("person", 1, owner="ann")
    world.bot("sneak", 2, owner="ann")
    bots = (ANN, Identity("ann", "sneak", "1"))
    for by, is_admin in (("ann", False), ("host", True)):
        with pytest.raises(CallRefused, match="ann/person:1 is a person, who plays only as ladders pair them"):
            world.lobby.request(MatchRequest("duel", bots, None, by, is_admin), world.now)


def test_a_person_is_sent_the_same_bytes_in_twin_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    game = RandomGame(GAMES["greed"], 3, 1).begin(log=True)
    (viewer,) = game.waiting()
    knowing = table_of("greed")(game, viewer)
    for event in game.log or ():
        knowing.hear(event)
    mine, *theirs = [game, *(twin for seed in range(5) if (twin := knowing.redeal(game, Random(seed))) is not None)]
    assert theirs
    for twin in theirs:
        twin.log = game.log
        probes = [probe(*seat_at(one, "greed", viewer, monkeypatch, people=True)) for one in (mine, twin)]
        assert probes[0] == probes[1]
        assert probes[0][0] is True, "the person is asked"
