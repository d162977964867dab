"""Tournaments on a server: who may start what, a bracket played to its end over restarts, and bots that are away."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import grpc
import pytest

from cutpurse.leaderboard import events, queries, tournaments
from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates
from cutpurse.leaderboard.events import TOURNAMENT, EventEntry
from cutpurse.leaderboard.formats.brackets import ELIMINATION
from cutpurse.leaderboard.formats.duels import ROUND_ROBIN
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.results import FinishedSeat, Identity
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.league_queries import ANYTHING, Answers
from cutpurse.server.league.presence import NOWHERE
from cutpurse.server.logs import logger
from cutpurse.server.matches.requests import MatchRequest
from cutpurse.server.parts.events.event_runner import EventRunner
from cutpurse.server.parts.events.events import EventAnswers, event_forms
from cutpurse.server.parts.events.tournament_play import TournamentPlay
from cutpurse.server.parts.events.tournament_rules import TournamentPlan
from cutpurse.v1 import event_pb2, ladder_pb2
from cutpurse.wire.league import league_at
from tests.leaderboard.sample_results import result
from tests.leaderboard.test_announced import announcement
from tests.looking import looks
from tests.server.arenas import RunningArena, running_arena
from tests.server.league_world import LeagueWorld
from tests.server.raw_bot import RawBot

Bot = ladder_pb2.BotName
OUT = event_pb2.TOURNAMENT_FORMAT_ELIMINATION
ALL = event_pb2.TOURNAMENT_FORMAT_ROUND_ROBIN
TWO: Final = [Bot(owner="ann", bot="sneak"), Bot(owner="bob", bot="thug")]


def wanted(**changed: Any) -> event_pb2.EventRequest:
    fields: dict[str, Any] = {"ladder": "duel", "format": OUT, "bots": TWO}
    return event_pb2.EventRequest(tournament=event_pb2.TournamentRequest(**(fields | changed)))


async def test_people_play_no_tournament(world: LeagueWorld) -> None:
    person = Identity("ann", "person", "1")
    await asyncio.to_thread(world.store.standings(person, datetime.now(UTC)).result)
    bots = [TWO[0], Bot(owner="ann", bot="person")]
    refused = await world.refusal("PlanEvent", "root", event=wanted(bots=bots))
    assert refused == ("SETTINGS", "ann/person:1: people play no tournaments")


@pytest.mark.parametrize(
    ("changed", "reason", "text"),
    [
        (
            {"format": 0},
            "SETTINGS",
            "a tournament has one of these formats: elimination, round_robin, double_elimination",
        ),
        ({"format": 9}, "SETTINGS", "a tournament has one of these formats"),
        ({"best_of": 2}, "SETTINGS", "best of 2: it can be an odd number from 1 to 99"),
        ({"best_of": 101}, "SETTINGS", "best of 101"),
        ({"bots": TWO[:1]}, "SETTINGS", "1 bot: a tournament has 2 to 64"),
        ({"bots": [*TWO, TWO[0]]}, "SETTINGS", "a bot is named twice"),
        ({"bots": [TWO[0], Bot(owner="ann", bot="nobody")]}, "NOT_FOUND", "no bot ann/nobody is known here"),
        ({"top": 2}, "SETTINGS", "name bots, or how many of the best, and not both"),
        ({"top": 2, "bots": []}, "SETTINGS", "the best 2: duel has only 0 bots with a rating"),
        ({"ladder": "nowhere"}, "NOT_FOUND", "no ladder is called 'nowhere' here"),
    ],
)
async def test_what_cannot_be_planned(world: LeagueWorld, changed: dict[str, Any], reason: str, text: str) -> None:
    for method in ("PlanEvent", "StartEvent"):
        told = await world.refusal(method, "root", event=wanted(**changed))
        assert told[0] == reason
        assert told[1].startswith(text)
    assert world.store.run(events.entries, [TOURNAMENT]) == []


async def test_a_plan_is_shown_then_started_as_it_was_and_stopped_by_hosts_only(world: LeagueWorld) -> None:
    plan = (await world.ask("PlanEvent", "root", event=wanted(best_of=3))).event
    assert (plan.event, plan.tournament.best_of, plan.tournament.duels_planned) == ("", 3, 1)
    assert [(one.seed, one.bot.bot, one.bot.version) for one in plan.tournament.standings] == [
        (1, "sneak", "1.0"),
        (2, "thug", "2"),
    ]
    for given, text in (("", "name the plan that is to be started"), ("ab", f"the plan is {plan.plan} now")):
        told = await world.refusal("StartEvent", "root", event=wanted(best_of=3), plan=given)
        assert (told[0], told[1].startswith(text)) == ("BAD_MESSAGE", True)
    for method in ("PlanEvent", "StartEvent"):
        assert (await world.refusal(method, "ann", event=wanted()))[0] == "TOKEN_SCOPE"
    shown = (await world.ask("StartEvent", "root", event=wanted(best_of=3), plan=plan.plan, force=True)).event
    assert (shown.plan, shown.started_by, shown.outcome) == (plan.plan, "root", "")
    async for _ in looks():
        shown = (await world.ask("GetEvent", "", event=shown.event)).event
        if shown.waits_for:
            break
    assert shown.waits_for == "ann/sneak:1.0 is paused, bob/thug:2 is away"
    assert [event.event for event in (await world.ask("ListEvents", "bob")).events] == [shown.event]
    assert (await world.refusal("StopEvent", "ann", event=shown.event))[0] == "TOKEN_SCOPE"
    stopped = (await world.ask("StopEvent", "root", event=shown.event)).event
    assert (stopped.outcome, stopped.ended_ms > 0) == ("stopped", True)
    again = await world.refusal("StopEvent", "root", event=shown.event)
    assert again == ("SETTINGS", f"event {shown.event} has ended already: stopped")
    acts = (Path(world.store.database.beside).parent).glob("*acts*")
    said = "".join(path.read_text(encoding="utf-8") for path in acts)
    assert f"{shown.event} on duel, plan {plan.plan}" in said
    assert "tournament stopped" in said


async def test_a_start_says_who_is_away_and_is_refused_while_fewer_than_two_can_play(world: LeagueWorld) -> None:
    three = wanted(bots=[*TWO, Bot(owner="ann", bot="hush")])
    plan = (await world.ask("PlanEvent", "root", event=three)).event
    assert {one.bot.bot: one.why for one in plan.absent} == {"sneak": "is paused", "thug": "is away", "hush": "is away"}
    async with RawBot(world.arena.address, world.tokens["ann"]) as ann:
        await ann.hello("hush", version="1")
        reason, text = await world.refusal("StartEvent", "root", event=three, plan=plan.plan)
        assert reason == "SETTINGS"
        assert text.startswith(
            "2 of 3 cannot play now: ann/sneak:1.0 is paused, bob/thug:2 is away; a tournament needs"
        )
        assert world.store.run(events.entries, [TOURNAMENT]) == []
        async with RawBot(world.arena.address, world.tokens["bob"]) as bob:
            await bob.hello("thug", version="2")
            started = (await world.ask("StartEvent", "root", event=three, plan=plan.plan)).event
            assert [(one.bot.bot, one.why) for one in started.absent] == [("sneak", "is paused")]


async def test_a_tournament_has_a_bounded_number_of_boards(world: LeagueWorld) -> None:
    bots = [Bot(owner="ann", bot=f"bot{number}") for number in range(22)]
    for bot in bots:
        world.store.write(ensure_version, "ann", bot.bot, "1")
    asked = wanted(format=ALL, best_of=99, bots=bots)
    assert await world.refusal("PlanEvent", "root", event=asked) == (
        "SETTINGS",
        "231 duels, best of 99: a tournament has 20,000 boards at most",
    )


async def test_seeds_follow_the_ratings_and_the_best_can_be_taken(world: LeagueWorld) -> None:
    for number in range(4):
        players = [Identity("bob", "thug", "2"), Identity("ann", "sneak", "1.0")]
        world.store.submit(result(f"more{number}", players, [2, 1] if number else [1, 2], ladder="duel")).result()
        world.store.submit(result(f"again{number}", players, ladder="duel")).result()
    world.store.write(put_estimates, world.store.run(ladder_results, "duel").estimates(), datetime.now(UTC))
    told = await world.refusal("PlanEvent", "root", event=wanted(bots=[], top=2))
    assert told == ("SETTINGS", "the best 2: duel has only 2 bots with a rating, 1 of them paused")
    fox = Identity("cid", "fox", "1")
    world.store.submit(result("third", [Identity("ann", "sneak", "1.0"), fox], ladder="duel")).result()
    world.store.write(put_estimates, world.store.run(ladder_results, "duel").estimates(), datetime.now(UTC))
    best = (await world.ask("PlanEvent", "root", event=wanted(bots=[], top=2))).event
    assert [one.bot.bot for one in best.tournament.standings] == ["thug", "fox"]
    assert [(one.bot.bot, one.why, one.is_left_out) for one in best.absent] == [
        ("sneak", "is paused and left out", True),
        ("thug", "is away", False),
        ("fox", "is away", False),
    ]
    named = [TWO[0], Bot(owner="ann", bot="hush"), TWO[1]]
    plan = (await world.ask("PlanEvent", "root", event=wanted(bots=named))).event
    assert [one.bot.bot for one in plan.tournament.standings] == ["thug", "sneak", "hush"]
    assert plan.plan != best.plan


async def test_at_most_four_are_played_at_a_time(world: LeagueWorld) -> None:
    plan = (await world.ask("PlanEvent", "root", event=wanted())).event.plan
    for _ in range(4):
        await world.ask("StartEvent", "root", event=wanted(), plan=plan, force=True)
    told = await world.refusal("StartEvent", "root", event=wanted(), plan=plan, force=True)
    assert told == ("FULL", "4 tournaments are being played, as many as may: wait for one, or stop it")
    told = await world.refusal("DeleteLadder", "root", ladder="duel")
    assert told[0] == "BAD_MESSAGE"


async def test_a_tournament_is_seen_by_those_who_see_its_ladder_and_its_results(world: LeagueWorld) -> None:
    bots = [Bot(owner="ann", bot="hush"), Bot(owner="cid", bot="hush_too")]
    entry = {"ladder": "hidden", "bots": bots}
    plan = (await world.ask("PlanEvent", "root", event=wanted(**entry))).event.plan
    name = (await world.ask("StartEvent", "root", event=wanted(**entry), plan=plan, force=True)).event.event
    for who in ("", "bob"):
        assert (await world.ask("ListEvents", who)).events == []
        told = await world.refusal("GetEvent", who, event=name)
        assert told == ("NOT_FOUND", f"there is no event '{name}' here")
    assert (await world.ask("GetEvent", "cid", event=name)).event.ladder == "hidden"
    until = datetime.now(UTC) + timedelta(hours=1)
    terms = {"owners": ["ann", "cid"], "private": True, "results_hidden_until_ms": int(until.timestamp() * 1_000)}
    await world.ask("ChangeLadder", "root", ladder="hidden", terms=terms)
    for fields in ({"event": name}, {"ladder": "hidden"}):
        method = "GetEvent" if "event" in fields else "ListEvents"
        told = await world.refusal(method, "cid", **fields)
        assert told == ("NOT_YOURS", f"results of hidden are hidden until {until:%Y-%m-%d %H:%M} UTC")
    assert (await world.ask("ListEvents", "cid")).events == []
    assert (await world.ask("GetEvent", "root", event=name)).event.event == name


# -- played to the end
LADDER: Final = Ladder("duel", "greed", 2, matches_wanted=0)


async def play(address: str, name: str) -> None:
    """Take the first option of every decision, without end."""
    async with RawBot(address) as bot:
        await bot.hello(name, version="1", max_tables=4)
        while True:
            await bot.play_on()


@asynccontextmanager
async def playing(arena: RunningArena, names: Sequence[str]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(play(arena.address, name)) for name in names]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def call(arena: RunningArena, method: str, **fields: Any) -> Any:
    service = event_pb2.DESCRIPTOR.services_by_name["EventService"].full_name
    request = getattr(event_pb2, f"{method}Request")(**fields)
    async with grpc.aio.insecure_channel(arena.address) as channel:
        answer: bytes = await channel.unary_unary(f"/{service}/{method}")(request.SerializeToString(), timeout=240)
    return getattr(event_pb2, f"{method}Response").FromString(answer)


@pytest.mark.full
async def test_a_bracket_of_three_goes_on_after_a_restart_and_ends(tmp_path: Path) -> None:
    names = ("one", "two", "three")
    bots = [Bot(bot=name) for name in names]
    asked = wanted(best_of=3, bots=bots)
    async with running_arena(tmp_path, [LADDER]) as arena, playing(arena, names):
        async for _ in looks():
            if len(arena.opened.lobby.here()) == len(names):
                break
        plan = (await call(arena, "PlanEvent", event=asked)).event.plan
        name = (await call(arena, "StartEvent", event=asked, plan=plan)).event.event
        async for _ in looks():
            if arena.opened.store.run(tournaments.boards, name):
                break
    async with running_arena(tmp_path, [LADDER]) as arena, playing(arena, names):
        async for _ in looks():
            if arena.opened.store.run(events.entry, name).ended is not None:
                break
        shown = (await call(arena, "GetEvent", event=name)).event
        assert (shown.outcome, shown.tournament.duels_over, shown.plan) == ("finished", 2, plan)
        assert [(duel.round, duel.is_bye, duel.is_over) for duel in shown.tournament.duels] == [
            (1, True, True),
            (1, False, True),
            (2, False, True),
        ]
        winner = shown.tournament.standings[0]
        assert (winner.rank, winner.is_out, winner.seed) == (1, False, shown.tournament.duels[2].winner)
        matches = {one.match: one for one in arena.opened.store.run(queries.matches, "duel", limit=100)}
        for duel in shown.tournament.duels:
            for number, board in enumerate(duel.boards):
                seats = [seat.bot for seat in matches[board.match].seats]
                by_seed = {one.seed: one.bot.bot for one in shown.tournament.standings}
                order = (duel.first, duel.second) if number % 2 == 0 else (duel.second, duel.first)
                assert seats == [by_seed[seed] for seed in order], "they swap seats"
        assert {one.sequence for one in matches.values()} == {None}, "nothing is rated"
        assert arena.opened.store.run(queries.rankings, "duel") == []
        assert '"level":"error"' not in arena.log.replace(" ", "")
    with league_at(db=str(tmp_path / "test.db"), as_stranger=True) as league:  # and without a server
        assert league.GetEvent(event_pb2.GetEventRequest(event=name)).event == shown
        listed = league.ListEvents(event_pb2.ListEventsRequest(ladder="duel")).events
        assert [event.event for event in listed] == [name]


# -- bots that are away, and matches that are lost, with a lobby in which the test plays
class Lobby:
    """Requests begin at once, and are played until the test ends them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.gone: set[str] = set()
        self.asked: dict[str, MatchRequest] = {}
        self.told: dict[str, str] = {}
        self.refuses = ""

    def request(self, wanted: MatchRequest, now: float) -> str:
        if self.refuses:
            raise CallRefused("FULL", self.refuses)
        name = f"{len(self.asked):032x}"
        self.asked[name], self.told[name] = wanted, "open"
        played = result(name, wanted.bots, ladder="duel", requested_by=wanted.by)
        self.store.announce(announcement(played, wanted.event_board)).result()
        return name

    def requested(self, name: str) -> str:
        return self.told.get(name, "")

    def away(self, ladder: str, bots: Sequence[Identity]) -> dict[Identity, str]:
        return {bot: "is away" for bot in bots if bot.bot in self.gone}


