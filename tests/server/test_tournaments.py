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

from cutpurse.leaderboard.results import FinishedSeat, Identity
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tournaments import TournamentBoardEntry, TournamentEntry
from cutpurse.server.errors import CallRefused
from cutpurse.server.hosting.tournament_play import MISSES, TournamentPlay
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger
from cutpurse.server.matches.requests import MatchRequest
from cutpurse.server.matches.tournament_rules import ELIMINATION, ROUND_ROBIN, TournamentPlan
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import league_at
from tests.leaderboard.sample_results import result
from tests.looking import looks
from tests.server.arenas import RunningArena, running_arena
from tests.server.dialling import Ended
from tests.server.league_world import LeagueWorld, league_world
from tests.server.raw_bot import RawBot

Bot = ladder_pb2.BotName
OUT = ladder_pb2.TOURNAMENT_FORMAT_ELIMINATION
ALL = ladder_pb2.TOURNAMENT_FORMAT_ROUND_ROBIN
TWO: Final = [Bot(owner="ann", bot="sneak"), Bot(owner="bob", bot="thug")]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[LeagueWorld]:
    async with league_world(tmp_path) as world:
        yield world


def wanted(**changed: Any) -> ladder_pb2.TournamentWanted:
    fields: dict[str, Any] = {"ladder": "duel", "format": OUT, "bots": TWO}
    return ladder_pb2.TournamentWanted(**(fields | changed))


async def refusal(world: LeagueWorld, method: str, who: str, **fields: Any) -> tuple[str, str]:
    with pytest.raises(Ended) as ended:
        await world.ask(method, who, **fields)
    assert "\n" not in ended.value.text
    return ended.value.reason, ended.value.text


async def test_people_play_no_tournament(world: LeagueWorld) -> None:
    person = Identity("ann", "person", "1")
    await asyncio.to_thread(world.store.standings(person, datetime.now(UTC)).result)
    bots = [TWO[0], Bot(owner="ann", bot="person")]
    refused = await refusal(world, "PlanTournament", "root", wanted=wanted(bots=bots))
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
        ({"bots": TWO[:1]}, "SETTINGS", "1 bots: a tournament has 2 to 64"),
        ({"bots": [*TWO, TWO[0]]}, "SETTINGS", "a bot is named twice"),
        ({"bots": [TWO[0], Bot(owner="ann", bot="nobody")]}, "NOT_FOUND", "no bot ann/nobody:newest is known here"),
        ({"top": 2}, "SETTINGS", "name bots, or how many of the best, and not both"),
        ({"top": 2, "bots": []}, "SETTINGS", "the best 2: only 0 bots have a rating on duel"),
        ({"ladder": "nowhere"}, "NOT_FOUND", "no ladder is called 'nowhere' here"),
    ],
)
async def test_what_cannot_be_planned(world: LeagueWorld, changed: dict[str, Any], reason: str, text: str) -> None:
    for method in ("PlanTournament", "StartTournament"):
        told = await refusal(world, method, "root", wanted=wanted(**changed))
        assert told[0] == reason
        assert told[1].startswith(text)
    assert world.store.tournaments() == []


async def test_a_plan_is_shown_then_started_as_it_was_and_stopped_by_hosts_only(world: LeagueWorld) -> None:
    plan = (await world.ask("PlanTournament", "root", wanted=wanted(best_of=3))).tournament
    assert (plan.tournament, plan.best_of, plan.duels_planned) == ("", 3, 1)
    assert [(one.seed, one.bot.bot, one.bot.version) for one in plan.standings] == [
        (1, "sneak", "1.0"),
        (2, "thug", "2"),
    ]
    for given, text in (("", "name the plan that is to be started"), ("ab", f"the plan is {plan.plan} now")):
        told = await refusal(world, "StartTournament", "root", wanted=wanted(best_of=3), plan=given)
        assert (told[0], told[1].startswith(text)) == ("BAD_MESSAGE", True)
    for method in ("PlanTournament", "StartTournament", "StopTournament"):
        assert (await refusal(world, method, "ann"))[0] == "TOKEN_SCOPE"
    shown = (await world.ask("StartTournament", "root", wanted=wanted(best_of=3), plan=plan.plan)).tournament
    assert (shown.plan, shown.started_by, shown.outcome) == (plan.plan, "root", "")
    async for _ in looks():
        shown = (await world.ask("GetTournament", "", tournament=shown.tournament)).tournament
        if shown.waits_for:
            break
    assert shown.waits_for == "ann/sneak:1.0, bob/thug:2 cannot play now"
    assert [one.tournament for one in (await world.ask("ListTournaments", "bob")).tournaments] == [shown.tournament]
    stopped = (await world.ask("StopTournament", "root", tournament=shown.tournament)).tournament
    assert (stopped.outcome, stopped.ended_ms > 0) == ("stopped", True)
    again = await refusal(world, "StopTournament", "root", tournament=shown.tournament)
    assert again == ("SETTINGS", f"tournament {shown.tournament} has ended already: stopped")
    acts = (Path(world.store.database.beside).parent).glob("*acts*")
    said = "".join(path.read_text(encoding="utf-8") for path in acts)
    assert f"{shown.tournament} on duel, plan {plan.plan}" in said
    assert "tournament stopped" in said


