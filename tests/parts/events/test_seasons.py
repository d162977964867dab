"""Seasons as they are played: phases that each happen once, and bots that come, leave and come back."""

from __future__ import annotations

import asyncio
import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from cutpurse.leaderboard import events, queries, seasons, tournaments
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.events import FINISHED, STOPPED, TOURNAMENT, EventEntry
from cutpurse.leaderboard.ladders import delete_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.queries import Ranking
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.results import Identity, LadderTerms
from cutpurse.leaderboard.seasons import SeasonState
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from cutpurse.server.errors import CallRefused
from cutpurse.server.installed_parts import write_hooks
from cutpurse.server.ladder_config import DivisionMembers, Ladder
from cutpurse.server.league.league_queries import ANYTHING, Answers
from cutpurse.server.league.presence import NOWHERE
from cutpurse.server.logs import logger
from cutpurse.server.matches.ladder_terms import OtherEntrants, check_entry, may_play
from cutpurse.server.parts.events.events import EventAnswers, event_forms
from cutpurse.server.parts.events.season_plan import DivisionPlan, FinalPlan, SeasonPlan
from cutpurse.server.parts.events.season_play import SeasonPlay
from cutpurse.server.parts.events.tournament_rules import TournamentPlan
from cutpurse.server.parts.notices import receivers
from cutpurse.server.parts.notices.kind import NOTICES
from cutpurse.server.parts.notices.receivers import NewReceiver
from cutpurse.v1 import event_pb2
from tests.leaderboard.sample_results import result
from tests.leaderboard.store_calls import replace_call

DAWN: Final = datetime(2027, 1, 1, 6, 0, tzinfo=UTC)
FROZEN: Final = LadderTerms(frozen=DAWN)


# -- phases, with a clock and a lobby in which the test plays
@dataclass(frozen=True)
class Online:
    """A bot in the lobby of the test."""

    identity: Identity
    ladders: tuple[str, ...]
    takes_requests: bool = True


class Lobby:
    """A lobby whose bots and matches are what the test says."""

    def __init__(self, online: set[str]) -> None:
        self.ladders: dict[str, Ladder] = {}
        self.members: dict[str, DivisionMembers] = {}
        self.online = online
        self.busy: set[str] = set()
        self.unknown: set[str] = set()
        self.paused: set[str] = set()

    def here(self) -> Sequence[Online]:
        return [
            Online(
                Identity(name, name, "1"),
                tuple(
                    ladder
                    for ladder, members in self.members.items()
                    if members.admits(name, name) and name not in self.paused
                ),
            )
            for name in sorted(self.online)
        ]

    def plays(self, ladder: str) -> bool:
        return ladder not in self.unknown

    def set_ladder(self, ladder: Ladder) -> None:
        assert ladder.members is not None
        self.ladders[ladder.name] = ladder
        self.members[ladder.name] = ladder.members

    def set_members(self, name: str, members: DivisionMembers) -> None:
        self.members[name] = members

    def is_quiet(self, name: str) -> bool:
        return name not in self.busy


class Finals:
    """Finals as the test ends them."""

    def __init__(self) -> None:
        self.begun: list[EventEntry] = []
        self.dropped: list[str] = []

    def begin(self, entry: EventEntry) -> None:
        self.begun.append(entry)

    async def drop(self, event: str) -> None:
        self.dropped.append(event)


