"""Matches on request: who may ask for how many, when they begin, and that nothing is rated and nobody is held up."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.commitment import board_key, chosen_board, commitment
from cutpurse.engine.errors import RecordError
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.match_file_writer import match_file
from cutpurse.leaderboard.results import Identity, LadderTerms, StoreOutcome
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.sdk.matches.match_file import check, read_matches
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.lobby import MatchRequest
from cutpurse.server.matches.requests import (
    MOST,
    MOST_OF_ONE,
    MOST_TOLD,
    MOST_WITH_ONE,
    WAITS_S,
    PendingRequest,
    Requests,
)
from tests.server.small_world import BotThere, Manner, World
from tests.server.stores import match_of
from tests.server.test_pairing import Somebody

SEED = bytes(range(32))


def ask(world: World, bots: Iterable[BotThere], *, by: str = "ann", seed: bytes | None = None) -> str:
    """A match is asked for."""
    return world.lobby.request(MatchRequest("it", tuple(bot.identity for bot in bots), seed, by), world.now)


def two(world: World, tables: int = 1) -> tuple[BotThere, BotThere]:
    """A bot of ann and one of bob."""
    return world.bot("sneak", tables, owner="ann"), world.bot("brute", tables + 1, owner="bob")


def refused(world: World, reason: str, **changed: object) -> str:
    """What is said to a request that is refused."""
    wanted = {"ladder": "it", "bots": (), "seed": None, "by": "ann"} | changed
    with pytest.raises(CallRefused) as told:
        world.lobby.request(MatchRequest(**wanted), world.now)  # type: ignore[arg-type]
    assert told.value.ending.reason == reason
    return told.value.ending.text


# -- one match
def test_a_match_on_request_is_played_in_the_order_of_seats_told_and_not_rated() -> None:
    world = World([Ladder("it", "greed", 2, matches_wanted=0)])
    ann, bob = two(world)
    name = ask(world, (bob, ann))
    assert world.lobby.requested(name) == "waiting"
    world.run(lambda: bool(ann.open) and bool(bob.open))
    assert world.lobby.requested(name) == "open"
    (shown,) = world.lobby.open_matches()
    assert (shown.name, shown.requested_by, shown.seats) == (name, "ann", (bob.identity, ann.identity))
    world.run(lambda: bool(ann.done) and bool(bob.done))
    assert world.lobby.requested(name) == ""
    result = world.store.kept[name]
    assert (result.is_rated, result.requested_by, result.reason) == (False, "ann", "ann asked for it")
    assert (result.void_cause, result.ladder) == (None, "it")
    assert [seat.player for seat in result.seats] == [bob.identity, ann.identity]
    announced = world.store.announced[name]
    assert (announced.requested_by, announced.players) == ("ann", (bob.identity, ann.identity))
    for bot in (ann, bob):
        played = bot.done[0]
        assert played.ended is not None
        assert (played.started.ladder, played.ended.rated, played.ended.voided) == ("", False, False)
    assert world.lobby.is_idle


def test_what_follows_from_a_match_on_request_is_nothing() -> None:
    world = World([Ladder("it", "greed", 2, matches_wanted=0)])
    ann, bob = two(world)
    world.store.follows = lambda result: StoreOutcome(paused=(ann.identity,))  # what no store would say
    ask(world, (ann, bob))
    world.run(lambda: bool(ann.done))
    assert ann.problems == []


def test_the_same_request_with_a_seed_deals_the_same_cards() -> None:
    told: list[tuple[bytes, bytes]] = []
    for _ in range(2):
        world = World([Ladder("it", "greed", 2, matches_wanted=0)], seed=f"world {len(told)}")
        ann, bob = two(world)
        names = [ask(world, (ann, bob), seed=SEED) for _ in range(2)]
        world.run(lambda bots=(ann, bob): all(len(bot.done) == 2 for bot in bots))  # type: ignore[misc]
        for name in names:
            deal = world.store.kept[name].deal
            assert (deal.seed, deal.board) == (SEED, name)
            assert deal.commitment == commitment(SEED, deal.params)
            told.append((deal.params, match_of(world.store.kept[name]).key))
        for played in (*ann.done, *bob.done):
            assert played.ended is not None
            assert played.started.board == json.loads(played.ended.opening.params)["board"] == chosen_board(SEED)
            assert played.started.commitment == commitment(played.ended.opening.seed, played.ended.opening.params)
    assert len(set(told)) == 1
    assert told[0][1] == board_key(SEED, told[0][0])


def test_without_a_seed_no_two_have_the_same_board() -> None:
    world = World([Ladder("it", "greed", 2, matches_wanted=0)])
    ann, bob = two(world)
    for _ in range(3):
        ask(world, (ann, bob))
    world.run(lambda: len(world.store.kept) == 3)
    assert len({result.deal.board for result in world.store.kept.values()}) == 3
    assert all(json.loads(one.deal.params)["board"] == one.deal.board for one in world.store.kept.values())


def test_bots_of_one_owner_may_meet_on_request() -> None:
    world = World([Ladder("it", "greed", 2)])
    bots = [world.bot(name, owner="ann") for name in ("sneak", "brute")]
    world.run()
    assert not world.store.kept  # on the ladder they do not
    ask(world, bots)
    world.run(lambda: len(world.store.kept) == 1)


def test_house_bots_take_the_seats_that_nobody_was_chosen_for() -> None:
    world = World([Ladder("it", "greed", 4, terms=LadderTerms(house=("random", "greedy")), matches_wanted=0)])
    ann = world.bot("sneak", owner="ann")
    for name in ("search", "random", "greedy"):
        world.bot(name, owner=HOUSE)
    name = ask(world, [ann], by="ann")
    world.run(lambda: name in world.store.kept)
    seats = [seat.player for seat in world.store.kept[name].seats]
    assert seats[0] == ann.identity
    assert {one.bot for one in seats[1:]} == {"search", "random", "greedy"}


def test_of_more_house_bots_than_are_missing_those_of_the_ladder_and_the_least_busy_are_taken() -> None:
    world = World([Ladder("it", "greed", 4, terms=LadderTerms(house=("random",)), matches_wanted=0)])
    ann = world.bot("sneak", owner="ann")
    for name, tables in (("search", 3), ("first_option", 1), ("greedy", 2), ("random", 1)):
        world.bot(name, tables, owner=HOUSE)
    name = ask(world, [ann])
    world.run(lambda: name in world.store.kept)
    assert [seat.player.bot for seat in world.store.kept[name].seats] == ["sneak", "random", "search", "greedy"]


def test_a_house_bot_that_was_chosen_sits_once_and_one_that_does_not_play_the_game_nowhere() -> None:
    world = World([Ladder("it", "greed", 3)])
    ann = world.bot("sneak", owner="ann")
    chosen = world.bot("greedy", owner=HOUSE)
    world.bot("random", owner=HOUSE, games=["szmal"])
    text = refused(world, "NOT_FOUND", bots=(ann.identity, chosen.identity))
    assert text == "ladder it has 3 seats: 2 named bots and 0 house bots here do not fill them"


def test_house_bots_that_are_not_there_take_no_seat_nor_does_anybody_in_their_stead() -> None:
    world = World([Ladder("it", "greed", 4)])
    ann, _ = two(world)
    world.bot("random", owner=HOUSE)
    text = refused(world, "NOT_FOUND", bots=(ann.identity,))
    assert text == "ladder it has 4 seats: 1 named bot and 1 house bot here do not fill them"  # bob's is none


def test_a_frozen_ladder_lends_its_rules() -> None:
    world = World([Ladder("it", "greed", 2)])
    ann, bob = two(world)
    ladder = world.lobby.ladder_named("it")
    assert ladder is not None
    world.lobby.set_ladder(Ladder("it", "greed", 2, terms=LadderTerms(frozen=world.lobby._utc())))
    name = ask(world, (ann, bob))
    world.run(lambda: name in world.store.kept)
    assert len(world.store.kept) == 1


def not_removed(world: World, ladder: str) -> None:
    with pytest.raises(CallRefused) as told:
        world.lobby.remove_ladder(ladder)
    text = f"a match is being played on ladder {ladder}, and a ladder that has a match is kept"
    assert (told.value.ending.reason, told.value.ending.text) == ("BAD_MESSAGE", text)


def test_a_ladder_whose_rules_a_match_on_request_is_played_by_is_not_removed() -> None:
    world = World([Ladder("it", "greed", 2, matches_wanted=0)])
    name = ask(world, two(world))
    world.run(lambda: world.lobby.requested(name) == "open")
    not_removed(world, "it")
    world.run(lambda: name in world.store.kept)
    assert not world.store.kept[name].is_void


def test_what_waits_for_a_ladder_that_is_removed_is_dropped() -> None:
    world = World([Ladder("it", "greed", 2, matches_wanted=0), Ladder("rated", "greed", 2, matches_wanted=1)])
    ann, bob = two(world)
    world.run(lambda: bool(world.lobby.open_matches()))
    name = ask(world, (ann, bob))
    not_removed(world, "rated")
    world.lobby.remove_ladder("it")
    assert world.lobby.requested(name) == "dropped: ladder it was deleted"
    assert [bot.ladders for bot in world.lobby.here()] == [("rated",)] * 2
    world.run()
    assert [(result.ladder, result.void_cause) for result in world.store.kept.values()] == [("rated", None)]
    assert ann.problems == bob.problems == []
    world.lobby.set_ladder(Ladder("it", "szmal", 2))  # the name may be that of another game later
    world.run(lambda: len(world.store.kept) == 3)
    assert {result.ladder for result in world.store.kept.values()} == {"rated", "it"}


# -- who is first
def test_a_request_comes_before_the_ladders_own_matches() -> None:
    world = World([Ladder("it", "greed", 2)])
    ann, bob = two(world)
    world.run(lambda: len(world.store.kept) == 2)
    before = set(world.store.kept)
    name = ask(world, (ann, bob))
    world.run(lambda: name in world.store.kept)
    assert len(world.store.kept.keys() - before) <= 2  # the one that was being played, and this


def test_a_table_that_is_kept_is_not_given_away() -> None:
    """Ann's bots are free in turn, never at the same time, unless their next free table is kept."""
    world = World([Ladder("it", "greed", 2)])
    manner = Manner(least_s=0.01, most_s=0.02)
    first, second = (world.bot(name, 1, manner, owner="ann") for name in ("sneak", "brute"))
    for at in range(4):
        world.bot(f"bot{at}", 2, manner, owner=f"owner{at}")
    world.run(lambda: len(world.store.kept) == 20)
    name = ask(world, (first, second))
    asked_at = world.now
    world.run(lambda: name in world.store.kept)
    assert world.now - asked_at < 15.0
    assert not world.store.kept[name].is_void