async def test_a_tournament_has_a_bounded_number_of_boards(world: LeagueWorld) -> None:
    bots = [Bot(owner="ann", bot=f"bot{number}") for number in range(22)]
    for bot in bots:
        world.store.ensure_version("ann", bot.bot, "1")
    asked = wanted(format=ALL, best_of=99, bots=bots)
    assert await refusal(world, "PlanTournament", "root", wanted=asked) == (
        "SETTINGS",
        "231 duels, best of 99: a tournament has 20,000 boards at most",
    )


async def test_seeds_follow_the_ratings_and_the_best_can_be_taken(world: LeagueWorld) -> None:
    for number in range(4):
        players = [Identity("bob", "thug", "2"), Identity("ann", "sneak", "1.0")]
        world.store.submit(result(f"more{number}", players, [2, 1] if number else [1, 2], ladder="duel")).result()
        world.store.submit(result(f"again{number}", players, ladder="duel")).result()
    world.store.put_estimates(world.store.ladder_estimates("duel"), datetime.now(UTC)).result()
    best = (await world.ask("PlanTournament", "root", wanted=wanted(bots=[], top=2))).tournament
    assert [one.bot.bot for one in best.standings] == ["thug", "sneak"]
    named = [TWO[0], Bot(owner="ann", bot="hush"), TWO[1]]
    plan = (await world.ask("PlanTournament", "root", wanted=wanted(bots=named))).tournament
    assert [one.bot.bot for one in plan.standings] == ["thug", "sneak", "hush"]
    assert plan.plan != best.plan


async def test_at_most_four_are_played_at_a_time(world: LeagueWorld) -> None:
    plan = (await world.ask("PlanTournament", "root", wanted=wanted())).tournament.plan
    for _ in range(4):
        await world.ask("StartTournament", "root", wanted=wanted(), plan=plan)
    told = await refusal(world, "StartTournament", "root", wanted=wanted(), plan=plan)
    assert told == ("FULL", "4 tournaments are being played, as many as may: wait for one, or stop it")
    told = await refusal(world, "DeleteLadder", "root", ladder="duel")
    assert told[0] == "BAD_MESSAGE"


async def test_a_tournament_is_seen_by_those_who_see_its_ladder_and_its_results(world: LeagueWorld) -> None:
    bots = [Bot(owner="ann", bot="hush"), Bot(owner="cid", bot="hush_too")]
    entry = {"ladder": "hidden", "bots": bots}
    plan = (await world.ask("PlanTournament", "root", wanted=wanted(**entry))).tournament.plan
    name = (await world.ask("StartTournament", "root", wanted=wanted(**entry), plan=plan)).tournament.tournament
    for who in ("", "bob"):
        assert (await world.ask("ListTournaments", who)).tournaments == []
        told = await refusal(world, "GetTournament", who, tournament=name)
        assert told == ("NOT_FOUND", f"there is no tournament '{name}' here")
    assert (await world.ask("GetTournament", "cid", tournament=name)).tournament.ladder == "hidden"
    until = datetime.now(UTC) + timedelta(hours=1)
    terms = {"owners": ["ann", "cid"], "private": True, "results_hidden_until_ms": int(until.timestamp() * 1_000)}
    await world.ask("ChangeLadder", "root", ladder="hidden", terms=terms)
    for fields in ({"tournament": name}, {"ladder": "hidden"}):
        method = "GetTournament" if "tournament" in fields else "ListTournaments"
        told = await refusal(world, method, "cid", **fields)
        assert told == ("NOT_YOURS", f"results of hidden are hidden until {until:%Y-%m-%d %H:%M} UTC")
    assert (await world.ask("ListTournaments", "cid")).tournaments == []
    assert (await world.ask("GetTournament", "root", tournament=name)).tournament.tournament == name


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
    service = ladder_pb2.DESCRIPTOR.services_by_name["LadderService"].full_name
    request = getattr(ladder_pb2, f"{method}Request")(**fields)
    async with grpc.aio.insecure_channel(arena.address) as channel:
        answer: bytes = await channel.unary_unary(f"/{service}/{method}")(request.SerializeToString(), timeout=20)
    return getattr(ladder_pb2, f"{method}Response").FromString(answer)


