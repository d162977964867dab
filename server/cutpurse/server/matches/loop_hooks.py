"""Moments of a running server at which others may act, on the event loop.

    hooks = LoopHooks()
    hooks.on(MatchBegan, watching.started)
    hooks.send(MatchBegan(match))

A listener must not wait and must not raise. The events of this module are all there are; it knows no listener.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from cutpurse.leaderboard.results import FinishedMatch
from cutpurse.server.matches.open_matches import OpenMatch

__all__ = ["DeadlinesNext", "LoopHooks", "MatchBegan", "ResultMeasured", "StallCredited", "TermsChanged"]

Event = TypeVar("Event")


@dataclass(frozen=True, slots=True)
class MatchBegan:
    """A match was dealt; its bots are not notified of a decision yet."""

    match: OpenMatch


@dataclass(slots=True)
class ResultMeasured:
    """A match is over and not stored yet. A listener may add to its result what is measured elsewhere."""

    result: FinishedMatch


@dataclass(frozen=True, slots=True)
class TermsChanged:
    """A ladder came, has new terms, or was removed."""

    ladder: str


@dataclass(frozen=True, slots=True)
class DeadlinesNext:
    """The server looks for late decisions next, at this time of the loop's clock."""

    now: float


@dataclass(frozen=True, slots=True)
class StallCredited:
    """The server stood still; these seconds were credited to every clock."""

    seconds: float


class LoopHooks:
    """The listeners of a server, by the class of their events."""

    def __init__(self) -> None:
        """Begin without a listener."""
        self._listeners: dict[type, list[Callable[[Any], object]]] = {}

    def on(self, event: type[Event], listener: Callable[[Event], object]) -> None:
        """Call `listener` at each event of a class."""
        self._listeners.setdefault(event, []).append(listener)

    def send(self, event: object) -> None:
        """Call the listeners of an event, in the order in which they were added."""
        for listener in self._listeners.get(type(event), ()):
            listener(event)