def test_tables_of_others_are_kept_only_when_ones_own_are_free() -> None:
    requests, own = Requests(), Somebody("own", 0, owner="ann")
    other = Somebody("other", 2, owner="bob")
    here = {one.identity: one for one in (own, other)}
    ladder = Ladder("it", "greed", 2)
    requests.ask(PendingRequest("m", ladder, tuple(here), None, "ann", WAITS_S))
    assert requests.next(here, 0.0) is None
    assert list(requests.reserved) == [own]
    own.max_tables, other.sits_at = 1, 1
    assert requests.next(here, 1.0) is None
    assert list(requests.reserved) == [other, own]
    other.sits_at = 0
    found = requests.next(here, 2.0)
    assert found is not None
    assert (found[0].name, found[1]) == ("m", [own, other])


def test_tables_of_others_are_kept_only_when_all_ones_own_are_free() -> None:
    requests = Requests()
    first, second = Somebody("first", 1, owner="ann"), Somebody("second", 0, owner="ann")
    other = Somebody("other", 0, owner="bob")
    here = {one.identity: one for one in (first, second, other)}
    requests.ask(PendingRequest("m", Ladder("it", "greed", 3), tuple(here), None, "ann", WAITS_S))
    assert requests.next(here, 0.0) is None
    assert list(requests.reserved) == [first, second]


