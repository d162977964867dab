"""The matches that are being played, and the moments at which each of them is to be looked at.

A match is here from the moment at which it begins until it is told how it ended; so one whose result is being stored is
here as well. This module knows no stream, no store and no clock: moments (seconds) are handed in. Whoever made it is
told which match is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from heapq import heappop, heappush
from math import inf

from cutpurse.engine.match import EndCause
from cutpurse.server.finished_match import Identity
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.matchmaking import Seating
from cutpurse.server.matches.open_boards import OpenBoard
from cutpurse.server.matches.roster import PairableBot
from cutpurse.server.matches.server_match import ServerMatch

__all__ = ["TrackedMatch", "OpenMatch", "OpenMatches", "Unstored", "shown"]


@dataclass(frozen=True, slots=True)
class OpenMatch:
    """A match that is being played.  requested_by: the owner who asked for it; empty: it is the ladder's."""

    name: str
    ladder: Ladder
    started: datetime
    seats: tuple[Identity, ...]
    requested_by: str
    table: ServerMatch

    @property
    def is_sealed(self) -> bool:
        """Whether its cards are played at other tables, or again, so that it is not to be watched."""
        return bool(self.table.tables)


@dataclass(frozen=True, slots=True)
class Unstored:
    """A match that is over, and whose result is not stored yet."""

    name: str
    ladder: Ladder
    started: datetime
    seats: tuple[Identity, ...]
    requested_by: str
    is_sealed: bool = False


@dataclass(slots=True, eq=False)
class TrackedMatch:
    """A match that is being played, or whose result is being stored."""

    table: ServerMatch
    players: tuple[PairableBot, ...]
    seating: Seating
    started: datetime
    seats: tuple[Identity, ...]
    board: OpenBoard | None = None  # if there are other matches on it
    is_over: bool = False


def shown(entry: TrackedMatch) -> OpenMatch:
    """Return what spectators see of a match."""
    table = entry.table
    return OpenMatch(table.name, table.ladder, entry.started, entry.seats, table.requested_by, table)


class OpenMatches:
    """See the module's docstring. `len` counts those whose results are being stored, too."""

    def __init__(self, finish: Callable[[TrackedMatch], None], wake: Callable[[], None]) -> None:
        """`finish` is called when a match is over, `wake` when one is to be looked at sooner than any before."""
        self._finish = finish
        self._wake = wake
        self._open: dict[str, TrackedMatch] = {}  # by the name of the match
        # A heap of moments and matches; whatever is not to be looked at then any more is passed over. Names, and not
        # matches: a moment may be half a minute away, and a match that is over is not to be kept for it.
        self._queue: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, name: str) -> bool:
        return name in self._open

    def is_begun(self, name: str) -> bool:
        """Whether a match has begun, and it is not settled how it ended; on any thread."""
        entry = self._open.get(name)
        return entry is not None and entry.table.is_begun

    def played(self) -> Iterator[TrackedMatch]:
        """Those that are not over, in the order in which they began."""
        return (entry for entry in self._open.values() if not entry.is_over)

    def unstored(self) -> list[Unstored]:
        """Those that are over."""
        over = [(entry, entry.table) for entry in self._open.values() if entry.is_over]
        return [
            Unstored(
                table.name, table.ladder, entry.started, entry.seats, table.requested_by, is_sealed=bool(table.tables)
            )
            for entry, table in over
        ]

    def add(self, entry: TrackedMatch) -> None:
        """Add a match that begins."""
        self._open[entry.table.name] = entry

    def remove(self, name: str) -> None:
        """Remove a match whose end is settled."""
        del self._open[name]

    # -- the course of time
    def tick(self, now: float) -> None:
        """Look at the matches that are due."""
        due = []
        while self._queue and self._queue[0][0] <= now:
            at, name = heappop(self._queue)
            entry = self._open.get(name)
            if entry is not None and entry.table.look_by == at:
                entry.table.look_by = inf
                due.append(entry.table)
        for table in due:
            table.tick(now)

    def next_event_at(self) -> float | None:
        """When `tick` has something to do though nothing else happens."""
        while self._queue:
            at, name = self._queue[0]
            entry = self._open.get(name)
            if entry is not None and entry.table.look_by == at:
                return at
            heappop(self._queue)
        return None

    def moved(self, table: ServerMatch) -> None:
        """Something has happened in a match."""
        entry = self._open.get(table.name)
        if entry is None or entry.is_over:  # somebody answers too late, or fetches the end
            return
        at = table.next_event_at()
        if at is None:
            entry.is_over, table.look_by = True, inf
            self._finish(entry)
        elif at < table.look_by:
            is_first = not self._queue or at < self._queue[0][0]
            table.look_by = at
            heappush(self._queue, (at, table.name))
            if is_first:
                self._wake()

    def credit(self, seconds: float) -> None:
        """Credit a stall of the server to every clock."""
        for entry in self._open.values():
            if entry.table.is_begun:
                entry.table.credit(seconds)

    def void_all(self) -> None:
        """End every match that is still being played; by the server's fault they count for nothing."""
        for entry in list(self._open.values()):
            entry.table.void(EndCause.VOID_SERVER)
