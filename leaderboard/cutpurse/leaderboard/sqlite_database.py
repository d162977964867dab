"""Connections to the SQLite file of a leaderboard, and explanations of its errors.

One connection writes, and several read. Readers are opened read-only, so that no second connection ever writes a
checkpoint (two at once could corrupt the file in SQLite before 3.51.3). The file is in WAL mode with
`synchronous=FULL`: when a commit returns, the data is on the disk, unless the disk itself loses it. Only its user can
read a new file, and SQLite gives the files beside it the same mode. This module knows no table.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from cutpurse.leaderboard.database import READERS, Database, WriteAccess
from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.lock import WritingLock

__all__ = ["OWNERS", "SqliteDatabase", "database_path", "explained", "reading_engine", "writing_engine"]

OWNERS: Final = 0o600  # file mode; the file contains hashes of tokens, all cards, notes and private ladders
_URL: Final = "sqlite:///"
_HEADER: Final = b"SQLite format 3\0"
_OTHER_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")  # one slash, because Path drops the other; C:/ is no URL
_ROOM: Final = 65_536  # bytes; twice the space that SQLite needs beside a file to open it

# Advice by words in SQLite's message.
_ADVICE: Final = {
    "locked": "another process is writing to it; you can retry the same write",
    "full": "free some space; you can retry the same write",
    "readonly": "give this process the right to write the file and its folder, and leave the file where it is",
    "read-only": "give this process the right to write the file and its folder, and leave the file where it is",
    "malformed": "restore it from a backup",
    "not a database": "name another file, or restore it from a backup",
    "unable to open": "its folder must exist and be writable",
    "disk I/O": "look at the disk; you can retry the same write",
}


class SqliteDatabase(Database):
    """A database in a file.

    Attributes:
        path: The file.
    """

    environment: Mapping[str, str] = MappingProxyType({})

    def __init__(self, database: str | os.PathLike[str]) -> None:
        """Set the file, a path or `sqlite:///PATH`, without opening it.  Raises StoreError for anything else."""
        self.path = self.beside = database_path(database)
        self.address = os.fspath(database).removeprefix(_URL)

    def exists(self) -> bool:
        """Return whether there is such a file."""
        return self.path.is_file()

    def is_same(self, other: Database) -> bool:
        """Return whether both are one file, by path or by a link."""
        return isinstance(other, SqliteDatabase) and self.exists() and other.exists() and self.path.samefile(other.path)

    def is_other_file(self) -> bool:
        """Return whether there is a file without SQLite's header, not even an empty one."""
        if not self.exists():
            return False
        with self.path.open("rb") as file:
            return file.read(len(_HEADER)) not in (_HEADER, b"")

    def open_for_reading(self, busy_timeout_s: float) -> Engine:
        """Open the file for reading beside a server that writes it."""
        return reading_engine(self.path, busy_timeout_s)

    def open_for_writing(self, busy_timeout_s: float, *, is_shared: bool = False) -> WriteAccess:
        """Lock `FILE.lock`.  Raises InUse if another process has it, and StoreError, also if the right is shared."""
        if is_shared:
            raise StoreError(
                f"the leaderboard {self.path} is a file, which one server writes; several arenas need a database "
                "postgresql://..."
            )
        return _FileAccess(self.path, busy_timeout_s)

    def is_failure(self, error: DBAPIError) -> bool:
        """Return whether SQLite failed, by the class of the error."""
        return type(error) in (OperationalError, DatabaseError)

    def explain(self, error: SQLAlchemyError) -> StoreError:
        """Return what an error of SQLite means for this file, in one line."""
        return explained(error, self.path)


