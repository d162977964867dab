"""The stall monitor: it measures how long the server itself was blocked, so that no bot pays for it.

Two things can delay a bot's answer. The loop stalls in one long callback, a garbage collection or with the whole
process, and shows no activity meanwhile. Or the loop is behind: it runs many short callbacks, and its own timer gets no
turn. The owner of the loop calls `beat` before anything that depends on the clock, and `ring` in a timer of `EVERY_S`.
This module reads no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cutpurse.server.counts import Histogram

__all__ = ["EVERY_S", "Pulse"]

EVERY_S: Final = 0.050
_SLACK_S: Final = 0.010  # silence that is longer than the timer's period by this much is a stall
_BEHIND_S: Final = 0.050  # a timer that is later than this is a stall, too; less is within every bot's grace
_LAG_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Pulse:
    """The activity of the event loop, and its stalls.

    `stalls` and `stalled_s` are their number and total seconds, `lag` is how late the timer rang, and `alive_at` is the
    time of the latest activity. No time is credited twice: each credit ends where the next can begin.
    """

    __slots__ = ("_credit", "_due", "_rings_at", "alive_at", "lag", "stalled_s", "stalls")

    def __init__(self, credit: Callable[[float], None], now: float) -> None:
        """Start at `now`. `credit` is called with the seconds of each stall, before any deadline is checked."""
        self._credit = credit
        self.alive_at = now
        self._due = self._rings_at = now + EVERY_S  # the loop is behind after `_due`
        self.stalls = 0
        self.stalled_s = 0.0
        self.lag = Histogram(_LAG_S)

    def beat(self, now: float) -> float:
        """Note that the loop works, before it checks any deadline.

        A stall may have begun right after the previous beat, so the whole interval is credited.

        Returns:
            The seconds credited, nearly always 0.0.
        """
        silent, behind = now - self.alive_at, now - self._due
        if silent > 0:
            self.alive_at = now
        if silent <= EVERY_S + _SLACK_S and behind <= _BEHIND_S:
            return 0.0
        self._due = now
        seconds = max(silent, behind)
        self.stalls += 1
        self.stalled_s += seconds
        self._credit(seconds)
        return seconds

    def ring(self, now: float) -> float:
        """Note a turn of the timer, which is due every `EVERY_S`, and return the seconds of a stall as `beat` does."""
        seconds = self.beat(now)
        self.lag.add(max(0.0, now - self._rings_at))
        self._due = self._rings_at = now + EVERY_S
        return seconds
