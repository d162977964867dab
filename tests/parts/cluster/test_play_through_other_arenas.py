"""Version tests and tournaments of two arenas in PostgreSQL: asked for anywhere, played where their ladder is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from cutpurse.leaderboard import events, leases, tournaments, version_tests
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.server.matches.other_arenas import OtherArena
from cutpurse.server.parts.cluster.part import ClusterPart
from cutpurse.v1 import arena_pb2, event_pb2, ladder_pb2
from tests.looking import looks, until_so
from tests.parts.cluster.two_arenas import FAR, HIDDEN, League, Site, renew, site, two_arenas
from tests.parts.open_parts import part_of
from tests.postgresql_server import PostgresqlServer
from tests.server.dialling import Ended
from tests.server.raw_bot import RawBot

pytestmark = pytest.mark.full
pytest.importorskip("psycopg", reason="psycopg is not installed here: pip install '.[cluster]'")

Bot = ladder_pb2.BotName
NEW, OLD = Bot(bot="sneak", version="2"), Bot(bot="sneak", version="1")
TWO: Final = [Bot(owner="ann", bot="sneak"), Bot(owner="bob", bot="thug")]


@pytest.fixture
def database(postgresql: PostgresqlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A league whose leases do not run out because the machine is slow."""
    monkeypatch.chdir(tmp_path)  # where the acts are noted
    for name in ("LEASE_S", "DELAY_S"):
        monkeypatch.setattr(leases, name, 3_600.0)
    return postgresql.create()


@pytest.fixture
async def league(database: str) -> AsyncIterator[League]:
    async with two_arenas(database) as league:
        for owner, bot, version in (("ann", "sneak", "1"), ("ann", "sneak", "2"), ("bob", "thug", "1")):
            league.a.opened.store.write(ensure_version, owner, bot, version)
        yield league


def wanted(**changed: Any) -> event_pb2.EventRequest:
    fields: dict[str, Any] = {"ladder": "far", "format": event_pb2.TOURNAMENT_FORMAT_ELIMINATION, "bots": TWO}
    return event_pb2.EventRequest(tournament=event_pb2.TournamentRequest(**(fields | changed)))


def described_test(ladder: str, max_boards: int = 0) -> event_pb2.EventRequest:
    test = event_pb2.VersionTestRequest(ladder=ladder, new=NEW, old=OLD, max_boards=max_boards)
    return event_pb2.EventRequest(test=test)


async def started(league: League, one: Site, who: str, ladder: str, max_boards: int = 0) -> event_pb2.EventShown:
    request = described_test(ladder, max_boards)
    plan = (await league.ask(one, "PlanEvent", who, event=request)).event.plan
    answer: event_pb2.StartEventResponse = await league.ask(
        one, "StartEvent", who, event=request, plan=plan, force=True
    )
    return answer.event


async def refusal(asking: Any) -> tuple[str, str]:
    with pytest.raises(Ended) as ended:
        await asking
    return ended.value.reason, str(ended.value.text)


async def test_a_version_test_runs_where_its_ladder_is_and_is_seen_and_stopped_anywhere(league: League) -> None:
    a, b = league.a, league.b
    shown = await started(league, a, "ann", "far")
    assert (a.opened.lobby.tests.running, b.opened.lobby.tests.running) == ([], [shown.event])
    await until_so(lambda: b.opened.lobby.tests.waits_for(shown.event) != "")
    for one in (a, b):
        told = (await league.ask(one, "GetEvent", "ann", event=shown.event)).event
        assert (told.ladder, told.waits_for) == ("far", "ann/sneak:2 is away")
        for who in ("ann", "root"):
            (listed,) = (await league.ask(one, "ListEvents", who)).events
            assert (listed.event, listed.waits_for) == (shown.event, told.waits_for)
        assert not (await league.ask(one, "ListEvents", "bob")).events
        for method in ("GetEvent", "StopEvent"):
            told_bob = await refusal(league.ask(one, method, "bob", event=shown.event))
            assert told_bob == ("NOT_FOUND", f"there is no event '{shown.event}' here")
    stopped = (await league.ask(a, "StopEvent", "ann", event=shown.event)).event
    assert (stopped.outcome, b.opened.lobby.tests.running) == ("stopped", [])


async def test_a_test_on_a_ladder_that_is_hidden_does_not_exist_for_others_at_any_arena(league: League) -> None:
    for owner in ("bob", "eve"):
        for version in "12":
            league.a.opened.store.write(ensure_version, owner, "sneak", version)
    told = [
        await refusal(league.ask(one, "StartEvent", "eve", event=described_test("hidden")))
        for one in (league.a, league.b)
    ]
    assert told[0] == told[1]
    assert told[0][0] == "NOT_FOUND"
    assert (await started(league, league.a, "bob", "hidden")).ladder == "hidden"


