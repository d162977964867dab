"""Version tests and tournaments of two arenas in PostgreSQL: asked for anywhere, played where their ladder is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from cutpurse.leaderboard import leases
from cutpurse.server.matches.other_arenas import OtherArena
from cutpurse.v1 import arena_pb2, ladder_pb2
from tests.looking import looks, until_so
from tests.postgresql_server import PostgresqlServer
from tests.server.dialling import Ended
from tests.server.raw_bot import RawBot
from tests.server.two_arenas import FAR, HIDDEN, League, Site, renew, site, two_arenas

pytestmark = pytest.mark.full
pytest.importorskip("psycopg", reason="psycopg is not installed here: pip install 'cutpurse[cluster]'")

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
            league.a.opened.store.ensure_version(owner, bot, version)
        yield league


def wanted(**changed: Any) -> ladder_pb2.TournamentWanted:
    fields: dict[str, Any] = {"ladder": "far", "format": ladder_pb2.TOURNAMENT_FORMAT_ELIMINATION, "bots": TWO}
    return ladder_pb2.TournamentWanted(**(fields | changed))


async def refusal(asking: Any) -> tuple[str, str]:
    with pytest.raises(Ended) as ended:
        await asking
    return ended.value.reason, str(ended.value.text)


async def test_a_version_test_runs_where_its_ladder_is_and_is_seen_and_stopped_anywhere(league: League) -> None:
    a, b = league.a, league.b
    shown = (await league.ask(a, "StartTest", "ann", ladder="far", new=NEW, old=OLD)).test
    assert (a.opened.lobby.tests.running, b.opened.lobby.tests.running) == ([], [shown.test])
    await until_so(lambda: b.opened.lobby.tests.waits_for(shown.test) != "")
    for one in (a, b):
        told = (await league.ask(one, "GetTest", "ann", test=shown.test)).test
        assert (told.ladder, told.waits_for) == ("far", "ann/sneak:2 is not online")
        for who in ("ann", "root"):
            (listed,) = (await league.ask(one, "ListTests", who)).tests
            assert (listed.test, listed.waits_for) == (shown.test, told.waits_for)
        assert not (await league.ask(one, "ListTests", "bob")).tests
        for method in ("GetTest", "StopTest"):
            told_bob = await refusal(league.ask(one, method, "bob", test=shown.test))
            assert told_bob == ("NOT_FOUND", f"there is no test '{shown.test}' of yours here")
    stopped = (await league.ask(a, "StopTest", "ann", test=shown.test)).test
    assert (stopped.outcome, b.opened.lobby.tests.running) == ("stopped", [])


async def test_a_test_on_a_ladder_that_is_hidden_does_not_exist_for_others_at_any_arena(league: League) -> None:
    for owner in ("bob", "eve"):
        for version in "12":
            league.a.opened.store.ensure_version(owner, "sneak", version)
    told = [
        await refusal(league.ask(one, "StartTest", "eve", ladder="hidden", new=NEW, old=OLD))
        for one in (league.a, league.b)
    ]
    assert told[0] == told[1]
    assert told[0][0] == "NOT_FOUND"
    assert (await league.ask(league.a, "StartTest", "bob", ladder="hidden", new=NEW, old=OLD)).test.ladder == "hidden"


async def test_a_tournament_is_planned_started_seen_and_stopped_through_the_other_arena(league: League) -> None:
    a, b = league.a, league.b
    plan = (await league.ask(a, "PlanTournament", "root", wanted=wanted())).tournament.plan
    assert plan == (await league.ask(b, "PlanTournament", "root", wanted=wanted())).tournament.plan
    assert (await refusal(league.ask(a, "PlanTournament", "ann", wanted=wanted())))[0] == "TOKEN_SCOPE"
    assert (await refusal(league.ask(a, "StartTournament", "ann", wanted=wanted(), plan=plan)))[0] == "TOKEN_SCOPE"
    shown = (await league.ask(a, "StartTournament", "root", wanted=wanted(), plan=plan)).tournament
    for one in (b, a):  # where it is played first, since it does not wait at once
        await until_waits(league, one, shown.tournament)
        (listed,) = (await league.ask(one, "ListTournaments", "bob")).tournaments
        assert (listed.tournament, listed.waits_for) == (
            shown.tournament,
            "ann/sneak:2, bob/thug:1 cannot play now",
        )
    stopped = (await league.ask(a, "StopTournament", "root", tournament=shown.tournament)).tournament
    assert (stopped.outcome, b.opened.store.tournament_boards(shown.tournament)) == ("stopped", [])
    hidden = wanted(ladder="hidden")
    plan = (await league.ask(a, "PlanTournament", "root", wanted=hidden)).tournament.plan
    name = (await league.ask(a, "StartTournament", "root", wanted=hidden, plan=plan)).tournament.tournament
    for one in (a, b):
        assert await refusal(league.ask(one, "GetTournament", "eve", tournament=name)) == (
            "NOT_FOUND",
            f"there is no tournament '{name}' here",
        )
        assert [each.tournament for each in (await league.ask(one, "ListTournaments", "eve")).tournaments] == [
            shown.tournament
        ]


async def until_waits(league: League, one: Site, tournament: str) -> None:
    async for _ in looks():
        if (await league.ask(one, "GetTournament", tournament=tournament)).tournament.waits_for:
            return


async def test_of_an_arena_that_is_away_a_line_says_so_and_the_answers_of_the_database_stay(league: League) -> None:
    test = (await league.ask(league.a, "StartTest", "ann", ladder="far", new=NEW, old=OLD)).test.test
    plan = (await league.ask(league.a, "PlanTournament", "root", wanted=wanted())).tournament.plan
    others = league.a.opened.lobby.other_arenas
    away = OtherArena("127.0.0.1:9", "")  # nobody listens
    for arena, text in ((away, "the server at 127.0.0.1:9 does not answer"), (None, "no server has ladder far now")):
        others.set((ladder, arena) for ladder in (FAR, HIDDEN))
        for asking in (
            league.ask(league.a, "StartTest", "ann", ladder="far", new=NEW, old=OLD),
            league.ask(league.a, "PlanTournament", "root", wanted=wanted()),
            league.ask(league.a, "StartTournament", "root", wanted=wanted(), plan=plan),
        ):
            told = await refusal(asking)
            assert (told[0], told[1].startswith(text)) == ("SILENT", True)
        assert (await league.ask(league.a, "GetTest", "ann", test=test)).test.test == test
        assert [one.test for one in (await league.ask(league.a, "ListTests", "ann")).tests] == [test]
    stopped = (await league.ask(league.a, "StopTest", "ann", test=test)).test  # no arena has the ladder
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
        test = (await league.ask(a, "StartTest", "ann", ladder="far", new=NEW, old=OLD, max_boards=5)).test.test
        cup = wanted(best_of=9)
        plan = (await league.ask(c, "PlanTournament", "root", wanted=cup)).tournament.plan
        name = (await league.ask(c, "StartTournament", "root", wanted=cup, plan=plan)).tournament.tournament
        async with playing(b, bots):
            await until_so(lambda: any(one.result for one in store.tournament_boards(name)))
            await until_so(lambda: len(store.version_test_boards(test)) > 0)
        leasing = b.opened.arena._leasing
        assert leasing is not None
        leasing._tend_at = float("inf")  # it stands still
        leasing._store.release()
        renew(c)
        before = [one for one in store.tournament_boards(name) if one.result]
        async with playing(c, bots):
            await until_so(lambda: store.tournament(name).ended is not None)
            await until_so(lambda: store.version_test(test).ended is not None)
        for one in (a, c):
            shown = (await league.ask(one, "GetTournament", "ann", tournament=name)).tournament
            assert (shown.outcome, shown.duels_over) == ("finished", 1)
            assert (await league.ask(one, "GetTest", "ann", test=test)).test.outcome
        boards = list(store.tournament_boards(name))
        assert before == boards[: len(before)], "what counted stays"
        numbers = [board.board for board in boards]
        assert numbers == list(range(len(boards)))
        assert len({board.match for board in boards}) == len(boards)
        await until_so(lambda: not b.opened.lobby.tests.running)  # it looks into the database