@pytest.mark.parametrize(("tables", "begins"), [(1, False), (2, True)])
def test_a_table_that_is_kept_for_somebody_else_is_not_for_a_request(tables: int, begins: bool) -> None:
    requests = Requests()
    ann, bob = Somebody("sneak", tables, owner="ann"), Somebody("brute", 2, owner="bob")
    here = {one.identity: one for one in (ann, bob)}
    requests.ask(PendingRequest("m", Ladder("it", "greed", 2), tuple(here), None, "ann", WAITS_S))
    assert (requests.next(here, 0.0, [ann]) is not None) == begins


def test_what_waits_for_another_bot_and_another_ladder_is_not_dropped() -> None:
    requests = Requests()
    ann, bob = Identity("ann", "sneak", "1"), Identity("bob", "brute", "1")
    for name, ladder, bot in (("m0", "it", ann), ("m1", "it", bob), ("m2", "other", bob)):
        requests.ask(PendingRequest(name, Ladder(ladder, "greed", 2), (bot,), None, "ann", WAITS_S))
    requests.forget(ann, "it is paused")
    assert [requests.told(name) for name in ("m0", "m1", "m2")] == ["dropped: it is paused", "waiting", "waiting"]
    requests.forget_ladder("other", "it is gone")
    assert [requests.told(name) for name in ("m1", "m2")] == ["waiting", "dropped: it is gone"]


