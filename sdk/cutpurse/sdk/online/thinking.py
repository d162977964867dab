"""Where a bot's code runs, so that thinking never holds up the connection.

* A bot whose `choose` is `async def` runs in the event loop, a task a turn, and its tables take turns as it awaits.
* Any other begins in a thread of its own. There is one, so that the globals of a bot's module are never touched by two
  matches at once. Turns of a kind that is proven quick (begins, decisions, ends: each for itself) are carried out in
  the event loop itself, which spares two changes of thread a turn; after a slow one they are back in the thread.

The turns of a match are carried out in their order. This module knows no game and no server.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from cutpurse.sdk.bot_calls import Flow, on_a_loop, without_a_loop
from cutpurse.sdk.online.concurrency import SpeedProof

__all__ = ["Kind", "Thinker"]


class Kind(IntEnum):
    """What a bot does in a turn."""

    BEGIN = 0
    DECIDE = 1
    END = 2


@dataclass(slots=True)
class _Turn:
    match: str
    kind: Kind
    flow: Flow[Any]
    done: Callable[[Any, float], None]  # what the flow gave, and the seconds it took


class Thinker:
    """Carries out the turns of one bot; to be made and used in a running event loop."""

    def __init__(self, is_async: bool, broken: Callable[[BaseException], None]) -> None:
        """`broken` is told what a flow raises: flows catch what bots raise, so it is a fault of this program."""
        self.is_async = is_async
        self.broken = broken
        self._proven = tuple([SpeedProof() for _ in Kind])
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by match, its last turn
        self._waiting: SimpleQueue[_Turn | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._in_thread = 0  # turns
        self._idle = asyncio.Event()  # nothing is in the thread or in a task
        self._idle.set()
        self._closed = False

    def in_event_loop(self, kind: Kind) -> bool:
        """Whether a turn of this kind would be carried out at once, in the event loop itself."""
        return self._proven[kind].fast and not self._in_thread

    def do(self, match: str, kind: Kind, flow: Flow[Any], done: Callable[[Any, float], None]) -> None:
        """Carry out a turn in a match, now or later, and tell `done` in the event loop."""
        turn = _Turn(match, kind, flow, done)
        if self.is_async:
            self._as_task(turn)
        elif self.in_event_loop(kind):
            self._finish(turn, *_carry_out(turn))
        else:
            self._in_thread += 1
            self._idle.clear()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="bot", daemon=True)
                self._thread.start()
            self._waiting.put(turn)

    def did(self, kind: Kind, seconds: float) -> None:
        """A turn took so long; said by who carries out one himself because it may run `in_event_loop`."""
        self._proven[kind].took(seconds)

    async def finish(self, seconds: float) -> bool:
        """Wait until every turn is carried out, at most so long; whether they are."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), seconds)
        return self._idle.is_set()

    def close(self) -> None:
        """Nothing that is not finished is told any more. A bot that still thinks is left to itself."""
        self._closed = True
        self._waiting.put(None)
        for task in self._tasks.values():
            task.cancel()

    def _finish(self, turn: _Turn, value: Any, problem: BaseException | None, seconds: float) -> None:
        if self._closed:
            return
        if problem is not None:
            self.broken(problem)
            return
        if not self.is_async:
            self.did(turn.kind, seconds)
        turn.done(value, seconds)

    # -- in the thread
    def _work(self) -> None:
        while (turn := self._waiting.get()) is not None and not self._closed:
            outcome = _carry_out(turn)
            try:
                self._loop.call_soon_threadsafe(self._back, turn, *outcome)
            except RuntimeError:  # the loop is closed: nobody waits for it
                return

    def _back(self, turn: _Turn, value: Any, problem: BaseException | None, seconds: float) -> None:
        self._in_thread -= 1
        if not self._in_thread:
            self._idle.set()
        self._finish(turn, value, problem, seconds)

    # -- in tasks
    def _as_task(self, turn: _Turn) -> None:
        self._idle.clear()
        task = self._tasks[turn.match] = asyncio.create_task(self._after(self._tasks.get(turn.match), turn))
        task.add_done_callback(partial(self._task_over, turn.match))

    def _task_over(self, match: str, task: asyncio.Task[None]) -> None:
        if self._tasks[match] is task:
            del self._tasks[match]
            if not self._tasks:
                self._idle.set()

    async def _after(self, before: asyncio.Task[None] | None, turn: _Turn) -> None:
        if before is not None:
            await asyncio.wait([before])
        began = perf_counter()
        try:
            value, problem = await on_a_loop(turn.flow), None
        except asyncio.CancelledError:
            return  # closed
        except BaseException as raised:
            value, problem = None, raised
        self._finish(turn, value, problem, perf_counter() - began)


def _carry_out(turn: _Turn) -> tuple[Any, BaseException | None, float]:
    began = perf_counter()
    try:
        value, problem = without_a_loop(turn.flow), None
    except BaseException as raised:
        value, problem = None, raised
    return value, problem, perf_counter() - began
