"""Copies of a leaderboard: made while it is written, checked before they count, and put back whole or not at all.

    back_up(Path("league.db"), Path("monday.db"))
    restore(Path("monday.db"), Path("league.db"), replaces=True)

A copy is what the leaderboard was at one moment, in a single file, with its mode but never for everybody. Nothing has
its name before it is complete, checked and on the disk; what one that was killed left half made goes with the next in
that folder. This module knows no table.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from cutpurse.leaderboard.database import OWNERS, explained
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry, StoreError
from cutpurse.leaderboard.lock import WritingLock
from cutpurse.leaderboard.schema import known_revision

__all__ = ["Copied", "back_up", "restore"]

STEP: Final = 1000  # pages, of 4 KB as a rule, from one word of progress to the next
BUSY_S: Final = 5.0  # how long a lock of somebody else is waited for
_BEGINS, _ENDS = ".copy-", ".part"  # names of copies that are being made

Progress: TypeAlias = Callable[[int, int], None]  # pages that are copied, of how many


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy that was checked: the file, its size, and its schema, which may be older than this version's."""

    path: Path
    size: int
    revision: str


def back_up(database: Path, to: Path, progress: Progress | None = None) -> Copied:
    """Copy a leaderboard, which others may read and write meanwhile, to a file that is not there yet.

    Raises InvalidEntry if it is there, NoSuchEntry if there is no leaderboard, and StoreError: one that is damaged, or
    of a newer version, gives no backup.
    """
    if os.path.lexists(to):
        raise InvalidEntry(f"{to} is there already, and a backup replaces nothing: name another file")
    with _copied(database, to.parent, progress) as (copy, revision):
        try:
            os.link(copy, to)  # unlike a renaming, this replaces nothing
        except FileExistsError:
            raise InvalidEntry(f"{to} is there already, and a backup replaces nothing: name another file") from None
        except OSError as problem:
            raise StoreError(f"{to} cannot be made ({problem.strerror}); its folder must be writable") from None
        _keep(to.parent)
    return Copied(to, to.stat().st_size, revision)


def restore(backup: Path, database: Path, replaces: bool = False, progress: Progress | None = None) -> Copied:
    """Make a backup the leaderboard; replaces: even if there is one, which is then gone.

    Raises InUse while a process writes the leaderboard, InvalidEntry if there is one and `replaces` is False,
    NoSuchEntry if there is no backup, and StoreError: one that is damaged, or of a newer version, is not put in place.
    """
    if not database.parent.is_dir():
        raise NoSuchEntry(f"there is no folder {database.parent} to put a leaderboard in")
    if database.is_dir():
        raise InvalidEntry(f"{database} is a folder: name the file that is to be the leaderboard")
    if database.exists() and backup.exists() and database.samefile(backup):
        raise InvalidEntry(f"{backup} is the leaderboard itself, and no backup of it")
    lock = WritingLock(database)
    try:
        if database.exists() and not replaces:
            raise InvalidEntry(f"there is a leaderboard {database} already; --force replaces it, and it is gone then")
        place = database.resolve()  # by whatever link it was named
        with _copied(backup, place.parent, progress) as (copy, revision):
            if place.exists():
                copy.chmod(place.stat().st_mode & 0o777)
            _fold(place)
            copy.replace(place)
            _keep(place.parent)
        return Copied(database, place.stat().st_size, revision)
    finally:
        lock.release()


@contextmanager
def _copied(database: Path, folder: Path, progress: Progress | None) -> Iterator[tuple[Path, str]]:
    """Make a checked copy in this folder, on the disk, and return it with its revision; it is removed at the end."""
    if not database.exists():
        raise NoSuchEntry(f"there is no leaderboard {database}")
    if not folder.is_dir():
        raise NoSuchEntry(f"there is no folder {folder}")
    _sweep(folder)
    try:
        handle, copy = _begun(folder)
    except OSError as problem:
        raise StoreError(f"nothing can be written in {folder} ({problem.strerror}); it must be writable") from None
    try:
        mode = database.stat().st_mode & 0o777
        os.fchmod(handle, OWNERS if mode & 0o007 else mode)  # an older version let others read what it made
        try:
            revision = _copy(database, copy, progress)
            os.fsync(handle)
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_FULL:  # nothing is written but the copy
                said = f"the disk of {folder} is full: no room for a copy of {database}; free some space there"
                raise StoreError(said) from None
            raise explained(error, database) from None
        yield copy, revision
    finally:
        os.close(handle)
        copy.unlink(missing_ok=True)
        _remove_beside(copy)


def _begun(folder: Path) -> tuple[int, Path]:
    """Open a new file for a copy; it is locked as long as it is open.  Raises OSError."""
    while True:
        handle, name = tempfile.mkstemp(_ENDS, _BEGINS, folder)
        with contextlib.suppress(OSError):  # a file system without locks, where nothing is swept either
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:  # else it was swept before it was locked
            return handle, Path(name)
        os.close(handle)


def _sweep(folder: Path) -> None:
    """Remove copies that nobody makes any more: each may be as large as a leaderboard."""
    for left in folder.glob(f"{_BEGINS}*{_ENDS}"):
        with contextlib.suppress(OSError):  # not ours, or being made at this moment
            handle = os.open(left, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
                _remove_beside(left)
            finally:
                os.close(handle)


def _copy(database: Path, copy: Path, progress: Progress | None) -> str:
    """Copy and check; the revision.  Raises StoreError and sqlite3.Error."""

    def tell(_status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    with (
        closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_S)) as source,
        closing(sqlite3.connect(copy, isolation_level=None)) as target,
    ):
        # What is seen from here on stays the same, so that a server that writes does not make it begin again.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        source.backup(target, pages=STEP, progress=tell)
        source.rollback()
        target.execute("PRAGMA journal_mode=DELETE")  # one file, which can be read where nothing can be written
        said = [line for (line,) in target.execute("PRAGMA integrity_check(3)")]
        if said != ["ok"]:
            raise StoreError(f"the leaderboard {database} is damaged, and no copy was kept: {'; '.join(said):.300}")
        return known_revision(target, database)


def _fold(database: Path) -> None:
    """Fold into a leaderboard what is beside it, so that it stays whole until it is replaced, and goes with it."""
    with contextlib.suppress(sqlite3.Error), closing(sqlite3.connect(database, timeout=BUSY_S)) as old:
        old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _remove_beside(database)


def _remove_beside(database: Path) -> None:
    for end in ("-wal", "-shm", "-journal"):
        database.with_name(f"{database.name}{end}").unlink(missing_ok=True)


def _keep(folder: Path) -> None:
    """See to it that the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
