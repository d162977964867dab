"""Read-only access to a leaderboard, even while a server or another process writes it.

    with LeaderboardReader("ladder.db") as reader:
        reader.run(queries.rankings, "greed-main")

This module cannot write, create or upgrade a database.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import Connection, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from cutpurse.leaderboard.database import Database
from cutpurse.leaderboard.databases import find_database
from cutpurse.leaderboard.schema import check_schema

__all__ = ["LeaderboardReader", "Readings"]

P = ParamSpec("P")
Answer = TypeVar("Answer")


def _end(connection: object, record: ConnectionPoolEntry) -> None:
    """Close a connection that comes back to a pool which nobody uses any more."""
    record.invalidate()


class Readings:
    """The queries of a leaderboard, on read-only connections."""

    def __init__(self, database: str | os.PathLike[str] | Database, busy_timeout_s: float = 5.0) -> None:
        """Set the database without opening it.

        Args:
            database: A path, `sqlite:///PATH` or `postgresql://...`.
            busy_timeout_s: Maximum wait for a lock of another process, or for a connection to a server.

        Raises:
            StoreError: If it is another address, or the driver for it is not installed.
        """
        self.database = find_database(database)
        self._reading = self.database.open_for_reading(busy_timeout_s)

    def close(self) -> None:
        """Close the database: idle connections now, and those in use by another thread once they come back."""
        event.listen(self._reading, "checkin", _end)
        self._reading.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a read-only connection with a consistent snapshot, for `cutpurse.leaderboard.queries`."""
        try:
            with self._reading.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise self.database.explain(error) from None

    def run(self, query: Callable[Concatenate[Connection, P], Answer], /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        """Run a query on a read-only connection with a consistent snapshot, as in `run(queries.rankings, "duel")`.

        Raises:
            StoreError: If the database fails.
            LeaderboardError: As the query does.
        """
        with self.reading() as connection:
            return query(connection, *args, **kwargs)


class LeaderboardReader(Readings):
    """A leaderboard opened read-only."""

    def __init__(self, database: str | os.PathLike[str] | Database, busy_timeout_s: float = 5.0) -> None:
        """Open a leaderboard.  Raises StoreError: OlderSchema or NewerSchema if its schema is not this version's."""
        super().__init__(database, busy_timeout_s)
        try:
            with self.reading() as connection:
                check_schema(connection, self.database.address)
        except BaseException:
            self.close()
            raise
