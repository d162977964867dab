"""The schema of a leaderboard, and its upgrade by the migrations beside this module.

    access = find_database("ladder.db").open_for_writing(busy_timeout_s=5.0)
    upgrade(access.engine)

Revisions are numbered from 1, and the name of each module begins with its number. `schema.sql` is the result of all
migrations and creates a new database in SQLite; `schema.postgresql.sql` does so in PostgreSQL, whose first schema is 8.
Alembic takes a third of a second to import, so it is imported only for an upgrade. This module knows no table.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, inspect

from cutpurse.leaderboard.errors import NewerSchema, OlderSchema, StoreError

__all__ = ["check_schema", "describe_upgrade", "known_revision", "newest_revision", "upgrade"]

_FAILED_LAST: Final = 7  # first schema whose matches place taken-over seats behind all others
_MIGRATIONS: Final = Path(__file__).parent / "migrations"
# Both are written by `pytest --update-schema tests/leaderboard`.
_SCHEMA: Final = Path(__file__).with_name("schema.sql")
_SCHEMA_ON_POSTGRESQL: Final = Path(__file__).with_name("schema.postgresql.sql")
_FIRST_ON_POSTGRESQL: Final = 8
_TABLE: Final = "ladders"  # a table that every leaderboard has


def upgrade(engine: Engine) -> str | None:
    """Upgrade the database to the newest schema in one transaction.

    A killed upgrade leaves the database as it was. If two processes upgrade, the second finds nothing to do.

    Returns:
        The revision before the upgrade, None if the database was empty.

    Raises:
        NewerSchema: If this version does not know the schema.
        StoreError: If foreign keys would be broken, or if the tables in a PostgreSQL database are something else's.
    """
    if engine.dialect.name == "postgresql":
        with engine.begin() as connection:
            return _upgrade_on_postgresql(connection)
    ours = _ours()
    with engine.connect() as connection:
        driver = connection.connection.dbapi_connection
        assert driver is not None
        # SQLite changes a table by creating a new one and dropping the old one, which must not trigger foreign keys.
        # This must be switched off here, because the pragma has no effect in a transaction.
        driver.execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                before = _found(connection)
                _refuse_newer(before, ours)
                if _is_empty(connection):
                    _create(connection)
                if _found(connection) != ours[0]:
                    _migrate(connection)
                    if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").all():
                        raise StoreError(f"{len(broken)} rows would lose what they refer to: nothing was changed")
        finally:
            driver.execute("PRAGMA foreign_keys=ON")
    return before


def _upgrade_on_postgresql(connection: Connection) -> str | None:
    before, ours = _found(connection), _ours()
    _refuse_newer(before, ours)
    if before is None:
        if others := inspect(connection).get_table_names():
            raise StoreError(
                f"the database has tables of something else ({', '.join(sorted(others)):.100}): name an empty database"
            )
        script = _SCHEMA_ON_POSTGRESQL.read_text(encoding="utf-8")
        connection.exec_driver_sql(script, execution_options={"no_parameters": True})
        return None
    if int(before) < _FIRST_ON_POSTGRESQL:
        raise StoreError(f"the database has schema {before}, which never was in PostgreSQL: name an empty database")
    if before != ours[0]:
        _migrate(connection)
    return before


def describe_upgrade(before: str) -> str:
    """Describe in one line what an upgrade from schema `before` does not change; may be empty."""
    if int(before) < _FAILED_LAST:
        return (
            "places and ratings of matches stored before stay as they are: a seat that was taken over kept the place "
            "of its cards then, and comes last in new matches"
        )
    return ""


def check_schema(connection: Connection, address: str) -> None:
    """Check that a database has the newest schema.  Raises NewerSchema or OlderSchema."""
    found, ours = _found(connection), _ours()
    _refuse_newer(found, ours)
    if found != ours[0]:
        what = "is no leaderboard yet" if found is None else f"has schema {found}, and {ours[0]} is needed"
        raise OlderSchema(f"the leaderboard {address} {what}; this does it: cutpurse db upgrade {address}")


def newest_revision() -> str:
    """Return the newest revision that this version knows."""
    return _ours()[0]


def known_revision(file: sqlite3.Connection, path: Path) -> str:
    """Return the revision of a database, which may be an old one.

    Raises:
        NewerSchema: If this version does not know the revision.
        StoreError: If the database is no leaderboard.
    """
    try:
        found = file.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError:
        found = None
    if found is None:
        raise StoreError(f"{path} is a database, but no leaderboard")
    revision = str(found[0])
    _refuse_newer(revision, _ours())
    return revision


def _is_empty(connection: Connection) -> bool:
    return not connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first()


def _create(connection: Connection) -> None:
    """Create all tables in the transaction of `connection`."""
    for statement in _statements(_SCHEMA.read_text(encoding="utf-8")):
        connection.exec_driver_sql(statement)


def _statements(script: str) -> Iterator[str]:
    """Split a script into statements: SQLite would commit the transaction to run a whole script."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _migrate(connection: Connection) -> None:
    """Run the missing migrations in the transaction of `connection`."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _found(connection: Connection) -> str | None:
    """Return the revision of a database, None if it has none."""
    if connection.dialect.name == "postgresql":
        # Other programs have a table of this name, too.
        if not all(inspect(connection).has_table(name) for name in ("alembic_version", _TABLE)):
            return None
    elif not connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").first():
        return None
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").first()
    return None if found is None else str(found[0])


def _ours() -> list[str]:
    """List the revisions of this version, the newest first."""
    named = [re.match(r"v(\d+)_", path.name) for path in (_MIGRATIONS / "versions").glob("v*.py")]
    return [str(number) for number in sorted((int(one[1]) for one in named if one), reverse=True)]


def _refuse_newer(found: str | None, ours: list[str]) -> None:
    if found is not None and found not in ours:
        raise NewerSchema(
            f"the leaderboard has schema {found}; this version knows {', '.join(reversed(ours))}. "
            "Install the version that wrote it, or a newer one"
        )
