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
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any, Final, Generic, Protocol, TypeVar

from cutpurse.leaderboard.errors import InvalidEntry, LedgerCorrupt, StoreError, Unsure
from cutpurse.leaderboard.results import FinishedMatch, Identity, StoreOutcome
from cutpurse.server.counts import Counts
from cutpurse.server.invariants import SeedEarly, check_settled
from cutpurse.server.matches.result_stages import RESULT_STAGES, RETRIED, ResultStage, StoreAnswer
from cutpurse.server.matches.server_match import incident_of
from cutpurse.server.result_store import ResultStore
from cutpurse.server.state_table import next_state

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

    def apply_rating_changes(self, result: FinishedMatch, kept: StoreOutcome) -> None:
        """Apply the effects of a rated result."""

    def tell_ended(self, entry: Open_contra, result: FinishedMatch, now: float) -> None:
        """Report the settled end of this match."""

    def store_recovered(self) -> None:
        """Note that the store accepts results again."""

    def incident_number(self) -> str:
        """Return a new incident number."""


@dataclass(slots=True, eq=False)
class _PendingResult(Generic[Open]):
    """A result on its way to the store."""

    entry: Open | None  # None once its match is reported
    result: FinishedMatch
    stage: ResultStage = ResultStage.SUBMITTED


class Storing(Generic[Open]):
    """The results that the store has not settled yet."""

    def __init__(self, store: ResultStore, settles: Settles[Open], counts: Counts, log: Log) -> None:
        self._store = store
        self._settles = settles
        self._counts = counts
        self._log = log
        # The store's answers, filled by its thread.
        self._stored: deque[tuple[_PendingResult[Open], Future[StoreOutcome]]] = deque()
        self._unstored: deque[_PendingResult[Open]] = deque()  # in a stage of `RETRIED`; the first is retried
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

    def void_results(self) -> Iterator[FinishedMatch]:
        """Return the unstored results that were already reported as void."""
        return (pending.result for pending in self._unstored if pending.stage is ResultStage.VOIDED)

    # -- submitting and settling
    def submit(self, entry: Open, result: FinishedMatch) -> None:
        """Submit a result to the store."""
        self._submit(_PendingResult(entry, result))

    def _submit(self, pending: _PendingResult[Open]) -> None:
        try:
            future = self._store.submit(pending.result)
        except Exception as problem:  # `ResultStore` forbids that
            future = Future[StoreOutcome]()
            future.set_exception(problem)
        future.add_done_callback(lambda done: self._is_stored(pending, done))

    def retry(self, now: float) -> None:
        """Submit the oldest unstored result again, if it is time."""
        if self._unstored and now >= self._retry_at:
            self._retry_at, self._is_retrying = inf, True
            self._submit(self._unstored[0])

    def forgive(self, identity: Identity) -> None:
        """Note that a pause has ended, even if the answer that began it is still queued here."""
        for pending, stored in self._stored:
            if not stored.cancelled() and stored.exception() is None and identity in stored.result().paused:
                self._forgiven.add((pending.result.match, identity))

    def take(self, now: float) -> None:
        """Process the store's answers."""
        while self._stored:
            pending, done = self._stored.popleft()
            before, problem = pending.stage, CancelledError() if done.cancelled() else done.exception()
            is_again = before is not ResultStage.SUBMITTED
            if problem is not None:
                self._note(problem, pending.result.match, now, is_again=is_again)
            elif pending.result.is_rated and not pending.result.is_void:
                self._settles.apply_rating_changes(pending.result, self._unforgiven(pending.result, done.result()))
            answer = _answer_of(problem)
            pending.stage = next_state(RESULT_STAGES, before, answer)
            if is_again:
                self._is_retrying = False
            if pending.stage is not before:
                self._moved(pending, before, done, now)
            if self._unstored and not self._is_retrying:
                is_away = answer in (StoreAnswer.FAIL, StoreAnswer.DOUBT)
                self._retry_at = inf if isinstance(problem, LedgerCorrupt) else now + RETRY_S if is_away else now
            elif is_again and not self._unstored:
                self._log.info("results are stored again")
                self._settles.store_recovered()

    def _note(self, problem: BaseException, match: str, now: float, *, is_again: bool) -> None:
        """Count and log a failed write; a full disk may stay full all night, and the log is on it."""
        self._counts.not_stored += 1
        if not is_again or now >= self._say_at:
            self._say_at = now + SAID_S
            self._log.error("result not stored", **_facts(problem, self._settles.incident_number(), match))

    def _moved(
        self, pending: _PendingResult[Open], before: ResultStage, done: Future[StoreOutcome], now: float
    ) -> None:
        """Queue a result for retries or no longer, and report its match once that is settled."""
        if before in RETRIED:
            self._unstored.popleft()
        if pending.stage is ResultStage.VOIDED:
            pending.result = pending.result.voided()
        if pending.stage in RETRIED:
            self._unstored.append(pending)
        if pending.entry is not None and pending.stage is not ResultStage.UNSURE:
            entry, pending.entry = pending.entry, None
            self.close(entry, pending.result, now, done)

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
            self._unstored.append(_PendingResult(entry, result, ResultStage.UNSURE))
            if not self._is_retrying:
                self._retry_at = now
            self._settles.wake()
            return
        self._settles.tell_ended(entry, result, now)

    def _is_stored(self, pending: _PendingResult[Open], done: Future[StoreOutcome]) -> None:
        """Queue the store's answer and wake the lobby; runs on the store's thread."""
        self._stored.append((pending, done))
        self._settles.wake()

    def _unforgiven(self, result: FinishedMatch, kept: StoreOutcome) -> StoreOutcome:
        """Return the outcome without pauses that have ended since."""
        forgiven = {identity for identity in kept.paused if (result.match, identity) in self._forgiven}
        self._forgiven -= {(result.match, identity) for identity in forgiven}
        return replace(kept, paused=tuple(one for one in kept.paused if one not in forgiven)) if forgiven else kept


def _answer_of(problem: BaseException | None) -> StoreAnswer:
    if problem is None:
        return StoreAnswer.STORE
    if isinstance(problem, InvalidEntry):
        return StoreAnswer.REFUSE
    return StoreAnswer.DOUBT if isinstance(problem, Unsure) else StoreAnswer.FAIL


def _facts(problem: BaseException, number: str, match: str) -> dict[str, Any]:
    """Return what may be logged of a failed write.

    The text of an unknown error may quote a record, so it is left out.
    """
    incident = asdict(incident_of(problem, number, match))
    for kind, name in _LOGGED.items():
        if isinstance(problem, kind):
            return {**incident, "error": name, "text": str(problem)}
    return {**incident, "text": ""}