def test_what_was_to_begin_and_cannot_is_dropped_and_holds_nobody_up() -> None:
    requests, ladder = Requests(), Ladder("it", "greed", 2)
    ann, bob = Somebody("sneak", 1, owner="ann"), Somebody("brute", 2, owner="bob")
    here = {one.identity: one for one in (ann, bob)}
    for name in ("m0", "m1"):
        requests.ask(PendingRequest(name, ladder, tuple(here), None, "ann", WAITS_S))
    assert requests.next(here, 0.0) is not None
    assert (requests.told("m0"), requests.is_open_on("it"), requests.next(here, 0.0)) == ("open", True, None)
    requests.drop("m0", "it cannot be dealt")
    assert (requests.told("m0"), requests.is_open_on("it")) == ("dropped: it cannot be dealt", False)
    assert requests.next(here, 0.0) is not None  # bob's table is lent to nobody any more


def test_what_became_of_a_request_is_forgotten_after_many_others() -> None:
    requests = Requests()
    for at in range(MOST_TOLD + 1):
        requests.drop(f"m{at}", "why")
    assert [requests.told(f"m{at}") for at in (0, 1, MOST_TOLD)] == ["", "dropped: why", "dropped: why"]


def test_the_first_of_those_that_wait_is_the_first_to_be_dropped() -> None:
    requests, ladder = Requests(), Ladder("it", "greed", 2)
    assert requests.next_event_at() is None
    for name, until in (("m0", 70.0), ("m1", 60.0), ("m2", 80.0)):
        requests.ask(PendingRequest(name, ladder, (), None, "ann", until))
    assert requests.next_event_at() == 60.0


def test_a_bot_sits_in_one_match_at_a_time_that_others_asked_for() -> None:
    requests = Requests()
    ann, bob, victim = (Somebody(name, 8, owner=f"{name}s") for name in ("ann", "bob", "victim"))
    here = {one.identity: one for one in (ann, bob, victim)}
    ladder = Ladder("it", "greed", 2)
    for at in range(3):
        by = ann if at % 2 else bob
        requests.ask(PendingRequest(f"m{at}", ladder, (by.identity, victim.identity), None, by.identity.owner, WAITS_S))
    found = requests.next(here, 0.0)
    assert found is not None
    assert requests.next(here, 0.0) is None
    requests.ended(found[0].name)
    assert requests.next(here, 0.0) is not None
    requests.ask(PendingRequest("own", ladder, (ann.identity, victim.identity), None, "victims", WAITS_S))
    found = requests.next(here, 0.0)
    assert found is not None
    assert found[0].name == "own"  # what its own owner asks for is not counted
    assert requests.next(here, 0.0) is None


