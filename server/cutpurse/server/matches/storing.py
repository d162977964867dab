"""Results on their way to the store: offered, offered again, and settled.

A match is told as over only once its result is stored. If the store fails, that match is void, and its void result is
offered again every second; meanwhile `is_behind`, and no match is to be started. If the store cannot say whether it has
a result, nobody is told anything before it can: the same result is offered again. A store whose ledger is broken is
offered nothing again: somebody must look at it first.

This module knows no table, no pairing and no database: what a result belongs to is handed in with it and handed back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import asdict, replace
from math import inf
from typing import Any, Final, Generic, Protocol, TypeVar

from cutpurse.server.counts import Counts
from cutpurse.server.finished_match import (
    FinishedMatch,
    Identity,
    NotTaken,
    ResultStore,
    StoreCorrupt,
    StoreDown,
    StoreOutcome,
    StoreUnsure,
)
from cutpurse.server.invariants import SeedEarly, check_settled
from cutpurse.server.matches.server_match import incident_of

__all__ = ["RETRY_S", "SAID_S", "Log", "Settles", "Storing"]

RETRY_S: Final = 1.0  # between two offers to a store that failed
SAID_S: Final = 60.0  # between two words in the log that it fails still

Open = TypeVar("Open")
Open_contra = TypeVar("Open_contra", contravariant=True)


class Log(Protocol):
    """Where the lobby says what goes on; a structlog logger is one. It is never given a card, a seed or a key."""

    def info(self, event: str, **facts: Any) -> Any:
        """Something happened."""

    def error(self, event: str, **facts: Any) -> Any:
        """Something is wrong with the platform."""


class Settles(Protocol[Open_contra]):
    """Who hands results in, and is told what became of them. `entry` is what a result belongs to."""

    def wake(self) -> None:
        """There is something to `take`; called on any thread."""

    def needs_notification(self, entry: Open_contra) -> bool:
        """Whether nobody was told yet how this match ended."""

    def apply_rating_changes(self, result: FinishedMatch, kept: StoreOutcome) -> None:
        """Apply what a rated result changed."""

    def tell_ended(self, entry: Open_contra, result: FinishedMatch, now: float) -> None:
        """Note how this match ended, now that it is settled."""

    def store_recovered(self) -> None:
        """Note that the store takes results again."""

    def incident_number(self) -> str:
        """Make a new incident number."""


class Storing(Generic[Open]):
    """See the module's docstring."""

    def __init__(self, store: ResultStore, settles: Settles[Open], counts: Counts, log: Log) -> None:
        self._store = store
        self._settles = settles
        self._counts = counts
        self._log = log
        # What the store has answered, filled by its thread; and whether it was offered again.
        self._stored: deque[tuple[Open | None, FinishedMatch, bool, Future[StoreOutcome]]] = deque()
        # Not taken by the store yet: void, and told as such, or of a match that waits to be told (`Open`).
        self._unstored: deque[tuple[Open | None, FinishedMatch]] = deque()
        self._forgiven: set[tuple[str, Identity]] = set()  # pauses in `_stored` that have ended since
        self._retry_at = inf
        self._is_retrying = False
        self._say_at = -inf

    # -- how it is going
    @property
    def has_answers(self) -> bool:
        """Whether the store has answered what was not taken."""
        return bool(self._stored)

    @property
    def answers(self) -> int:
        """How many answers of the store were not taken."""
        return len(self._stored)

    @property
    def unstored(self) -> int:
        """Results that the store has not taken, and is offered again."""
        return len(self._unstored)

    @property
    def is_behind(self) -> bool:
        """Whether there are any: then no match is to be started."""
        return bool(self._unstored)

    @property
    def next_event_at(self) -> float:
        """When a result is to be offered again; inf for never."""
        return self._retry_at

    def told(self) -> Iterator[FinishedMatch]:
        """Of those, the ones that everybody was told are void."""
        return (result for entry, result in self._unstored if entry is None)

    # -- what comes and goes
    def submit(self, entry: Open | None, result: FinishedMatch, *, is_again: bool = False) -> None:
        """Offer a result to the store."""
        try:
            future = self._store.submit(result)
        except Exception as problem:  # it promised not to
            future = Future[StoreOutcome]()
            future.set_exception(problem)
        future.add_done_callback(lambda done: self._is_stored(entry, result, is_again, done))

    def retry(self, now: float) -> None:
        """Offer again what the store has not taken, if it is time."""
        if self._unstored and now >= self._retry_at:
            self._retry_at, self._is_retrying = inf, True
            self.submit(*self._unstored[0], is_again=True)

    def forgive(self, identity: Identity) -> None:
        """Note that a pause has ended, though the news that it began may still wait here."""
        for _, result, _, stored in self._stored:
            if not stored.cancelled() and stored.exception() is None and identity in stored.result().paused:
                self._forgiven.add((result.match, identity))

    def take(self, now: float) -> None:
        """Take what the store has answered."""
        while self._stored:
            entry, result, is_again, done = self._stored.popleft()
            problem = CancelledError() if done.cancelled() else done.exception()
            is_away = problem is not None and not isinstance(problem, NotTaken)
            is_broken = isinstance(problem, StoreCorrupt)
            if problem is None and result.is_rated and result.void is None:
                self._settles.apply_rating_changes(result, self._unforgiven(result, done.result()))
            if problem is not None:
                self._counts.not_stored += 1
                if not is_again or now >= self._say_at:  # a full disk may be full all night, and the log is on it
                    self._say_at = now + SAID_S
                    facts = _facts(problem, self._settles.incident_number(), result.match)
                    self._log.error("result not stored", **facts)
            if is_again:
                self._is_retrying = False
                if not is_away:
                    self._unstored.popleft()
            elif isinstance(problem, StoreUnsure):
                self._unstored.append((entry, result))
            is_untold = entry is not None and self._settles.needs_notification(entry)
            if entry is not None and is_untold and not isinstance(problem, StoreUnsure) and not (is_again and is_away):
                self._settle(entry, result, now, done)
            if self._unstored and not self._is_retrying:
                self._retry_at = inf if is_broken else now + RETRY_S if is_away else now
            elif is_again and not self._unstored:
                self._log.info("results are stored again")
                self._settles.store_recovered()

    def close(self, entry: Open, result: FinishedMatch, now: float, stored: Future[StoreOutcome]) -> None:
        """Tell everybody how it ended, which the store has said. A match that counts is told no sooner than that.

        For such a fault of ours it is not made void, since the store may have it: it is offered again, and then told.
        """
        try:
            check_settled(result.void is not None, stored)
        except SeedEarly as problem:
            incident = incident_of(problem, self._settles.incident_number(), result.match)
            self._log.error("match broke down", **asdict(incident))
            self._unstored.append((entry, result))
            if not self._is_retrying:
                self._retry_at = now
            self._settles.wake()
            return
        self._settles.tell_ended(entry, result, now)

    def _is_stored(self, entry: Open | None, result: FinishedMatch, is_again: bool, done: Future[StoreOutcome]) -> None:
        """On the store's thread: only appends, and wakes."""
        self._stored.append((entry, result, is_again, done))
        self._settles.wake()

    def _settle(self, entry: Open, result: FinishedMatch, now: float, stored: Future[StoreOutcome]) -> None:
        """Settle a match whose result was stored or not; if not, the match is void."""
        if stored.cancelled() or stored.exception() is not None:
            result = result.voided()
            self._unstored.append((None, result))
        self.close(entry, result, now, stored)

    def _unforgiven(self, result: FinishedMatch, kept: StoreOutcome) -> StoreOutcome:
        """Return what the result changed, without pauses that have ended since."""
        forgiven = {identity for identity in kept.paused if (result.match, identity) in self._forgiven}
        self._forgiven -= {(result.match, identity) for identity in forgiven}
        return replace(kept, paused=tuple(one for one in kept.paused if one not in forgiven)) if forgiven else kept


def _facts(problem: BaseException, number: str, match: str) -> dict[str, Any]:
    """Return what may be logged of a failed write: the text of a foreign error may quote a record."""
    text = str(problem) if isinstance(problem, StoreDown | StoreUnsure | NotTaken) else ""
    return {**asdict(incident_of(problem, number, match)), "text": text}