class Played:
    """The seasons of a store, looked at when the test says so; `restart` forgets all that is not stored."""

    def __init__(self, store: Store, **changed: Any) -> None:
        self.store, self.now, self.seconds = store, DAWN, 0.0
        facts: dict[str, Any] = {
            "ladder": Ladder("cup", "greed", 2),
            "divisions": (
                DivisionPlan(2, 1, (("a", "a"), ("b", "b"))),
                DivisionPlan(2, 1, (("c", "c"), ("d", "d"))),
                DivisionPlan(0, 0, (("e", "e"), ("f", "f"))),
            ),
            "matches": 2,
            "lasts_s": 3_600,
            "ends": None,
            "pause_s": 60,
            "seasons": 2,
            "away_s": 100,
            "final": FinalPlan(2, 1),
        }
        self.plan = SeasonPlan(**(facts | changed))
        for name in "abcdefgh":
            store.write(ensure_version, name, name, "1")
        self.count = 0
        self.lobby = Lobby(set("abcdef"))
        self.restart()
        new = EventEntry("s", "", "root", self.plan.text, DAWN, name="cup")
        state = store.write(seasons.start, new, self.plan.first_season(DAWN), 9)
        loaded = self.play.load(state.series)
        assert loaded is not None
        self.play.take(loaded, 0)

    def restart(self) -> None:
        self.lobby = Lobby(self.lobby.online)
        self.finals, self.log = Finals(), io.StringIO()
        self.play = SeasonPlay(self.store, self.lobby, logger(self.log, "debug"), lambda: self.now, self.finals)
        self.play.restore()

    def look(self, seconds: float = 1.0) -> SeasonState:
        """Look once, after a time; return the newest season."""
        self.now += timedelta(seconds=seconds)
        self.seconds += seconds

        async def look() -> None:
            loop = asyncio.get_running_loop()
            loop.time = lambda: self.seconds  # type: ignore[method-assign]
            await self.play.look("s")

        asyncio.run(look())
        return self.state

    @property
    def state(self) -> SeasonState:
        return self.store.run(seasons.state, "s")

    def match(self, division: int, first: str, second: str, times: int = 1) -> None:
        """Store matches that `first` wins."""
        for _ in range(times):
            self.count += 1
            players = [Identity(name, name, "1") for name in (first, second)]
            ladder = self.state.ladders[division - 1]
            self.store.submit(result(f"m{self.count}", players, ladder=ladder)).result()

    def play_all(self) -> None:
        """Play the matches of the first season: in each division the second bot wins."""
        for division, (first, second) in enumerate((("b", "a"), ("d", "c"), ("f", "e")), 1):
            self.match(division, first, second, 2)

    def win_final(self, result: str = "10") -> None:
        """End the final."""
        self.store.write(tournaments.put_board, self.state.tournament, TournamentBoardEntry(0, 0, "x", result))
        self.store.write(events.end, self.state.tournament, "finished", self.now)

    def table(self, state: SeasonState) -> list[tuple[str, int, int | None, int | None]]:
        return [(bot.bot, bot.division, bot.place, bot.next_division) for bot in state.bots]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "league.db", hooks=write_hooks([NOTICES], pytest.fail)) as store:
        yield store


FIRST_TABLE: Final = [("b", 1, 1, 1), ("a", 1, 2, 2), ("d", 2, 1, 1), ("c", 2, 2, 3), ("f", 3, 1, 2), ("e", 3, 2, 3)]


@pytest.mark.parametrize("is_killed", [False, True], ids=["it runs on", "it is killed after each step"])
def test_a_season_goes_through_its_phases_and_each_happens_once(store: Store, is_killed: bool) -> None:
    played = Played(store)

    def look(seconds: float = 1.0) -> SeasonState:
        if is_killed:
            played.restart()
        return played.look(seconds)

    receiver = store.write(receivers.add_receiver, NewReceiver("a", "webhook", "https://a.example/", b"key"), DAWN)
    assert look().phase == "playing"
    played.play_all()
    played.lobby.busy = {"cup-3-s1"}
    ending = look()
    assert (ending.phase, ending.ended) == ("ending", played.now)
    assert {store.run(queries.ladder, name).terms.frozen for name in ending.ladders} == {played.now}
    if not is_killed:
        assert look().phase == "ending", "a match is still being played"
        assert all(ladder.is_frozen(played.now) for ladder in played.lobby.ladders.values())
        assert all(members.is_waiting for members in played.lobby.members.values()), "bots may wait for the final"
    played.lobby.busy = set()
    final = look()
    assert (final.phase, played.table(final)) == ("final", FIRST_TABLE)
    assert look().phase == "final", "it is being played"
    (tournament,) = store.run(events.entries, [TOURNAMENT])
    assert (tournament.id, tournament.started_by, tournament.ladder) == (final.tournament, "root", "cup-1-s1")
    drawn = TournamentPlan.from_text(tournament.plan)
    assert (drawn.format, drawn.best_of, [bot.bot for bot in drawn.bots]) == ("elimination", 1, ["b", "a"])
    played.win_final("01")
    over = look()
    assert (over.phase, over.next_at) == ("break", played.now + timedelta(seconds=60))
    assert store.run(receivers.receiver, receiver.id).waiting == 1, "one notice that the season is over"
    assert look(58.0).phase == "break"
    second = look(2.0)
    assert (second.number, second.phase, second.ladders) == (2, "playing", ("cup-1-s2", "cup-2-s2", "cup-3-s2"))
    assert [(bot.bot, bot.division) for bot in second.bots] == [
        ("b", 1),
        ("d", 1),
        ("a", 2),
        ("f", 2),
        ("c", 3),
        ("e", 3),
    ]
    assert store.run(seasons.state, "s", 1).phase == "over"
    assert next(one for one in played.lobby.here() if one.identity.bot == "a").ladders == ("cup-2-s2",)
    look()
    for division, (one, other) in enumerate((("b", "d"), ("a", "f"), ("c", "e")), 1):
        played.match(division, one, other, 2)
    assert look().phase == "ending"
    last = look()
    assert last.phase == "final"
    assert {bot.next_division for bot in last.bots} == {None}
    played.win_final()
    done = look()
    assert (done.phase, done.next_at, done.series.outcome, done.series.ended) == ("over", None, "finished", played.now)
    assert not any(members.is_waiting for members in played.lobby.members.values())
    assert store.run(receivers.receiver, receiver.id).waiting == 2
    assert look(1_000.0) == done
    assert all(check.equal for check in recompute(store)), "ratings are those of the ledger"


