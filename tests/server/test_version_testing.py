"""The calls of version tests on a real arena: who may ask for what, a test played to its end, and a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cutpurse.experiments.sprt import Design
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.version_tests import NewVersionTest
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.version_test_results import design_text
from cutpurse.v1 import ladder_pb2
from tests.looking import looks, until_so
from tests.server.arenas import RunningArena, running_arena
from tests.server.dialling import Ended
from tests.server.league_world import LeagueWorld, league_world
from tests.server.raw_bot import RawBot
from tests.web.accounts import Person, text_of

Bot = ladder_pb2.BotName
NEW, OLD = Bot(bot="sneak", version="3"), Bot(bot="sneak", version="2")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[LeagueWorld]:
    async with league_world(tmp_path) as world:
        for version in "23":  # version 1.0 is paused
            world.store.ensure_version("ann", "sneak", version)
        world.store.ensure_version("bob", "thug", "3")
        yield world


async def start(world: LeagueWorld, who: str = "ann", **changed: Any) -> ladder_pb2.VersionTestShown:
    wanted = {"ladder": "duel", "new": NEW, "old": OLD} | changed
    answer: ladder_pb2.StartTestResponse = await world.ask("StartTest", who, **wanted)
    return answer.test


@pytest.mark.parametrize(
    ("changed", "reason", "text"),
    [
        ({"new": OLD}, "SETTINGS", "ann/sneak:2 cannot be tested against itself: name two versions"),
        ({"old": Bot(bot="sneak", version="9")}, "NOT_FOUND", "'ann/sneak:9' is no version of yours here; there are: "),
        ({"old": Bot(bot="sneak", version="1.0")}, "PAUSED", "ann/sneak:1.0"),
        ({"old": Bot()}, "BAD_MESSAGE", "no bot is named"),
        ({"old": Bot(owner="bob", bot="thug")}, "NOT_YOURS", "'bob/thug' belongs to another owner"),
        ({"ladder": "nowhere"}, "NOT_FOUND", "no ladder is called 'nowhere' here"),
        ({"max_boards": 20_001}, "SETTINGS", "max_boards is 20001: it can be 1 to 20,000"),
    ],
)
async def test_bad_input_is_answered_in_one_line(
    world: LeagueWorld, changed: dict[str, Any], reason: str, text: str
) -> None:
    with pytest.raises(Ended) as ended:
        await start(world, **changed)
    assert ended.value.reason == reason
    assert ended.value.text.startswith(text)
    assert "\n" not in ended.value.text
    assert world.store.version_tests() == []


async def test_a_hidden_ladder_does_not_exist_for_those_who_may_not_play_there(world: LeagueWorld) -> None:
    with pytest.raises(Ended, match="no ladder is called 'hidden' here"):
        await start(world, "bob", ladder="hidden", new=Bot(bot="thug", version="2"), old=Bot(bot="thug", version="3"))


async def test_an_owner_has_two_tests_at_once_and_others_do_not_see_them(world: LeagueWorld) -> None:
    first, second = await start(world), await start(world)
    with pytest.raises(Ended) as ended:
        await start(world)
    assert (ended.value.reason, ended.value.text) == (
        "FULL",
        "ann has 2 tests that run, as many as may: wait for one, or stop it",
    )
    assert first.waits_for == "ann/sneak:3 is not online"
    assert (first.boards, first.max_boards, first.outcome) == (0, 4_000, "")
    for who in ("ann", "root"):
        listed = (await world.ask("ListTests", who)).tests
        assert {one.test for one in listed} == {first.test, second.test}
        assert (await world.ask("GetTest", who, test=first.test)).test.test == first.test
    assert not (await world.ask("ListTests", "bob")).tests
    for method in ("GetTest", "StopTest"):
        for test in (first.test, "nonsense"):
            with pytest.raises(Ended) as ended:
                await world.ask(method, "bob", test=test)
            assert (ended.value.reason, ended.value.text) == ("NOT_FOUND", f"there is no test '{test}' of yours here")
    stopped = (await world.ask("StopTest", "ann", test=first.test)).test
    assert (stopped.outcome, stopped.reason, stopped.waits_for) == ("stopped", "stopped: no board was played", "")
    assert stopped.ended_ms
    with pytest.raises(Ended, match="has ended already: stopped"):
        await world.ask("StopTest", "ann", test=first.test)
    assert (await start(world)).test


async def test_the_page_shows_a_test_to_its_author_and_to_hosts_only(world: LeagueWorld) -> None:
    shown = await start(world)
    for who, code in (("ann", 200), ("root", 200), ("bob", 404)):
        person = Person(world.arena.address)
        try:
            await person.sign_in(world.tokens[who])
            page = await person.get(f"/tests/{shown.test}")
            assert page.status_code == code
            if who == "ann":
                assert "Is sneak 3 better than sneak 2" in text_of(page.text)
                assert "It waits: ann/sneak:3 is not online." in text_of(page.text)
                assert f'href="/tests/{shown.test}"' in (await person.get("/me")).text
        finally:
            person.close()


# -- played to the end
LADDER = Ladder("duel", "greed", 2, matches_wanted=0)


async def play(address: str, name: str, version: str) -> None:
    """Take the first option of every decision, without end."""
    async with RawBot(address) as bot:
        await bot.hello(name, version=version, max_tables=4)
        while True:
            await bot.play_on()


@asynccontextmanager
async def bots(arena: RunningArena) -> AsyncIterator[None]:
    """Let both versions of a bot and an opponent play."""
    names = (("sneak", "2"), ("sneak", "1"), ("brute", "1"))
    tasks = [asyncio.create_task(play(arena.address, name, version)) for name, version in names]
    try:
        await until_so(lambda: len(arena.opened.lobby.here()) == len(names))
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def ended(arena: RunningArena, test: str) -> None:
    async for _ in looks():
        if arena.opened.store.version_test(test).ended is not None:
            return


def put(arena_store: Any, boards: int, name: str = "t1") -> None:
    """Store a test as an earlier server would have left it."""
    design = design_text(Design(min_boards=boards, max_boards=boards))
    new, old = (Identity("local", "sneak", version) for version in "21")
    arena_store.start_version_test(NewVersionTest(name, "duel", new, old, design), datetime.now(UTC), 9, 9)


async def test_a_test_is_played_to_its_end_and_goes_on_after_a_restart(tmp_path: Path) -> None:
    async with running_arena(tmp_path, [LADDER]) as arena:
        store = arena.opened.store
        put(store, 3)
        lobby = arena.opened.lobby
        assert not lobby.tests.is_running("t1")  # the server that stored it is gone
    async with running_arena(tmp_path, [LADDER]) as arena:
        lobby = arena.opened.lobby
        assert lobby.tests.is_running("t1")
        async with bots(arena):
            async for _ in looks():
                if arena.opened.store.version_test_boards("t1"):
                    break
    async with running_arena(tmp_path, [LADDER]) as arena:
        async with bots(arena):
            await ended(arena, "t1")
        store = arena.opened.store
        assert store.version_test("t1").outcome in ("undecided", "better", "not better")
        boards = store.version_test_boards("t1")
        assert len(boards) == 3
        assert len({board.board for board in boards}) == 3
        assert store.rankings("duel") == []
        matches = store.matches("duel")
        assert {match.board_kind for match in matches} == {"test"}
        assert {match.sequence for match in matches} == {None}
        assert "error" not in arena.log
