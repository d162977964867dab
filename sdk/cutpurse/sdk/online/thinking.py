"""The execution of a bot's code, so that slow bots never block the connection.

A bot with an `async def` method `choose` runs in the event loop, one task per turn.

Any other bot starts in a thread. There is only one, so that two matches never use the globals of a bot's module at
once. Turns of a kind that has proved fast run in the event loop itself, which saves two thread switches per turn. The
kinds are begin, decide and end. After a slow turn they run in the thread again.

The turns of a match are executed in order. This module knows no game and no server.
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

from cutpurse.sdk.flows import Flow, on_a_loop, without_a_loop
from cutpurse.sdk.online.concurrency import SpeedProof

__all__ = ["Kind", "Thinker"]


class Kind(IntEnum):
    """The kind of a bot's turn."""

    BEGIN = 0
    DECIDE = 1
    END = 2


@dataclass(slots=True)
class _Turn:
    match: str
    kind: Kind
    flow: Flow[Any]
    done: Callable[[Any, float], None]  # called with the flow's result and its seconds


class Thinker:
    """Executes the turns of one bot. Create and use it in a running event loop."""

    def __init__(self, is_async: bool, broken: Callable[[BaseException], None]) -> None:
        """Start without turns.

        Args:
            is_async: Whether the bot's `choose` is `async def`.
            broken: Called with what a flow raises. Flows catch the errors of bots, so it is an error of this program.
        """
        self.is_async = is_async
        self.broken = broken
        self._proven = tuple([SpeedProof() for _ in Kind])
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[str, asyncio.Task[None]] = {}  # the last turn of each match
        self._waiting: SimpleQueue[_Turn | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._in_thread = 0  # turns that are in the thread
        self._idle = asyncio.Event()  # set while no turn is in the thread or in a task
        self._idle.set()
        self._closed = False

    def in_event_loop(self, kind: Kind) -> bool:
        """Return whether a turn of this kind would run at once, in the event loop itself."""
        return self._proven[kind].fast and not self._in_thread

    def do(self, match: str, kind: Kind, flow: Flow[Any], done: Callable[[Any, float], None]) -> None:
        """Execute a turn of a match, now or later, and call `done` in the event loop."""
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
        """Add the time of a turn that the caller ran itself because `in_event_loop` was true."""
        self._proven[kind].took(seconds)

    async def finish(self, seconds: float) -> bool:
        """Wait at most `seconds` until all turns are finished; return whether they are."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), seconds)
        return self._idle.is_set()

    def close(self) -> None:
        """Stop. Unfinished turns are not reported, and a bot that is still thinking is abandoned."""
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
            except RuntimeError:  # the loop is closed, so no result is needed
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
            return  # `close` was called
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