@pytest.mark.full
async def test_a_bracket_of_three_goes_on_after_a_restart_and_ends(tmp_path: Path) -> None:
    names = ("one", "two", "three")
    bots = [Bot(bot=name) for name in names]
    asked = ladder_pb2.TournamentWanted(ladder="duel", format=OUT, best_of=3, bots=bots)
    async with running_arena(tmp_path, [LADDER]) as arena, playing(arena, names):
        async for _ in looks():
            if len(arena.opened.lobby.here()) == len(names):
                break
        plan = (await call(arena, "PlanTournament", wanted=asked)).tournament.plan
        name = (await call(arena, "StartTournament", wanted=asked, plan=plan)).tournament.tournament
        async for _ in looks():
            if arena.opened.store.tournament_boards(name):
                break
    async with running_arena(tmp_path, [LADDER]) as arena, playing(arena, names):
        async for _ in looks():
            if arena.opened.store.tournament(name).ended is not None:
                break
        shown = (await call(arena, "GetTournament", tournament=name)).tournament
        assert (shown.outcome, shown.duels_over, shown.plan) == ("finished", 2, plan)
        assert [(duel.round, duel.is_bye, duel.is_over) for duel in shown.duels] == [
            (1, True, True),
            (1, False, True),
            (2, False, True),
        ]
        winner = shown.standings[0]
        assert (winner.rank, winner.is_out, winner.seed) == (1, False, shown.duels[2].winner)
        matches = {one.match: one for one in arena.opened.store.matches("duel", limit=100)}
        for duel in shown.duels:
            for number, board in enumerate(duel.boards):
                seats = [seat.bot for seat in matches[board.match].seats]
                by_seed = {one.seed: one.bot.bot for one in shown.standings}
                order = (duel.first, duel.second) if number % 2 == 0 else (duel.second, duel.first)
                assert seats == [by_seed[seed] for seed in order], "they swap seats"
        assert {one.sequence for one in matches.values()} == {None}, "nothing is rated"
        assert arena.opened.store.rankings("duel") == []
        assert '"level":"error"' not in arena.log.replace(" ", "")
    with league_at(db=str(tmp_path / "test.db"), as_stranger=True) as league:  # and without a server
        assert league.GetTournament(ladder_pb2.GetTournamentRequest(tournament=name)).tournament == shown
        listed = league.ListTournaments(ladder_pb2.ListTournamentsRequest(ladder="duel")).tournaments
        assert [one.tournament for one in listed] == [name]


# -- bots that are away, and matches that are lost, with a lobby in which the test plays
class Lobby:
    """Requests wait until the test ends them."""

    def __init__(self) -> None:
        self.gone: set[str] = set()
        self.asked: dict[str, MatchRequest] = {}
        self.told: dict[str, str] = {}
        self.refuses = ""

    def request(self, wanted: MatchRequest, now: float) -> str:
        if self.refuses:
            raise CallRefused("FULL", self.refuses)
        name = f"{len(self.asked):032x}"
        self.asked[name], self.told[name] = wanted, "open"
        return name

    def requested(self, name: str) -> str:
        return self.told.get(name, "")

    def away(self, ladder: str, bots: Sequence[Identity]) -> list[Identity]:
        return [bot for bot in bots if bot.bot in self.gone]


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
        self.store, self.lobby = store, Lobby()
        store.ensure(LADDER.kept)
        self.bots = tuple(Identity("ann", f"bot{number}", "1") for number in range(count))
        for bot in self.bots:
            store.ensure_version(*bot)
        plan = TournamentPlan("duel", format_, best_of, self.bots)
        entry = store.start_tournament(TournamentEntry("t", "duel", "root", plan.text, datetime.now(UTC)), 9)
        self.log = io.StringIO()
        said, utc = logger(self.log, "debug"), lambda: datetime.now(UTC)
        self.play = TournamentPlay(store, self.lobby, said, utc, epoch_of=epoch_of, away_s=0.0)
        self.play.start(entry)

    async def look(self) -> list[TournamentBoardEntry]:
        await self.play.look("t")
        return list(self.store.tournament_boards("t"))

    def end(self, match: str, scores: list[int], **more: Any) -> None:
        """End a match of the lobby with scores by seat."""
        seats = self.lobby.asked[match].bots
        self.store.submit(result(match, seats, scores, ladder="duel", is_rated=False, **more)).result()
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
    assert store.tournament("t").outcome == "finished"