def test_a_slow_bot_that_asks_again_and_again_does_not_keep_its_rival_from_rated_matches() -> None:
    world = World([Ladder("it", "greed", 2, terms=LadderTerms(owners=("bob", "cid")))])
    slow = world.bot("slow", 8, Manner(least_s=0.9, most_s=0.9), owner="ann")
    rival = world.bot("rival", 2, owner="bob")
    world.bot("other", 2, owner="cid")
    names = [ask(world, (slow, rival)) for _ in range(MOST_WITH_ONE)]
    world.run(lambda: len(world.store.kept) >= 10)
    assert all(one.is_rated for one in world.store.kept.values())
    assert [world.lobby.requested(name) for name in names] == ["open", "waiting", "waiting", "waiting"]


@pytest.mark.parametrize("sits_at", [0, 1])
def test_the_last_free_table_of_another_owners_bot_is_never_taken_nor_kept(sits_at: int) -> None:
    requests = Requests()
    ann, bob, cid = (Somebody(name, 1, owner=f"{name}s") for name in ("ann", "bob", "cid"))
    bob.max_tables, bob.sits_at, cid.max_tables = 1 + sits_at, sits_at, 8
    here = {one.identity: one for one in (ann, bob, cid)}
    requests.ask(PendingRequest("m", Ladder("it", "greed", 3), tuple(here), None, "anns", WAITS_S))
    assert requests.next(here, 0.0) is None
    assert (bob in requests.reserved) == (sits_at == 1)  # one that plays elsewhere meanwhile is kept, and waited for
    assert requests.next(here, WAITS_S) is None
    assert "its last free table is for its ladders: bobs/bob:1" in requests.told("m")


def test_a_bot_of_one_table_and_one_that_declines_are_asked_for_by_their_owners_only() -> None:
    world = World([Ladder("it", "greed", 2, matches_wanted=0)])
    ann, bob = two(world)
    bob.max_tables = 1
    bots = (ann.identity, bob.identity)
    assert "bob/brute:1 has one table, which is for its ladders" in refused(world, "NOT_YOURS", bots=bots)
    bob.max_tables, bob.declines_requests = 8, True
    assert refused(world, "NOT_YOURS", bots=bots).startswith("bob/brute:1 declines requests")
    name = ask(world, (world.bot("second", 1, owner="bob"), bob), by="bob")
    world.run(lambda: name in world.store.kept)


def test_an_admin_asks_for_bots_of_one_table_too_but_not_for_those_that_decline() -> None:
    world = World([Ladder("it", "greed", 2, matches_wanted=0)])
    bots = world.bot("sneak", 1, owner="ann"), world.bot("brute", 2, owner="bob")
    for bot in bots:
        bot.max_tables = 1
    wanted = MatchRequest("it", tuple(bot.identity for bot in bots), None, "staff", is_by_admin=True)
    names = [world.lobby.request(wanted, world.now) for _ in range(MOST_OF_ONE)]
    world.run(lambda: all(name in world.store.kept for name in names))
    bots[1].declines_requests = True
    told = refused(world, "NOT_YOURS", bots=wanted.bots, by="staff", is_by_admin=True)
    assert told == "bob/brute:1 declines requests: only its owner may ask for matches with it"


