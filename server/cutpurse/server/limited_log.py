"""Limited logging of lines that callers cause: a few a minute for each kind and address, then a count.

Callers without a token can cause thousands of lines a second, and a full disk would stop the server. This module knows
no clock: times (in seconds) are passed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from cutpurse.server.logs import Logger

__all__ = ["LINES", "MAX_KINDS", "WINDOW_S", "LimitedLog"]

LINES: Final = 5  # lines of one kind and address in a window
WINDOW_S: Final = 60.0
MAX_KINDS: Final = 512  # pairs of kind and address counted at a time; beyond that, all addresses of a kind count as one
ELSEWHERE: Final = "elsewhere"


@dataclass(slots=True)
class _Window:
    ends_at: float
    count: int = 0


class LimitedLog:
    """A log that writes the first lines of each kind and address at once, and later the number of the others."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._windows: dict[tuple[str, str, str], _Window] = {}  # in the order in which they end

    def info(self, now: float, event: str, address: str, reason: str = "", **facts: Any) -> None:
        """Write a line, or count it.

        Args:
            now: Current time in seconds.
            event: The event's name in the log; with `reason` it is the kind of the line.
            address: Address of the caller; too many of them count as one.
            reason: The reason, if the event has several.
            facts: Further fields of the line.
        """
        self.report(now)
        key = event, reason, address
        if key not in self._windows and len(self._windows) >= MAX_KINDS:
            key = event, reason, ELSEWHERE
        window = self._windows.setdefault(key, _Window(now + WINDOW_S))
        window.count += 1
        if window.count <= LINES:
            self._log.info(event, **({"reason": reason} if reason else {}), **facts)

    def report(self, now: float) -> None:
        """Write how many lines were left out in the windows that have ended by `now`."""
        while self._windows:
            key, window = next(iter(self._windows.items()))
            if now < window.ends_at:
                return
            del self._windows[key]
            if window.count > LINES:
                event, reason, address = key
                self._log.info("lines left out", of=event, reason=reason, address=address, count=window.count - LINES)
