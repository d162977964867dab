"""Virtual time: a clock, a queue of events, and an event loop, with an order that depends on the seed.

`Course` is the only clock, and the queue of all events outside of the server. `VirtualLoop` is an event loop for the
server's own coroutines. It runs the ready handles one at a time in random order, so that the server cannot depend on
an order that asyncio does not guarantee. Neither knows a server, a bot or a fault.
"""

from __future__ import annotations

import asyncio
import contextvars
from asyncio import events
from collections.abc import Callable, Coroutine, Generator
from heapq import heappop, heappush
from random import Random
from typing import Any, TypeVar, TypeVarTuple

__all__ = ["Course", "VirtualLoop"]

Args = TypeVarTuple("Args")
Answer = TypeVar("Answer")


class Course:
    """The clock in seconds, and the queue of events."""

    def __init__(self, seed: int) -> None:
        self.now = 1_000.0
        self.random = Random(seed)
        self._queue: list[tuple[float, float, int, Callable[[], object]]] = []
        self._count = 0

    def after(self, seconds: float, what: Callable[[], object]) -> None:
        """Schedule an event; events at the same time have a random order."""
        self._count += 1
        heappush(self._queue, (self.now + seconds, self.random.random(), self._count, what))

    def next_at(self) -> float | None:
        """Return the time of the next event, None if there is none."""
        return self._queue[0][0] if self._queue else None

    def step(self) -> None:
        """Run the next event."""
        at, _, _, what = heappop(self._queue)
        self.now = max(self.now, at)
        what()


class VirtualLoop(asyncio.AbstractEventLoop):
    """The part of an event loop that the server uses; errors of callbacks are stored in `problems`."""

    def __init__(self, course: Course) -> None:
        self.problems: list[str] = []
        self.tasks: list[asyncio.Task[Any]] = []
        self._course = course
        self._ready: list[asyncio.Handle] = []
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._count = 0

    # -- the interface for asyncio and the server
    def time(self) -> float:
        return self._course.now

    def call_soon(
        self,
        callback: Callable[[*Args], object],
        *args: *Args,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Args], object],
        *args: *Args,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self._course.now + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Args], object],
        *args: *Args,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._count += 1
        heappush(self._timers, (when, self._count, timer))
        return timer

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Generator[Any, None, Answer] | Coroutine[Any, Any, Answer],
        **kwargs: Any,
    ) -> asyncio.Task[Answer]:
        task: asyncio.Task[Answer] = asyncio.Task(coro, loop=self, **kwargs)
        self.tasks.append(task)
        return task

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        self.problems.append(f"{context.get('message')}: {problem!r}")

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Ignore the notice of asyncio: the cancelled timer is skipped later."""

    # -- the interface for the world
    def next_at(self) -> float | None:
        """Return when there is something to run: now, at the next timer, or None until the next event."""
        if self._ready:
            return self._course.now
        while self._timers and self._timers[0][2].cancelled():
            heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def run_one(self) -> None:
        """Run a random ready handle."""
        now, ready = self._course.now, self._ready
        while self._timers and self._timers[0][0] <= now:
            ready.append(heappop(self._timers)[2])
        if not ready:
            return
        at = int(self._course.random.random() * len(ready))
        ready[at], ready[-1] = ready[-1], ready[at]
        handle = ready.pop()
        if not handle.cancelled():
            self._run(handle)

    def _run(self, handle: asyncio.Handle) -> None:
        events._set_running_loop(self)
        try:
            handle._run()
        finally:
            events._set_running_loop(None)

    def end(self) -> None:
        """Cancel all tasks of the killed process, so that Python does not warn of them."""
        for task in self.tasks:
            task.cancel()
        for _ in range(10_000):
            if not self._ready:
                break
            self._run(self._ready.pop())
        self._timers.clear()
