"""A leaderboard on a disk, to be read: also while a server, or another process, writes it.

    with Reader("ladder.db") as reader:
        reader.rankings("greed-main")

Nothing here can write, make a file or upgrade one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.database import database_path, explained, reading_engine
from cutpurse.leaderboard.queries import LadderEntry, MatchEntry, Ranking, TokenEntry
from cutpurse.leaderboard.schema import check_schema

__all__ = ["Reader", "Readings"]


class Readings:
    """What can be asked of a leaderboard, on connections that cannot write."""

    def __init__(self, database: str | os.PathLike[str], busy_timeout_s: float = 5.0) -> None:
        """A path or `sqlite:///PATH`; nothing is opened yet.  Raises StoreError if it is neither."""
        self.path = database_path(database)
        self._reading = reading_engine(self.path, busy_timeout_s)

    def close(self) -> None:
        """Let go of the file."""
        self._reading.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees the leaderboard of one moment and cannot write, for `cutpurse.leaderboard.queries`."""
        try:
            with self._reading.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise explained(error, self.path) from None

    def ladders(self) -> list[LadderEntry]:
        """`queries.ladders`."""
        with self.reading() as connection:
            return queries.ladders(connection)

    def rankings(self, ladder: str, every_version: bool = False) -> list[Ranking]:
        """`queries.rankings`."""
        with self.reading() as connection:
            return queries.rankings(connection, ladder, every_version)

    def matches(
        self,
        ladder: str | None = None,
        owner: str | None = None,
        bot: str | None = None,
        limit: int = 50,
        before: int | None = None,
    ) -> list[MatchEntry]:
        """`queries.matches`."""
        with self.reading() as connection:
            return queries.matches(connection, ladder, owner, bot, limit, before)

    def match(self, match_id: str) -> MatchEntry:
        """`queries.match`."""
        with self.reading() as connection:
            return queries.match(connection, match_id)

    def record(self, match_id: str) -> str:
        """`queries.record`."""
        with self.reading() as connection:
            return queries.record(connection, match_id)

    def tokens(self, owner: str | None = None) -> list[TokenEntry]:
        """`queries.tokens`."""
        with self.reading() as connection:
            return queries.tokens(connection, owner)

    def has_tokens(self) -> bool:
        """`queries.has_tokens`."""
        with self.reading() as connection:
            return queries.has_tokens(connection)


class Reader(Readings):
    """See the module's docstring."""

    def __init__(self, database: str | os.PathLike[str], busy_timeout_s: float = 5.0) -> None:
        """Raises StoreError: OlderSchema for a file that must be upgraded first, NewerSchema for a newer version's."""
        super().__init__(database, busy_timeout_s)
        try:
            with self.reading() as connection:
                check_schema(connection, self.path)
        except BaseException:
            self.close()
            raise
