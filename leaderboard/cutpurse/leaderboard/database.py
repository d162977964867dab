"""Connections to the SQLite file of a leaderboard, and its errors in plain words.

One connection writes, any number read. Readers are opened read-only, so that no second connection ever writes a
checkpoint (two at once could corrupt the file in SQLite before 3.51.3). The file is in WAL mode with
`synchronous=FULL`: a commit that returned is on the disk, as far as the disk keeps its word. A new file is for its user
alone, and SQLite gives what it makes beside it the same mode. No table is known here.
"""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from cutpurse.leaderboard.errors import StoreError

__all__ = ["OWNERS", "database_path", "explained", "file_identity", "reading_engine", "writing_engine"]

OWNERS: Final = 0o600  # the mode of files that hold tokens' hashes, all cards, notes and private ladders
READERS: Final = 8  # connections; more readers at once wait for one
_URL: Final = "sqlite:///"
_OTHER_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")  # as a Path too, which has lost a stroke; C:/ is none
_ROOM: Final = 65_536  # bytes; twice what SQLite needs beside a file to open it

# What to do about it, by what SQLite says.
_ADVICE: Final = {
    "locked": "another process is writing to it; the same may be handed in again",
    "full": "free some space; the same may be handed in again",
    "readonly": "give this process the right to write the file and its folder, and leave the file where it is",
    "read-only": "give this process the right to write the file and its folder, and leave the file where it is",
    "malformed": "restore it from a backup",
    "not a database": "name another file, or restore it from a backup",
    "unable to open": "its folder must exist and be writable",
    "disk I/O": "look at the disk; the same may be handed in again",
}


def database_path(database: str | os.PathLike[str]) -> Path:
    """Return the file that a path or a URL `sqlite:///PATH` names.  Raises StoreError for any other."""
    text = os.fspath(database)
    if text.startswith(_URL):
        text = text.removeprefix(_URL)
    elif found := _OTHER_URL.match(text):
        scheme = found[1]
        raise StoreError(f"a leaderboard is kept in SQLite: give a path or sqlite:///PATH, not a {scheme} address")
    if not text or text == ":memory:":
        raise StoreError("a leaderboard is kept in a file: give its path")
    return Path(text).absolute()


def writing_engine(path: Path, busy_timeout_s: float) -> Engine:
    """Make an engine with one connection, whose transactions take the write lock at once; create a missing file.

    Only the first connection makes it: a file that is moved away later is an error and not an empty leaderboard.
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
    """Make an engine whose connections cannot write; each transaction sees the leaderboard of one moment."""
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
    """Return what stays the same when a file is renamed and differs between files; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def explained(error: SQLAlchemyError | sqlite3.Error, path: Path) -> StoreError:
    """Explain a database error in one line, with the file and what to do, without the statement and its values."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    said = str(cause).partition("\n")[0]
    advice = next((advice for word, advice in _ADVICE.items() if word in said), None)
    if "disk I/O" in said and _is_full(path.parent):  # what SQLite says of a -shm that cannot be made
        advice = f"its disk is full: {_ADVICE['full']}"
    return StoreError(f"the leaderboard {path}: {said}{f'; {advice}' if advice else ''}")


def _is_full(folder: Path) -> bool:
    try:
        disk = os.statvfs(folder)
    except (OSError, AttributeError):  # Windows has none
        return False
    return disk.f_bavail * disk.f_frsize < _ROOM


def _make(path: Path) -> None:
    """Create a missing file so that only its user can read and write it; SQLite would follow the umask.

    Only a new file is opened: to close another one here would let go the locks that this process may have on it.
    """
    with suppress(OSError):  # it is there, or SQLite says why it cannot be
        os.close(os.open(path.resolve(), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNERS))


def _connect(path: Path, mode: str, busy_timeout_s: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=busy_timeout_s,
        isolation_level=None,  # SQLAlchemy says when a transaction begins; the driver would begin it too late
        check_same_thread=False,  # a connection of the pool is used by one thread at a time
    )


def _begin_with(engine: Engine, statement: str) -> None:
    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)