async def test_a_tournament_is_planned_started_seen_and_stopped_through_the_other_arena(league: League) -> None:
    a, b = league.a, league.b
    plan = (await league.ask(a, "PlanEvent", "root", event=wanted())).event.plan
    assert plan == (await league.ask(b, "PlanEvent", "root", event=wanted())).event.plan
    assert (await refusal(league.ask(a, "PlanEvent", "ann", event=wanted())))[0] == "TOKEN_SCOPE"
    assert (await refusal(league.ask(a, "StartEvent", "ann", event=wanted(), plan=plan)))[0] == "TOKEN_SCOPE"
    shown = (await league.ask(a, "StartEvent", "root", event=wanted(), plan=plan, force=True)).event
    for one in (b, a):  # where it is played first, since it does not wait at once
        await until_waits(league, one, shown.event)
        (listed,) = (await league.ask(one, "ListEvents", "bob")).events
        assert (listed.event, listed.waits_for) == (
            shown.event,
            "ann/sneak:2 is away, bob/thug:1 is away",
        )
    stopped = (await league.ask(a, "StopEvent", "root", event=shown.event)).event
    assert (stopped.outcome, b.opened.store.run(tournaments.boards, shown.event)) == ("stopped", [])
    hidden = wanted(ladder="hidden")
    plan = (await league.ask(a, "PlanEvent", "root", event=hidden)).event.plan
    name = (await league.ask(a, "StartEvent", "root", event=hidden, plan=plan, force=True)).event.event
    for one in (a, b):
        assert await refusal(league.ask(one, "GetEvent", "eve", event=name)) == (
            "NOT_FOUND",
            f"there is no event '{name}' here",
        )
        assert [event.event for event in (await league.ask(one, "ListEvents", "eve")).events] == [shown.event]


async def until_waits(league: League, one: Site, tournament: str) -> None:
    async for _ in looks():
        if (await league.ask(one, "GetEvent", event=tournament)).event.waits_for:
            return


async def test_of_an_arena_that_is_away_a_line_says_so_and_the_answers_of_the_database_stay(league: League) -> None:
    test = (await started(league, league.a, "ann", "far")).event
    plan = (await league.ask(league.a, "PlanEvent", "root", event=wanted())).event.plan
    others = league.a.opened.lobby.other_arenas
    away = OtherArena("127.0.0.1:9", "")  # nobody listens
    for arena, text in ((away, "the server at 127.0.0.1:9 does not answer"), (None, "no server has ladder far now")):
        others.set((ladder, arena) for ladder in (FAR, HIDDEN))
        for asking in (
            league.ask(league.a, "StartEvent", "ann", event=described_test("far")),
            league.ask(league.a, "PlanEvent", "root", event=wanted()),
            league.ask(league.a, "StartEvent", "root", event=wanted(), plan=plan),
        ):
            told = await refusal(asking)
            assert (told[0], told[1].startswith(text)) == ("SILENT", True)
        assert (await league.ask(league.a, "GetEvent", "ann", event=test)).event.event == test
        assert [event.event for event in (await league.ask(league.a, "ListEvents", "ann")).events] == [test]
    stopped = (await league.ask(league.a, "StopEvent", "ann", event=test)).event  # no arena has the ladder
    assert stopped.outcome == "stopped"
    await until_so(lambda: not league.b.opened.lobby.tests.running)  # it looks into the database


# -- played on by the arena that takes the ladder
async def play(address: str, token: str, name: str, version: str) -> None:
    """Take the first option of every decision, without end."""
    async with RawBot(address, token) as bot:
        greed = [arena_pb2.GameWanted(game="greed", ladders=["far"])]
        await bot.hello(name, version=version, max_tables=4, games=greed)
        while True:
            await bot.play_on()


@asynccontextmanager
async def playing(one: Site, bots: Sequence[tuple[str, str, str]]) -> AsyncIterator[None]:
    """Let bots play at an arena, each a token, a name and a version."""
    tasks = [asyncio.create_task(play(one.address, *bot)) for bot in bots]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_what_an_arena_played_goes_on_at_the_one_that_takes_its_ladder(league: League) -> None:
    a, b = league.a, league.b
    bots = [
        (league.tokens[owner], name, version)
        for owner, name, version in (("ann", "sneak", "1"), ("ann", "sneak", "2"), ("bob", "thug", "1"))
    ]
    store = a.opened.store
    async with AsyncExitStack() as stack:
        c = await stack.enter_async_context(site(store.database.address))  # stands by
        test = (await started(league, a, "ann", "far", max_boards=5)).event
        cup = wanted(best_of=9)
        plan = (await league.ask(c, "PlanEvent", "root", event=cup)).event.plan
        name = (await league.ask(c, "StartEvent", "root", event=cup, plan=plan, force=True)).event.event
        async with playing(b, bots):
            await until_so(lambda: any(one.result for one in store.run(tournaments.boards, name)))
            await until_so(lambda: len(store.run(version_tests.boards, test)) > 0)
        leasing = part_of(b.opened, ClusterPart).leasing
        leasing._tend_at = float("inf")  # it stands still
        leasing._store.release()
        renew(c)
        before = [one for one in store.run(tournaments.boards, name) if one.result]
        async with playing(c, bots):
            await until_so(lambda: store.run(events.entry, name).ended is not None)
            await until_so(lambda: store.run(events.entry, test).ended is not None)
        for one in (a, c):
            shown = (await league.ask(one, "GetEvent", "ann", event=name)).event
            assert (shown.outcome, shown.tournament.duels_over) == ("finished", 1)
            assert (await league.ask(one, "GetEvent", "ann", event=test)).event.outcome
        boards = list(store.run(tournaments.boards, name))
        assert before == boards[: len(before)], "what counted stays"
        numbers = [board.board for board in boards]
        assert numbers == list(range(len(boards)))
        assert len({board.match for board in boards}) == len(boards)
        await until_so(lambda: not b.opened.lobby.tests.running)  # it looks into the database
