"""The database with a given address."""

from __future__ import annotations

import os

from cutpurse.leaderboard.address import is_postgresql
from cutpurse.leaderboard.database import Database
from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.sqlite_database import SqliteDatabase

__all__ = ["find_database"]


def find_database(database: str | os.PathLike[str] | Database) -> Database:
    """Return the database with this address.

    Args:
        database: A path, `sqlite:///PATH` or `postgresql://...`.

    Raises:
        StoreError: If it is another address, or the driver for it is not installed.
    """
    if isinstance(database, Database):
        return database
    if is_postgresql(database):
        try:
            from cutpurse.leaderboard.postgresql_database import PostgresqlDatabase
        except ModuleNotFoundError as problem:
            if (problem.name or "").split(".")[0] != "psycopg":
                raise
            raise StoreError("psycopg is not installed; the extra `cluster` of Cutpurse has it") from None
        return PostgresqlDatabase(os.fspath(database))
    return SqliteDatabase(database)
