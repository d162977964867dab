"""A copy of a leaderboard into another database, from SQLite to PostgreSQL or back.

    copy_leaderboard(find_database("league.db"), find_database("postgresql://db.example/league"))

The copy is a snapshot, taken even while the leaderboard is being written. It is written in one transaction, which is
committed only if every row, read back, equals its source: floats to the bit, times to the microsecond. This module
knows tables only as relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection, Row, func, insert, select, text
from sqlalchemy import Table as Relation
from sqlalchemy.exc import SQLAlchemyError

from cutpurse.leaderboard.database import Database
from cutpurse.leaderboard.errors import InvalidEntry, StoreError
from cutpurse.leaderboard.models import Base
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.schema import newest_revision, upgrade

__all__ = ["CopiedRows", "copy_leaderboard"]

BUSY_S: Final = 5.0  # maximum wait for a lock of another process
_STEP: Final = 1_000  # rows that are read and written at once

Progress: TypeAlias = Callable[[int, int], None]  # called with copied rows and all rows


@dataclass(frozen=True, slots=True)
class CopiedRows:
    """A checked copy: its number of rows, and its schema."""

    rows: int
    revision: str


def copy_leaderboard(source: Database, target: Database, progress: Progress | None = None) -> CopiedRows:
    """Copy a leaderboard into an empty database, which is created if it is a missing file.

    Args:
        source: The leaderboard, which must have the newest schema.
        target: The database to fill; no other process may write it.
        progress: Called with the number of copied rows and of all rows.

    Raises:
        InUse: If another process writes the target.
        InvalidEntry: If the target has rows already.
        StoreError: If a database fails, the source has another schema, or a row of the copy differs.
    """
    with LeaderboardReader(source, BUSY_S) as reader:
        access = target.open_for_writing(BUSY_S)
        try:
            with _explained(target):
                upgrade(access.engine)
            with reader.reading() as original, _explained(target), access.engine.begin() as copy:
                rows = _copy(original, copy, source, target, progress)
        finally:
            access.release()
    return CopiedRows(rows, newest_revision())


@contextmanager
def _explained(database: Database) -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        raise database.explain(error) from None


def _copy(original: Connection, copy: Connection, source: Database, target: Database, progress: Progress | None) -> int:
    relations = Base.metadata.sorted_tables  # parents before children
    if copy.dialect.name == "postgresql":
        copy.execute(text("SET LOCAL statement_timeout = 0"))
    for relation in relations:
        if copy.execute(select(relation).limit(1)).first() is not None:
            raise InvalidEntry(f"{target} has a league already, and a copy replaces nothing: name an empty database")
    total = sum(original.scalar(select(func.count()).select_from(relation)) or 0 for relation in relations)
    done = 0
    for relation in relations:
        digest = sha256()
        for rows in _read(original, relation, source):
            copy.execute(insert(relation), [row._asdict() for row in rows])
            _add(digest, rows)
            done += len(rows)
            if progress is not None:
                progress(done, total)
        written = sha256()
        for rows in _read(copy, relation, target):
            _add(written, rows)
        if written.digest() != digest.digest():
            raise StoreError(f"the copy of {relation.name} in {target} differs from its source; nothing was copied")
        _continue_numbers(copy, relation)
    return done


def _read(connection: Connection, relation: Relation, database: Database) -> Iterator[list[Row[Any]]]:
    """Iterate over the rows of a table in the order of its key, in steps."""
    ordered = select(relation).order_by(*relation.primary_key)
    rows = connection.execute(ordered, execution_options={"yield_per": _STEP}).partitions()
    while True:
        with _explained(database):
            step = next(rows, None)
        if step is None:
            return
        yield list(step)


def _add(digest: Any, rows: list[Row[Any]]) -> None:
    """Add rows to a digest; the text of a float has all its bits."""
    for row in rows:
        digest.update(repr(tuple(row)).encode())


def _continue_numbers(copy: Connection, relation: Relation) -> None:
    """Let PostgreSQL number new rows after the copied ones; SQLite does so by itself."""
    column = relation.autoincrement_column
    if copy.dialect.name == "postgresql" and column is not None:
        highest = select(func.max(column)).scalar_subquery()
        copy.execute(select(func.setval(func.pg_get_serial_sequence(relation.name, column.name), highest)))
