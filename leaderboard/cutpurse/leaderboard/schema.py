"""The schema of a leaderboard: brought up to date by the migrations beside this module, all of them or none.

    engine = writing_engine(database_path("ladder.db"), busy_timeout_s=5.0)
    upgrade(engine)

This module knows no table.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from cutpurse.leaderboard.errors import NewerSchema, OlderSchema, StoreError

__all__ = ["check_schema", "known_revision", "newest_revision", "upgrade"]

_MIGRATIONS: Final = Path(__file__).parent / "migrations"


def upgrade(engine: Engine) -> str | None:
    """Bring the database to the newest schema; the revision it had before, None if it was empty.

    Everything happens in one transaction: whoever is killed in it leaves the database as it was, and of two who do it
    at once the second finds nothing to do. Raises NewerSchema if the schema is not one of ours, StoreError if rows
    would be left without what they refer to.
    """
    config, ours = _config(), _ours()
    with engine.connect() as connection:
        driver = connection.connection.dbapi_connection
        assert driver is not None
        # A table that is changed in SQLite is made anew and the old one dropped, which must not count as a loss of
        # what is referred to. Nothing else can switch this, since within a transaction it has no effect.
        driver.execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                before = MigrationContext.configure(connection).get_current_revision()
                _refuse_newer(before, ours)
                if before != ours[0]:
                    config.attributes["connection"] = connection
                    command.upgrade(config, "head")
                    if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").all():
                        raise StoreError(f"{len(broken)} rows would lose what they refer to: nothing was changed")
        finally:
            driver.execute("PRAGMA foreign_keys=ON")
    return before


def check_schema(connection: Connection, path: Path) -> None:
    """Whether a database can be read as it is.  Raises NewerSchema, and OlderSchema, which says how to upgrade it."""
    found, ours = MigrationContext.configure(connection).get_current_revision(), _ours()
    _refuse_newer(found, ours)
    if found != ours[0]:
        what = "is no leaderboard yet" if found is None else f"has schema {found}, and {ours[0]} is needed"
        raise OlderSchema(f"the leaderboard {path} {what}; this does it: cutpurse db upgrade {path}")


def newest_revision() -> str:
    """The schema of this version."""
    return _ours()[0]


def known_revision(file: sqlite3.Connection, path: Path) -> str:
    """The schema of a database, which this version may have to upgrade.

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


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config


def _ours() -> list[str]:
    """The revisions of this version, the newest first."""
    return [script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()]


def _refuse_newer(found: str | None, ours: list[str]) -> None:
    if found is not None and found not in ours:
        raise NewerSchema(
            f"the leaderboard has schema {found}; this version knows {', '.join(reversed(ours))}. "
            "Install the version that wrote it, or a newer one"
        )
