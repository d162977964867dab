"""Whether the server itself stands still, and for how long: no bot is to pay for it.

Whoever runs the event loop says that it is alive, at least every `EVERY_S`. This module reads no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

__all__ = ["EVERY_S", "Pulse"]

EVERY_S: Final = 0.050
_SLACK_S: Final = 0.010  # later than that is a stall


class Pulse:
    """credit is called with the seconds of each stall, before anything is judged by the clock again."""

    __slots__ = ("_alive_at", "_credit")

    def __init__(self, credit: Callable[[float], None], now: float) -> None:
        self._credit = credit
        self._alive_at = now

    def beat(self, now: float) -> float:
        """The loop is alive.  Returns the seconds credited, 0.0 nearly always.

        A stall may have begun right after the last beat, so all that lies between is credited.
        """
        since = now - self._alive_at
        if since > 0:
            self._alive_at = now
        if since <= EVERY_S + _SLACK_S:
            return 0.0
        self._credit(since)
        return since
