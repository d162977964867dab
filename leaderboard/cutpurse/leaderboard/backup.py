"""Backup and restore of a leaderboard.

    back_up(Path("league.db"), Path("monday.db"))
    restore(Path("monday.db"), Path("league.db"), replaces=True)

A backup is a snapshot in a single file, taken even while the leaderboard is being written. It has the leaderboard's
file mode, but other users can never read it. The file appears under its name only when it is complete, checked and on
the disk. The next backup in a folder removes what a killed one left there. This module knows no table.
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

from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry, StoreError
from cutpurse.leaderboard.lock import WritingLock
from cutpurse.leaderboard.schema import known_revision
from cutpurse.leaderboard.sqlite_database import OWNERS, explained

__all__ = ["Copied", "back_up", "restore"]

STEP: Final = 1000  # pages, usually of 4 KB, from one progress call to the next
BUSY_S: Final = 5.0  # maximum wait for the lock of another process
_BEGINS, _ENDS = ".copy-", ".part"  # prefix and suffix of unfinished copies

Progress: TypeAlias = Callable[[int, int], None]  # called with copied pages and all pages


@dataclass(frozen=True, slots=True)
class Copied:
    """A checked copy.

    Attributes:
        path: The file.
        size: Its size in bytes.
        revision: Its schema, which may be older than this version's.
    """

    path: Path
    size: int
    revision: str


def back_up(database: Path, to: Path, progress: Progress | None = None) -> Copied:
    """Copy a leaderboard to a new file; other processes may read and write it meanwhile.

    Args:
        database: The leaderboard.
        to: The file to create.
        progress: Called with the number of copied pages and of all pages.

    Raises:
        InvalidEntry: If `to` exists.
        NoSuchEntry: If there is no leaderboard, or no folder for `to`.
        StoreError: If the leaderboard is damaged or of a newer version, or the copy cannot be written.
    """
    if os.path.lexists(to):
        raise InvalidEntry(f"{to} already exists, and a backup replaces nothing: name another file")
    with _copied(database, to.parent, progress) as (copy, revision):
        try:
            os.link(copy, to)  # unlike a rename, a link never replaces a file
        except FileExistsError:
            raise InvalidEntry(f"{to} already exists, and a backup replaces nothing: name another file") from None
        except OSError as problem:
            raise StoreError(f"{to} cannot be made ({problem.strerror}); its folder must be writable") from None
        _keep(to.parent)
    return Copied(to, to.stat().st_size, revision)


def restore(backup: Path, database: Path, replaces: bool = False, progress: Progress | None = None) -> Copied:
    """Put a copy of a backup in the place of the leaderboard.

    Args:
        backup: The backup, which stays as it is.
        database: The leaderboard to create or replace.
        replaces: Replace an existing leaderboard, which is lost.
        progress: Called with the number of copied pages and of all pages.

    Raises:
        InUse: If a process writes the leaderboard.
        InvalidEntry: If there is a leaderboard and `replaces` is False, or the paths are unusable.
        NoSuchEntry: If there is no backup, or no folder for the leaderboard.
        StoreError: If the backup is damaged or of a newer version, or the copy cannot be written.
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
            raise InvalidEntry(f"{database} already exists; use --force to replace it (the current file is lost)")
        place = database.resolve()  # replaces the file itself, not a link to it
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
    """Make a checked copy in `folder`, and yield it with its revision once it is on the disk; remove it at the end."""
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
        os.fchmod(handle, OWNERS if mode & 0o007 else mode)  # older versions created files that others can read
        try:
            revision = _copy(database, copy, progress)
            os.fsync(handle)
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_FULL:  # only the copy is written, so its disk is the full one
                said = f"the disk of {folder} is full: no room for a copy of {database}; free some space there"
                raise StoreError(said) from None
            raise explained(error, database) from None
        yield copy, revision
    finally:
        os.close(handle)
        copy.unlink(missing_ok=True)
        _remove_beside(copy)


def _begun(folder: Path) -> tuple[int, Path]:
    """Create a file for a copy, locked while it is open.  Raises OSError."""
    while True:
        handle, name = tempfile.mkstemp(_ENDS, _BEGINS, folder)
        with contextlib.suppress(OSError):  # on a file system without locks `_sweep` removes nothing
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:  # else another process removed it before it was locked
            return handle, Path(name)
        os.close(handle)


def _sweep(folder: Path) -> None:
    """Remove unfinished copies of dead processes: each may be as large as a leaderboard."""
    for left in folder.glob(f"{_BEGINS}*{_ENDS}"):
        with contextlib.suppress(OSError):  # the file of another user, or a copy in progress
            handle = os.open(left, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
                _remove_beside(left)
            finally:
                os.close(handle)


def _copy(database: Path, copy: Path, progress: Progress | None) -> str:
    """Copy and check a leaderboard, and return its revision.  Raises StoreError and sqlite3.Error."""

    def tell(_status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    with (
        closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_S)) as source,
        closing(sqlite3.connect(copy, isolation_level=None)) as target,
    ):
        # An open read transaction keeps the snapshot, so that writes of a server do not restart the backup.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        source.backup(target, pages=STEP, progress=tell)
        source.rollback()
        target.execute("PRAGMA journal_mode=DELETE")  # a single file, readable in a read-only folder
        said = [line for (line,) in target.execute("PRAGMA integrity_check(3)")]
        if said != ["ok"]:
            raise StoreError(f"the leaderboard {database} is damaged, and no copy was kept: {'; '.join(said):.300}")
        return known_revision(target, database)


def _fold(database: Path) -> None:
    """Write the WAL of a leaderboard into its file and remove it, so that the new file does not inherit it."""
    with contextlib.suppress(sqlite3.Error), closing(sqlite3.connect(database, timeout=BUSY_S)) as old:
        old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _remove_beside(database)


def _remove_beside(database: Path) -> None:
    for end in ("-wal", "-shm", "-journal"):
        database.with_name(f"{database.name}{end}").unlink(missing_ok=True)


def _keep(folder: Path) -> None:
    """Flush the names in a folder to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