def test_a_season_that_ends_while_the_server_is_down_ends_with_the_matches_by_then(store: Store) -> None:
    played = Played(store, final=None)
    assert played.look().phase == "playing"
    played.match(1, "a", "b", 2)
    played.now += timedelta(days=2)  # the server is down
    played.restart()
    ending = played.look()
    assert (ending.phase, ending.ended) == ("ending", DAWN + timedelta(hours=1)), "as planned, and not when it started"
    assert {ladder.terms.frozen for ladder in played.lobby.ladders.values()} == {DAWN + timedelta(hours=1)}
    over = played.look()
    assert (over.phase, over.tournament, over.next_at) == ("break", "", played.now + timedelta(minutes=1))
    assert [(bot.bot, bot.place, bot.matches) for bot in over.bots] == [
        ("a", 1, 2),
        ("b", 2, 2),
        ("c", 1, 0),
        ("d", 1, 0),
        ("e", 1, 0),
        ("f", 1, 0),
    ]
    assert played.look(60.0).number == 2


def test_the_ladders_of_a_season_with_a_time_freeze_by_themselves(store: Store) -> None:
    played = Played(store)
    assert {store.run(queries.ladder, name).terms.frozen for name in played.state.ladders} == {
        DAWN + timedelta(hours=1)
    }
    ladder = played.lobby.ladders["cup-1-s1"]
    assert (ladder.is_frozen(DAWN), ladder.is_frozen(DAWN + timedelta(hours=1))) == (False, True)


def test_a_bot_that_leaves_keeps_its_place_and_drops_out_of_the_next_season(store: Store) -> None:
    played = Played(store, lasts_s=0, final=FinalPlan(2, 1))
    played.look()
    for division, first, second in ((1, "b", "a"), (3, "f", "e")):
        played.match(division, first, second, 2)
    played.match(2, "c", "d")
    played.lobby.online -= {"c", "d"}
    assert played.look(99.0).phase == "playing"
    assert not any(bot.has_left for bot in played.look(0.5).bots), "the time of the plan is not over"
    played.look(1.0)
    assert {bot.bot for bot in played.state.bots if bot.has_left} == {"c", "d"}
    played.lobby.online |= {"d"}
    played.lobby.paused = {"d"}
    assert played.look().phase == "ending", "c and d are not waited for"
    in_final = played.look()
    assert [(bot.bot, bot.place, bot.next_division) for bot in in_final.bots[2:4]] == [("c", 1, 0), ("d", 2, 0)]
    played.look()
    assert {bot.bot for bot in played.state.bots if bot.has_left} == {"c", "d"}, "a paused bot cannot play"
    played.lobby.paused = set()
    played.look()
    assert {bot.bot for bot in played.state.bots if bot.has_left} == {"c"}, "d is back"
    played.win_final()
    played.look()
    after = [(bot.bot, bot.division) for bot in played.look(60.0).bots]
    assert after == [("b", 1), ("d", 1), ("a", 2), ("f", 2), ("e", 3)]
    played.lobby.online |= {"c"}
    played.look()
    newcomer = played.state.bots[-1]
    assert (newcomer.bot, newcomer.division, newcomer.has_left) == ("c", 3, False), "who comes back begins below"


