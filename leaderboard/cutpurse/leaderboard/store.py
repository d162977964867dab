"""A leaderboard in its database: one thread writes, any thread reads.

Any thread can submit a result and gets a future. The future is done once the result, its record and the new ratings are
committed together. The writing thread commits everything that waits in one transaction. So a single result does not
wait, and many results share the cost of a commit. There are no timers.

    with Store("ladder.db") as store:
        store.write(ensure_ladder, NewLadder("greed-main", "greed", 4, TrueSkill(draw_probability=0.05)))
        store.submit(FinishedMatch(...)).result()
        store.run(queries.rankings, "greed-main")

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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from cutpurse.leaderboard import owner_registry, queries, result_writer, write_state
from cutpurse.leaderboard.database import Database
from cutpurse.leaderboard.errors import InvalidEntry, LadderMoved, LedgerCorrupt, StoreError, Unsure
from cutpurse.leaderboard.event_boards import store_event_boards
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.result_writer import LastCommit
from cutpurse.leaderboard.results import FinishedMatch, Identity, MatchAnnouncement, StoreOutcome
from cutpurse.leaderboard.schema import check_schema, newest_revision, upgrade
from cutpurse.leaderboard.write_hooks import LookingForOpen, MatchesAnnounced, MatchesVoided, WriteHooks, send

__all__ = ["GATHER", "Store"]

GATHER: Final = 256  # maximum results in one transaction: rating them takes about a tenth of a second
MOST_AT_ONCE: Final = 1024  # maximum writes taken at once; announcements cost little

P = ParamSpec("P")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _PendingWrite:
    """A result or an announcement that waits to be stored."""

    entry: FinishedMatch | MatchAnnouncement
    future: Future[Any]  # StoreOutcome, or None for an announcement


@dataclass(frozen=True, slots=True)
class _Task:
    """Another write that waits, with its own transaction."""

    write: Callable[[Connection], object]
    future: Future[Any]  # of the result of `write`
    is_change: bool = True  # whether cached copies of stored values may be outdated afterwards


class Store(Readings):
    """A leaderboard opened for writing; opening creates a missing file or tables and upgrades an old schema."""

    def __init__(
        self,
        database: str | os.PathLike[str] | Database,
        busy_timeout_s: float = 5.0,
        *,
        is_shared: bool = False,
        hooks: WriteHooks | None = None,
    ) -> None:
        """Open the database, and start the writing thread.

        Args:
            database: A path, `sqlite:///PATH` or `postgresql://...`.
            busy_timeout_s: Maximum wait for a lock of another process, or for a connection to a server.
            is_shared: Share the right to write with other arenas, see `ArenaStore`.
            hooks: What parts of the server write in the same transactions. Default: nothing.

        Raises:
            StoreError: If it fails; InUse if another process writes it, NewerSchema or OlderSchema if this version
                cannot upgrade it.
        """
        super().__init__(database, busy_timeout_s)
        self._hooks = hooks or WriteHooks()
        self._hooks.on(MatchesAnnounced, store_event_boards)
        self.is_shared = is_shared
        self._access = self.database.open_for_writing(busy_timeout_s, is_shared=is_shared)
        self._waiting: SimpleQueue[_PendingWrite | _Task | None] = SimpleQueue()
        self._lock = threading.Lock()  # so that no write is queued behind the None that ends the thread
        self._closed = False
        self._last = LastCommit()
        self._broken: LedgerCorrupt | None = None
        self.changes = 0  # number of writes other than results; a cached copy is outdated if it has changed
        try:
            # revision before the upgrade; None if the database was empty
            self.found = (
                upgrade(self._access.engine, self.database.address) if self._access.is_alone else self._newest()
            )
            self._access.check()
            self._access.share()
        except BaseException as error:
            super().close()
            self._access.release()
            if isinstance(error, SQLAlchemyError):
                raise self.database.explain(error) from None
            raise
        self._thread = threading.Thread(target=self._write, name=f"leaderboard {self.database}", daemon=True)
        self._thread.start()

    def _newest(self) -> str:
        """Return the revision, which must be the newest.  Raises NewerSchema or OlderSchema."""
        with self.reading() as connection:
            check_schema(connection, self.database.address)
        return newest_revision()

    # -- writing
    def write(
        self, function: Callable[Concatenate[Connection, P], Answer], /, *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        """Call a function in a transaction of its own, and return its answer after the commit.

            store.write(version_tests.end, "t1", STOPPED, now)

        Raises:
            StoreError: As in `submit`.
            Exception: What the function raises; then nothing is stored.
        """
        return self.write_later(function, *args, **kwargs).result()

    def write_later(
        self, function: Callable[Concatenate[Connection, P], Answer], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[Answer]:
        """Write as `write` does, without waiting; the future is done after the commit."""
        return self._hand_in_task(lambda connection: function(connection, *args, **kwargs), is_change=True)

    def write_uncached(
        self, function: Callable[Concatenate[Connection, P], Answer], /, *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        """Write as `write` does what nobody has a cached copy of, so that `changes` stays."""
        return self._hand_in_task(lambda connection: function(connection, *args, **kwargs), is_change=False).result()

    def write_on(
        self, ladder: str, function: Callable[Concatenate[Connection, P], Answer], /, *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        """Write as `write` does what belongs to a ladder; an `ArenaStore` checks that it has the ladder."""
        return self.write(function, *args, **kwargs)

    # -- matches
    def announce(self, match: MatchAnnouncement) -> Future[None]:
        """Store an announcement with the commitment to its deal; the future is done after the commit.

        Missing owners, bots and versions are created. A match that is announced or stored already stays as it is. The
        future may have an InvalidEntry (impossible values, no such ladder, another number of seats, a board that is
        full) or a StoreError.
        """
        future: Future[None] = Future()
        self._hand_in_entry(_PendingWrite(match, future))
        return future

    def void_unfinished(
        self,
        now: datetime,
        ladders: Collection[str] | None = None,
        *,
        has_workers: bool = False,
        started_before: datetime | None = None,
    ) -> list[str]:
        """Store every announced match that is not over as void, by the server's fault, and return their IDs.

        A server calls this at its start, because no match can continue without its clocks. A board with a void match is
        not rated. Matches of ladders that an `ArenaStore` has lost meanwhile stay. Returns once the results are stored.

        Args:
            now: End of these matches.
            ladders: Only matches of these ladders. Default: of all.
            has_workers: Whether workers play on, so that their matches are not void.
            started_before: Only matches that started before this time. Default: all.

        Raises:
            StoreError: As in `submit`.
        """

        def look(connection: Connection) -> tuple[set[str], list[FinishedMatch]]:
            looking = LookingForOpen(set())
            send(connection, looking)
            return looking.elsewhere, write_state.unfinished(connection, now, ladders)

        elsewhere, cut_off = self.write_uncached(look)  # a write, since listeners hear only of writes
        if started_before is not None:
            cut_off = [result for result in cut_off if result.started < started_before]
        if has_workers:
            cut_off = [result for result in cut_off if result.match not in elsewhere]
        voided = []
        for result, future in [(result, self.submit(result)) for result in cut_off]:
            with suppress(LadderMoved):  # another arena took its ladder meanwhile, and makes the match void
                future.result()
                voided.append(result.match)
        if elsewhere and not has_workers:
            self.write_uncached(send, MatchesVoided(voided))
        if ladders is None:
            self.write(write_state.reveal_boards)
        for ladder in ladders or ():
            with suppress(LadderMoved):  # another arena may be playing the boards there
                self.write_on(ladder, write_state.reveal_boards, ladder)
        return voided

    def submit(self, result: FinishedMatch) -> Future[StoreOutcome]:
        """Store and rate a result; the future is done after the commit.

        Missing owners, bots and versions are created. If the match is stored already, nothing changes and the first
        answer is repeated. The future may have a StoreError; after an Unsure, the result may be stored nevertheless. It
        may have an InvalidEntry: impossible values, no such ladder, another number of seats, a full board, a deal that
        differs from the announced one, or a record that cannot be made.
        """
        future: Future[StoreOutcome] = Future()
        self._hand_in_entry(_PendingWrite(result, future))
        return future

    def standings(self, player: Identity, seen: datetime) -> Future[Mapping[str, tuple[Skill, int]]]:
        """Return the pairing skill of a version and its number of rated matches, by ladder.

        Missing owner, bot and version are created, as of `seen`. The future may have an InvalidEntry or a StoreError.
        """
        return self._hand_in_task(lambda connection: _standings(connection, player, seen), is_change=False)

    @property
    def is_alone(self) -> bool:
        """Whether no other arena writes the database."""
        return self._access.is_alone

    @property
    def waiting(self) -> int:
        """Number of queued writes that the writing thread has not taken yet."""
        return self._waiting.qsize()

    def close(self) -> None:
        """Write everything that waits, then close the database."""
        with self._lock:
            is_closed, self._closed = self._closed, True
            if not is_closed:
                self._waiting.put(None)
        self._thread.join()
        super().close()  # first: the last connection to close writes a checkpoint, which only the writer may do
        if not is_closed:
            self._access.release()

    # -- the thread
    def _hand_in_task(self, write: Callable[[Connection], Answer], *, is_change: bool) -> Future[Answer]:
        future: Future[Answer] = Future()
        self._hand_in(_Task(write, future, is_change))
        return future

    def _hand_in_entry(self, waiting: _PendingWrite) -> None:
        try:
            waiting.entry.check()
        except InvalidEntry as problem:
            waiting.future.set_exception(problem.with_traceback(None))
        else:
            self._hand_in(waiting)

    def _hand_in(self, job: _PendingWrite | _Task) -> None:
        job.future.set_running_or_notify_cancel()  # a cancelled wait must not lose the result
        with self._lock:
            is_closed = self._closed
            if not is_closed:
                self._waiting.put(job)
        if is_closed:
            job.future.set_exception(StoreError(f"the leaderboard {self.database} is closed"))

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
                results += isinstance(job, _PendingWrite) and isinstance(job.entry, FinishedMatch)
        return jobs

    def _write_task(self, task: _Task) -> None:
        try:
            with self._transaction() as connection:
                answer = task.write(connection)
        except Exception as error:
            task.future.set_exception(error)
        else:
            self.changes += task.is_change
            task.future.set_result(answer)

    def _write_entries(self, batch: Sequence[_PendingWrite]) -> None:
        if not batch:
            return
        if self._broken is not None:
            _fail(batch, LedgerCorrupt, self._broken.ladder)
            return
        try:
            with self._transaction() as connection:
                answers = self._write_all(connection, [waiting.entry for waiting in batch])
        except Exception as error:
            self._last.clear()
            self._not_written(batch, error)
        else:
            for waiting, answer in zip(batch, answers, strict=True):
                if isinstance(answer, InvalidEntry):
                    waiting.future.set_exception(answer)
                else:
                    waiting.future.set_result(answer)

    def _write_all(
        self, connection: Connection, entries: Sequence[FinishedMatch | MatchAnnouncement]
    ) -> list[StoreOutcome | InvalidEntry | None]:
        """Write entries in their order, and return the answer to each."""
        return result_writer.write(connection, entries, self._last)

    def _not_written(self, batch: Sequence[_PendingWrite], error: Exception) -> None:
        """Answer the entries of a failed transaction, or store each of them in its own transaction."""
        if isinstance(error, Unsure):
            self._look_up(batch, error)
        elif isinstance(error, LedgerCorrupt):
            self._broken = error
            _fail(batch, LedgerCorrupt, error.ladder)
        elif isinstance(error, StoreError):
            _fail(batch, StoreError, *error.args)
        elif isinstance(error, InvalidEntry) and len(batch) == 1:
            batch[0].future.set_exception(error.with_traceback(None))
        elif len(batch) == 1:  # its text may quote the record
            problem = InvalidEntry("the match cannot be written down")
            batch[0].future.set_exception(problem.with_traceback(error.__traceback__))
        else:  # one of them caused an unexpected error, so the others are stored without it
            for waiting in batch:
                self._write_entries([waiting])

    def _look_up(self, batch: Sequence[_PendingWrite], error: Unsure) -> None:
        """Answer the entries of a failed commit by looking up which are stored."""
        try:
            self._access.settle()
            with self.reading() as connection:
                stored = write_state.stored(connection, {waiting.entry.match for waiting in batch})
                lost = write_state.voided(connection, [waiting.entry for waiting in batch])
        except Exception:
            _fail(batch, Unsure, *error.args)
            return
        for waiting in batch:
            answer = stored.get(waiting.entry.match)
            is_announcement = isinstance(waiting.entry, MatchAnnouncement)  # announcing a match twice does no harm
            if is_announcement or answer is None or waiting.entry.match in lost:
                waiting.future.set_exception(StoreError(*error.args))
            else:
                waiting.future.set_result(answer)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Hold the write lock, and commit at the end.

        Raises:
            StoreError: If the database fails; an Unsure if the commit fails.
        """
        self._access.check()
        is_committing = False
        try:
            with self._access.engine.begin() as connection:
                self._hooks.install(connection)
                yield connection
                is_committing = True
        except DBAPIError as error:
            if not self.database.is_failure(error):
                raise  # an unsuitable value: a bug of the caller, not a failure of the database
            self._access.engine.dispose()  # perhaps only this connection is broken
            # On a server another process may have written before the next connection.
            self._last.clear()
            self.changes += 1
            problem = self.database.explain(error)
            raise (Unsure if is_committing else StoreError)(*problem.args) from None


def _standings(connection: Connection, player: Identity, seen: datetime) -> dict[str, tuple[Skill, int]]:
    return queries.standings(connection, owner_registry.ensure_version(connection, *player, created=seen))


def _fail(batch: Sequence[_PendingWrite], problem: Callable[..., StoreError], *facts: object) -> None:
    """Answer each entry with its own instance of the error."""
    for waiting in batch:
        waiting.future.set_exception(problem(*facts))
