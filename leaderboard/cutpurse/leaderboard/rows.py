"""Values as the database stores them, and fast inserts of many rows.

The driver gets the rows of `add_rows` directly, which takes a third of SQLAlchemy's time. So the caller converts values
as SQLAlchemy would; `stamp` converts a timestamp. Every text of a stranger that is not refused goes through `storable`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from operator import itemgetter
from typing import Final

from sqlalchemy import Connection
from sqlalchemy import Table as Relation

from cutpurse.leaderboard.dialects import driver_sql

__all__ = ["add_rows", "stamp", "storable"]

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


def add_rows(
    connection: Connection, relation: Relation, rows: Sequence[Mapping[str, object]], replaces: bool = False
) -> None:
    """Insert rows.

    Args:
        connection: Connection in a transaction.
        relation: The table.
        rows: Rows that all have the same columns, at least two.
        replaces: Replace existing rows with the same key.
    """
    if rows:
        columns = tuple(rows[0])
        pick = itemgetter(*columns)
        statement = driver_sql(connection, _statement(relation, columns, replaces))
        connection.exec_driver_sql(statement, [pick(row) for row in rows])


def stamp(moment: datetime) -> str:
    """Convert a timestamp with a time zone to what `models.UtcDateTime` stores."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def storable(text: str) -> str:
    """Replace the characters that PostgreSQL does not store: NUL and lone surrogates."""
    return _UNSTORABLE.sub("\ufffd", text)


@cache
def _statement(relation: Relation, columns: tuple[str, ...], replaces: bool) -> str:
    insert = f"INSERT INTO {relation.name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    if not replaces:
        return insert
    key = [column.name for column in relation.primary_key]
    new = ", ".join(f"{column} = excluded.{column}" for column in columns if column not in key)
    return f"{insert} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {new}"
