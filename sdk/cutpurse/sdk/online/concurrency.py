"""The speed of a bot, and the number of matches that it can play at once.

Decisions of several matches can be open at once, and the last of them waits for all others. So a bot gets as many
matches as keep `open decisions x the 95th percentile of its decision times` under half of the base time. Times are
passed in; this module knows no clock.
"""

from __future__ import annotations

from collections import deque
from typing import Final

__all__ = ["Durations", "ConcurrencyControl", "SpeedProof"]

FIRST_TABLES: Final = 1  # for an unknown bot; with more, one that needs its whole base time would be late
SHARE: Final = 0.5  # of the base time that may be used
SEEN: Final = 64  # recent decisions that count
STEP: Final = 8  # decisions per match, for up to four matches, between two increases

PROVEN: Final = 32  # decisions
QUICK_S: Final = 0.002  # limit of the 95th percentile: other matches wait no longer than for the network
SLOW_S: Final = 0.020  # limit of a single decision: acknowledgements would be late


class Durations:
    """The most recent durations, in seconds."""

    __slots__ = ("_in_order",)

    def __init__(self, most: int) -> None:
        self._in_order: deque[float] = deque(maxlen=most)

    def __len__(self) -> int:
        return len(self._in_order)

    def add(self, seconds: float) -> None:
        """Add a duration; drop the oldest if the list is full."""
        self._in_order.append(seconds)

    def clear(self) -> None:
        """Drop all durations."""
        self._in_order.clear()

    @property
    def p95(self) -> float:
        """The 95th percentile (nearest rank); 0 if there are no durations."""
        n = len(self._in_order)
        return sorted(self._in_order)[(95 * n + 99) // 100 - 1] if n else 0.0


class ConcurrencyControl:
    """The number of simultaneous matches of a bot. It rises slowly and falls at once."""

    def __init__(self, upper: int | None = None, first: int | None = None) -> None:
        """Start with `first` matches; None means one.  `upper` is the author's limit; None means no limit."""
        self.upper = upper
        self.most = FIRST_TABLES  # the server's limit, once it is known
        self.base_s = 1.0
        self._desired = FIRST_TABLES if first is None else first
        self._took = Durations(SEEN)
        self._p95 = 0.0  # of `_took`, or more
        self._since = 0  # decisions since the last change

    @property
    def tables(self) -> int:
        """The number of matches to play now, at least 1."""
        return max(1, min(self._desired, self._bound()))

    def granted(self, most: int) -> None:
        """Set the server's limit."""
        self.most = most

    def started(self, base_s: float) -> None:
        """Use the base time of a match that begins."""
        self.base_s = base_s
        self._fall(self._fitting())

    def decided(self, seconds: float) -> None:
        """Add the time that the bot took for a decision."""
        self._took.add(seconds)
        self._since += 1
        if seconds > self._p95:  # otherwise the 95th percentile has not grown
            self._fall(self._fitting())
        if self._since >= STEP * min(self._desired, 4):
            self._since = 0
            fitting = self._fitting()
            self._desired = min(self._desired + max(1, self._desired // 2), fitting, self._bound())

    def late(self) -> None:
        """Halve the number of matches, since a decision was too late."""
        self._fall(self._desired // 2)

    def _bound(self) -> int:
        return self.most if self.upper is None else min(self.upper, self.most)

    def _fitting(self) -> int:
        p95 = self._p95 = self._took.p95
        return self.most if p95 * self.most <= SHARE * self.base_s else max(1, int(SHARE * self.base_s / p95))

    def _fall(self, to: int) -> None:
        if to < self._desired:
            self._desired = max(1, to)
            self._since = 0


class SpeedProof:
    """The proof that a bot is fast enough to run in the event loop."""

    def __init__(self) -> None:
        self.fast = False
        self._took = Durations(PROVEN)
        self._p95 = 0.0  # of `_took`, or more

    def took(self, seconds: float) -> None:
        """Add the time of a turn."""
        self._took.add(seconds)
        if seconds > SLOW_S:
            self.fast = False
            self._took.clear()
        elif len(self._took) == PROVEN and (not self.fast or seconds > self._p95):
            self._p95 = self._took.p95
            self.fast = self._p95 < QUICK_S
