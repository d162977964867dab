"""An arena plays the ladders that it has leased, and stops in time when it cannot renew its leases."""

from collections.abc import Callable, Mapping
from concurrent.futures import wait
from datetime import UTC, datetime
from typing import cast

import pytest
from google.rpc import error_details_pb2

from cutpurse.leaderboard.arena_store import ArenaStore, Tended
from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.leases import LEASE_S, LadderHolder
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.results import Identity, LadderTerms
from cutpurse.leaderboard.tokens import PEOPLE
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import Logger
from cutpurse.server.matches.other_arenas import elsewhere
from cutpurse.server.parts.cluster.leasing import HOLD_S, RENEW_S, Leasing
from tests.server.small_world import World

B = "b.example:7777"
B_HOLDER = LadderHolder(B, "b 17 0123")
GREED, OTHER = Ladder("greed", "greed", 2), Ladder("other", "greed", 2)


def entry(ladder: Ladder, **terms: object) -> LadderEntry:
    """The ladder, as it is stored."""
    new = ladder.kept
    terms_now = LadderTerms(**terms)  # type: ignore[arg-type]
    return LadderEntry(
        new.name, new.game, new.settings, new.seats, new.clock, new.rating, 0, terms_now, None, new.boards
    )


class Leased:
    """A store that answers as the test says."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.epochs: Mapping[str, int] = {"greed": 1}
        self.elsewhere: Mapping[str, LadderHolder] = {"other": B_HOLDER}
        self.ladders = [entry(GREED), entry(OTHER)]
        self.paused: set[Identity] = set()
        self.is_away = False
        self.asked: list[bool] = []

    def tend(self, now: datetime, takes_more: bool = True) -> Tended:
        self.asked.append(takes_more)
        if self.is_away:
            raise StoreError("connection refused")
        return Tended(self.world.now, self.epochs, self.elsewhere, self.ladders, set(self.paused), [])


class Arena:
    """A lobby in virtual time, and its leases."""

    def __init__(self) -> None:
        self.world = World([])
        self.store = Leased(self.world)
        self.lobby = self.world.lobby
        log = cast("Logger", self.world.log)
        self.leasing = Leasing(
            cast("ArenaStore", self.store), self.lobby, log, lambda: datetime(2026, 1, 1, tzinfo=UTC)
        )
        self.leasing.begin()

    def passes(self, seconds: float) -> None:
        """Let time pass, with a look at the leases at its end and once more when the store has answered."""
        self.world.now += seconds
        for _ in range(2):
            self.leasing.look(self.world.now)
            if self.leasing._tending is not None:
                wait([self.leasing._tending])
        self.leasing.look(self.world.now)

    @property
    def open(self) -> list[str]:
        """The ladders of the open matches."""
        return [match.ladder.name for match in self.lobby.open_matches()]

    def begin_matches(self) -> None:
        self.until(lambda: bool(self.open))

    def until(self, is_so: Callable[[], bool]) -> None:
        """Let bots, lobby and leases go on."""
        for _ in range(1_000):
            if is_so():
                return
            self.world.step()
            self.passes(0.001)
        raise AssertionError("it does not happen")


@pytest.fixture
def arena() -> Arena:
    arena = Arena()
    arena.world.log.warning = lambda *said, **facts: None  # type: ignore[attr-defined]
    return arena


def test_only_leased_ladders_are_played_and_of_the_others_it_says_where(arena: Arena) -> None:
    for name in "ab":
        arena.world.bot(name)
    arena.begin_matches()
    assert set(arena.open) == {"greed"}
    assert arena.lobby.ladders() == {"greed": ["greed", "other"]}
    assert arena.lobby.locate(lambda game, ladder: True, "") == (True, [("other", B)])
    assert arena.lobby.locate(lambda game, ladder: ladder == "other", "") == (False, [("other", B)])
    ending = elsewhere("other", arena.lobby.other_arenas.address_of("other")).ending
    assert (ending.reason, ending.text) == ("ELSEWHERE", f"ladder other is played at {B}: dial there")
    (detail,) = ending.status().details
    info = error_details_pb2.ErrorInfo()
    assert detail.Unpack(info)
    assert dict(info.metadata) == {"address": B}


def test_who_cannot_renew_begins_no_match_and_then_drops_its_ladders(arena: Arena) -> None:
    bots = [arena.world.bot(name, tables=1) for name in "ab"]
    arena.begin_matches()
    arena.store.is_away = True
    arena.passes(HOLD_S + 0.1)
    assert (arena.lobby.is_held, arena.open) == (True, ["greed"])
    arena.passes(LEASE_S - HOLD_S)
    arena.until(lambda: not arena.lobby.own_ladders and all(bot.done for bot in bots))
    assert [result.void_cause for result in arena.world.store.kept.values()] == ["void_server"]
    arena.store.is_away, arena.store.epochs = False, {"greed": 3}
    arena.passes(RENEW_S)
    assert [ladder.name for ladder in arena.lobby.own_ladders] == ["greed"]
    arena.begin_matches()
    assert (arena.lobby.is_held, arena.open) == (False, ["greed"])


def test_a_ladder_that_another_arena_took_is_dropped_at_once(arena: Arena) -> None:
    for name in "ab":
        arena.world.bot(name)
    arena.begin_matches()
    arena.store.epochs, arena.store.elsewhere = {"other": 1}, {"greed": B_HOLDER}
    arena.passes(RENEW_S + 0.1)
    arena.until(lambda: [ladder.name for ladder in arena.lobby.own_ladders] == ["other"])
    assert "greed" not in arena.open
    assert arena.lobby.locate(lambda game, ladder: True, "") == (True, [("greed", B)])


def test_a_ladder_that_was_lost_and_taken_again_is_played_again_when_its_matches_are_void(arena: Arena) -> None:
    for name in "ab":
        arena.world.bot(name)
    arena.begin_matches()
    before = {match.name for match in arena.lobby.open_matches()}
    arena.store.epochs = {"greed": 2}
    arena.passes(RENEW_S + 0.1)
    arena.until(lambda: bool({match.name for match in arena.lobby.open_matches()} - before))
    voided = [name for name, result in arena.world.store.kept.items() if result.is_void]
    assert set(voided) == before
    assert arena.leasing._epochs == {"greed": 2}


def test_what_other_arenas_change_counts_here(arena: Arena) -> None:
    bot = arena.world.bot("a", owner="ann")
    arena.store.ladders = [entry(GREED, owners=("bob",)), entry(OTHER)]
    arena.store.paused = {bot.identity}
    arena.passes(RENEW_S + 0.1)
    (ladder,) = arena.lobby.own_ladders
    assert ladder.terms.owners == ("bob",)
    assert arena.lobby.is_paused(bot.identity)
    arena.store.paused = set()
    arena.passes(RENEW_S + 0.1)
    assert not arena.lobby.is_paused(bot.identity)


def test_the_ladders_of_people_on_its_page_are_always_its_own(arena: Arena) -> None:
    own, other = (
        Ladder(name, "greed", 2, terms=LadderTerms(owners=(PEOPLE,))) for name in ("people.greed.2", "people.greed.3")
    )
    arena.store.epochs = {"greed": 1, own.name: 0}
    arena.store.ladders = [*arena.store.ladders, entry(own, owners=(PEOPLE,)), entry(other, owners=(PEOPLE,))]
    arena.passes(RENEW_S + 0.1)
    assert [ladder.name for ladder in arena.lobby.own_ladders] == ["greed", own.name]
    assert arena.lobby.other_arenas.ladder_named(other.name) is None


def test_who_drains_takes_no_more_ladders(arena: Arena) -> None:
    arena.lobby.drain(arena.world.now)
    arena.passes(RENEW_S + 0.1)
    assert arena.store.asked == [True, False]