class Played:
    """A tournament of a store, looked at when the test says so."""

    def __init__(
        self,
        store: Store,
        format_: str = ELIMINATION,
        count: int = 2,
        best_of: int = 1,
        epoch_of: Callable[[str], int | None] | None = None,
    ) -> None:
        self.store, self.lobby = store, Lobby(store)
        store.write(ensure_ladder, LADDER.kept)
        self.bots = tuple(Identity("ann", f"bot{number}", "1") for number in range(count))
        for bot in self.bots:
            store.write(ensure_version, *bot)
        plan = TournamentPlan("duel", format_, best_of, self.bots)
        entry = store.write(tournaments.start, EventEntry("t", "duel", "root", plan.text, datetime.now(UTC)), 9)
        self.log = io.StringIO()
        said, utc = logger(self.log, "debug"), lambda: datetime.now(UTC)
        self.play = TournamentPlay(store, self.lobby, said, utc, epoch_of=epoch_of, away_s=0.0)
        self.runner = EventRunner(store, [self.play], said, epoch_of)
        self.play.take((entry, ()), 0 if epoch_of is None else epoch_of("duel") or 0)

    async def follow(self) -> None:
        await self.runner.follow(self.play)

    async def look(self) -> list[TournamentBoardEntry]:
        await self.play.look("t")
        return list(self.store.run(tournaments.boards, "t"))

    def end(self, match: str, scores: list[int], **more: Any) -> None:
        """End a match of the lobby with scores by seat."""
        seats = self.lobby.asked[match].bots
        played = result(match, seats, scores, ladder="duel", is_rated=False, requested_by="root", **more)
        self.store.submit(played).result()
        del self.lobby.told[match]


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store(tmp_path / "league.db") as store:
        yield store


