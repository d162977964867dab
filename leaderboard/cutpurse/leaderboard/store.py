"""A leaderboard on a disk: one thread writes, anybody reads.

Results are handed in from any thread and answered by a future, which is done only once the result, its record and the
ratings that follow are committed, together, to the disk. The thread takes what waits and commits it in one go: alone a
result waits for nobody, and many share the price of a commit. There are no timers.

    with Store("ladder.db") as store:
        store.ensure_ladder("greed-main", game="greed", seats=4, rating=TrueSkill(draw_probability=0.05))
        ann = store.ensure_version("ann", "sneak", "1.0")
        store.submit(MatchResult(...)).result()
        store.rankings("greed-main")

A result that was handed in cannot be taken back: cancelling its future does nothing. What is called when a future is
done is called by the thread that writes, and must not wait for it. If the database cannot take it (a
full disk, a lock that nobody lets go) the future has a StoreError, nothing of it was stored, and it may be handed in
again; the connection is made anew, so what comes later is stored as soon as the trouble is over. After a commit that
failed it is looked up whether it has happened; only if that cannot be done either is the StoreError an Unsure.

If the ledger turns out to be broken (a number is missing, or there twice) nothing of that transaction is stored, and no
result is from then on: each is answered by the same LedgerCorrupt. What is no result, as revoking a token, goes on.
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

GATHER: Final = 256  # results in one transaction at most: to rate them takes about a tenth of a second
MOST_AT_ONCE: Final = 1024  # results and announcements, which cost little
OPEN: Final = LadderTerms()  # to everybody, for as long as it is there

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _PendingWrite:
    """A result that waits to be stored, or a match to be announced."""

    entry: CompletedMatch | Announcement
    future: Future[Any]  # Stored, or None for an announcement


@dataclass(frozen=True, slots=True)
class _Task:
    """Something else that waits to be written, in a transaction of its own."""

    write: Callable[[Connection], object]
    future: Future[Any]  # of what `write` returns


class Store(Readings):
    """The leaderboard in a file, made if it is missing and brought to the newest schema."""

    def __init__(self, database: str | os.PathLike[str], busy_timeout_s: float = 5.0) -> None:
        """Open the file, a path or `sqlite:///PATH`; wait at most `busy_timeout_s` while another process writes.

        Raises StoreError: InUse if another process has it open to write, NewerSchema for a file of a newer version.
        """
        super().__init__(database, busy_timeout_s)
        self._right = WritingLock(self.path)
        self._writing = writing_engine(self.path, busy_timeout_s)
        self._waiting: SimpleQueue[_PendingWrite | _Task | None] = SimpleQueue()
        self._lock = threading.Lock()  # nothing is handed in behind the None that ends the thread
        self._closed = False
        self._rated: dict[int, int] = {}  # boards by the id of their ladder, as of the last commit; see the ledger
        self._broken: LedgerCorrupt | None = None
        self.changes = 0  # how often anything but results was written: whoever keeps a copy sees that it is old
        try:
            self.found = upgrade(self._writing)  # the schema that the file had; None if it was empty
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
        """Return the id of a ladder, created if it is new, once it is stored.

        Raises InvalidEntry if there is one of this name that differs, StoreError as a future would have it.
        """
        return self.ensure(NewLadder(name, game, seats, rating, settings or {}, clock or {}))

    def ensure(self, new: NewLadder) -> int:
        """Return the id of a ladder as described, created if it is new; the terms of an existing one may differ."""
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

        Raises InvalidEntry if there is one of this name, StoreError as a future would have it.
        """

        new = NewLadder(name, game, seats, rating, settings or {}, clock or {}, terms)
        (entry,) = self.create_ladders([new], created)
        return entry

    def create_ladders(self, wanted: Sequence[NewLadder], created: datetime) -> list[LadderEntry]:
        """Create ladders in this order, all or none, and return them once they are stored.

        Raises InvalidEntry if there is one of the name of one of them, StoreError as a future would have it.
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
        """Whether a ladder may be deleted.  Raises as `delete_ladder` does."""
        self._do(lambda connection: ladders.check_unused(connection, ladder))

    def delete_ladder(self, name: str) -> None:
        """There is no such ladder any more; returns once that is stored.

        Raises NoSuchEntry, InvalidEntry if a match was begun there or a bot was handed in for it, and StoreError.
        """
        self._do(lambda connection: ladders.delete_ladder(connection, name))

    def ensure_version(self, owner: str, bot: str, version: str, created: datetime | None = None) -> int:
        """Return the id of a version of a bot, created at `created` if it is new.

        Returns once it is stored. Raises InvalidEntry for a name that is none, StoreError as a future would have it.
        """
        return self._do(lambda connection: owner_registry.ensure_version(connection, owner, bot, version, created))

    def create_tokens(self, wanted: Sequence[NewToken], created: datetime) -> list[tuple[Token, TokenEntry]]:
        """Create tokens in this order, all or none; return them with their stored entries once they are stored.

        Raises InvalidEntry for one that would have expired before it was made, StoreError as a future would have it.
        """
        made = [(new, new_token()) for new in wanted]
        entries = self._do(lambda connection: owner_registry.create_tokens(connection, made, created))
        return [(token, entry) for (_, token), entry in zip(made, entries, strict=True)]

    def revoke_token(self, token_id: str, revoked: datetime) -> TokenEntry:
        """Revoke a token; return once that is stored.  Raises NoSuchEntry, and StoreError."""
        return self._do(lambda connection: owner_registry.revoke_token(connection, token_id, revoked))

    def note_uses(self, uses: Mapping[str, datetime]) -> Future[None]:
        """Write down when tokens were used last, by their names; the future may have a StoreError."""
        future: Future[None] = Future()
        self._hand_in(_Task(lambda connection: owner_registry.note_uses(connection, uses), future))
        return future

    def open_epoch(self, ladder: str, rating: TrueSkill) -> int:
        """Rate a ladder with other numbers from its next board on; the number of the epoch.  Raises as above."""
        return self._do(lambda connection: ladders.open_epoch(connection, ladder, rating))

    def lift_pause(self, version_id: int, now: datetime) -> Pause:
        """Let a paused version play again; the pause that ended, returned once that is stored.

        Raises NoSuchEntry if it is not paused, StoreError as a future would have it.
        """
        return self._do(
            lambda connection: queries.pause(connection, fault_streaks.lift_pause(connection, version_id, now))
        )

    def put_estimates(self, estimates: LadderEstimates, made: datetime) -> Future[None]:
        """Write the estimates of a ladder instead of those that it has, all at once; see `put_estimates`.

        The future may have a NotFound or a Refused if they do not fit, or a StoreError.
        """
        future: Future[None] = Future()
        self._hand_in(_Task(lambda connection: put_estimates(connection, estimates, made), future))
        return future

    # -- bots that are handed in; each returns once it is stored, and raises StoreError as a future would have it
    def hand_in(self, new: NewSubmission, received: datetime) -> SubmissionEntry:
        """`submissions.hand_in`."""
        return self._do(lambda connection: submissions.hand_in(connection, new, received))

    def set_submission(
        self, submission: int, state: str, changed: datetime, why: str = "", log: str | None = None
    ) -> SubmissionEntry:
        """`submissions.set_state`."""
        return self._do(lambda connection: submissions.set_state(connection, submission, state, changed, why, log))

    def accept(self, submission: int, changed: datetime, log: str) -> SubmissionEntry:
        """`submissions.accept`."""
        return self._do(lambda connection: submissions.accept(connection, submission, changed, log))

    def activate(self, submission: int, changed: datetime) -> SubmissionEntry:
        """`submissions.activate`."""
        return self._do(lambda connection: submissions.activate(connection, submission, changed))

    def retire(self, submission: int, changed: datetime) -> SubmissionEntry:
        """`submissions.retire`."""
        return self._do(lambda connection: submissions.retire(connection, submission, changed))

    def not_kept(self, which: Sequence[int]) -> None:
        """`submissions.not_kept`."""
        self._do(lambda connection: submissions.not_kept(connection, which))

    # -- matches
    def announce(self, announcement: Announcement) -> Future[None]:
        """Store what is promised of a deal, before its match is over; the future is done after the commit.

        A match that is announced or stored already is left as it is. The future may have a Refused (no such ladder or
        version, another number of seats, a board that has a match) or a StoreError.
        Raises StoreError if the store is closed.
        """
        future: Future[None] = Future()
        self._hand_in(_PendingWrite(announcement, future))
        return future

    def void_unfinished(self, now: datetime) -> list[str]:
        """Store every match that was announced and is not over as void, by the server's fault; their names.

        For the start of a server: no match can go on without the clocks of its bots, and a board with one that is void
        rates nothing. Returns once that is stored. Raises StoreError as a future would have it.
        """
        with self.reading() as connection:
            cut_off = write_state.unfinished(connection, now)
        for future in [self.submit(result) for result in cut_off]:
            future.result()
        self._do(write_state.reveal_boards)
        return [result.match for result in cut_off]

    def submit(self, result: CompletedMatch) -> Future[Stored]:
        """Store and rate a result; the future is done after the commit.

        A result whose match is stored already changes nothing and is answered as the first time. The future may have
        a Refused (no such ladder or version, another number of seats, a board that had its match, a deal that is not
        the one announced) or a StoreError; if that is an Unsure, it may be stored nevertheless.
        Raises StoreError if the store is closed.
        """
        future: Future[Stored] = Future()
        self._hand_in(_PendingWrite(result, future))
        return future

    @property
    def waiting(self) -> int:
        """How many results and other things to be written the thread has not taken yet; on any thread."""
        return self._waiting.qsize()

    def close(self) -> None:
        """Store what waits, then let go of the file."""
        with self._lock:
            is_closed, self._closed = self._closed, True
            if not is_closed:
                self._waiting.put(None)
        self._thread.join()
        super().close()  # first: the last to close tidies the file up, and only the writer may
        self._writing.dispose()
        if not is_closed:
            self._right.release()

    # -- the thread
    def _do(self, write: Callable[[Connection], Answer]) -> Answer:
        future: Future[Answer] = Future()
        self._hand_in(_Task(write, future))
        return future.result()

    def _hand_in(self, job: _PendingWrite | _Task) -> None:
        job.future.set_running_or_notify_cancel()  # so that whoever stops waiting does not lose the result
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
                self._write_entries(entries)  # in the order in which they were handed in
                entries = []
                if job is not None:
                    self._write_task(job)
            self._write_entries(entries)

    def _gathered(self) -> list[_PendingWrite | _Task | None]:
        """Gather what waits; wait for the first of it if need be."""
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
        """Answer results that are not stored, unless the commit has happened nevertheless."""
        if isinstance(error, Unsure):
            self._look_up(batch, error)
        elif isinstance(error, LedgerCorrupt):
            self._broken = error
            _fail(batch, LedgerCorrupt, error.ladder)
        elif isinstance(error, StoreError):
            _fail(batch, StoreError, *error.args)
        elif len(batch) == 1:
            batch[0].future.set_exception(error)
        else:  # something in one of them that nobody thought of: the others are none the worse for it
            for waiting in batch:
                self._write_entries([waiting])

    def _look_up(self, batch: Sequence[_PendingWrite], error: Unsure) -> None:
        """Answer results whose commit has failed by what is stored now."""
        try:
            with self.reading() as connection:
                stored = write_state.stored(connection, {waiting.entry.match for waiting in batch})
        except Exception:
            _fail(batch, Unsure, *error.args)
            return
        for waiting in batch:
            answer = stored.get(waiting.entry.match)
            if isinstance(waiting.entry, Announcement) or answer is None:  # to be announced again does no harm
                waiting.future.set_exception(StoreError(*error.args))
            else:
                waiting.future.set_result(answer)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Hold the write lock, and commit at the end.

        Raises StoreError if the database cannot do it; an Unsure if it was the commit that failed.
        """
        if file_identity(self.path) != self._file:
            # SQLite would go on writing into the file that it opened, wherever that is now, or into a deleted one.
            raise StoreError(f"the leaderboard {self.path} was moved or replaced; put it back, or open it anew")
        is_committing = False
        try:
            with self._writing.begin() as connection:
                yield connection
                is_committing = True
        except DBAPIError as error:
            if type(error) not in (OperationalError, DatabaseError):
                raise  # a value that does not fit: the fault of who handed it in
            self._writing.dispose()  # what is wrong may be wrong with this connection only
            problem = explained(error, self.path)
            raise (Unsure(*problem.args) if is_committing else problem) from None


def _fail(batch: Sequence[_PendingWrite], problem: Callable[..., StoreError], *facts: object) -> None:
    """Answer each of these results by a problem of its own."""
    for waiting in batch:
        waiting.future.set_exception(problem(*facts))
