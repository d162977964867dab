"""Flows: generators that yield awaitables and receive their results, run with or without an event loop.

A flow is written once and runs in the caller's event loop, or, for callers without one, in a background loop of this
process. This module knows no bot.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Awaitable, Generator
from functools import cache
from typing import Any, TypeAlias, TypeVar

__all__ = ["Flow", "on_a_loop", "wait_for", "without_a_loop"]

T = TypeVar("T")
Flow: TypeAlias = Generator[Awaitable[Any], Any, T]


async def on_a_loop(flow: Flow[T]) -> T:
    """Run a flow in the current event loop."""
    from asyncio import CancelledError, current_task

    task = current_task()
    assert task is not None
    try:
        awaited = next(flow)
        while True:
            try:
                value = await awaited
            except CancelledError as problem:
                awaited = flow.throw(problem if task.cancelling() else _cancelled(problem))
            except BaseException as problem:
                awaited = flow.throw(problem)
            else:
                awaited = flow.send(value)
    except StopIteration as end:
        result: T = end.value
        return result


def without_a_loop(flow: Flow[T]) -> T:
    """Run a flow here; its awaitables run in this process's background event loop."""
    try:
        awaited = next(flow)
        while True:
            try:
                value = wait_for(awaited)
            except BaseException as problem:
                awaited = flow.throw(problem)
            else:
                awaited = flow.send(value)
    except StopIteration as end:
        result: T = end.value
        return result


def wait_for(awaited: Awaitable[Any]) -> Any:
    """Await it in this process's background event loop; return its value, or raise what it raises."""
    return _own_loop().wait(awaited)


class _OwnLoop:
    """An event loop in its own thread, so that it also serves callers inside a loop, as in a notebook."""

    def __init__(self) -> None:
        import asyncio  # imported only if a bot awaits something

        self.submit = asyncio.run_coroutine_threadsafe
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="async bots", daemon=True)
        self.thread.start()
        atexit.register(self.close)

    def wait(self, awaited: Awaitable[Any]) -> Any:
        """Await it and return its value; raise what it raises."""
        value, problem = self.submit(_outcome(awaited), self.loop).result()
        if problem is not None:
            raise problem
        return value

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


def _cancelled(problem: BaseException) -> RuntimeError:
    """Convert a bot's own cancellation to an error, so that it cancels nothing else."""
    error = RuntimeError("the bot cancelled itself")
    error.__cause__ = problem
    return error


async def _outcome(awaited: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Return the result, or what was raised. A SystemExit that got out would end the shared loop."""
    from asyncio import CancelledError

    try:
        return await awaited, None
    except CancelledError as problem:
        return None, _cancelled(problem)
    except BaseException as problem:
        return None, problem


@cache
def _own_loop() -> _OwnLoop:
    return _OwnLoop()