def test_downtime_is_no_absence(store: Store) -> None:
    played = Played(store)
    played.look()
    played.lobby.online -= {"a"}
    for _ in range(4):
        played.look(60.0)
        played.restart()
    assert not any(bot.has_left for bot in played.state.bots)


def test_newcomers_begin_in_the_lowest_division_and_late_ones_are_not_waited_for(store: Store) -> None:
    played = Played(store)
    played.look()
    played.lobby.online |= {"g"}
    assert [(bot.bot, bot.division, bot.is_late) for bot in played.look().bots[-2:]] == [
        ("f", 3, False),
        ("g", 3, False),
    ]
    played.play_all()
    assert played.look().phase == "playing", "g has played nothing yet"
    played.lobby.online |= {"h"}
    played.look()
    assert [(bot.bot, bot.seed, bot.is_late) for bot in played.state.bots[-2:]] == [("g", 3, False), ("h", 4, True)]
    played.match(3, "g", "f", 4)
    assert played.look().phase == "ending", "h came too late to be waited for"
    table = [(bot.bot, bot.matches, bot.next_division) for bot in played.look().bots if bot.division == 3]
    assert [bot for bot, _, _ in table][-1] == "h"
    assert table[0][::2] == ("g", 2)


def test_a_bot_that_played_between_two_looks_is_in_the_table(store: Store) -> None:
    played = Played(store)
    played.look()
    played.play_all()
    played.match(3, "f", "g")
    played.look()
    played.match(3, "f", "h")
    assert "g" in {bot.bot for bot in played.state.bots}
    played.now += timedelta(hours=2)
    played.look()
    assert played.look().phase == "ending"
    played.restart()
    played.match(3, "f", "new")  # its last match
    played.look()
    assert played.look().phase == "final"
    assert {"g", "h", "new"} <= {bot.bot for bot in played.state.bots if bot.place}


def test_without_seeds_all_begin_below_and_the_first_season_fills_the_divisions(store: Store) -> None:
    played = Played(
        store, divisions=(DivisionPlan(2, 1), DivisionPlan(2, 1), DivisionPlan(0, 0)), final=FinalPlan(2, 1)
    )
    played.look()
    assert {bot.division for bot in played.state.bots} == {3}
    for first, second in itertools.pairwise("abcdefa"):
        played.match(3, first, second, 2)
    assert played.look().phase == "ending"
    over = played.look()
    assert (over.phase, over.tournament) == ("break", ""), "the first division has no bots for a final"
    assert sorted(bot.next_division or 0 for bot in over.bots) == [1, 1, 2, 2, 3, 3]
    assert [bot.division for bot in played.look(60.0).bots] == [1, 1, 2, 2, 3, 3]


def test_a_final_that_a_host_stops_leaves_the_table_to_decide(store: Store) -> None:
    played = Played(store, seasons=1)
    played.look()
    played.play_all()
    played.look()
    state = played.look()
    store.write(events.end, state.tournament, STOPPED, played.now)
    assert played.look().phase == "over"
    assert '"champion":"b/b"' in played.log.getvalue().replace(" ", "")


@pytest.mark.parametrize("final", [None, FinalPlan(2, 1)])
def test_a_season_in_which_nobody_played_has_no_champion(store: Store, final: FinalPlan | None) -> None:
    played = Played(store, seasons=1, matches=0, final=final)
    played.look(3_600.0)
    state = played.look()
    if final is not None:
        store.write(tournaments.put_board, state.tournament, TournamentBoardEntry(0, 0, "", "10"))  # lost by absence
        store.write(events.end, state.tournament, FINISHED, played.now)
        state = played.look()
    answers = Answers(store, lambda: played.now)
    request = event_pb2.GetEventRequest(event=state.series.id)
    season = EventAnswers(store, answers, event_forms(store, answers)).get(request, ANYTHING, NOWHERE).event.season
    assert (state.phase, season.HasField("champion")) == ("over", False)
    if final is not None:
        ranks = {standing.rank for standing in season.final.tournament.standings}
        assert (season.final.outcome, ranks) == ("nobody played", {0})


