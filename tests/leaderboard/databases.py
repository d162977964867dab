"""Changes of a leaderboard behind the back of the store, on either database."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from cutpurse.leaderboard.address import is_postgresql

__all__ = ["change_by_hand"]


def change_by_hand(database: str | Path, *statements: str) -> None:
    """Change rows as no version of the store would, by statements of SQLite; each must change some."""
    if is_postgresql(database):
        import psycopg

        with psycopg.connect(str(database)) as connection:
            connection.execute("SET session_replication_role = replica")  # no foreign key is checked
            for statement in statements:
                written = re.sub(r"x'([0-9a-f]*)'", r"'\\x\1'::bytea", statement)
                assert connection.execute(written.encode()).rowcount > 0, statement
        return
    with closing(sqlite3.connect(database)) as file:
        file.execute("PRAGMA foreign_keys=OFF")
        for statement in statements:
            assert file.execute(statement).rowcount > 0, statement
        file.commit()
