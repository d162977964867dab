"""What a server has done since it started, counted: plain numbers that whoever does it adds to.

To count costs no more than an addition, so that it may be done for each answer. This module knows nothing of who counts
and of who looks (`metrics.py`); no key is anything that a bot chose.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Counts", "Histogram"]

# Seconds: answers on one machine come within one or two ms, those of a search at the end of base and bank.
_THINKING_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Histogram:
    """How many values there were up to each of some bounds, and their sum."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)  # the last: beyond all bounds
        self.total = 0.0

    def add(self, *values: float) -> None:
        """One more value, or several; one that equals a bound is within it."""
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
    """See the module's docstring. Touched on the event loop's thread only."""

    accepted: int = 0  # answers and give-ups that took effect
    refused: Counter[str] = field(default_factory=Counter)  # answers, by OutcomeKind
    # Of each decision, counted when its match is over.
    faults: Counter[str] = field(default_factory=Counter)  # left to the safe option, by EndCause
    thinking: Histogram = field(default_factory=lambda: Histogram(_THINKING_S))  # seconds

    matches_started: Counter[str] = field(default_factory=Counter)  # by ladder
    matches_finished: Counter[str] = field(default_factory=Counter)  # by ladder: stored, and told
    matches_void: Counter[str] = field(default_factory=Counter)  # by ladder: ended, counting for nothing
    storing: int = 0  # matches that are over and wait for the store, now
    not_stored: int = 0  # times that the store did not take a result
    incidents: int = 0  # faults of the server itself, those that have a number in the log

    sessions_opened: int = 0
    sessions_resumed: int = 0
    connected: int = 0  # sessions that have a stream, now
    streams_refused: Counter[str] = field(default_factory=Counter)  # before they were let in, by ErrorReason
    streams_ended: Counter[str] = field(default_factory=Counter)  # of those let in, by ErrorReason, `left` or `lost`
    problems: Counter[str] = field(default_factory=Counter)  # told to bots, by ErrorReason; BAD_MESSAGE is a strike

    envelopes_in: int = 0
    envelopes_out: int = 0
