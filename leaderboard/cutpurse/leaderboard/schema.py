"""The schema of a leaderboard, and its upgrade by the migrations beside this module.

    access = find_database("ladder.db").open_for_writing(busy_timeout_s=5.0)
    upgrade(access.engine, "ladder.db")

The migrations begin with schema 22, the last of Cutpurse 0.2. A new database gets the tables of `migrations/versions/
v29_published_bots.py`, and then the migrations after it: so it has the tables of every part of the server, whichever
are installed.

To change the schema, change `models` or the tables of a part, and add `migrations/versions/v30_WORDS.py`: the next
number in its name and as `revision`, the one before as `down_revision`, and an `upgrade` that does the same to a
database with rows, by the operations of Alembic. Migrations that are there stay as they are.
`tests/leaderboard/test_schema.py` finds a difference between the models and the migrations.

Alembic takes a third of a second to import, so it is imported only for an upgrade.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_mock_engine, inspect

from cutpurse.leaderboard.errors import NewerSchema, OlderSchema, StoreError

__all__ = ["check_schema", "known_revision", "newest_revision", "upgrade"]

_MIGRATIONS: Final = Path(__file__).parent / "migrations"
_TABLE: Final = "ladders"  # a table that every leaderboard has
_NEW: Final = "29"  # what a new database gets at once, without Alembic
_LAST_OF_0_2: Final = "8c611d2b"  # commit that upgrades any older schema to the first one of the migrations


def upgrade(engine: Engine, address: str) -> str | None:
    """Upgrade the database to the newest schema in one transaction.

    A killed upgrade leaves the database as it was. If two processes upgrade, the second finds nothing to do.

    Args:
        engine: Engine of the database.
        address: Its address, for errors.

    Returns:
        The revision before the upgrade, None if the database was empty.

    Raises:
        NewerSchema: If this version does not know the schema.
        OlderSchema: If only Cutpurse 0.2 can upgrade it.
        StoreError: If foreign keys would be broken, or the tables are not those of a leaderboard with this schema.
    """
    with _named(address), engine.connect() as connection, _without_foreign_keys(connection), connection.begin():
        before = _revision(connection)
        if before is None:
            for statement in _first_tables(connection.dialect.name):
                connection.exec_driver_sql(statement)
            connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{_NEW}')")
        if (before or _NEW) != newest_revision():
            _migrate(connection)
            if _is_sqlite(connection) and (broken := connection.exec_driver_sql("PRAGMA foreign_key_check").all()):
                raise StoreError(f"has {len(broken)} rows that would lose what they refer to: nothing was changed")
    return before


def check_schema(connection: Connection, address: str) -> None:
    """Check that a database has the newest schema.  Raises StoreError: NewerSchema or OlderSchema if it has another."""
    with _named(address):
        revision, newest = _revision(connection), newest_revision()
        if revision != newest:
            what = "is no leaderboard yet" if revision is None else f"has schema {revision}, and {newest} is needed"
            raise OlderSchema(f"{what}; this does it: cutpurse db upgrade {address}")


def newest_revision() -> str:
    """Return the newest revision that this version knows."""
    return str(_known()[-1])


def known_revision(file: sqlite3.Connection, path: Path) -> str:
    """Return the revision of a database, which may be one that is too old for an upgrade.

    Raises:
        NewerSchema: If this version does not know the revision.
        StoreError: If the database is no leaderboard.
    """
    try:
        row = file.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError:
        row = None
    if row is None:
        raise StoreError(f"{path} is a database, but no leaderboard")
    with _named(str(path)):
        _refuse_newer(str(row[0]))
    return str(row[0])


@contextmanager
def _named(address: str) -> Iterator[None]:
    """Begin the message of a StoreError with the name of the database."""
    try:
        yield
    except StoreError as problem:
        raise type(problem)(f"the leaderboard {address} {problem}") from None


@contextmanager
def _without_foreign_keys(connection: Connection) -> Iterator[None]:
    """Switch off foreign keys in SQLite, which changes a table by creating a new one and dropping the old one.

    This must happen outside of a transaction, where the pragma has no effect.
    """
    if not _is_sqlite(connection):
        yield
        return
    driver = connection.connection.dbapi_connection
    assert driver is not None
    driver.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        driver.execute("PRAGMA foreign_keys=ON")


def _is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


@cache
def _first_tables(dialect: str) -> list[str]:
    """List the statements that create the tables of a new database; compiled once, since tests create thousands."""
    from cutpurse.leaderboard.migrations.versions.v29_published_bots import TABLES  # a backup needs no tables

    def add(statement: Any, *_: Any) -> None:
        statements.append(str(statement.compile(dialect=mock.dialect)))

    statements: list[str] = []
    mock = create_mock_engine(f"{dialect}://", add)
    TABLES.create_all(mock, checkfirst=False)
    key = "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)"
    return [*statements, f"CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, {key})"]


def _migrate(connection: Connection) -> None:
    """Run the missing migrations in the transaction of `connection`."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _revision(connection: Connection) -> str | None:
    """Return the revision of a database, None if it is empty.

    Raises:
        NewerSchema: If this version does not know it.
        OlderSchema: If this version cannot upgrade it.
        StoreError: If it has none.
    """
    tables = set(inspect(connection).get_table_names())
    if not tables:
        return None
    if not {"alembic_version", _TABLE} <= tables:
        names = ", ".join(sorted(tables))
        raise StoreError(f"has tables of something else ({names:.100}): name another database, or an empty one")
    revision = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if revision is None:
        raise StoreError("does not say which schema it has: it is damaged; restore it from a backup")
    _refuse_newer(str(revision))
    if int(revision) < _known()[0]:
        raise OlderSchema(
            f"has schema {revision}, and this version upgrades {_known()[0]} and newer: keep a copy, then upgrade it "
            f"with commit {_LAST_OF_0_2}, the last of Cutpurse 0.2, as docs/how-to/monitor.md says"
        )
    return str(revision)


def _known() -> list[int]:
    """List the revisions that this version upgrades, the oldest first."""
    names = [re.match(r"v(\d+)_", path.name) for path in (_MIGRATIONS / "versions").glob("v*.py")]
    return sorted(int(name[1]) for name in names if name)


def _refuse_newer(revision: str) -> None:
    known = _known()
    if not revision.isdecimal() or int(revision) > known[-1]:
        raise NewerSchema(
            f"has schema {revision}; this version knows {', '.join(map(str, known))}. "
            "Install the version that wrote it, or a newer one"
        )
