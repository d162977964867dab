"""Who is there, which matches are played, and what becomes of their results.

Whoever drives a lobby lets bots in with `enter` and calls `tick` at the latest at `next_event_at`, and whenever `wake`
was called. In `tick`, and only there, matches are started, late decisions closed, and stored results told. A match is
told as over only once its result is stored. If the store fails, that match is void, and no other is started until the
store has taken its void result; it is offered again every second. If the store cannot say whether it has the result,
nobody is told anything before it can: the same result is offered again. A store whose ledger is broken is offered
nothing again: somebody must look at it first. So while the store is slow, tables fill up and nothing is lost; while it
is broken, nothing is played that could not be kept.

This module knows no stream, no clock, no chance and no database: moments, bytes of entropy and the store are handed in.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import asdict, dataclass
from datetime import datetime
from heapq import heappop, heappush
from math import inf
from typing import Any, Final, Protocol, cast

from cutpurse.engine.chance import KEY_BYTES, Chance
from cutpurse.engine.commitment import SEED_BYTES, commitment
from cutpurse.engine.match import EndCause
from cutpurse.sdk.wire.phrases import Phrases
from cutpurse.server.counts import Counts
from cutpurse.server.invariants import QueueOver, SeedEarly, check_settled, within
from cutpurse.server.ladders import Ladder
from cutpurse.server.pairing import Pairing, Seating
from cutpurse.server.results import (
    Deal,
    FinishedMatch,
    Identity,
    LedgerBroken,
    NotTaken,
    ResultStore,
    StoreDown,
    StoreUnsure,
)
from cutpurse.server.table import Incident, Player, Table, incident_of

__all__ = ["Lobby", "Log", "OpenMatch"]

RETRY_S: Final = 1.0  # between two offers to a store that failed, and between attempts to set a broken game up
LOOK_S: Final = 1.0  # between looks at how much waits
MOST_TABLES: Final = 4_096  # matches at once
MOST_STARTS: Final = 16  # matches in one tick: to deal takes a millisecond, and bots wait meanwhile
AT_ONCE: Final = 0.0  # a moment that is always due


class Log(Protocol):
    """Where the lobby says what goes on; a structlog logger is one. It is never given a card, a seed or a key."""

    def info(self, event: str, **facts: Any) -> Any:
        """Something happened."""

    def error(self, event: str, **facts: Any) -> Any:
        """Something is wrong with the platform."""


@dataclass(frozen=True, slots=True)
class OpenMatch:
    """A match that is being played, or whose result is being stored."""

    name: str
    ladder: Ladder
    started: datetime
    seats: tuple[Identity, ...]
    requested_by: str
    table: Table


@dataclass(slots=True, eq=False)
class _Open:
    """A match that is being played, or whose result is being stored."""

    table: Table
    seating: Seating
    started: datetime
    due: float = inf  # the moment under which it waits in the lobby's queue
    is_over: bool = False


class Lobby:
    """See the module's docstring. `wake` is set by whoever drives it; it may be called on any thread."""

    def __init__(
        self,
        ladders: Iterable[Ladder],
        store: ResultStore,
        *,
        entropy: Callable[[int], bytes],
        utc: Callable[[], datetime],
        log: Log,
        most_tables: int = MOST_TABLES,
        counts: Counts | None = None,
    ) -> None:
        """`entropy` gives so many unforeseeable bytes, `utc` the time of day for the store.

        Raises ValueError if two ladders have the same name.
        """
        self.wake: Callable[[], None] = lambda: None
        self.on_started: list[Callable[[OpenMatch], None]] = []  # called with each match that begins; must not raise
        self._ladders = tuple(ladders)
        self._phrases: dict[str, Phrases] = {}  # by ladder
        self._pairing = Pairing(self._ladders, Chance(entropy(KEY_BYTES)))
        self._store = store
        self._entropy = entropy
        self._utc = utc
        self._log = log
        self._most_tables = most_tables
        self.counts = counts or Counts()
        self._open: dict[str, _Open] = {}  # by the name of the match
        # A heap of moments and matches; those that are not `due` then any more are passed over. Names, not matches: a
        # moment may be half a minute away, and a match that is over is not to be kept for it.
        self._queue: list[tuple[float, str]] = []
        self._is_changed = False  # since matches were last sought
        self._is_draining = False
        # What the store has answered, filled by its thread; and whether it was offered again.
        self._stored: deque[tuple[_Open | None, FinishedMatch, bool, Future[None]]] = deque()
        # Not taken by the store yet: void, and told as such, or of a match that waits to be told (`_Open`).
        self._unstored: deque[tuple[_Open | None, FinishedMatch]] = deque()
        self._retry_at = inf
        self._is_retrying = False
        self._look_at = 0.0  # when the queues are looked at next

    # -- who is there
    def ladders(self) -> Mapping[str, Sequence[str]]:
        """The names of the ladders of each game that can be played here."""
        return {
            game: [ladder.name for ladder in self._ladders if ladder.game == game]
            for game in dict.fromkeys(ladder.game for ladder in self._ladders)
        }

    def enter(self, session: Player) -> None:
        """A bot is there, anew or again."""
        self._pairing.enter(session)
        self._seek()

    def leave(self, session: Player) -> None:
        """A bot is gone, and gets no new match. It keeps its open tables, and is told of them."""
        self._pairing.leave(session)
        self._seek()

    def changed(self, session: Player) -> None:
        """A bot has more or fewer free tables than before."""
        self._pairing.changed(session)
        self._seek()

    def ladder_named(self, name: str) -> Ladder | None:
        """The ladder of this name."""
        return next((ladder for ladder in self._ladders if ladder.name == name), None)

    def open_matches(self) -> list[OpenMatch]:
        """Those that are being played, the newest last."""
        return [_shown(entry) for entry in self._open.values()]

    @property
    def tables(self) -> int:
        """Matches that are being played, or whose results are being stored."""
        return len(self._open)

    @property
    def unstored(self) -> int:
        """Void results that the store has not taken yet; no match is started while there are any."""
        return len(self._unstored)

    @property
    def is_storing(self) -> bool:
        """Whether the store takes results, as far as is known."""
        return not self._unstored

    @property
    def is_complete(self) -> bool:
        """Whether every ladder has had all the matches that are wanted of it, and all of them are over."""
        return not self._open and self._pairing.is_complete

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being played or stored."""
        return not self._open and not self._unstored

    # -- the course of time
    def tick(self, now: float) -> None:
        """Do what is due: tell stored results, close late decisions, start matches."""
        self._take_stored(now)
        due = []
        while self._queue and self._queue[0][0] <= now:
            at, name = heappop(self._queue)
            entry = self._open.get(name)
            if entry is not None and entry.due == at:
                entry.due = inf
                due.append(entry)
        for entry in due:
            entry.table.tick(now)
        if self._unstored and now >= self._retry_at:
            self._retry_at, self._is_retrying = inf, True
            self._submit(*self._unstored[0], is_again=True)
        if self._may_start:
            self._start_matches(now)
        self._check_queues(now)

    def next_event_at(self) -> float | None:
        """When `tick` has something to do though nothing else happens; a moment of 0 is at once."""
        if self._stored or (self._is_changed and self._may_start):
            return AT_ONCE
        moments = [self._retry_at] if self._retry_at < inf else []
        while self._queue:
            at, name = self._queue[0]
            entry = self._open.get(name)
            if entry is not None and entry.due == at:
                moments.append(at)
                break
            heappop(self._queue)
        if self._may_start and (paired := self._pairing.next_event_at()) is not None:
            moments.append(paired)
        return min(moments, default=None)

    def _check_queues(self, now: float) -> None:
        """What waits is no more than may wait; looked at once a second, and told once."""
        if now < self._look_at:
            return
        self._look_at = now + LOOK_S
        try:
            within(len(self._open), self._most_tables)
            within(len(self._unstored), self._most_tables)
            within(len(self._stored), self._most_tables)
        except QueueOver as problem:
            self._look_at = inf
            self._log.error("lobby broke", **asdict(incident_of(problem, self._incident_number(), "")))

    def credit(self, seconds: float) -> None:
        """The server itself stood still for so long: no bot is to pay for it."""
        for entry in self._open.values():
            entry.table.credit(seconds)

    def drain(self, now: float) -> None:
        """No match is started from now on; those that are open go on."""
        self._is_draining = True

    def void_all(self) -> None:
        """End every match that is still being played; by the server's fault they count for nothing."""
        for entry in list(self._open.values()):
            entry.table.void(EndCause.VOID_SERVER)

    @property
    def _may_start(self) -> bool:
        return not self._is_draining and not self._unstored

    def _seek(self) -> None:
        if not self._is_changed:
            self._is_changed = True
            self.wake()

    # -- a match begins
    def _start_matches(self, now: float) -> None:
        for _ in range(min(MOST_STARTS, self._most_tables - len(self._open))):
            seating = self._pairing.next(now)
            if seating is None:
                break
            self._start(seating, now)
        else:
            self._is_changed = len(self._open) < self._most_tables
            return
        self._is_changed = False

    def _start(self, seating: Seating, now: float) -> None:
        ladder = seating.ladder
        players = cast("tuple[Player, ...]", seating.players)
        name = self._entropy(16).hex()
        try:
            phrases = self._phrases_of(ladder)
            table = Table(ladder, name, self._deal(seating), players, now, self._moved, self._incident_number, phrases)
        except Exception as problem:
            self._tell(incident_of(problem, self._incident_number(), name))
            self._pairing.ended(seating, 0.0, is_void=True)
            self._pairing.postpone(ladder, now + RETRY_S)
            return
        self._open[name] = _Open(table, seating, self._utc())
        self.counts.matches_started[ladder.name] += 1
        self._log.info("match started", match=name, ladder=ladder.name, bots=list(table.match.seats))
        table.open()
        for tell in self.on_started:
            tell(_shown(self._open[name]))
        for player in players:
            self._pairing.changed(player)

    def _phrases_of(self, ladder: Ladder) -> Phrases:
        """The phrases that all matches of a ladder share."""
        phrases = self._phrases.get(ladder.name)
        if phrases is None:
            phrases = self._phrases[ladder.name] = Phrases(ladder.rules, ladder.seats)
        return phrases

    def _deal(self, seating: Seating) -> Deal:
        """A fresh seed, and what is settled before it is used."""
        ladder = seating.ladder
        board = self._entropy(16).hex()
        settled = {
            "board": board,
            "game": ladder.game,
            "rules": ladder.rules.words.version,
            "seats": [one.identity._asdict() for one in seating.players],
            "settings": dict(ladder.settings),
        }
        params = json.dumps(settled, separators=(",", ":"), sort_keys=True).encode()
        seed = self._entropy(SEED_BYTES)
        return Deal(board, params, seed, commitment(seed, params))

    def _incident_number(self) -> str:
        self.counts.incidents += 1
        return self._entropy(4).hex()

    # -- a match goes on
    def _moved(self, table: Table) -> None:
        entry = self._open.get(table.name)
        if entry is None or entry.is_over:  # somebody answers too late, or fetches the end
            return
        at = table.next_event_at()
        if at is None:
            entry.is_over, entry.due = True, inf
            self._finish(entry)
        elif at < entry.due:
            is_first = not self._queue or at < self._queue[0][0]
            entry.due = at
            heappush(self._queue, (at, table.name))
            if is_first:
                self.wake()

    # -- a match ends
    def _finish(self, entry: _Open) -> None:
        table = entry.table
        result = table.finish(entry.started, self._utc())
        if table.incident is not None:
            self._tell(table.incident)
        self._count(table)
        self._submit(entry, result)

    def _count(self, table: Table) -> None:
        counts = self.counts
        counts.storing += 1
        for fault in table.match.faults:
            counts.faults[fault.cause.value] += 1
        for seconds in table.timed.thinking_times():
            counts.thinking.add(seconds)

    def _submit(self, entry: _Open | None, result: FinishedMatch, *, is_again: bool = False) -> None:
        try:
            future = self._store.submit(result)
        except Exception as problem:  # it promised not to
            future = Future()
            future.set_exception(problem)
        future.add_done_callback(lambda done: self._is_stored(entry, result, is_again, done))

    def _is_stored(self, entry: _Open | None, result: FinishedMatch, is_again: bool, done: Future[None]) -> None:
        """On the store's thread: only appends, and wakes."""
        self._stored.append((entry, result, is_again, done))
        self.wake()

    def _take_stored(self, now: float) -> None:
        while self._stored:
            entry, result, is_again, done = self._stored.popleft()
            problem = CancelledError() if done.cancelled() else done.exception()
            is_away = problem is not None and not isinstance(problem, NotTaken)
            is_broken = isinstance(problem, LedgerBroken)
            if problem is not None:
                self.counts.not_stored += 1
                self._log.error("result not stored", **_facts(problem, self._incident_number(), result.match))
            if is_again:
                self._is_retrying = False
                if not is_away:
                    self._unstored.popleft()
            elif isinstance(problem, StoreUnsure):
                self._unstored.append((entry, result))
            is_untold = entry is not None and entry.table.name in self._open
            if entry is not None and is_untold and not isinstance(problem, StoreUnsure) and not (is_again and is_away):
                self._settle(entry, result, now, done)
            if self._unstored and not self._is_retrying:
                self._retry_at = inf if is_broken else now + RETRY_S if is_away else now
            elif is_again and not self._unstored:
                self._log.info("results are stored again")
                self._seek()

    def _settle(self, entry: _Open, result: FinishedMatch, now: float, stored: Future[None]) -> None:
        """It is known whether the result of a match was stored; if not, the match is void."""
        if stored.cancelled() or stored.exception() is not None:
            result = result.voided()
            self._unstored.append((None, result))
        self._close(entry, result, now, stored)

    def _close(self, entry: _Open, result: FinishedMatch, now: float, stored: Future[None]) -> None:
        """Tell everybody how it ended, which the store has said. A match that counts is told no sooner than that.

        For such a fault of ours it is not made void, since the store may have it: it is offered again, and then told.
        """
        table = entry.table
        try:
            check_settled(result.void is not None, stored)
        except SeedEarly as problem:
            self._tell(incident_of(problem, self._incident_number(), table.name))
            self._unstored.append((entry, result))
            if not self._is_retrying:
                self._retry_at = now
            self.wake()
            return
        del self._open[table.name]
        self.counts.storing -= 1
        ended = self.counts.matches_finished if result.void is None else self.counts.matches_void
        ended[result.ladder] += 1
        self._pairing.ended(entry.seating, now - table.began, is_void=result.void is not None)
        self._log.info(
            "match ended",
            match=result.match,
            ladder=result.ladder,
            places=[seat.place for seat in result.seats],
            end_causes=[seat.end_cause.value for seat in result.seats],
            void=result.void.value if result.void is not None else None,
        )
        table.close(result, is_rated=result.void is None)
        self._seek()

    def _tell(self, incident: Incident) -> None:
        self._log.error("match broke down", **asdict(incident))


def _shown(entry: _Open) -> OpenMatch:
    table = entry.table
    seats = tuple(one.identity for one in entry.seating.players)
    return OpenMatch(table.name, table.ladder, entry.started, seats, "", table)


def _facts(problem: BaseException, number: str, match: str) -> dict[str, Any]:
    """What may be logged of a store's failure: what others say than those who promise not to may quote a record."""
    text = str(problem) if isinstance(problem, StoreDown | StoreUnsure | NotTaken) else ""
    return {**asdict(incident_of(problem, number, match)), "text": text}
