"""Results on their way to the store: submitted, retried and settled.

The end of a match is reported only once its result is stored. If the store fails, the match is void, and its void
result is retried every second. Meanwhile `is_behind` is true, and no match may start. If the store cannot say whether
it has a result, nothing is reported, and the same result is retried until it can. A store with a corrupt ledger gets no
retries: an operator must look at it first.

This module knows no match in play, no pairing and no database: the entry of a result is passed in with it and passed
back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import asdict, replace
from math import inf
from typing import Any, Final, Generic, Protocol, TypeVar

from cutpurse.leaderboard.errors import InvalidEntry, LedgerCorrupt, StoreError, Unsure
from cutpurse.leaderboard.results import FinishedMatch, Identity, StoreOutcome
from cutpurse.server.counts import Counts
from cutpurse.server.invariants import SeedEarly, check_settled
from cutpurse.server.matches.server_match import incident_of
from cutpurse.server.result_store import ResultStore

__all__ = ["RETRY_S", "SAID_S", "Log", "Settles", "Storing"]

RETRY_S: Final = 1.0  # seconds between retries
SAID_S: Final = 60.0  # seconds between log entries that it still fails

# Names of the store's errors in the log; the first kind that an error is of counts.
_LOGGED: Final = {
    InvalidEntry: "NotTaken",
    Unsure: "StoreUnsure",
    LedgerCorrupt: "StoreCorrupt",
    StoreError: "StoreDown",
}

Open = TypeVar("Open")
Open_contra = TypeVar("Open_contra", contravariant=True)


class Log(Protocol):
    """The lobby's log, for example a structlog logger. It never gets a card, a seed or a key."""

    def info(self, event: str, **facts: Any) -> Any:
        """Log an event."""

    def error(self, event: str, **facts: Any) -> Any:
        """Log a failure of the server."""


class Settles(Protocol[Open_contra]):
    """The owner of the submitted results, which is notified of their outcome. `entry` is what a result belongs to."""

    def wake(self) -> None:
        """Note that there is something to `take`; called on any thread."""

    def needs_notification(self, entry: Open_contra) -> bool:
        """Return whether the end of this match has not been reported yet."""

    def apply_rating_changes(self, result: FinishedMatch, kept: StoreOutcome) -> None:
        """Apply the effects of a rated result."""

    def tell_ended(self, entry: Open_contra, result: FinishedMatch, now: float) -> None:
        """Report the settled end of this match."""

    def store_recovered(self) -> None:
        """Note that the store accepts results again."""

    def incident_number(self) -> str:
        """Return a new incident number."""


