"""The matches in play, and when each of them is to be checked next.

A match stays here from its start until its end is reported, so this includes matches whose results are being stored.
This module knows no stream, no store and no clock: times (in seconds) are passed in. It reports each finished match to
its owner.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from heapq import heappop, heappush
from math import inf

from cutpurse.engine.match import EndCause
from cutpurse.leaderboard.results import Identity
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.matchmaking import Seating
from cutpurse.server.matches.open_boards import OpenBoard
from cutpurse.server.matches.roster import PairableBot
from cutpurse.server.matches.server_match import ServerMatch

__all__ = ["OpenMatch", "OpenMatches", "Unstored"]


@dataclass(frozen=True, slots=True)
class Unstored:
    """A finished match whose result is not stored yet."""

    name: str
    ladder: Ladder
    started: datetime
    seats: tuple[Identity, ...]
    requested_by: str
    is_sealed: bool = False


@dataclass(slots=True, eq=False)
class OpenMatch:
    """A match in play, or one whose result is being stored."""

    table: ServerMatch
    players: tuple[PairableBot, ...]
    seating: Seating
    started: datetime
    seats: tuple[Identity, ...]
    board: OpenBoard | None = None  # only if it has several matches
    is_paired: bool = True  # by the pairing of this lobby, rather than requested or assigned
    is_over: bool = False

    @property
    def name(self) -> str:
        """Its ID."""
        return self.table.name

    @property
    def ladder(self) -> Ladder:
        """The ladder on which it is played, with the terms of its start."""
        return self.table.ladder

    @property
    def requested_by(self) -> str:
        """The owner who requested it; empty for a ladder's match."""
        return self.table.requested_by

    @property
    def is_sealed(self) -> bool:
        """Whether its cards are also dealt in other matches, so that it may not be watched."""
        return self.table.board_matches > 1


class OpenMatches:
    """The matches in play, and a queue of when to check them. `len` includes those whose results are being stored."""

    def __init__(self, finish: Callable[[OpenMatch], None], wake: Callable[[], None]) -> None:
        """Start with no matches.

        Args:
            finish: Called when a match is over.
            wake: Called when a match is due earlier than all others.
        """
        self._finish = finish
        self._wake = wake
        self._open: dict[str, OpenMatch] = {}  # by match ID
        # A heap of times and match IDs; outdated entries are skipped. It holds IDs rather than matches, because an
        # entry may be half a minute away and should not keep a finished match in memory.
        self._queue: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._open)

    def is_begun(self, name: str) -> bool:
        """Return whether a match has begun and its end is not settled; thread-safe."""
        entry = self._open.get(name)
        return entry is not None and entry.table.is_begun

    def played(self) -> Iterator[OpenMatch]:
        """Return the matches that are not over, in the order in which they began."""
        return (entry for entry in self._open.values() if not entry.is_over)

    def unstored(self) -> list[Unstored]:
        """Return the matches that are over and whose results are not stored yet."""
        return [
            Unstored(one.name, one.ladder, one.started, one.seats, one.requested_by, is_sealed=one.is_sealed)
            for one in self._open.values()
            if one.is_over
        ]

    def add(self, entry: OpenMatch) -> None:
        """Add a match that begins."""
        self._open[entry.table.name] = entry

    def remove(self, name: str) -> None:
        """Remove a match whose end is settled."""
        del self._open[name]

    # -- driving
    def tick(self, now: float) -> None:
        """Tick the matches that are due."""
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
        """Return when `tick` is next due if nothing else happens."""
        while self._queue:
            at, name = self._queue[0]
            entry = self._open.get(name)
            if entry is not None and entry.table.look_by == at:
                return at
            heappop(self._queue)
        return None

    def moved(self, table: ServerMatch) -> None:
        """Reschedule a match after a change, and finish it if it is over."""
        entry = self._open.get(table.name)
        if entry is None or entry.is_over:  # a late answer, or a bot that fetches the end
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
        """Credit a stall of the server, in seconds, to every clock."""
        for entry in self._open.values():
            entry.table.credit(seconds)

    def credit_to(self, bots: Collection[Identity], seconds: float) -> None:
        """Credit time to every clock of these bots' matches."""
        for entry in self._of(bots):
            entry.table.credit(seconds)

    def delay(self, bots: Collection[Identity], seconds: float) -> list[str]:
        """Credit a delay of these bots, which is not their own, to the clocks of their matches.

        Returns:
            The IDs of the matches that were delayed for too long and are void now.
        """
        return [entry.table.name for entry in self._of(bots) if entry.table.delay(seconds)]

    def busy(self, bots: Collection[Identity]) -> frozenset[Identity]:
        """Return those of these bots that have open matches."""
        wanted = frozenset(bots)
        return frozenset(identity for entry in self._of(bots) for identity in entry.seats if identity in wanted)

    def void(self, bots: Collection[Identity]) -> list[str]:
        """Void the matches of these bots by the server's fault, and return their IDs."""
        entries = self._of(bots)
        for entry in entries:
            entry.table.void(EndCause.VOID_SERVER)
        return [entry.table.name for entry in entries]

    def void_ladder(self, ladder: str) -> list[str]:
        """Void the matches of a ladder by the server's fault, and return their IDs."""
        entries = [entry for entry in self.played() if entry.table.ladder.name == ladder]
        for entry in entries:
            entry.table.void(EndCause.VOID_SERVER)
        return [entry.table.name for entry in entries]

    def _of(self, bots: Collection[Identity]) -> list[OpenMatch]:
        wanted = frozenset(bots)
        return [entry for entry in self.played() if not wanted.isdisjoint(entry.seats)]

    def void_all(self) -> None:
        """Void every match in play by the server's fault."""
        for entry in list(self._open.values()):
            entry.table.void(EndCause.VOID_SERVER)
