"""Calls of a bot's methods, written as `def` or `async def`, for callers with and without an event loop.

A bot's turn is a flow, so the order of the calls is defined once and is the same in local play and on a server.
Exceptions of the bot pass through. This module knows no match
and no server.
"""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import Any

from cutpurse.engine.game import Game
from cutpurse.engine.match import MatchResult
from cutpurse.engine.settings import Settings
from cutpurse.engine.view import View
from cutpurse.sdk.bot import BotMaker, MatchInfo
from cutpurse.sdk.bot_file import activate
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.flows import Flow, wait_for, without_a_loop
from cutpurse.sdk.views import VIEWS
from cutpurse.sdk.views.base import GameView

__all__ = [
    "Unable",
    "ask_bot",
    "ask_bot_sync",
    "end_match",
    "wants_events",
    "hides_time",
    "is_async",
    "reads_knowledge",
    "empty_view",
    "start_bot",
    "deliver_events",
]


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


def reads_knowledge(bot: Any) -> bool:
    """Return whether a bot or bot class looks at what is known of hidden cards: not with `reads_knowledge = False`."""
    return getattr(bot, "reads_knowledge", True) is not False


def hides_time(bot: Any) -> bool:
    """Return whether questions with one option take as long as others: not if the bot has `hides_time = False`."""
    return getattr(bot, "hides_time", True) is not False


def ask_bot_sync(bot: Any, view: GameView[Any], decision: Decision, again: bool) -> Any:
    """Return the answer as `without_a_loop(ask_bot(...))` does, a microsecond faster for bots without `event`."""
    if hasattr(bot, "event"):
        return without_a_loop(ask_bot(bot, view, decision, again))
    answer = bot.choose(view, decision)
    return wait_for(answer) if hasattr(answer, "__await__") else answer
