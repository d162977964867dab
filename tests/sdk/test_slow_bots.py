"""Bots that think long, on a real server: how many tables they get, and what becomes of late answers."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.online import bot_pool, concurrency, thinking
from cutpurse.v1 import arena_pb2
from tests.sdk.arena import arena
from tests.sdk.stays import First, stay


@pytest.fixture
def all_are_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a bot does takes any time by the clock, whatever else the machine has to do."""
    for module in (thinking, bot_pool):
        monkeypatch.setattr(module, "perf_counter", lambda: 0.0)


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_a_bot_thinks_about_is_acknowledged_before_it_answers(is_async: bool) -> None:
    done, free = threading.Event(), asyncio.Event()
    put_in: list[int] = []  # the envelope with the decision that takes long

    class Thinks:
        def choose(self, view: Any, decision: Any) -> int:
            if decision.number == 1:
                assert done.wait(240)
            return 0

    class AsyncThinks:
        async def choose(self, view: Any, decision: Any) -> int:
            if decision.number == 1:
                await free.wait()
            return 0

    def see(response: arena_pb2.PlayResponse) -> None:
        if any(decision.decision == 2 for decision in response.decisions):
            put_in.append(response.envelope)

    async def let_go(request: arena_pb2.PlayRequest) -> None:
        if put_in and request.received == put_in[0] and not request.answers:
            free.set()
            done.set()

    async with arena(games=["greed"], hold=let_go, tamper=see) as server:
        came, _ = await stay(server, AsyncThinks if is_async else Thinks)
    assert (came.matches, came.faults) == (1, 0)
    assert done.is_set()


async def test_tables_of_an_async_bot_go_on_while_one_of_them_thinks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "FIRST_TABLES", 2)
    finished = asyncio.Event()
    order: list[str] = []

    class Waits:
        def start(self, match: MatchInfo) -> None:
            self.seat = match.seat
            self.match = match.match

        async def choose(self, view: Any, decision: Any) -> int:
            if self.match.startswith("0001"):
                await finished.wait()
            return 0

        def end(self, result: object) -> None:
            order.append(self.match[:4])
            finished.set()

    async with arena(games=["greed"], matches=2) as server:
        came, _ = await stay(server, Waits)
    assert came.matches == 2
    assert order == ["0002", "0001"]


@pytest.mark.usefixtures("all_are_quick")
async def test_one_thread_asks_all_matches_and_a_quick_bot_comes_to_the_event_loop() -> None:
    threads: list[int] = []

    class Where(First):
        def choose(self, view: Any, decision: Any) -> int:
            threads.append(threading.get_ident())
            return 0

    async with arena(games=["greed"], matches=8) as server:
        await stay(server, Where)
    here = threading.get_ident()
    assert here not in threads[:32]
    assert threads[-1] == here
    assert len({*threads} - {here}) == 1


@pytest.mark.usefixtures("all_are_quick")
async def test_the_begin_and_the_end_of_a_quick_bots_matches_come_to_the_event_loop() -> None:
    threads: dict[str, list[int]] = {"start": [], "end": []}

    class Where(First):
        def start(self, match: MatchInfo) -> None:
            threads["start"].append(threading.get_ident())

        def end(self, result: object) -> None:
            threads["end"].append(threading.get_ident())

    async with arena(games=["greed"], matches=48, most_tables=2) as server:
        await stay(server, Where)
    here = threading.get_ident()
    for found in threads.values():
        assert len(found) == 48
        assert here not in found[:32]
        assert here in found[32:]


@pytest.mark.usefixtures("all_are_quick")
async def test_a_quick_bot_acknowledges_an_envelope_together_with_its_answers() -> None:
    async with arena(games=["greed"], matches=8, most_tables=2) as server:
        await stay(server, First)
    proven = server.requests[-50:]
    assert len({request.received for request in proven}) >= 45  # where a match begins or ends its thread has a turn
    assert sum(len(request.answers) for request in proven) >= 45


@pytest.mark.usefixtures("all_are_quick")
async def test_the_tables_of_a_quick_bot_rise_and_those_of_a_slow_one_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    async with arena(games=["greed"], matches=40, most_tables=20) as server:
        await stay(server, First)
    told = [request.max_tables for request in server.requests if request.HasField("max_tables")]
    assert server.hellos[0].max_tables == 1
    assert told[:5] == [2, 3, 4, 6, 9]
    assert max(told) == 20

    clock = iter(range(1_000_000))
    monkeypatch.setattr(thinking, "perf_counter", lambda: next(clock) * 0.3)  # each turn takes 300 ms
    async with arena(games=["greed"], matches=6) as server:
        await stay(server, First)
    assert server.hellos[0].max_tables == 1
    assert not any(request.HasField("max_tables") for request in server.requests)


async def test_the_last_match_that_is_wanted_is_the_last_that_begins() -> None:
    """At one table: at several, the server may begin one more before it hears that the last has begun."""
    async with arena(games=["greed"], matches=50) as server:
        came, played = await stay(server, First, matches=6, max_tables=1)
    assert came.matches == len(played) == len(server.sessions["session 0"].tables) == 6
