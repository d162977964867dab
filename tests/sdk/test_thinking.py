"""Where the turns of a bot are carried out: in its thread until they are proven quick, then in the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from typing import Any

import pytest

from cutpurse.sdk.online import thinking
from cutpurse.sdk.online.concurrency import PROVEN, SLOW_S
from cutpurse.sdk.online.thinking import Kind, Thinker


class Clock:
    """Stands still, but for what a turn says that it takes."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(thinking, "perf_counter", clock)
    return clock


def broken(problem: BaseException) -> None:
    raise problem


async def where(thinker: Thinker, kind: Kind, clock: Clock, seconds: float = 0.0) -> int:
    """The thread in which a turn is carried out that takes so long."""
    done: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def turn() -> Generator[Any, Any, int]:
        yield from ()
        clock.now += seconds
        return threading.get_ident()

    thinker.do("match", kind, turn(), lambda thread, took: done.set_result(thread))
    return await done


async def test_each_kind_of_turn_is_proven_and_doubted_for_itself(clock: Clock) -> None:
    thinker, here = Thinker(False, broken), threading.get_ident()
    for kind in Kind:
        threads = [await where(thinker, kind, clock) for _ in range(PROVEN + 1)]
        assert here not in threads[:PROVEN]
        assert threads[PROVEN] == here
    assert await where(thinker, Kind.END, clock, SLOW_S + 0.001) == here
    assert await where(thinker, Kind.END, clock) != here
    assert [await where(thinker, kind, clock) for kind in (Kind.BEGIN, Kind.DECIDE)] == [here, here]
    thinker.close()


async def test_nothing_is_done_here_while_the_thread_is_busy(clock: Clock) -> None:
    thinker, here = Thinker(False, broken), threading.get_ident()
    for _ in range(PROVEN):
        await where(thinker, Kind.DECIDE, clock)
    assert thinker.in_event_loop(Kind.DECIDE)
    begun, go = threading.Event(), threading.Event()

    def slow() -> Generator[Any, Any, None]:
        yield from ()
        begun.set()
        assert go.wait(240)

    thinker.do("other", Kind.BEGIN, slow(), lambda value, took: None)
    assert begun.wait(240)
    assert not thinker.in_event_loop(Kind.DECIDE)
    waits = asyncio.create_task(where(thinker, Kind.DECIDE, clock))
    await asyncio.sleep(0)
    go.set()
    assert await waits != here
    thinker.close()
