"""What the bots that the server runs use while they sit at a match: read when it begins, and when it ends.

A process has several tables as a rule, and the processor's time of all of them is counted at each: it is what the
process used meanwhile, not what this match cost. Memory is the most that it had at once since it was started. To be
called on the event loop; reading takes some ten microseconds a bot. This module knows no runner's kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from cutpurse.server.finished_match import FinishedMatch, Identity
from cutpurse.server.matches.lobby import OpenMatch
from cutpurse.server.runners.port import ResourceUse

__all__ = ["ResourceMeters"]

MOST_OPEN: Final = 10_000  # matches that are remembered; far more than are ever open


class ResourceMeters:
    """uses: what is running, by who it is; it may be changed on another thread."""

    def __init__(self, uses: Callable[[], Mapping[Identity, Callable[[], ResourceUse]]]) -> None:
        self._uses = uses
        self._began: dict[str, dict[Identity, tuple[Callable[[], ResourceUse], float]]] = {}

    def started(self, match: OpenMatch) -> None:
        """Note that a match begins."""
        running = self._uses()
        began = {seat: (running[seat], running[seat]().cpu_s) for seat in match.seats if seat in running}
        if began:
            self._began[match.name] = began
            if len(self._began) > MOST_OPEN:
                del self._began[next(iter(self._began))]

    def measured(self, result: FinishedMatch) -> FinishedMatch:
        """Add resource usage to a result; it is unknown for a bot that has another process by now."""
        began = self._began.pop(result.match, None)
        if began is None:
            return result
        running = self._uses()
        seats = []
        for seat in result.seats:
            use, before = running.get(seat.player), began.get(seat.player)
            if use is not None and before is not None and use == before[0]:
                used = use()
                cpu_ms = max(0, round((used.cpu_s - before[1]) * 1_000))
                seat = replace(seat, cpu_ms=cpu_ms, peak_bytes=used.peak_bytes)
            seats.append(seat)
        return replace(result, seats=tuple(seats))