async def test_a_bot_that_is_away_loses_its_boards_and_both_lose_them_if_both_are(store: Store) -> None:
    played = Played(store, ROUND_ROBIN, 3)
    played.lobby.gone = {"bot1", "bot2"}
    boards = await played.look()
    assert [(board.duel, board.match, board.result) for board in boards] == [
        (0, "", "10"),
        (1, "", "10"),
        (2, "", "00"),
    ]
    await played.look()
    assert store.run(events.entry, "t").outcome == "finished"
    answers = Answers(store, lambda: datetime.now(UTC))
    request = event_pb2.GetEventRequest(event="t")
    shown = EventAnswers(store, answers, event_forms(store, answers)).get(request, ANYTHING, NOWHERE).event
    assert (shown.outcome, {one.rank for one in shown.tournament.standings}) == ("nobody played", {0})


async def test_a_bot_that_comes_back_in_time_loses_nothing(store: Store) -> None:
    played = Played(store)
    played.play._away_s = 3_600.0
    played.lobby.gone = {"bot1"}
    assert await played.look() == []
    assert played.play.waits_for("t") == "ann/bot1:1 is away"
    played.lobby.gone = set()
    (board,) = await played.look()
    assert (board.result, played.play.waits_for("t")) == ("", "")
    played.end(board.match, [1, 2])
    await played.look()
    await played.look()
    assert (store.run(events.entry, "t").outcome, store.run(tournaments.boards, "t")[0].result) == (
        "finished",
        "01",
    )


