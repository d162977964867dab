"""Whether the server itself stands still, and for how long: no bot is to pay for it.

Two things can keep a bot's answer waiting. The loop stands still, in one long callback, a collection of garbage or with
the whole process: nothing is heard of it meanwhile. Or it is behind: it goes from one short callback to the next, and
its own timer does not get its turn. Whoever runs the loop says `beat` in whatever it does by the clock, and `ring` in a
timer of `EVERY_S`. This module reads no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cutpurse.server.counts import Histogram

__all__ = ["EVERY_S", "Pulse"]

EVERY_S: Final = 0.050
_SLACK_S: Final = 0.010  # silent for longer than that beyond the timer's time is a stall
_BEHIND_S: Final = 0.050  # the timer later than that is a stall too; less is within anybody's grace
_LAG_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Pulse:
    """credit is called with the seconds of each stall, before anything is judged by the clock again.

    No moment is credited twice: each credit ends where the next can begin. stalls and stalled_s are their number and
    sum, lag how late the timer rang, alive_at the last sign of life.
    """

    __slots__ = ("_credit", "_due", "_rings_at", "alive_at", "lag", "stalled_s", "stalls")

    def __init__(self, credit: Callable[[float], None], now: float) -> None:
        self._credit = credit
        self.alive_at = now
        self._due = self._rings_at = now + EVERY_S  # from `_due` on the loop is behind
        self.stalls = 0
        self.stalled_s = 0.0
        self.lag = Histogram(_LAG_S)

    def beat(self, now: float) -> float:
        """Note that the loop works, before it judges anything.  Returns the seconds credited, nearly always 0.0.

        A stall may have begun right after the last beat, so all that lies between is credited.
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
        """Note a turn of the timer, which is due every `EVERY_S`; else as `beat`."""
        seconds = self.beat(now)
        self.lag.add(max(0.0, now - self._rings_at))
        self._due = self._rings_at = now + EVERY_S
        return seconds
