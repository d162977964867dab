"""Models without a network: functions that answer as a test says, and a decision to ask them about."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from cutpurse.llm import Reply
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.local import play

__all__ = ["Scripted", "Time", "answer", "first_decision"]


def answer(option: int, **more: Any) -> str:
    """Return the JSON of an answer."""
    return json.dumps({"option": option, **more})


class Scripted:
    """A model that gives these replies, one after the other, and keeps the messages; an exception is raised."""

    def __init__(self, replies: Iterable[Reply | str | Exception]) -> None:
        self._replies = iter(replies)
        self.asked: list[list[dict[str, str]]] = []

    def __call__(self, messages: list[dict[str, str]]) -> Reply:
        self.asked.append(messages)
        reply = next(self._replies)
        if isinstance(reply, Exception):
            raise reply
        return Reply(reply, 100, 10) if isinstance(reply, str) else reply


class Time:
    """A clock that goes on only while a bot pauses, or a model takes its time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


def first_decision(game: str, use: Callable[[Any, Decision, MatchInfo], None], *, seed: int = 3) -> None:
    """Call `use` with view, decision and match at the first decision of a seat; then play on."""
    asked: list[Decision] = []

    class Asked:
        def start(self, match: MatchInfo) -> None:
            self.match = match

        def choose(self, view: Any, decision: Decision) -> int:
            if not asked:
                asked.append(decision)
                use(view, decision, self.match)
            return 0

    failures = play(game, [Asked, "random", "random"], seed=seed).failures
    assert failures == (), failures[0].trace
