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
again; the connection is made anew, so what comes later is stored as soon as the trouble is over.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError, SQLAlchemyError

from cutpurse.leaderboard import ledger, queries
from cutpurse.leaderboard.database import database_path, explained, file_identity, reading_engine, writing_engine
from cutpurse.leaderboard.errors import Refused, StoreError
from cutpurse.leaderboard.queries import LadderEntry, MatchEntry, Ranking
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.results import MatchResult, Stored
from cutpurse.leaderboard.schema import upgrade

__all__ = ["GATHER", "Store"]

GATHER: Final = 256  # results in one transaction at most: rating so many takes about a tenth of a second

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _Results:
    """A result that waits to be stored."""

    result: MatchResult
    future: Future[Stored]


@dataclass(frozen=True, slots=True)
class _Task:
    """Something else that waits to be written, in a transaction of its own."""

    write: Callable[[Connection], object]
    future: Future[Any]  # of what `write` returns


class Store:
    """The leaderboard in a file, made if it is missing and brought to the newest schema."""

    def __init__(self, database: str | os.PathLike[str], busy_timeout_s: float = 5.0) -> None:
        """Opens the file, a path or `sqlite:///PATH`; waits at most `busy_timeout_s` where another process writes.

        Raises StoreError, and NewerSchema for a file of a newer version.
        """
        self.path = database_path(database)
        self._writing = writing_engine(self.path, busy_timeout_s)
        self._reading = reading_engine(self.path, busy_timeout_s)
        self._waiting: SimpleQueue[_Results | _Task | None] = SimpleQueue()
        self._lock = threading.Lock()  # nothing is handed in behind the None that ends the thread
        self._closed = False
        try:
            upgrade(self._writing)
        except SQLAlchemyError as error:
            self._writing.dispose()
            raise explained(error, self.path) from None
        except StoreError:
            self._writing.dispose()
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
        """The id of a ladder, made if it is new; returns once it is stored.

        Raises Refused if there is one of this name that differs, StoreError as a future would have it.
        """
        return self._do(
            lambda connection: ledger.ensure_ladder(connection, name, game, settings or {}, seats, clock or {}, rating)
        )

    def ensure_version(self, owner: str, bot: str, version: str) -> int:
        """The id of a version of a bot of an owner, made if it is new; returns once it is stored.

        Raises Refused for a name that is none, StoreError as a future would have it.
        """
        return self._do(lambda connection: ledger.ensure_version(connection, owner, bot, version))

    def open_epoch(self, ladder: str, rating: TrueSkill) -> int:
        """Rate a ladder with other numbers from its next board on; the number of the epoch.  Raises as above."""
        return self._do(lambda connection: ledger.open_epoch(connection, ladder, rating))

    def submit(self, result: MatchResult) -> Future[Stored]:
        """Store and rate a result; the future is done after the commit.

        A result whose match is stored already changes nothing and is answered as the first time. The future may have
        a Refused (no such ladder or version, another number of seats, a board that had its match) or a StoreError.
        Raises StoreError if the store is closed.
        """
        future: Future[Stored] = Future()
        self._hand_in(_Results(result, future))
        return future

    def close(self) -> None:
        """Store what waits, then let go of the file."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._waiting.put(None)
        self._thread.join()
        self._reading.dispose()  # first: whoever closes last tidies the file up, and only the writer may
        self._writing.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- reading
    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees the leaderboard of one moment and cannot write, for `cutpurse.leaderboard.queries`."""
        try:
            with self._reading.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise explained(error, self.path) from None

    def ladders(self) -> list[LadderEntry]:
        """`queries.ladders`."""
        with self.reading() as connection:
            return queries.ladders(connection)

    def rankings(self, ladder: str, every_version: bool = False) -> list[Ranking]:
        """`queries.rankings`."""
        with self.reading() as connection:
            return queries.rankings(connection, ladder, every_version)

    def matches(
        self,
        ladder: str | None = None,
        owner: str | None = None,
        bot: str | None = None,
        limit: int = 50,
        before: int | None = None,
    ) -> list[MatchEntry]:
        """`queries.matches`."""
        with self.reading() as connection:
            return queries.matches(connection, ladder, owner, bot, limit, before)

    def match(self, match_id: str) -> MatchEntry:
        """`queries.match`."""
        with self.reading() as connection:
            return queries.match(connection, match_id)

    def record(self, match_id: str) -> str:
        """`queries.record`."""
        with self.reading() as connection:
            return queries.record(connection, match_id)

    # -- the thread
    def _do(self, write: Callable[[Connection], Answer]) -> Answer:
        future: Future[Answer] = Future()
        self._hand_in(_Task(write, future))
        return future.result()

    def _hand_in(self, job: _Results | _Task) -> None:
        job.future.set_running_or_notify_cancel()  # so that whoever stops waiting does not lose the result
        with self._lock:
            if self._closed:
                raise StoreError(f"the leaderboard {self.path} is closed")
            self._waiting.put(job)

    def _write(self) -> None:
        ended = False
        while not ended:
            jobs = [self._waiting.get()]
            try:
                while len(jobs) < GATHER:
                    jobs.append(self._waiting.get_nowait())
            except Empty:
                pass
            ended = jobs[-1] is None  # nothing comes after it
            results: list[_Results] = []
            for job in jobs:
                if isinstance(job, _Results):
                    results.append(job)
                    continue
                self._write_results(results)  # in the order in which they were handed in
                results = []
                if job is not None:
                    self._write_task(job)
            self._write_results(results)

    def _write_task(self, task: _Task) -> None:
        try:
            with self._transaction() as connection:
                answer = task.write(connection)
        except Exception as error:
            task.future.set_exception(error)
        else:
            task.future.set_result(answer)

    def _write_results(self, batch: Sequence[_Results]) -> None:
        if not batch:
            return
        try:
            with self._transaction() as connection:
                answers = ledger.write_results(connection, [waiting.result for waiting in batch])
        except StoreError as error:
            for waiting in batch:
                waiting.future.set_exception(StoreError(*error.args))
        except Exception as error:
            if len(batch) == 1:
                batch[0].future.set_exception(error)
            else:  # something in one of them that nobody thought of: the others are none the worse for it
                for waiting in batch:
                    self._write_results([waiting])
        else:
            for waiting, answer in zip(batch, answers, strict=True):
                if isinstance(answer, Refused):
                    waiting.future.set_exception(answer)
                else:
                    waiting.future.set_result(answer)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """The write lock, and a commit at the end.  Raises StoreError if the database cannot do it."""
        if file_identity(self.path) != self._file:
            # SQLite would go on writing into the file that it opened, wherever that is now, or into a deleted one.
            raise StoreError(f"the leaderboard {self.path} was moved or replaced; put it back, or open it anew")
        try:
            with self._writing.begin() as connection:
                yield connection
        except DBAPIError as error:
            if type(error) not in (OperationalError, DatabaseError):
                raise  # a value that does not fit: the fault of who handed it in
            self._writing.dispose()  # what is wrong may be wrong with this connection only
            raise explained(error, self.path) from None
