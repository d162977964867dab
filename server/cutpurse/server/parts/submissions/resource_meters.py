"""The resource usage of hosted bots during a match, read at its start and at its end.

CPU time is that of the whole process between these times, even if the process plays other matches too. Memory is the
peak since the process started. Call the methods on the event loop; a reading takes about ten microseconds per bot. This
module knows no kind of runner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from cutpurse.leaderboard.results import FinishedMatch, Identity
from cutpurse.server.matches.loop_hooks import LoopHooks, MatchBegan, ResultMeasured
from cutpurse.server.matches.open_matches import OpenMatch
from cutpurse.server.runners.port import ResourceUse

__all__ = ["ResourceMeters"]

MOST_OPEN: Final = 10_000  # open matches remembered; far more than a server has


class ResourceMeters:
    """The meters of all open matches; `uses` returns functions that read the usage of the running bots."""

    def __init__(self, uses: Callable[[], Mapping[Identity, Callable[[], ResourceUse]]]) -> None:
        self._uses = uses
        self._began: dict[str, dict[Identity, tuple[Callable[[], ResourceUse], float]]] = {}

    def listen(self, hooks: LoopHooks) -> None:
        """Measure the matches of a lobby, and add what was used to their results."""
        hooks.on(MatchBegan, lambda event: self.started(event.match))
        hooks.on(ResultMeasured, self._add)

    def _add(self, event: ResultMeasured) -> None:
        event.result = self.measured(event.result)

    def started(self, match: OpenMatch) -> None:
        """Read the usage of a match's bots at its start."""
        running = self._uses()
        began = {seat: (running[seat], running[seat]().cpu_s) for seat in match.seats if seat in running}
        if began:
            self._began[match.name] = began
            if len(self._began) > MOST_OPEN:
                del self._began[next(iter(self._began))]

    def measured(self, result: FinishedMatch) -> FinishedMatch:
        """Return a result with the resource usage added; it is unknown for a bot whose process was restarted."""
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
