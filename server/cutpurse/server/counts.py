"""Counters of what a server has done since its start: plain numbers that the code adds to.

A count costs no more than an addition, so that every answer can be counted. This module knows neither the code that
counts nor `metrics.py`, which reads it. No key is anything that a bot chose.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Counts", "Histogram"]

# Seconds: answers on one machine take one or two ms, those of a search up to base time and time bank.
_THINKING_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Histogram:
    """The number of values up to each of some bounds, and their sum."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)  # the last is beyond all bounds
        self.total = 0.0

    def add(self, *values: float) -> None:
        """Add one or more values; a value that equals a bound is within it."""
        counts, counted, ordered = self.counts, 0, sorted(values)
        for place, bound in enumerate(self.bounds):
            within = bisect_right(ordered, bound)
            counts[place] += within - counted
            counted = within
            if counted == len(ordered):
                break
        counts[-1] += len(ordered) - counted
        self.total += sum(ordered)


@dataclass(slots=True)
class Counts:
    """The counters of one server. Use them on the event loop's thread only."""

    accepted: int = 0  # answers and give-ups that took effect
    refused: Counter[str] = field(default_factory=Counter)  # answers, by OutcomeKind
    # Per decision, counted when its match is over.
    faults: Counter[str] = field(default_factory=Counter)  # left to the safe option, by EndCause
    thinking: Histogram = field(default_factory=lambda: Histogram(_THINKING_S))  # seconds

    matches_started: Counter[str] = field(default_factory=Counter)  # by ladder
    matches_finished: Counter[str] = field(default_factory=Counter)  # by ladder: stored and reported
    matches_void: Counter[str] = field(default_factory=Counter)  # by ladder: ended without a result
    storing: int = 0  # matches that are over and now wait for the store
    not_stored: int = 0  # failed writes of results
    incidents: int = 0  # server errors with an incident number

    sessions_opened: int = 0
    sessions_resumed: int = 0
    connected: int = 0  # sessions that have a stream now
    streams_refused: Counter[str] = field(default_factory=Counter)  # refused streams, by ErrorReason
    streams_ended: Counter[str] = field(default_factory=Counter)  # admitted streams, by ErrorReason, `left` or `lost`
    # errors sent to bots, by ErrorReason; BAD_MESSAGE is a strike, or a usage out of bounds
    problems: Counter[str] = field(default_factory=Counter)

    envelopes_in: int = 0
    envelopes_out: int = 0
