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

from sqlalchemy import Connection, Row, func, insert, inspect, select, table, text
from sqlalchemy import Table as Relation
from sqlalchemy.exc import SQLAlchemyError

from cutpurse.leaderboard.database import Database
from cutpurse.leaderboard.errors import InvalidEntry, StoreError
from cutpurse.leaderboard.models import Base
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.schema import newest_revision, upgrade

__all__ = ["CopiedRows", "copy_leaderboard", "undeclared_tables"]

BUSY_S: Final = 5.0  # maximum wait for a lock of another process
_QUEUE: Final = "pgqueuer"  # begins the names of the tables of the queue of workers
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
        InvalidEntry: If the target is the source, or holds something already.
        StoreError: If a database fails, the source has another schema, or a row of the copy differs.
    """
    if source.is_same(target):
        raise InvalidEntry(f"FROM and TO are the same, {source}: name an empty database as TO, or a new file")
    if target.is_other_file():
        raise InvalidEntry(f"TO is there already, and {target} is no database: name an empty database, or a new file")
    with LeaderboardReader(source, BUSY_S) as reader:
        if unknown := reader.run(undeclared_tables):
            raise StoreError(
                f"{source} has tables that no installed part of the server knows ({', '.join(unknown)}), and a copy "
                "would lose them: install that part"
            )
        access = target.open_for_writing(BUSY_S)
        try:
            with _explained(target):
                upgrade(access.engine, target.address)
            with reader.reading() as original, _explained(target), access.engine.begin() as copy:
                rows = _copy(original, copy, source, target, progress)
        finally:
            access.release()
    return CopiedRows(rows, newest_revision())


def undeclared_tables(connection: Connection) -> list[str]:
    """List tables with rows that nobody has declared, since their part of the server is not installed."""
    ours = {*Base.metadata.tables, "alembic_version"}
    names = [name for name in inspect(connection).get_table_names() if name not in ours]
    names = [name for name in names if not name.startswith(_QUEUE)]
    return sorted(
        name for name in names if connection.execute(select(text("1")).select_from(table(name)).limit(1)).first()
    )


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