class _FileAccess(WriteAccess):
    """The lock of a file, and its writing engine."""

    def __init__(self, path: Path, busy_timeout_s: float) -> None:
        self._path = path
        self._lock = WritingLock(path)
        self.engine = writing_engine(path, busy_timeout_s)
        self._identity: tuple[int, int] | None = None

    def check(self) -> None:
        """Check that the file is still in its place: else SQLite would write into the moved or deleted file."""
        identity = file_identity(self._path)
        if self._identity is None:  # the first transaction has created the file
            self._identity = identity
        elif identity != self._identity:
            raise StoreError(f"the leaderboard {self._path} was moved or replaced; put it back, or open it anew")

    def settle(self) -> None:
        """Do nothing: a commit has happened or not when its connection is closed."""

    def release(self) -> None:
        """Close the file, then release the lock."""
        self.engine.dispose()
        self._lock.release()


def database_path(database: str | os.PathLike[str]) -> Path:
    """Return the file of a path or a URL `sqlite:///PATH`.  Raises StoreError for anything else."""
    text = os.fspath(database)
    if text.startswith(_URL):
        text = text.removeprefix(_URL)
    elif match := _OTHER_URL.match(text):
        scheme = match[1]
        raise StoreError(
            f"a leaderboard is stored in SQLite or PostgreSQL: give a path, sqlite:///PATH or postgresql://..., "
            f"not a {scheme} address"
        )
    if not text or text == ":memory:":
        raise StoreError("a leaderboard is kept in a file: give its path")
    return Path(text).absolute()


def writing_engine(path: Path, busy_timeout_s: float) -> Engine:
    """Create an engine with one connection, whose transactions begin with the write lock; create a missing file.

    Only the first connection creates the file: if it is moved away later, that is an error, not an empty leaderboard.
    """
    mode = "rwc"

    def connect() -> sqlite3.Connection:
        nonlocal mode
        if mode == "rwc":
            _make(path)
        connection = _connect(path, mode, busy_timeout_s)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
        except sqlite3.Error:
            connection.close()
            raise
        mode = "rw"
        return connection

    engine = create_engine(_URL, creator=connect, poolclass=QueuePool, pool_size=1, max_overflow=0)
    _begin_with(engine, "BEGIN IMMEDIATE")
    return engine


def reading_engine(path: Path, busy_timeout_s: float) -> Engine:
    """Create an engine with read-only connections; each transaction sees a consistent snapshot."""
    engine = create_engine(
        _URL,
        creator=lambda: _connect(path, "ro", busy_timeout_s),
        poolclass=QueuePool,
        pool_size=READERS,
        max_overflow=0,
    )
    _begin_with(engine, "BEGIN")
    return engine


def file_identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file, which survive a rename; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def explained(error: SQLAlchemyError | sqlite3.Error, path: Path) -> StoreError:
    """Explain a database error in one line, with the file and advice but without the statement and its values."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    said = str(cause).partition("\n")[0]
    advice = next((advice for word, advice in _ADVICE.items() if word in said), None)
    if "disk I/O" in said and _is_full(path.parent):  # SQLite's message if it cannot create the -shm file
        advice = f"its disk is full: {_ADVICE['full']}"
    return StoreError(f"the leaderboard {path}: {said}{f'; {advice}' if advice else ''}")


def _is_full(folder: Path) -> bool:
    try:
        disk = os.statvfs(folder)
    except (OSError, AttributeError):  # Windows has none
        return False
    return disk.f_bavail * disk.f_frsize < _ROOM


def _make(path: Path) -> None:
    """Create a missing file that only its user can read and write; SQLite would follow the umask.

    An existing file is not opened: closing it here would release the locks of this process on it.
    """
    with suppress(OSError):  # it exists, or SQLite will report the problem
        os.close(os.open(path.resolve(), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNERS))


def _connect(path: Path, mode: str, busy_timeout_s: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=busy_timeout_s,
        isolation_level=None,  # SQLAlchemy begins transactions; the driver would begin them too late
        check_same_thread=False,  # a connection of the pool is used by one thread at a time
    )


def _begin_with(engine: Engine, statement: str) -> None:
    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)