class Storing(Generic[Open]):
    """The results that the store has not settled yet."""

    def __init__(self, store: ResultStore, settles: Settles[Open], counts: Counts, log: Log) -> None:
        self._store = store
        self._settles = settles
        self._counts = counts
        self._log = log
        # The store's answers, filled by its thread, and whether each is for a retry.
        self._stored: deque[tuple[Open | None, FinishedMatch, bool, Future[StoreOutcome]]] = deque()
        # Not accepted by the store yet: void results already reported (None), or results of a match that waits to be
        # reported.
        self._unstored: deque[tuple[Open | None, FinishedMatch]] = deque()
        self._forgiven: set[tuple[str, Identity]] = set()  # pauses in `_stored` that have already ended
        self._retry_at = inf
        self._is_retrying = False
        self._say_at = -inf

    # -- state
    @property
    def has_answers(self) -> bool:
        """Whether the store has sent answers that `take` has not processed."""
        return bool(self._stored)

    @property
    def answers(self) -> int:
        """Number of unprocessed answers of the store."""
        return len(self._stored)

    @property
    def unstored(self) -> int:
        """Number of results that the store has not accepted, and that are retried."""
        return len(self._unstored)

    @property
    def is_behind(self) -> bool:
        """Whether results are being retried, so that no match may start."""
        return bool(self._unstored)

    @property
    def next_event_at(self) -> float:
        """When the next retry is due; inf for never."""
        return self._retry_at

    def told(self) -> Iterator[FinishedMatch]:
        """Return the unstored results that were already reported as void."""
        return (result for entry, result in self._unstored if entry is None)

    # -- submitting and settling
    def submit(self, entry: Open | None, result: FinishedMatch, *, is_again: bool = False) -> None:
        """Submit a result to the store."""
        try:
            future = self._store.submit(result)
        except Exception as problem:  # `ResultStore` forbids that
            future = Future[StoreOutcome]()
            future.set_exception(problem)
        future.add_done_callback(lambda done: self._is_stored(entry, result, is_again, done))

    def retry(self, now: float) -> None:
        """Submit the oldest unstored result again, if it is time."""
        if self._unstored and now >= self._retry_at:
            self._retry_at, self._is_retrying = inf, True
            self.submit(*self._unstored[0], is_again=True)

    def forgive(self, identity: Identity) -> None:
        """Note that a pause has ended, even if the answer that began it is still queued here."""
        for _, result, _, stored in self._stored:
            if not stored.cancelled() and stored.exception() is None and identity in stored.result().paused:
                self._forgiven.add((result.match, identity))

    def take(self, now: float) -> None:
        """Process the store's answers."""
        while self._stored:
            entry, result, is_again, done = self._stored.popleft()
            problem = CancelledError() if done.cancelled() else done.exception()
            is_away = problem is not None and not isinstance(problem, InvalidEntry)
            is_broken = isinstance(problem, LedgerCorrupt)
            if problem is None and result.is_rated and not result.is_void:
                self._settles.apply_rating_changes(result, self._unforgiven(result, done.result()))
            if problem is not None:
                self._counts.not_stored += 1
                if not is_again or now >= self._say_at:  # a full disk may stay full all night, and the log is on it
                    self._say_at = now + SAID_S
                    facts = _facts(problem, self._settles.incident_number(), result.match)
                    self._log.error("result not stored", **facts)
            if is_again:
                self._is_retrying = False
                if not is_away:
                    self._unstored.popleft()
            elif isinstance(problem, Unsure):
                self._unstored.append((entry, result))
            is_untold = entry is not None and self._settles.needs_notification(entry)
            if entry is not None and is_untold and not isinstance(problem, Unsure) and not (is_again and is_away):
                self._settle(entry, result, now, done)
            if self._unstored and not self._is_retrying:
                self._retry_at = inf if is_broken else now + RETRY_S if is_away else now
            elif is_again and not self._unstored:
                self._log.info("results are stored again")
                self._settles.store_recovered()

    def close(self, entry: Open, result: FinishedMatch, now: float, stored: Future[StoreOutcome]) -> None:
        """Report the end of a match after the store's answer; a match that counts is never reported earlier.

        If that rule is broken, by a fault of the server, the result is not voided, since the store may have it. It is
        submitted again and reported afterwards.
        """
        try:
            check_settled(result.is_void, stored)
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
        """Queue the store's answer and wake the lobby; runs on the store's thread."""
        self._stored.append((entry, result, is_again, done))
        self._settles.wake()

    def _settle(self, entry: Open, result: FinishedMatch, now: float, stored: Future[StoreOutcome]) -> None:
        """Settle a match after the store's answer; without a stored result it is void."""
        if stored.cancelled() or stored.exception() is not None:
            result = result.voided()
            self._unstored.append((None, result))
        self.close(entry, result, now, stored)

    def _unforgiven(self, result: FinishedMatch, kept: StoreOutcome) -> StoreOutcome:
        """Return the outcome without pauses that have ended since."""
        forgiven = {identity for identity in kept.paused if (result.match, identity) in self._forgiven}
        self._forgiven -= {(result.match, identity) for identity in forgiven}
        return replace(kept, paused=tuple(one for one in kept.paused if one not in forgiven)) if forgiven else kept


def _facts(problem: BaseException, number: str, match: str) -> dict[str, Any]:
    """Return what may be logged of a failed write.

    The text of an unknown error may quote a record, so it is left out.
    """
    incident = asdict(incident_of(problem, number, match))
    for kind, name in _LOGGED.items():
        if isinstance(problem, kind):
            return {**incident, "error": name, "text": str(problem)}
    return {**incident, "text": ""}
