"""The schema of a leaderboard: brought up to date by the migrations beside this module, all of them or none.

    engine = writing_engine(database_path("ladder.db"), busy_timeout_s=5.0)
    upgrade(engine)

Revisions are numbered from 1, and the module of each is called after its number. What they all make of an empty
database stands in `schema.sql`, by which a new one is made: Alembic takes a third of a second to import, and is only
where something old is brought up to date. This module knows no table.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine

from cutpurse.leaderboard.errors import NewerSchema, OlderSchema, StoreError

__all__ = ["check_schema", "describe_upgrade", "known_revision", "newest_revision", "upgrade"]

_FAILED_LAST: Final = 7  # the schema since which matches place seats that were taken over behind all others
_MIGRATIONS: Final = Path(__file__).parent / "migrations"
_SCHEMA: Final = Path(__file__).with_name("schema.sql")  # written by `pytest --update-schema tests/leaderboard`


def upgrade(engine: Engine) -> str | None:
    """Bring the database to the newest schema; the revision it had before, None if it was empty.

    Everything happens in one transaction: whoever is killed in it leaves the database as it was, and of two who do it
    at once the second finds nothing to do. Raises NewerSchema if the schema is not one of ours, StoreError if rows
    would be left without what they refer to.
    """
    ours = _ours()
    with engine.connect() as connection:
        driver = connection.connection.dbapi_connection
        assert driver is not None
        # A table that is changed in SQLite is made anew and the old one dropped, which must not count as a loss of
        # what is referred to. Nothing else can switch this, since within a transaction it has no effect.
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


def describe_upgrade(before: str) -> str:
    """Describe what an upgrade from this schema leaves as it was, in one line; empty if there is nothing to say."""
    if int(before) < _FAILED_LAST:
        return (
            "places and ratings of matches stored before stay as they are: a seat that was taken over kept the place "
            "of its cards then, and comes last in new matches"
        )
    return ""


def check_schema(connection: Connection, path: Path) -> None:
    """Whether a database can be read as it is.  Raises NewerSchema, and OlderSchema, which says how to upgrade it."""
    found, ours = _found(connection), _ours()
    _refuse_newer(found, ours)
    if found != ours[0]:
        what = "is no leaderboard yet" if found is None else f"has schema {found}, and {ours[0]} is needed"
        raise OlderSchema(f"the leaderboard {path} {what}; this does it: cutpurse db upgrade {path}")


def newest_revision() -> str:
    """Return the schema of this version."""
    return _ours()[0]


def known_revision(file: sqlite3.Connection, path: Path) -> str:
    """Return the schema of a database, which this version may have to upgrade.

    Raises NewerSchema, and StoreError if it is no leaderboard.
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
    """Make all tables, within the transaction of this connection."""
    for statement in _statements(_SCHEMA.read_text(encoding="utf-8")):
        connection.exec_driver_sql(statement)


def _statements(script: str) -> Iterator[str]:
    """One after the other: what SQLite does with a whole script would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _migrate(connection: Connection) -> None:
    """Carry out what is missing, within the transaction of this connection."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _found(connection: Connection) -> str | None:
    """Return the schema of a database, None if it has none."""
    if not connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").first():
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
