"""Calls of a bot's methods, written as `def` or `async def`, for callers with and without an event loop.

A bot's turn is a flow: a generator that yields awaitables and receives their results. The order of the calls is defined
once, so it is the same in local play and on a server. Exceptions of the bot pass through. This module knows no match
and no server.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Awaitable, Generator
from functools import cache
from inspect import iscoroutinefunction
from typing import Any, TypeAlias, TypeVar

from cutpurse.engine.game import Game
from cutpurse.engine.match import MatchResult
from cutpurse.engine.settings import Settings
from cutpurse.engine.view import View
from cutpurse.sdk.bot import BotMaker, MatchInfo
from cutpurse.sdk.bot_file import activate
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.views import VIEWS
from cutpurse.sdk.views.base import GameView

__all__ = [
    "Flow",
    "Unable",
    "ask_bot",
    "ask_bot_sync",
    "end_match",
    "wants_events",
    "hides_time",
    "is_async",
    "empty_view",
    "on_a_loop",
    "start_bot",
    "deliver_events",
    "without_a_loop",
]

T = TypeVar("T")
Flow: TypeAlias = Generator[Awaitable[Any], Any, T]


class Unable:
    """A stand-in for a bot that could not be made or started: its first decision gives up the whole match."""

    def __init__(self, problem: BaseException) -> None:
        self.problem = problem

    def choose(self, view: object, decision: Decision) -> int:
        """Raise the problem of the bot."""
        raise self.problem


def start_bot(maker: BotMaker, match: MatchInfo) -> Flow[Any]:
    """Make a bot and call its method `start`, if it has one."""
    activate(maker.modules)
    bot = maker.make()
    if (start := getattr(bot, "start", None)) is not None:
        done = start(match)
        if hasattr(done, "__await__"):
            yield done
    return bot


def ask_bot(bot: Any, view: GameView[Any], decision: Decision, again: bool = False) -> Flow[Any]:
    """Return a bot's answer. Deliver the events before the decision first, unless this is a repeat (`again`)."""
    if not again:
        yield from deliver_events(bot, view)
    answer = bot.choose(view, decision)
    if hasattr(answer, "__await__"):
        answer = yield answer
    return answer


def end_match(bot: Any, view: GameView[Any], result: MatchResult) -> Flow[None]:
    """Deliver the last events and, if the bot has a method `end`, the result."""
    yield from deliver_events(bot, view)
    if (end := getattr(bot, "end", None)) is not None:
        done = end(result)
        if hasattr(done, "__await__"):
            yield done


def deliver_events(bot: Any, view: GameView[Any]) -> Flow[None]:
    """Deliver the events of this view, if the bot has a method `event`."""
    if (hear := getattr(bot, "event", None)) is None:
        return
    for event in view.events:
        done = hear(event)
        if hasattr(done, "__await__"):
            yield done


def empty_view(rules: type[Game], settings: Settings, seats: int, seat: int) -> GameView[Any]:
    """Return the view of a seat that was never asked: an empty table."""
    words = rules.words
    none = (0,) * len(words.table_counters)
    none_each = tuple([(0,) * seats for _ in words.seat_counters])
    return VIEWS[words.game](View(rules, settings, seats, seat, none, none_each, (), ()))


def is_async(bot: Any) -> bool:
    """Return whether a bot or bot class has an `async def` method `choose`."""
    return iscoroutinefunction(getattr(bot, "choose", None))


def wants_events(bot: Any) -> bool:
    """Return whether a bot or bot class needs events: not if it has `reads_events = False` and no method `event`."""
    return hasattr(bot, "event") or getattr(bot, "reads_events", True) is not False


def hides_time(bot: Any) -> bool:
    """Return whether questions with one option take as long as others: not if the bot has `hides_time = False`."""
    return getattr(bot, "hides_time", True) is not False


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
                value = _own_loop().wait(awaited)
            except BaseException as problem:
                awaited = flow.throw(problem)
            else:
                awaited = flow.send(value)
    except StopIteration as end:
        result: T = end.value
        return result


def ask_bot_sync(bot: Any, view: GameView[Any], decision: Decision, again: bool) -> Any:
    """Return the answer as `without_a_loop(ask_bot(...))` does, a microsecond faster for bots without `event`."""
    if hasattr(bot, "event"):
        return without_a_loop(ask_bot(bot, view, decision, again))
    answer = bot.choose(view, decision)
    return _own_loop().wait(answer) if hasattr(answer, "__await__") else answer


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
