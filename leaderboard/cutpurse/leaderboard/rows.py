"""Rows are added by the thousand: handed to the driver as they are, which takes a third of the time of SQLAlchemy.

What SQLAlchemy would do to a value is to be done before: a moment becomes a `stamp`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from operator import itemgetter

from sqlalchemy import Connection
from sqlalchemy import Table as Relation

__all__ = ["add_rows", "stamp"]


def add_rows(
    connection: Connection, relation: Relation, rows: Sequence[Mapping[str, object]], replaces: bool = False
) -> None:
    """Insert rows, which all have the same columns, two or more; replaces: instead of those with the same key."""
    if rows:
        columns = tuple(rows[0])
        pick = itemgetter(*columns)
        connection.exec_driver_sql(_statement(relation, columns, replaces), [pick(row) for row in rows])


def stamp(moment: datetime) -> str:
    """Convert a timestamp with a time zone to what `models.UtcDateTime` stores."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


@cache
def _statement(relation: Relation, columns: tuple[str, ...], replaces: bool) -> str:
    insert = f"INSERT INTO {relation.name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    if not replaces:
        return insert
    key = [column.name for column in relation.primary_key]
    new = ", ".join(f"{column} = excluded.{column}" for column in columns if column not in key)
    return f"{insert} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {new}"