def test_a_paused_bot_is_not_in_the_final(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(store, divisions=(DivisionPlan(0, 0, (("a", "a"), ("b", "b"), ("c", "c"))),), final=FinalPlan(2, 1))
    played.lobby.online = set("abc")
    played.look()
    for first, second in (("b", "a"), ("a", "c"), ("b", "c")):
        played.match(1, first, second, 2)
    played.look()

    def paused(ladder: str) -> list[Ranking]:
        return [one._replace(is_paused=one.bot == "b") for one in rankings(ladder)]

    rankings = replace_call(monkeypatch, store, queries.rankings, paused)
    played.look()
    (final,) = played.finals.begun
    assert [bot.bot for bot in TournamentPlan.from_text(final.plan).bots] == ["a", "c"]


def test_the_final_is_played_by_the_versions_that_are_online(store: Store) -> None:
    played = Played(store)
    played.look()
    played.play_all()
    played.look()
    played.lobby.here = lambda: [Online(Identity("b", "b", "2"), ("cup-1-s1",))]  # type: ignore[method-assign]
    played.look()
    (final,) = played.finals.begun
    assert [bot.version for bot in TournamentPlan.from_text(final.plan).bots] == ["2", "1"]


def test_a_series_that_is_stopped_freezes_its_ladders_and_its_final(store: Store) -> None:
    played = Played(store)
    played.look()
    played.play_all()
    played.look()
    tournament = played.look().tournament
    stopped = store.write(seasons.stop, "s", played.now)
    assert (stopped.phase, stopped.series.outcome) == ("stopped", "stopped")
    assert store.run(events.entry, tournament).outcome == STOPPED
    asyncio.run(played.play.drop("s"))
    assert (played.finals.dropped, [*played.play.running]) == ([tournament], [])
    assert played.look() == stopped
    assert store.write(seasons.stop, "s", DAWN) == stopped
    assert store.write(seasons.put_table, "s", 1, (), None, None, DAWN) == stopped


def test_a_server_of_other_games_leaves_seasons_alone(store: Store) -> None:
    played = Played(store)
    played.lobby.unknown = {"cup-2-s1"}
    played.play = SeasonPlay(store, played.lobby, logger(played.log, "debug"), lambda: played.now, played.finals)
    played.play.restore()
    assert "this server plays other games" in played.log.getvalue()
    assert played.look(86_400.0).phase == "playing"
    played.restart()
    assert played.look().phase == "ending", "one that plays it goes on"


def test_no_phase_happens_out_of_turn_and_no_division_is_deleted(store: Store) -> None:
    played = Played(store)
    with pytest.raises(InvalidEntry, match="ladder cup-2-s1 is a division of a season, and those are kept"):
        store.write(delete_ladder, "cup-2-s1")
    first = played.look()
    assert store.write(seasons.put_table, "s", 1, first.bots, None, None, DAWN) == first
    assert store.write(seasons.end_final, "s", 1, "a/a", None, DAWN) == first
    assert store.write(seasons.begin_next, "s", 1, played.plan.season(2, DAWN, [[], [], []])) == first
    ending = store.write(seasons.end_play, "s", 1, played.now)
    assert store.write(seasons.end_play, "s", 1, DAWN) == ending


# -- who may come in
def test_a_bot_waits_on_its_frozen_ladder_while_a_season_goes_on() -> None:
    own = DivisionMembers(frozenset({("ann", "bot")}), None, is_waiting=True)
    other = DivisionMembers(frozenset({("bob", "bot")}), None, is_waiting=True)
    past = DivisionMembers(frozenset(), None, is_waiting=False)
    ladders = [
        Ladder(name, "greed", 2, members=members) for name, members in (("one", own), ("two", other), ("old", past))
    ]
    frozen = [Ladder(one.name, "greed", 2, terms=FROZEN, members=one.members) for one in ladders]
    identity = Identity("ann", "bot", "1")
    assert [may_play(ladder, identity) for ladder in ladders] == [True, False, False]

    def check(there: Sequence[Ladder], wanted: dict[str, Sequence[str]]) -> None:
        check_entry(identity, wanted, there, lambda ladder: OtherEntrants(0, ()), is_paused=False, at=DAWN)

    check(ladders, {})
    check(frozen, {})
    with pytest.raises(CallRefused, match="ladder two is a division of a season, and ann/bot is not in it"):
        check(ladders, {"greed": ["two"]})