async def test_a_void_or_lost_match_is_played_again_and_a_full_queue_waited_for(store: Store) -> None:
    played = Played(store)
    played.lobby.refuses = "256 matches wait for their bots already; ask again later"
    assert await played.look() == []
    assert played.play.waits_for("t") == played.lobby.refuses
    played.lobby.refuses = ""
    (first,) = await played.look()
    played.lobby.told[first.match] = "dropped: its bots did not have a free table"
    (second,) = await played.look()
    assert second.match != first.match
    nobody = tuple(FinishedSeat(bot, None, None, "void_server") for bot in played.bots)
    played.end(second.match, [2, 1], seats=nobody, void_cause="void_server")
    (third,) = await played.look()
    assert third.match not in (first.match, second.match)
    played.end(third.match, [2, 1])
    await played.look()
    await played.look()
    assert store.run(events.entry, "t").outcome == "finished"
    assert store.run(tournaments.boards, "t") == [TournamentBoardEntry(0, 0, third.match, "10")]


async def test_what_a_killed_server_left_counts_if_its_result_was_stored_and_is_played_again_otherwise(
    store: Store,
) -> None:
    killed = Played(store, ROUND_ROBIN, 3)
    finished, unfinished, unannounced = await killed.look()
    killed.end(finished.match, [1, 2])  # nobody looks at it before the kill
    store.write(tournaments.put_board, "t", replace(unannounced, match="ffff"))  # as earlier versions requested it
    store.void_unfinished(datetime.now(UTC))
    log = logger(io.StringIO(), "debug")
    after = TournamentPlay(store, killed.lobby, log, lambda: datetime.now(UTC))
    await EventRunner(store, [after], log).follow(after)
    await after.look("t")
    boards = store.run(tournaments.boards, "t")
    assert boards[0] == replace(finished, result="01")
    assert [board.result for board in boards[1:]] == ["", ""]
    assert not {board.match for board in boards[1:]} & {unfinished.match, unannounced.match, "ffff"}
    for board in boards[1:]:
        killed.end(board.match, [2, 1])
    for _ in range(2):
        await after.look("t")
    assert store.run(events.entry, "t").outcome == "finished"
    assert [board.result for board in store.run(tournaments.boards, "t")] == ["01", "10", "10"]