async def test_a_bot_that_comes_back_in_time_loses_nothing(store: Store) -> None:
    played = Played(store)
    played.play._away_s = 3_600.0
    played.lobby.gone = {"bot1"}
    assert await played.look() == []
    assert played.play.waits_for("t") == "ann/bot1:1 cannot play now"
    played.lobby.gone = set()
    (board,) = await played.look()
    assert (board.result, played.play.waits_for("t")) == ("", "")
    played.end(board.match, [1, 2])
    await played.look()
    await played.look()
    assert (store.tournament("t").outcome, store.tournament_boards("t")[0].result) == ("finished", "01")


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
    del played.lobby.told[second.match]  # as after kill -9 before its beginning
    for _ in range(MISSES):
        (third,) = await played.look()
    assert third.match not in (first.match, second.match)
    nobody = tuple(FinishedSeat(bot, None, None, "void_server") for bot in played.bots)
    played.end(third.match, [2, 1], seats=nobody, void_cause="void_server")
    (fourth,) = await played.look()
    played.end(fourth.match, [2, 1])
    await played.look()
    await played.look()
    assert store.tournament("t").outcome == "finished"
    assert store.tournament_boards("t") == [TournamentBoardEntry(0, 0, fourth.match, "10")]


async def test_a_tournament_that_breaks_does_not_stop_the_others(store: Store) -> None:
    played = Played(store)
    broken = played.store.tournament("t")
    played.play.start(replace(broken, id="broken"))  # it is not stored, so that its boards cannot be
    played.play.begin()
    async for _ in looks():
        if store.tournament_boards("t") and "tournaments" in played.log.getvalue():
            break
    played.play.close()
    assert [board.result for board in store.tournament_boards("t")] == [""]


async def test_no_more_than_four_boards_wait_or_are_played_and_none_after_a_stop(store: Store) -> None:
    played = Played(store, ROUND_ROBIN, 8)
    assert len(await played.look()) == 4
    assert len(await played.look()) == 4
    played.play.stop("t")
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
    await played.play.follow()
    assert await played.look() == [counted, second], "not its ladder"
    third = TournamentBoardEntry(0, 1, "there", "01")  # the other arena plays the second board again, and the end
    store.put_tournament_board("t", third)
    epochs["duel"], played.lobby.gone = 3, set()
    await played.play.follow()
    await played.look()
    assert store.tournament("t").outcome == "finished"
    assert store.tournament_boards("t") == [counted, third]


async def test_a_ladder_that_was_lost_and_taken_again_leaves_nothing_of_before(store: Store) -> None:
    epochs = {"duel": 1}
    played = Played(store, best_of=3, epoch_of=epochs.get)
    (first,) = await played.look()
    there = TournamentBoardEntry(0, 0, "there", "01")
    store.put_tournament_board("t", there)
    epochs["duel"] = 3
    played.end(first.match, [2, 1])
    assert await played.look() == [there]
    await played.play.follow()
    (_, second) = await played.look()
    assert (second.board, second.result) == (1, "")


async def test_a_tournament_that_another_arena_started_is_found_and_one_that_it_stopped_is_dropped(
    store: Store,
) -> None:
    played = Played(store, epoch_of=lambda ladder: 1)
    entry = store.tournament("t")
    other = store.start_tournament(replace(entry, id="other"), 9)
    store.end_tournament("t", "stopped", datetime.now(UTC))
    await played.play.follow()
    assert await played.look() == []
    await played.play.look(other.id)
    assert len(store.tournament_boards(other.id)) == 1
    played.play.stop(other.id)
    await played.play.follow()  # its end is not stored yet
    played.lobby.told.clear()
    await played.play.look(other.id)
    assert len(played.lobby.asked) == 1
