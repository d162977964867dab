"""A leaderboard on a disk: one thread writes, any thread reads.

Any thread can submit a result and gets a future. The future is done once the result, its record and the new ratings are
committed together. The writing thread commits everything that waits in one transaction. So a single result does not
wait, and many results share the cost of a commit. There are no timers.

    with Store("ladder.db") as store:
        store.ensure_ladder("greed-main", game="greed", seats=4, rating=TrueSkill(draw_probability=0.05))
        ann = store.ensure_version("ann", "sneak", "1.0")
        store.submit(CompletedMatch(...)).result()
        store.rankings("greed-main")

A submitted result cannot be withdrawn: cancelling its future does nothing. The writing thread runs the callbacks of
futures, so they must not wait for it. If the database fails (a full disk, a lock that is not released), the future has
a StoreError. Then nothing was stored, and the result may be submitted again. The next write uses a new connection, so
writing continues once the problem is solved. After a failed commit the store checks whether the results are stored.
Only if that fails too, the StoreError is an Unsure.

If the ledger is inconsistent (a sequence number is missing or occurs twice), that transaction is rolled back. From then
on the store answers every result with LedgerCorrupt, but still writes other things, such as revoked tokens.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError, SQLAlchemyError

from cutpurse.leaderboard import (
    fault_streaks,
    ladders,
    owner_registry,
    queries,
    result_writer,
    submissions,
    write_state,
)
from cutpurse.leaderboard.database import explained, file_identity, writing_engine
from cutpurse.leaderboard.errors import InvalidEntry, LedgerCorrupt, StoreError, Unsure
from cutpurse.leaderboard.estimates.result_matrix import LadderEstimates, put_estimates
from cutpurse.leaderboard.ladders import NewLadder
from cutpurse.leaderboard.lock import WritingLock
from cutpurse.leaderboard.owner_registry import NewToken
from cutpurse.leaderboard.queries import LadderEntry, Pause, SubmissionEntry, TokenEntry
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.results import Announcement, CompletedMatch, LadderTerms, Stored
from cutpurse.leaderboard.schema import upgrade
from cutpurse.leaderboard.submissions import NewSubmission
from cutpurse.leaderboard.tokens import Token, new_token

__all__ = ["GATHER", "Store"]

GATHER: Final = 256  # maximum results in one transaction: rating them takes about a tenth of a second
MOST_AT_ONCE: Final = 1024  # maximum writes taken at once; announcements cost little
OPEN: Final = LadderTerms()  # without any limit

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _PendingWrite:
    """A result or an announcement that waits to be stored."""

    entry: CompletedMatch | Announcement
    future: Future[Any]  # Stored, or None for an announcement


@dataclass(frozen=True, slots=True)
class _Task:
    """Another write that waits, with its own transaction."""

    write: Callable[[Connection], object]
    future: Future[Any]  # of the result of `write`


class Store(Readings):
    """A leaderboard opened for writing; opening creates a missing file and upgrades an old schema."""

    def __init__(self, database: str | os.PathLike[str], busy_timeout_s: float = 5.0) -> None:
        """Open the file, and start the writing thread.

        Args:
            database: A path or `sqlite:///PATH`.
            busy_timeout_s: Maximum wait for a lock of another process.

        Raises:
            StoreError: If it fails; InUse if another process writes it, NewerSchema if a newer version wrote it.
        """
        super().__init__(database, busy_timeout_s)
        self._right = WritingLock(self.path)
        self._writing = writing_engine(self.path, busy_timeout_s)
        self._waiting: SimpleQueue[_PendingWrite | _Task | None] = SimpleQueue()
        self._lock = threading.Lock()  # so that no write is queued behind the None that ends the thread
        self._closed = False
        self._rated: dict[int, int] = {}  # number of rated boards by ladder ID, as of the last commit
        self._broken: LedgerCorrupt | None = None
        self.changes = 0  # number of writes other than results; a cached copy is outdated if it has changed
        try:
            self.found = upgrade(self._writing)  # revision before the upgrade; None if the file was empty
        except BaseException as error:
            self._writing.dispose()
            self._right.release()
            if isinstance(error, SQLAlchemyError):
                raise explained(error, self.path) from None
            raise
        self._file = file_identity(self.path)
        self._thread = threading.Thread(target=self._write, name=f"leaderboard {self.path.name}", daemon=True)
        self._thread.start()

    # -- writing
    def ensure_ladder(
        self,
        name: str,
        *,
        game: str,
        seats: int,
        rating: TrueSkill,
        settings: Mapping[str, object] | None = None,
        clock: Mapping[str, object] | None = None,
    ) -> int:
        """Create a ladder if it is new, and return its ID once it is stored.

        Args:
            name: Name of the ladder.
            game: Name of the game.
            seats: Number of seats of its matches.
            rating: TrueSkill parameters of its first epoch.
            settings: Settings of the game. Default: none.
            clock: Time controls. Default: none.

        Raises:
            InvalidEntry: If a ladder of this name differs.
            StoreError: As in `submit`.
        """
        return self.ensure(NewLadder(name, game, seats, rating, settings or {}, clock or {}))

    def ensure(self, new: NewLadder) -> int:
        """Create a ladder if it is new, and return its ID; the terms of an existing one may differ."""
        return self._do(lambda connection: ladders.ensure_ladder(connection, new))

    def create_ladder(
        self,
        name: str,
        *,
        game: str,
        seats: int,
        rating: TrueSkill,
        settings: Mapping[str, object] | None = None,
        clock: Mapping[str, object] | None = None,
        terms: LadderTerms = OPEN,
        created: datetime,
    ) -> LadderEntry:
        """Create a ladder, and return it once it is stored.

        Args:
            name: Name of the ladder.
            game: Name of the game.
            seats: Number of seats of its matches.
            rating: TrueSkill parameters of its first epoch.
            settings: Settings of the game. Default: none.
            clock: Time controls. Default: none.
            terms: Terms that may change later. Default: no limits.
            created: Creation time to store, with a time zone.

        Raises:
            InvalidEntry: If there is a ladder of this name, or a value is invalid.
            StoreError: As in `submit`.
        """
        new = NewLadder(name, game, seats, rating, settings or {}, clock or {}, terms)
        (entry,) = self.create_ladders([new], created)
        return entry

    def create_ladders(self, wanted: Sequence[NewLadder], created: datetime) -> list[LadderEntry]:
        """Create ladders in this order, all or none, and return them once they are stored.

        Raises:
            InvalidEntry: If there is a ladder of one of the names, or a value is invalid.
            StoreError: As in `submit`.
        """

        def create(connection: Connection) -> list[LadderEntry]:
            for new in wanted:
                ladders.create_ladder(connection, new, created)
            return [queries.ladder(connection, new.name) for new in wanted]

        return self._do(create)

    def change_ladder(self, name: str, terms: LadderTerms) -> LadderEntry:
        """Set the terms of a ladder, and return it once they are stored.  Raises NoSuchEntry, and StoreError."""

        def change(connection: Connection) -> LadderEntry:
            ladders.change_ladder(connection, name, terms)
            return queries.ladder(connection, name)

        return self._do(change)

    def check_unused(self, ladder: str) -> None:
        """Check that a ladder may be deleted.  Raises as `delete_ladder` does."""
        self._do(lambda connection: ladders.check_unused(connection, ladder))

    def delete_ladder(self, name: str) -> None:
        """Delete a ladder that nothing depends on, and return once that is stored.

        Raises:
            NoSuchEntry: If there is no such ladder.
            InvalidEntry: If it has matches, or is named by a submission that is active or still being checked.
            StoreError: As in `submit`.
        """
        self._do(lambda connection: ladders.delete_ladder(connection, name))

    def ensure_version(self, owner: str, bot: str, version: str, created: datetime | None = None) -> int:
        """Return the ID of a version of a bot once it is stored, creating missing owner, bot and version.

        Args:
            owner: Name of the owner.
            bot: Name of the bot.
            version: Label of the version.
            created: Creation time to store for a new version.

        Raises:
            InvalidEntry: If a name is invalid.
            StoreError: As in `submit`.
        """
        return self._do(lambda connection: owner_registry.ensure_version(connection, owner, bot, version, created))

    def create_tokens(self, wanted: Sequence[NewToken], created: datetime) -> list[tuple[Token, TokenEntry]]:
        """Create tokens in this order, all or none; return them with their entries once they are stored.

        Raises:
            InvalidEntry: If a token expires before `created`.
            StoreError: As in `submit`.
        """
        made = [(new, new_token()) for new in wanted]
        entries = self._do(lambda connection: owner_registry.create_tokens(connection, made, created))
        return [(token, entry) for (_, token), entry in zip(made, entries, strict=True)]

    def revoke_token(self, token_id: str, revoked: datetime) -> TokenEntry:
        """Revoke a token; return once that is stored.  Raises NoSuchEntry, and StoreError."""
        return self._do(lambda connection: owner_registry.revoke_token(connection, token_id, revoked))

    def note_uses(self, uses: Mapping[str, datetime]) -> Future[None]:
        """Store when tokens were last used, by ID; the future may have a StoreError."""
        future: Future[None] = Future()
        self._hand_in(_Task(lambda connection: owner_registry.note_uses(connection, uses), future))
        return future

    def open_epoch(self, ladder: str, rating: TrueSkill) -> int:
        """Rate the next boards of a ladder with these parameters, and return the number of the epoch.

        Raises:
            InvalidEntry: If there is no such ladder.
            StoreError: As in `submit`.
        """
        return self._do(lambda connection: ladders.open_epoch(connection, ladder, rating))

    def lift_pause(self, version_id: int, now: datetime) -> Pause:
        """End the pause of a version, and return the pause once that is stored.

        Raises:
            NoSuchEntry: If the version is not paused.
            StoreError: As in `submit`.
        """
        return self._do(
            lambda connection: queries.pause(connection, fault_streaks.lift_pause(connection, version_id, now))
        )

    def put_estimates(self, estimates: LadderEstimates, made: datetime) -> Future[None]:
        """Replace the estimates of a ladder in one transaction.

        The future may have a NoSuchEntry or an InvalidEntry, as in `result_matrix.put_estimates`, or a StoreError.
        """
        future: Future[None] = Future()
        self._hand_in(_Task(lambda connection: put_estimates(connection, estimates, made), future))
        return future

    # -- submissions; each method returns once its change is stored, and raises StoreError as in `submit`
    def hand_in(self, new: NewSubmission, received: datetime) -> SubmissionEntry:
        """Run `submissions.hand_in`."""
        return self._do(lambda connection: submissions.hand_in(connection, new, received))

    def set_submission(
        self, submission: int, state: str, changed: datetime, why: str = "", log: str | None = None
    ) -> SubmissionEntry:
        """Run `submissions.set_state`."""
        return self._do(lambda connection: submissions.set_state(connection, submission, state, changed, why, log))

    def accept(self, submission: int, changed: datetime, log: str) -> SubmissionEntry:
        """Run `submissions.accept`."""
        return self._do(lambda connection: submissions.accept(connection, submission, changed, log))

    def activate(self, submission: int, changed: datetime) -> SubmissionEntry:
        """Run `submissions.activate`."""
        return self._do(lambda connection: submissions.activate(connection, submission, changed))

    def retire(self, submission: int, changed: datetime) -> SubmissionEntry:
        """Run `submissions.retire`."""
        return self._do(lambda connection: submissions.retire(connection, submission, changed))

    def not_kept(self, which: Sequence[int]) -> None:
        """Run `submissions.not_kept`."""
        self._do(lambda connection: submissions.not_kept(connection, which))

    # -- matches
    def announce(self, announcement: Announcement) -> Future[None]:
        """Store an announcement with the commitment to its deal; the future is done after the commit.

        A match that is announced or stored already stays as it is. The future may have an InvalidEntry (no such ladder
        or version, another number of seats, a board that is full) or a StoreError.

        Raises:
            StoreError: If the store is closed.
        """
        future: Future[None] = Future()
        self._hand_in(_PendingWrite(announcement, future))
        return future

    def void_unfinished(self, now: datetime) -> list[str]:
        """Store every announced match that is not over as void, by the server's fault, and return their IDs.

        A server calls this at its start, because no match can continue without its clocks. A board with a void match is
        not rated. Returns once the results are stored.

        Raises:
            StoreError: As in `submit`.
        """
        with self.reading() as connection:
            cut_off = write_state.unfinished(connection, now)
        for future in [self.submit(result) for result in cut_off]:
            future.result()
        self._do(write_state.reveal_boards)
        return [result.match for result in cut_off]

    def submit(self, result: CompletedMatch) -> Future[Stored]:
        """Store and rate a result; the future is done after the commit.

        If the match is stored already, nothing changes and the first answer is repeated. The future may have a
        StoreError; after an Unsure, the result may be stored nevertheless. It may have an InvalidEntry: no such ladder
        or version, another number of seats, a full board, or a deal that differs from the announced one.

        Raises:
            StoreError: If the store is closed.
        """
        future: Future[Stored] = Future()
        self._hand_in(_PendingWrite(result, future))
        return future

    @property
    def waiting(self) -> int:
        """Number of queued writes that the writing thread has not taken yet."""
        return self._waiting.qsize()

    def close(self) -> None:
        """Write everything that waits, then close the file."""
        with self._lock:
            is_closed, self._closed = self._closed, True
            if not is_closed:
                self._waiting.put(None)
        self._thread.join()
        super().close()  # first: the last connection to close writes a checkpoint, which only the writer may do
        self._writing.dispose()
        if not is_closed:
            self._right.release()

    # -- the thread
    def _do(self, write: Callable[[Connection], Answer]) -> Answer:
        future: Future[Answer] = Future()
        self._hand_in(_Task(write, future))
        return future.result()

    def _hand_in(self, job: _PendingWrite | _Task) -> None:
        job.future.set_running_or_notify_cancel()  # a cancelled wait must not lose the result
        with self._lock:
            if self._closed:
                raise StoreError(f"the leaderboard {self.path} is closed")
            self._waiting.put(job)

    def _write(self) -> None:
        ended = False
        while not ended:
            jobs = self._gathered()
            ended = jobs[-1] is None  # nothing comes after it
            entries: list[_PendingWrite] = []
            for job in jobs:
                if isinstance(job, _PendingWrite):
                    entries.append(job)
                    continue
                self._write_entries(entries)  # keeps the order of submission
                entries = []
                if job is not None:
                    self._write_task(job)
            self._write_entries(entries)

    def _gathered(self) -> list[_PendingWrite | _Task | None]:
        """Wait for a job, and return it with all others that wait already."""
        jobs = [self._waiting.get()]
        results = 0
        with suppress(Empty):
            while results < GATHER and len(jobs) < MOST_AT_ONCE:
                jobs.append(job := self._waiting.get_nowait())
                results += isinstance(job, _PendingWrite) and isinstance(job.entry, CompletedMatch)
        return jobs

    def _write_task(self, task: _Task) -> None:
        try:
            with self._transaction() as connection:
                answer = task.write(connection)
        except Exception as error:
            task.future.set_exception(error)
        else:
            self.changes += 1
            task.future.set_result(answer)

    def _write_entries(self, batch: Sequence[_PendingWrite]) -> None:
        if not batch:
            return
        if self._broken is not None:
            _fail(batch, LedgerCorrupt, self._broken.ladder)
            return
        try:
            with self._transaction() as connection:
                answers = result_writer.write(connection, [waiting.entry for waiting in batch], self._rated)
        except Exception as error:
            self._rated.clear()
            self._not_written(batch, error)
        else:
            for waiting, answer in zip(batch, answers, strict=True):
                if isinstance(answer, InvalidEntry):
                    waiting.future.set_exception(answer)
                else:
                    waiting.future.set_result(answer)

    def _not_written(self, batch: Sequence[_PendingWrite], error: Exception) -> None:
        """Answer the entries of a failed transaction, or store each of them in its own transaction."""
        if isinstance(error, Unsure):
            self._look_up(batch, error)
        elif isinstance(error, LedgerCorrupt):
            self._broken = error
            _fail(batch, LedgerCorrupt, error.ladder)
        elif isinstance(error, StoreError):
            _fail(batch, StoreError, *error.args)
        elif len(batch) == 1:
            batch[0].future.set_exception(error)
        else:  # one of them caused an unexpected error, so the others are stored without it
            for waiting in batch:
                self._write_entries([waiting])

    def _look_up(self, batch: Sequence[_PendingWrite], error: Unsure) -> None:
        """Answer the entries of a failed commit by looking up which are stored."""
        try:
            with self.reading() as connection:
                stored = write_state.stored(connection, {waiting.entry.match for waiting in batch})
        except Exception:
            _fail(batch, Unsure, *error.args)
            return
        for waiting in batch:
            answer = stored.get(waiting.entry.match)
            if isinstance(waiting.entry, Announcement) or answer is None:  # announcing a match twice does no harm
                waiting.future.set_exception(StoreError(*error.args))
            else:
                waiting.future.set_result(answer)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Hold the write lock, and commit at the end.

        Raises:
            StoreError: If the database fails; an Unsure if the commit fails.
        """
        if file_identity(self.path) != self._file:
            # SQLite would continue to write into the moved or deleted file.
            raise StoreError(f"the leaderboard {self.path} was moved or replaced; put it back, or open it anew")
        is_committing = False
        try:
            with self._writing.begin() as connection:
                yield connection
                is_committing = True
        except DBAPIError as error:
            if type(error) not in (OperationalError, DatabaseError):
                raise  # an unsuitable value: a bug of the caller, not a failure of the database
            self._writing.dispose()  # perhaps only this connection is broken
            problem = explained(error, self.path)
            raise (Unsure(*problem.args) if is_committing else problem) from None


def _fail(batch: Sequence[_PendingWrite], problem: Callable[..., StoreError], *facts: object) -> None:
    """Answer each entry with its own instance of the error."""
    for waiting in batch:
        waiting.future.set_exception(problem(*facts))
