"""A bot's methods, written as `def` or as `async def`, called by those who have an event loop and those who have none.

A turn of a bot is a flow: a generator that yields whatever must be awaited and gets back what came of it. So the order
in which a bot is told and asked stands in one place, and local play and a server's matches cannot differ in it. What a
bot raises goes through. This module knows no match and no server.
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
    """In place of a bot that could not be made or started: its first decision gives the whole match up."""

    def __init__(self, problem: BaseException) -> None:
        self.problem = problem

    def choose(self, view: object, decision: Decision) -> int:
        """Run a flow of calls.  Raises what the bot raised."""
        raise self.problem


def start_bot(maker: BotMaker, match: MatchInfo) -> Flow[Any]:
    """Make a bot, and call its method `start`, if it has one, with its match."""
    activate(maker.modules)
    bot = maker.make()
    if (start := getattr(bot, "start", None)) is not None:
        done = start(match)
        if hasattr(done, "__await__"):
            yield done
    return bot


def ask_bot(bot: Any, view: GameView[Any], decision: Decision, again: bool = False) -> Flow[Any]:
    """Ask a bot for its answer. First its method `event`, if any, hears what led here, unless asked `again`."""
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
    """Whether a bot, or the class of one, chooses in a method written as `async def`."""
    return iscoroutinefunction(getattr(bot, "choose", None))


def wants_events(bot: Any) -> bool:
    """Whether a bot, or the class of one, is to have the events: one that says `reads_events = False` is not."""
    return hasattr(bot, "event") or getattr(bot, "reads_events", True) is not False


def hides_time(bot: Any) -> bool:
    """Return whether answers with one option take as long as real ones: not if a bot says `hides_time = False`."""
    return getattr(bot, "hides_time", True) is not False


async def on_a_loop(flow: Flow[T]) -> T:
    """Carry out a flow in the event loop that this is awaited in."""
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
    """Carry out a flow here; whatever must be awaited runs in an event loop that this process keeps for it."""
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
    """`without_a_loop(asked(...))`, a microsecond quicker for a bot that only chooses."""
    if hasattr(bot, "event"):
        return without_a_loop(ask_bot(bot, view, decision, again))
    answer = bot.choose(view, decision)
    return _own_loop().wait(answer) if hasattr(answer, "__await__") else answer


class _OwnLoop:
    """An event loop in a thread of its own, so that it also serves callers that are in a loop, as in a notebook."""

    def __init__(self) -> None:
        import asyncio  # a run whose bots never await does not pay for it

        self.submit = asyncio.run_coroutine_threadsafe
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="async bots", daemon=True)
        self.thread.start()
        atexit.register(self.close)

    def wait(self, awaited: Awaitable[Any]) -> Any:
        """Await it, and return its value; raises what it raises."""
        value, problem = self.submit(_outcome(awaited), self.loop).result()
        if problem is not None:
            raise problem
        return value

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


def _cancelled(problem: BaseException) -> RuntimeError:
    """Turn a bot that cancels itself into one that failed, so that it cancels nothing else."""
    error = RuntimeError("the bot cancelled itself")
    error.__cause__ = problem
    return error


async def _outcome(awaited: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Return the result, or what was raised: a SystemExit that got out would end the loop for everybody."""
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