def test_one_owner_has_a_few_open_requests_with_one_bot_of_another() -> None:
    requests, ladder = Requests(), Ladder("it", "greed", 2)
    seats = (Identity("ann", "sneak", "1"), Identity("bob", "brute", "1"))
    for at in range(MOST_WITH_ONE):
        requests.ask(PendingRequest(f"m{at}", ladder, seats, None, "ann", WAITS_S))
    with pytest.raises(CallRefused, match="4 matches with bob/brute:1 that ann asked for wait or are played"):
        requests.ask(PendingRequest("more", ladder, seats, None, "ann", WAITS_S))
    requests.ask(PendingRequest("other", ladder, (seats[0], Identity("cid", "brute", "1")), None, "ann", WAITS_S))
    requests.ask(PendingRequest("his", ladder, seats, None, "bob", WAITS_S))
    requests.drop("m0", "it cannot be dealt")
    requests.ask(PendingRequest("more", ladder, seats, None, "ann", WAITS_S))


def test_who_is_away_for_a_moment_is_waited_for() -> None:
    world = World([Ladder("it", "greed", 2, matches_wanted=0)])
    ann, bob = two(world)
    name = ask(world, (ann, bob))
    bob.lose_stream(30.0)
    world.run(lambda: name in world.store.kept)
    assert world.now > 1_030.0


def test_a_request_that_cannot_begin_within_a_minute_is_dropped_and_says_why() -> None:
    world = World([Ladder("it", "greed", 2, matches_wanted=0)])
    ann, bob = two(world)
    bob.max_tables = 0
    name = ask(world, (ann, bob))
    world.run(lambda: world.lobby.requested(name) != "waiting")
    assert 1_060.0 <= world.now < 1_060.1
    told = world.lobby.requested(name)
    assert told.startswith("dropped: its bots did not have a free table at the same time within 60 s")
    assert "no free table: bob/brute:1" in told
    bob.max_tables = 1
    world.lobby.changed(bob)
    world.run()
    assert not world.store.kept
    assert world.lobby.is_idle


def test_while_all_tables_are_taken_a_request_costs_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = TimeControl(base_ms=40_000)
    world = World([Ladder("it", "greed", 2, {}, slow)], most_tables=1)
    silent = Manner(never=1.0)
    ann, bob = (world.bot(name, 2, silent, owner=f"{name}s") for name in ("ann", "bob"))
    world.run(lambda: world.lobby.tables == 1)
    name = ask(world, (ann, bob), by="anns")
    ticks: list[float] = []
    true = world.lobby.tick

    def tick(now: float) -> None:
        ticks.append(now)
        assert len(ticks) < 10_000
        true(now)

    monkeypatch.setattr(world.lobby, "tick", tick)
    world.run(lambda: bool(world.store.kept))
    assert world.now > 1_000.0 + WAITS_S
    assert len(ticks) < 100  # though the request was due a minute after it was asked for
    world.run(lambda: world.lobby.requested(name) != "waiting")
    assert world.lobby.requested(name).startswith("dropped: ")


def test_while_nothing_can_be_stored_a_request_costs_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World([Ladder("it", "greed", 2)])
    ann, bob = two(world, tables=2)
    world.store.is_broken = True
    world.run(lambda: not world.lobby.is_storing and world.lobby.tables == 0)
    ask(world, (ann, bob))
    began, ticks = world.now, 0
    true = world.lobby.tick

    def tick(now: float) -> None:
        nonlocal ticks
        ticks += 1
        assert ticks < 10_000
        true(now)

    monkeypatch.setattr(world.lobby, "tick", tick)
    world.run(lambda: world.now > began + 2 * WAITS_S)
    assert ticks < 5 * WAITS_S  # the store is offered what waits once a second, and the request was due long ago


def test_of_who_left_it_is_said_that_he_is_not_here() -> None:
    world = World([Ladder("it", "greed", 2, matches_wanted=0)])
    ann, bob = two(world)
    name = ask(world, (ann, bob))
    bob.lose_stream(None)
    world.run()
    assert "not here: bob/brute:1" in world.lobby.requested(name)