async def test_a_tournament_that_breaks_does_not_stop_the_others(store: Store) -> None:
    played = Played(store)
    broken = played.store.run(events.entry, "t")
    played.play.take((replace(broken, id="broken"), ()), 0)  # it is not stored, so that its boards cannot be announced
    playing = asyncio.create_task(played.runner.run())
    async for _ in looks():
        if store.run(tournaments.boards, "t") and "tournaments" in played.log.getvalue():
            break
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)
    assert [board.result for board in store.run(tournaments.boards, "t")] == [""]


async def test_no_more_than_four_boards_wait_or_are_played_and_none_after_a_stop(store: Store) -> None:
    played = Played(store, ROUND_ROBIN, 8)
    assert len(await played.look()) == 4
    assert len(await played.look()) == 4
    await played.play.drop("t")
    assert len(played.lobby.asked) == 4


# -- several arenas
async def test_a_tournament_is_played_by_the_arena_that_has_its_ladder_from_what_the_database_has(store: Store) -> None:
    epochs: dict[str, int] = {"duel": 1}
    played = Played(store, best_of=3, epoch_of=epochs.get)
    (first,) = await played.look()
    played.end(first.match, [1, 2])
    (counted, second) = await played.look()
    del epochs["duel"]
    played.lobby.gone = {"bot0", "bot1"}  # as a lobby without the ladder says
    assert await played.look() == [counted, second]
    await played.follow()
    assert await played.look() == [counted, second], "not its ladder"
    third = TournamentBoardEntry(0, 1, "there", "01")  # the other arena plays the second board again, and the end
    store.write(tournaments.put_board, "t", third)
    epochs["duel"], played.lobby.gone = 3, set()
    await played.follow()
    await played.look()
    assert store.run(events.entry, "t").outcome == "finished"
    assert store.run(tournaments.boards, "t") == [counted, third]


