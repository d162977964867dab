"""The calls of version tests on a real arena: who may ask for what, a test played to its end, and a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cutpurse.leaderboard import events, queries, version_tests
from cutpurse.leaderboard.events import TEST, EventEntry
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.statistics.sprt import Design
from cutpurse.leaderboard.store import Store
from cutpurse.server.errors import CallRefused
from cutpurse.server.hosting.part import PartWithSettings
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.league_queries import Caller
from cutpurse.server.league.presence import Presence
from cutpurse.server.parts.events.part import EventsPart
from cutpurse.server.parts.events.version_test_results import plan_text
from cutpurse.server.parts.notices import receivers
from cutpurse.server.parts.notices.kind import NOTICES
from cutpurse.server.parts.notices.receivers import WEBHOOK, NewReceiver
from cutpurse.v1 import event_pb2, ladder_pb2
from tests.looking import looks, until_so
from tests.page.accounts import Person, text_of
from tests.server.arenas import WITH_EVENTS, RunningArena, running_arena
from tests.server.dialling import Ended
from tests.server.league_world import LeagueWorld, league_world
from tests.server.raw_bot import RawBot

Bot = ladder_pb2.BotName
PARTS = (*WITH_EVENTS, PartWithSettings(NOTICES, None))
NEW, OLD = Bot(bot="sneak", version="3"), Bot(bot="sneak", version="2")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[LeagueWorld]:
    async with league_world(tmp_path, PARTS) as world:
        for version in "23":  # version 1.0 is paused
            world.store.write(ensure_version, "ann", "sneak", version)
        world.store.write(ensure_version, "bob", "thug", "3")
        yield world


def hear(store: Store, owner: str) -> None:
    """Let an owner get notices of the ends of tests."""
    new = NewReceiver(owner, WEBHOOK, "https://a.example", b"key", events=["test_over"])
    store.write(receivers.add_receiver, new, datetime.now(UTC))


async def start(world: LeagueWorld, who: str = "ann", **changed: Any) -> event_pb2.EventShown:
    fields: dict[str, Any] = {"ladder": "duel", "new": NEW, "old": OLD} | changed
    request = event_pb2.EventRequest(test=event_pb2.VersionTestRequest(**fields))
    plan = (await world.ask("PlanEvent", who, event=request)).event
    answer: event_pb2.StartEventResponse = await world.ask("StartEvent", who, event=request, plan=plan.plan, force=True)
    return answer.event


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
    assert world.store.run(events.entries, [TEST]) == []


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
    assert first.waits_for == "ann/sneak:3 is away"
    assert (first.test.boards, first.test.max_boards, first.outcome) == (0, 4_000, "")
    kind = event_pb2.EVENT_KIND_TEST
    for who in ("ann", "root"):
        for fields in ({"kind": kind}, {"kind": kind, "owner": "ann"}, {}):
            listed = (await world.ask("ListEvents", who, **fields)).events
            assert {event.event for event in listed} == {first.event, second.event}
        assert (await world.ask("GetEvent", who, event=first.event)).event.event == first.event
    for who in ("", "bob"):
        assert not (await world.ask("ListEvents", who)).events
    for who, reason in (("", "TOKEN_INVALID"), ("bob", "NOT_YOURS")):
        with pytest.raises(Ended) as ended:
            await world.ask("ListEvents", who, kind=kind, owner="ann")
        assert ended.value.reason == reason
    for method in ("GetEvent", "StopEvent"):
        for test in (first.event, "0123456789ab"):
            with pytest.raises(Ended) as ended:
                await world.ask(method, "bob", event=test)
            assert (ended.value.reason, ended.value.text) == ("NOT_FOUND", f"there is no event '{test}' here")
    hear(world.store, "ann")
    stopped = (await world.ask("StopEvent", "ann", event=first.event)).event
    assert (stopped.outcome, stopped.test.reason, stopped.waits_for) == ("stopped", "stopped: no board was played", "")
    assert stopped.ended_ms
    assert [receiver.waiting for receiver in world.store.run(receivers.receivers)] == [1]
    with pytest.raises(Ended, match="has ended already: stopped"):
        await world.ask("StopEvent", "ann", event=first.event)
    assert (await start(world)).event


async def test_a_hosted_bot_does_not_learn_of_a_test_and_lists_of_other_events_do_not_show_it(
    world: LeagueWorld,
) -> None:
    test = (await start(world)).event
    part = world.arena.opened.parts["events"]
    assert isinstance(part, EventsPart)
    events = part.events
    bot = Caller("ann", frozenset({"play", "read"}), is_hosted_bot=True)
    tests = event_pb2.ListEventsRequest(kind=event_pb2.EVENT_KIND_TEST)
    for ask, reason in (
        (lambda: events.list(tests, bot, Presence()), "TOKEN_SCOPE"),
        (lambda: events.get(event_pb2.GetEventRequest(event=test), bot, Presence()), "NOT_FOUND"),
        (lambda: events.stop(event_pb2.StopEventRequest(event=test), bot), "NOT_FOUND"),
    ):
        with pytest.raises(CallRefused) as refused:
            await asyncio.to_thread(ask)
        assert refused.value.ending.reason == reason
    listed = await asyncio.to_thread(lambda: events.list(event_pb2.ListEventsRequest(), bot, Presence()))
    assert not listed.events
    for kind in (event_pb2.EVENT_KIND_TOURNAMENT, event_pb2.EVENT_KIND_SEASON):
        assert not (await world.ask("ListEvents", "root", kind=kind)).events


async def test_the_page_shows_a_test_to_its_author_and_to_hosts_only(world: LeagueWorld) -> None:
    shown = await start(world)
    for who, code in (("ann", 200), ("root", 200), ("bob", 404)):
        person = Person(world.arena.address)
        try:
            await person.sign_in(world.tokens[who])
            page = await person.get(f"/events/{shown.event}")
            assert page.status_code == code
            if who == "ann":
                assert "Is sneak 3 better than sneak 2" in text_of(page.text)
                assert "It waits: ann/sneak:3 is away." in text_of(page.text)
                assert f'href="/events/{shown.event}"' in (await person.get("/me")).text
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
        if arena.opened.store.run(events.entry, test).ended is not None:
            return


def put(arena_store: Any, boards: int, name: str = "t1") -> None:
    """Store a test as an earlier server would have left it."""
    new, old = (Identity("local", "sneak", version) for version in "21")
    plan = plan_text("duel", new, old, Design(min_boards=boards, max_boards=boards))
    entry = EventEntry(name, "duel", "local", plan, datetime.now(UTC))
    arena_store.write(version_tests.start, entry, new, old, 9, 9)


async def test_a_test_is_played_to_its_end_and_goes_on_after_a_restart(tmp_path: Path) -> None:
    with Store(tmp_path / "test.db") as store:
        store.write(ensure_ladder, LADDER.kept)
        put(store, 3)  # the server that stored it is gone
        hear(store, "local")
    async with running_arena(tmp_path, [LADDER]) as arena:
        lobby = arena.opened.lobby
        await until_so(lambda: lobby.tests.is_running("t1"))
        async with bots(arena):
            async for _ in looks():
                if arena.opened.store.run(version_tests.boards, "t1"):
                    break
    async with running_arena(tmp_path, [LADDER], parts=PARTS) as arena:
        async with bots(arena):
            await ended(arena, "t1")
        store = arena.opened.store
        assert store.run(events.entry, "t1").outcome in ("undecided", "better", "not better")
        assert [receiver.waiting for receiver in store.run(receivers.receivers)] == [1]
        boards = store.run(version_tests.boards, "t1")
        assert len(boards) == store.run(version_tests.count_boards, "t1") == 3
        assert len({board.board for board in boards}) == 3
        assert store.run(queries.rankings, "duel") == []
        matches = store.run(queries.matches, "duel")
        assert {match.board_kind for match in matches} == {"test"}
        assert {match.sequence for match in matches} == {None}
        assert "error" not in arena.log