def test_while_nothing_can_be_stored_nothing_that_was_asked_for_begins() -> None:
    world = World([Ladder("it", "greed", 2)])
    ann, bob = two(world, tables=2)
    world.store.is_broken = True
    world.run(lambda: not world.lobby.is_storing)
    name = ask(world, (ann, bob))
    until = world.now + 5.0
    world.run(lambda: world.now > until)
    assert world.lobby.requested(name) == "waiting"
    world.store.is_broken = False
    world.run(lambda: name in world.store.kept)


# -- who is refused
def test_what_cannot_be_played_is_refused() -> None:
    world = World([Ladder("it", "greed", 2), Ladder("hers", "greed", 2, terms=LadderTerms(("bob",), is_private=True))])
    ann, bob = two(world)
    cid = world.bot("picky", owner="cid", games=["szmal"])
    both = (ann.identity, bob.identity)
    text = refused(world, "NOT_FOUND", bots=both, ladder="other")
    assert text == "no ladder is called 'other'; there are: it"
    text = refused(world, "NOT_FOUND", bots=(ann.identity, Identity("dan", "gone", "1")))
    assert text == "dan/gone:1 is not here; here are: ann/sneak:1, bob/brute:1"
    assert "does not want to play it" in refused(world, "NOT_FOUND", bots=(ann.identity, cid.identity))
    assert "0 bots for 2 seats" in refused(world, "SETTINGS")
    assert "3 bots for 2 seats" in refused(world, "SETTINGS", bots=(*both, cid.identity))
    assert "once" in refused(world, "SETTINGS", bots=(ann.identity, ann.identity))
    assert "a seed has 32 bytes, this one has 5" in refused(world, "SETTINGS", bots=both, seed=b"short")
    world.lobby.drain(world.now)
    refused(world, "DRAINING", bots=both)
    assert not world.lobby.is_storing or world.lobby.requested("") == ""


def test_who_names_a_bot_that_has_just_gone_is_told_of_nobody_on_other_peoples_ladders() -> None:
    mine, theirs = (LadderTerms(owners=(owner,), is_private=True) for owner in ("ann", "bob"))
    world = World([Ladder("it", "greed", 2, terms=mine), Ladder("other", "greed", 2, terms=theirs)])
    ann, _ = two(world)  # both want to play whatever there is
    text = refused(world, "NOT_FOUND", bots=(ann.identity, Identity("ann", "gone", "1")))
    assert text == "ann/gone:1 is not here; here are: ann/sneak:1"


def test_what_a_stranger_writes_is_made_legible() -> None:
    world = World([Ladder("it", "greed", 2)])
    text = refused(world, "NOT_FOUND", ladder="\x1b[31m" * 1_000)
    assert text.isprintable()
    assert len(text) < 200
    text = refused(world, "NOT_FOUND", bots=(Identity("\n" * 10_000, "b", "1"),))
    assert text.isprintable()
    assert len(text) < 300


def test_no_owner_has_more_than_a_few_at_a_time_and_all_together_not_too_many() -> None:
    requests, ladder = Requests(), Ladder("it", "greed", 2)
    seats = (Identity(HOUSE, "greedy", "1"), Identity(HOUSE, "random", "1"))
    for at in range(MOST):
        requests.ask(PendingRequest(f"m{at}", ladder, seats, None, f"owner{at // MOST_OF_ONE}", WAITS_S))
    for by, why in (("owner0", f"{MOST_OF_ONE} matches that owner0 asked for"), ("another", f"{MOST} matches wait")):
        with pytest.raises(CallRefused, match=why) as told:
            requests.ask(PendingRequest("more", ladder, seats, None, by, WAITS_S))
        assert told.value.ending.reason == "FULL"
    assert requests.next({}, WAITS_S) is None
    assert len(requests) == 0
    requests.ask(PendingRequest("more", ladder, seats, None, "owner0", 2 * WAITS_S))
    assert [requests.told("m0")[:8], requests.told("more")] == ["dropped:", "waiting"]


