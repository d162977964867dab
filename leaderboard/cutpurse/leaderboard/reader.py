"""Read-only access to a leaderboard, even while a server or another process writes it.

    with LeaderboardReader("ladder.db") as reader:
        reader.rankings("greed-main")

This module cannot write, create or upgrade a database.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from cutpurse.leaderboard import queries, seasons, tournaments, version_tests, work
from cutpurse.leaderboard.database import Database, find_database
from cutpurse.leaderboard.estimates.history import RatingPoint, rating_points
from cutpurse.leaderboard.estimates.result_matrix import Grown, LadderEstimates, grown, ladder_results
from cutpurse.leaderboard.notices.receivers import (
    ReceiverCounts,
    ReceiverEntry,
    count_receivers,
    receiver,
    receivers,
)
from cutpurse.leaderboard.queries import (
    BotEntry,
    HistoryStep,
    LadderEntry,
    MatchEntry,
    Opponent,
    Ranking,
    SeatLogEntry,
    SubmissionEntry,
    TokenEntry,
)
from cutpurse.leaderboard.results import DecisionLog
from cutpurse.leaderboard.schema import check_schema
from cutpurse.leaderboard.seasons import SeasonState, SeriesEntry
from cutpurse.leaderboard.tournaments import TournamentBoardEntry, TournamentEntry
from cutpurse.leaderboard.version_tests import ComparedBoard, VersionTestEntry
from cutpurse.leaderboard.work import EndedWork, WorkLoad

__all__ = ["LeaderboardReader", "Readings"]


def _end(connection: object, record: ConnectionPoolEntry) -> None:
    """Close a connection that comes back to a pool which nobody uses any more."""
    record.invalidate()


class Readings:
    """The queries of a leaderboard, on read-only connections."""

    def __init__(self, database: str | os.PathLike[str] | Database, busy_timeout_s: float = 5.0) -> None:
        """Set the database without opening it.

        Args:
            database: A path, `sqlite:///PATH` or `postgresql://...`.
            busy_timeout_s: Maximum wait for a lock of another process, or for a connection to a server.

        Raises:
            StoreError: If it is another address, or the driver for it is not installed.
        """
        self.database = find_database(database)
        self._reading = self.database.open_for_reading(busy_timeout_s)

    def close(self) -> None:
        """Close the database: idle connections now, and those in use by another thread once they come back."""
        event.listen(self._reading, "checkin", _end)
        self._reading.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a read-only connection with a consistent snapshot, for `cutpurse.leaderboard.queries`."""
        try:
            with self._reading.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise self.database.explain(error) from None

    # -- ladders and rankings
    def ladders(self) -> list[LadderEntry]:
        """Run `queries.ladders`."""
        with self.reading() as connection:
            return queries.ladders(connection)

    def ladder(self, name: str) -> LadderEntry:
        """Run `queries.ladder`."""
        with self.reading() as connection:
            return queries.ladder(connection, name)

    def rankings(self, ladder: str, every_version: bool = False) -> list[Ranking]:
        """Run `queries.rankings`."""
        with self.reading() as connection:
            return queries.rankings(connection, ladder, every_version)

    def history(
        self,
        ladder: str,
        owner: str,
        bot: str,
        version: str | None = None,
        limit: int = 100,
        before: int | None = None,
    ) -> list[HistoryStep]:
        """Run `queries.history`."""
        with self.reading() as connection:
            return queries.history(connection, ladder, owner, bot, version, limit, before)

    def rating_points(
        self, ladder: str, owner: str, bot: str, version: str | None = None, limit: int = 1_000
    ) -> list[RatingPoint]:
        """Run `estimates.history.rating_points`."""
        with self.reading() as connection:
            return rating_points(connection, ladder, owner, bot, version, limit)

    def opponents(self, ladder: str, owner: str, bot: str) -> list[Opponent]:
        """Run `queries.opponents`."""
        with self.reading() as connection:
            return queries.opponents(connection, ladder, owner, bot)

    def grown(self) -> list[Grown]:
        """Run `estimates.result_matrix.grown`."""
        with self.reading() as connection:
            return grown(connection)

    def ladder_estimates(self, ladder: str) -> LadderEstimates:
        """Compute the estimates of a ladder from all its rated boards; takes up to seconds.  Raises NoSuchEntry."""
        with self.reading() as connection:
            results = ladder_results(connection, ladder)
        return results.estimates()

    # -- matches
    def matches(
        self,
        ladder: str | None = None,
        owner: str | None = None,
        bot: str | None = None,
        version: str | None = None,
        faulted: bool = False,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
        before: int | None = None,
        among: Collection[str] | None = None,
    ) -> list[MatchEntry]:
        """Run `queries.matches`."""
        with self.reading() as connection:
            return queries.matches(connection, ladder, owner, bot, version, faulted, since, until, limit, before, among)

    def match(self, match_id: str, among: Collection[str] | None = None) -> MatchEntry:
        """Run `queries.match`."""
        with self.reading() as connection:
            return queries.match(connection, match_id, among)

    def record(self, match_id: str) -> str:
        """Run `queries.record`."""
        with self.reading() as connection:
            return queries.record(connection, match_id)

    def has_record(self, match_id: str) -> bool:
        """Run `queries.has_record`."""
        with self.reading() as connection:
            return queries.has_record(connection, match_id)

    def courses(self, match_id: str) -> tuple[DecisionLog | None, ...]:
        """Run `queries.courses`."""
        with self.reading() as connection:
            return queries.courses(connection, match_id)

    # -- bots
    def bots(self, owner: str | None = None, ladder: str | None = None) -> list[BotEntry]:
        """Run `queries.bots`."""
        with self.reading() as connection:
            return queries.bots(connection, owner, ladder)

    def logs(
        self,
        owner: str,
        bot: str,
        version: str | None = None,
        match: str | None = None,
        faulted: bool = False,
        limit: int = 10,
    ) -> list[SeatLogEntry]:
        """Run `queries.logs`."""
        with self.reading() as connection:
            return queries.logs(connection, owner, bot, version, match, faulted, limit)

    def submissions(
        self, owner: str | None = None, bot: str | None = None, version: str | None = None, limit: int | None = None
    ) -> list[SubmissionEntry]:
        """Run `queries.submissions`."""
        with self.reading() as connection:
            return queries.submissions(connection, owner, bot, version, limit)

    def submission_log(self, submission_id: int) -> str:
        """Run `queries.submission_log`."""
        with self.reading() as connection:
            return queries.submission_log(connection, submission_id)

    # -- tournaments
    def tournament(self, tournament_id: str) -> TournamentEntry:
        """Run `tournaments.tournament`."""
        with self.reading() as connection:
            return tournaments.tournament(connection, tournament_id)

    def tournaments(self, only_running: bool = False, limit: int | None = None) -> list[TournamentEntry]:
        """Run `tournaments.tournaments`."""
        with self.reading() as connection:
            return tournaments.tournaments(connection, only_running, limit)

    def tournament_boards(self, tournament_id: str) -> Sequence[TournamentBoardEntry]:
        """Run `tournaments.tournament_boards`."""
        with self.reading() as connection:
            return tournaments.tournament_boards(connection, tournament_id)

    # -- seasons
    def season(self, series_id: str, number: int | None = None) -> SeasonState:
        """Run `seasons.season`."""
        with self.reading() as connection:
            return seasons.season(connection, series_id, number)

    def series_list(self, only_running: bool = False, limit: int | None = None) -> list[SeriesEntry]:
        """Run `seasons.series_list`."""
        with self.reading() as connection:
            return seasons.series_list(connection, only_running, limit)

    def series_by_ladder(self) -> dict[str, tuple[str, int]]:
        """Run `seasons.series_by_ladder`."""
        with self.reading() as connection:
            return seasons.series_by_ladder(connection)

    # -- version tests
    def version_test(self, test_id: str) -> VersionTestEntry:
        """Run `version_tests.version_test`."""
        with self.reading() as connection:
            return version_tests.version_test(connection, test_id)

    def version_tests(
        self, owner: str | None = None, only_running: bool = False, limit: int | None = None
    ) -> list[VersionTestEntry]:
        """Run `version_tests.version_tests`."""
        with self.reading() as connection:
            return version_tests.version_tests(connection, owner, only_running, limit)

    def version_test_boards(self, test_id: str) -> list[ComparedBoard]:
        """Run `version_tests.version_test_boards`."""
        with self.reading() as connection:
            return version_tests.version_test_boards(connection, test_id)

    # -- matches that workers play
    def open_work(self) -> dict[str, str]:
        """Run `work.open_work`."""
        with self.reading() as connection:
            return work.open_work(connection)

    def count_work(self) -> dict[str, int]:
        """Run `work.count_work`."""
        with self.reading() as connection:
            return work.count_work(connection)

    def work_load(self) -> WorkLoad:
        """Run `work.work_load`."""
        with self.reading() as connection:
            return work.work_load(connection)

    def ended_work(self, limit: int, ladders: Collection[str] | None = None) -> list[EndedWork]:
        """Run `work.ended_work`."""
        with self.reading() as connection:
            return work.ended_work(connection, limit, ladders)

    def archive(self, digest: bytes) -> bytes | None:
        """Run `work.archive`."""
        with self.reading() as connection:
            return work.archive(connection, digest)

    def archive_keys(self) -> set[bytes]:
        """Run `work.archive_keys`."""
        with self.reading() as connection:
            return work.archive_keys(connection)

    def has_archive(self, digest: bytes) -> bool:
        """Run `work.has_archive`."""
        with self.reading() as connection:
            return work.has_archive(connection, digest)

    # -- notices
    def receivers(self, owner: str | None = None) -> list[ReceiverEntry]:
        """Run `receivers.receivers`."""
        with self.reading() as connection:
            return receivers(connection, owner)

    def receiver(self, receiver_id: int) -> ReceiverEntry:
        """Run `receivers.receiver`."""
        with self.reading() as connection:
            return receiver(connection, receiver_id)

    def count_receivers(self) -> ReceiverCounts:
        """Run `receivers.count_receivers`."""
        with self.reading() as connection:
            return count_receivers(connection)

    # -- tokens
    def tokens(self, owner: str | None = None) -> list[TokenEntry]:
        """Run `queries.tokens`."""
        with self.reading() as connection:
            return queries.tokens(connection, owner)

    def has_tokens(self) -> bool:
        """Run `queries.has_tokens`."""
        with self.reading() as connection:
            return queries.has_tokens(connection)


class LeaderboardReader(Readings):
    """A leaderboard opened read-only."""

    def __init__(self, database: str | os.PathLike[str] | Database, busy_timeout_s: float = 5.0) -> None:
        """Open a leaderboard.  Raises StoreError: OlderSchema or NewerSchema if its schema is not this version's."""
        super().__init__(database, busy_timeout_s)
        try:
            with self.reading() as connection:
                check_schema(connection, self.database.address)
        except BaseException:
            self.close()
            raise