async def test_a_ladder_that_was_lost_and_taken_again_leaves_nothing_of_before(store: Store) -> None:
    epochs = {"duel": 1}
    played = Played(store, best_of=3, epoch_of=epochs.get)
    (first,) = await played.look()
    there = TournamentBoardEntry(0, 0, "there", "01")
    store.write(tournaments.put_board, "t", there)
    epochs["duel"] = 3
    played.end(first.match, [2, 1])
    assert await played.look() == [there]
    await played.follow()
    (_, second) = await played.look()
    assert (second.board, second.result) == (1, "")


async def test_a_tournament_that_another_arena_started_is_found_and_one_that_it_stopped_is_dropped(
    store: Store,
) -> None:
    played = Played(store, epoch_of=lambda ladder: 1)
    entry = store.run(events.entry, "t")
    other = store.write(tournaments.start, replace(entry, id="other"), 9)
    store.write(events.end, "t", "stopped", datetime.now(UTC))
    await played.follow()
    assert await played.look() == []
    await played.play.look(other.id)
    assert len(store.run(tournaments.boards, other.id)) == 1
    await played.runner.stop(other)
    await played.follow()  # its end is not stored yet
    played.lobby.told.clear()
    await played.play.look(other.id)
    assert len(played.lobby.asked) == 1
