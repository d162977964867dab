"""How quick a bot is, and at how many tables it may therefore sit. Times are handed in; this module knows no clock.

Decisions of several tables can be open at once, and the last of them waits for all others. So a bot gets as many tables
as keep `open decisions x the time it takes for nearly all of its decisions` under half of what one decision may take.
"""

from __future__ import annotations

from collections import deque
from typing import Final

__all__ = ["Durations", "ConcurrencyControl", "SpeedProof"]

FIRST_TABLES: Final = 1  # before anything is known of the bot: at more, one that needs its whole base would be late
SHARE: Final = 0.5  # of the base time that may be used
SEEN: Final = 64  # decisions that are looked back on
STEP: Final = 8  # decisions at each table, of up to four, between two rises

PROVEN: Final = 32  # decisions
QUICK_S: Final = 0.002  # nearly all of them: the others wait no longer than for the network
SLOW_S: Final = 0.020  # a single one: acknowledgements would be late


class Durations:
    """The last so many durations, in seconds."""

    __slots__ = ("_in_order",)

    def __init__(self, most: int) -> None:
        self._in_order: deque[float] = deque(maxlen=most)

    def __len__(self) -> int:
        return len(self._in_order)

    def add(self, seconds: float) -> None:
        """One more; the oldest is forgotten if there were enough."""
        self._in_order.append(seconds)

    def clear(self) -> None:
        """Forget them all."""
        self._in_order.clear()

    @property
    def p95(self) -> float:
        """What 95 in 100 of them do not exceed (the nearest rank); 0 if there are none."""
        n = len(self._in_order)
        return sorted(self._in_order)[(95 * n + 99) // 100 - 1] if n else 0.0


class ConcurrencyControl:
    """At how many tables a bot sits. It rises slowly and falls at once."""

    def __init__(self, upper: int | None = None) -> None:
        """`upper`: never more than this."""
        self.upper = upper
        self.most = FIRST_TABLES  # the server's bound, once it is told
        self.base_s = 1.0
        self._wanted = FIRST_TABLES
        self._took = Durations(SEEN)
        self._p95 = 0.0  # of them, or more
        self._since = 0  # decisions since the last change

    @property
    def tables(self) -> int:
        """How many there should be now, at least 1."""
        return max(1, min(self._wanted, self._bound()))

    def granted(self, most: int) -> None:
        """Note the most tables that the server will ever give."""
        self.most = most

    def started(self, base_s: float) -> None:
        """Note a match that begins, with its base time for each decision."""
        self.base_s = base_s
        self._fall(self._fitting())

    def decided(self, seconds: float) -> None:
        """Note how long the bot took for a decision."""
        self._took.add(seconds)
        self._since += 1
        if seconds > self._p95:  # else nearly all of them took no longer than before
            self._fall(self._fitting())
        if self._since >= STEP * min(self._wanted, 4):
            self._since = 0
            fitting = self._fitting()
            self._wanted = min(self._wanted + max(1, self._wanted // 2), fitting, self._bound())

    def late(self) -> None:
        """A decision was out of time, whatever the figures say."""
        self._fall(self._wanted // 2)

    def _bound(self) -> int:
        return self.most if self.upper is None else min(self.upper, self.most)

    def _fitting(self) -> int:
        p95 = self._p95 = self._took.p95
        return self.most if p95 * self.most <= SHARE * self.base_s else max(1, int(SHARE * self.base_s / p95))

    def _fall(self, to: int) -> None:
        if to < self._wanted:
            self._wanted = max(1, to)
            self._since = 0


class SpeedProof:
    """Whether a bot is so quick that nobody minds waiting for it."""

    def __init__(self) -> None:
        self.fast = False
        self._took = Durations(PROVEN)
        self._p95 = 0.0  # of them, or more

    def took(self, seconds: float) -> None:
        """The bot took so long for a turn."""
        self._took.add(seconds)
        if seconds > SLOW_S:
            self.fast = False
            self._took.clear()
        elif len(self._took) == PROVEN and (not self.fast or seconds > self._p95):
            self._p95 = self._took.p95
            self.fast = self._p95 < QUICK_S
