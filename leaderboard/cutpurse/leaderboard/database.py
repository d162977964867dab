"""The port to the database of a leaderboard: SQLite in a file, or PostgreSQL on a server.

    database = find_database("league.db")  # or "postgresql://league@db.example/league"
    access = database.open_for_writing(busy_timeout_s=5.0)

One process writes a database, on one connection, and any number read it. On a server several arenas may share the right
to write; then one transaction at a time writes. This module knows no table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from cutpurse.leaderboard.address import without_password
from cutpurse.leaderboard.errors import LeaderboardError

__all__ = ["READERS", "Database", "WriteAccess"]

READERS: Final = 8  # maximum read connections; more readers wait for a free one


class WriteAccess(ABC):
    """The exclusive right to write a database, until `release`.

    Attributes:
        engine: Engine with one connection; each transaction begins with the right to write.
        is_alone: Whether no other process writes, so that this one may upgrade the schema.
    """

    engine: Engine
    is_alone = True

    @abstractmethod
    def check(self) -> None:
        """Check that a write reaches the database that was opened.  Raises StoreError."""

    @abstractmethod
    def settle(self) -> None:
        """Wait until it is certain whether a failed commit happened.  Raises StoreError or SQLAlchemyError."""

    def share(self) -> None:  # noqa: B027  # files have nothing to share
        """Let other arenas write, too, if it was opened with `is_shared`.  Raises StoreError."""

    @abstractmethod
    def release(self) -> None:
        """Close the connection and give up the right."""


class Database(ABC):
    """The place of a leaderboard.

    Attributes:
        address: Address without its password, for messages and commands.
        beside: Path beside which other files of the league are stored.
        environment: Variables that another process needs to open `address`.
    """

    address: str
    beside: Path
    environment: Mapping[str, str]

    @abstractmethod
    def exists(self) -> bool:
        """Return whether it may be there; a server is asked only when it is opened."""

    def is_same(self, other: Database) -> bool:
        """Return whether this is the other database, too."""
        return self.address == other.address

    def is_other_file(self) -> bool:
        """Return whether there is a file at this address that is no database."""
        return False

    @abstractmethod
    def open_for_reading(self, busy_timeout_s: float) -> Engine:
        """Create an engine with read-only connections; each transaction sees a consistent snapshot."""

    @abstractmethod
    def open_for_writing(self, busy_timeout_s: float, *, is_shared: bool = False) -> WriteAccess:
        """Take the right to write, creating a missing file.

        Args:
            busy_timeout_s: Maximum wait for a lock of another process.
            is_shared: Share the right with other processes that do so, too.

        Raises:
            InUse: If another process has the right.
            StoreError: If the database cannot be opened.
        """

    @abstractmethod
    def is_failure(self, error: DBAPIError) -> bool:
        """Return whether the database failed, as opposed to a statement or value that it rejects."""

    @abstractmethod
    def explain(self, error: SQLAlchemyError) -> LeaderboardError:
        """Explain an error in one line, with the address and advice but without the statement and its values."""

    def __str__(self) -> str:
        return without_password(self.address)