def test_what_an_owner_asked_for_and_is_being_played_counts() -> None:
    requests, ladder = Requests(), Ladder("it", "greed", 2)
    ann, bob = Somebody("sneak", 1, owner="ann"), Somebody("brute", 2, owner="ann")
    here = {one.identity: one for one in (ann, bob)}
    for at in range(MOST_OF_ONE):
        requests.ask(PendingRequest(f"m{at}", ladder, tuple(here), None, "ann", WAITS_S))
    assert requests.next(here, 0.0) is not None
    more = PendingRequest("more", ladder, tuple(here), None, "ann", WAITS_S)
    with pytest.raises(CallRefused, match="8 matches that ann asked for wait or are played"):
        requests.ask(more)
    requests.ask(replace(more, name="his", by="bob"))
    requests.ended("m0")
    requests.ask(more)
    assert requests.told("more") == "waiting"


def test_a_paused_bot_is_not_to_be_asked_for_and_what_waits_for_it_is_dropped() -> None:
    world = World([Ladder("it", "greed", 2)])
    ann, bob = two(world)
    bob.max_tables = 2
    other = world.bot("slow", 0, owner="ann")
    name = ask(world, (ann, other))
    world.lobby._attendance.pause(ann.identity)
    assert "bot check BOT --unpause" in refused(world, "PAUSED", bots=(ann.identity, bob.identity))
    world.lobby._requests.forget(ann.identity, "ann/sneak:1 is paused")
    assert world.lobby.requested(name) == "dropped: ann/sneak:1 is paused"


# -- with the leaderboard
def test_the_leaderboard_keeps_both_matches_of_one_chosen_seed_and_rates_neither(tmp_path: Path) -> None:
    ladder = Ladder("it", "greed", 2, matches_wanted=0)
    world = World([ladder])
    ann, bob = two(world)
    names = [ask(world, (ann, bob), seed=SEED) for _ in range(2)]
    world.run(lambda: len(world.store.kept) == 2)
    with Store(tmp_path / "it.db") as store:
        store.write(ensure_ladder, ladder.kept)
        for name in names:
            store.announce(world.store.announced[name])
            assert store.submit(world.store.kept[name]).result(240) == StoreOutcome()
        assert store.void_unfinished(datetime.now(UTC)) == []
        assert store.run(queries.rankings, "it") == []
        for name in names:
            entry = store.run(queries.match, name)
            assert (entry.is_rated, entry.requested_by, entry.sequence) == (False, "ann", None)
            assert [seat.place for seat in entry.seats] == [seat.place for seat in world.store.kept[name].seats]
            (filed,) = read_matches(match_file(entry, store.run(queries.record, name)).encode())
            assert "the seed was chosen by who asked for the match: the board follows from it" in check(filed).checked
            other = match_file(replace(entry, requested_by=""), store.run(queries.record, name))
            with pytest.raises(RecordError, match="has other board than the head"):
                check(next(iter(read_matches(other.encode()))))


def test_what_was_announced_and_cut_off_is_void_at_the_next_start(tmp_path: Path) -> None:
    ladder = Ladder("it", "greed", 2)
    world = World([ladder])
    ann, bob = two(world, tables=3)
    asked = ask(world, (ann, bob))
    world.run(lambda: len(world.store.kept) == 1)
    with Store(tmp_path / "it.db") as store:
        store.write(ensure_ladder, ladder.kept)
        for announced in world.store.announced.values():
            store.announce(announced)
        for result in world.store.kept.values():
            store.submit(result).result(240)
    with Store(tmp_path / "it.db") as store:
        cut_off = store.void_unfinished(datetime.now(UTC))
        assert set(cut_off) == world.store.announced.keys() - world.store.kept.keys()
        assert len(cut_off) >= 2
        for name, announced in world.store.announced.items():
            entry = store.run(queries.match, name)
            assert (entry.void_cause is not None) is (name in cut_off)
            assert [(seat.owner, seat.bot) for seat in entry.seats] == [seat[:2] for seat in announced.players]
            assert (entry.requested_by, entry.reason) == ("ann" if name == asked else "", announced.reason)
