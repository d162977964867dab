"""Tests whether a version is better than another one of its owner, and the boards that were played for them.

A test stores what is asked, and when it ended. What it has found is never stored: it follows from the finished matches
of its boards. So a board counts once, also after a crash, and a void board does not count.

Every function works in the transaction of its connection. This module knows no statistics, no bot and no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, func, insert, select, update

from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.queries.names import ladder_id_of
from cutpurse.leaderboard.relations import (
    BOTS,
    LADDERS,
    MATCHES,
    OWNERS,
    SEATS,
    TEST_BOARDS,
    VERSION_TESTS,
    VERSIONS,
)
from cutpurse.leaderboard.results import Identity

__all__ = [
    "BEING_PLAYED",
    "STOPPED",
    "NewVersionTest",
    "ComparedBoard",
    "ComparedMatch",
    "TooManyTests",
    "VersionTestEntry",
    "end_version_test",
    "start_version_test",
    "version_test",
    "version_test_boards",
    "version_tests",
]

BEING_PLAYED: Final = ""  # outcome of a test that runs
STOPPED: Final = "stopped"  # outcome of a test that a person ended
A_DAY: Final = timedelta(days=1)


class TooManyTests(InvalidEntry):
    """The error if an owner has as many tests as the quotas allow."""


@dataclass(frozen=True, slots=True)
class NewVersionTest:
    """A test to start.

    Attributes:
        id: Its ID, which no other test has.
        ladder: Name of the ladder.
        new: The version that may be better.
        old: The version of the same owner that it is compared with.
        design: Its design, as JSON.
    """

    id: str
    ladder: str
    new: Identity
    old: Identity
    design: str


@dataclass(frozen=True, slots=True)
class VersionTestEntry:
    """A stored test; `ended` is None and `outcome` empty while it runs."""

    id: str
    ladder: str
    owner: str
    new: Identity
    old: Identity
    design: str
    created: datetime
    ended: datetime | None
    outcome: str


@dataclass(frozen=True, slots=True)
class ComparedMatch:
    """A finished match of a test's board, by seat; the places are None if it is void."""

    match: str
    finished: datetime
    players: tuple[Identity, ...]
    places: tuple[int | None, ...]
    end_causes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparedBoard:
    """A board of a test whose two matches are over and not void."""

    board: str
    matches: tuple[ComparedMatch, ...]


def start_version_test(
    connection: Connection, new: NewVersionTest, created: datetime, max_open: int, max_a_day: int
) -> VersionTestEntry:
    """Store a test that runs from now on, creating missing versions.

    Args:
        connection: Connection in a transaction.
        new: The test.
        created: The time of day.
        max_open: Maximum number of tests of an owner that run.
        max_a_day: Maximum number of tests that an owner starts within 24 hours.

    Raises:
        NoSuchEntry: If there is no such ladder.
        TooManyTests: If the owner has too many.
        InvalidEntry: If both versions are the same, or of different owners.
    """
    if new.new == new.old or new.new.owner != new.old.owner:
        raise InvalidEntry(f"{new.new.shown} and {new.old.shown} must be two versions of bots of one owner")
    owner = new.new.owner
    ladder_id = ladder_id_of(connection, new.ladder)
    versions = [ensure_version(connection, *identity, created=created) for identity in (new.new, new.old)]
    owner_id = connection.scalar(select(OWNERS.c.id).where(OWNERS.c.name == owner))
    of_owner = select(func.count()).select_from(VERSION_TESTS).where(VERSION_TESTS.c.owner_id == owner_id)
    running = connection.scalar(of_owner.where(VERSION_TESTS.c.ended.is_(None))) or 0
    if running >= max_open:
        raise TooManyTests(f"{owner} has {running} tests that run, as many as may: wait for one, or stop it")
    started = connection.scalar(of_owner.where(VERSION_TESTS.c.created > created - A_DAY)) or 0
    if started >= max_a_day:
        raise TooManyTests(f"{owner} has started {started} tests within a day, as many as may: start it later")
    row = {
        "id": new.id,
        "ladder_id": ladder_id,
        "owner_id": owner_id,
        "new_id": versions[0],
        "old_id": versions[1],
        "design": new.design,
        "created": created,
        "ended": None,
        "outcome": BEING_PLAYED,
    }
    connection.execute(insert(VERSION_TESTS).values(row))
    return version_test(connection, new.id)


def end_version_test(connection: Connection, test_id: str, outcome: str, ended: datetime) -> VersionTestEntry:
    """End a test that runs; one that has ended stays as it is.  Raises NoSuchEntry."""
    runs = (VERSION_TESTS.c.id == test_id) & VERSION_TESTS.c.ended.is_(None)
    connection.execute(update(VERSION_TESTS).where(runs).values(outcome=outcome, ended=ended))
    return version_test(connection, test_id)


def version_test(connection: Connection, test_id: str) -> VersionTestEntry:
    """Return a test.  Raises NoSuchEntry."""
    row = connection.execute(_tests().where(VERSION_TESTS.c.id == test_id)).first()
    if row is None:
        raise NoSuchEntry(f"there is no test {test_id!r:.100}")
    return _entry(row)


def version_tests(
    connection: Connection, owner: str | None = None, only_running: bool = False, limit: int | None = None
) -> list[VersionTestEntry]:
    """List tests, the newest first; optionally of one owner, or only those that run."""
    query = _tests().order_by(VERSION_TESTS.c.created.desc(), VERSION_TESTS.c.id.desc()).limit(limit)
    if owner is not None:
        query = query.where(OWNERS.c.name == owner)
    if only_running:
        query = query.where(VERSION_TESTS.c.ended.is_(None))
    return [_entry(row) for row in connection.execute(query)]


def version_test_boards(connection: Connection, test_id: str) -> list[ComparedBoard]:
    """List the boards of a test that count, in the order of their ends."""
    rows = connection.execute(_SEATS_OF_TEST.where(TEST_BOARDS.c.test_id == test_id)).all()
    played: dict[str, list[ComparedMatch]] = {}
    for _, several in groupby(rows, lambda row: row.number):
        match = _played_match(list(several))
        board = played.pop(match[0], [])
        played[match[0]] = [*board, match[1]]  # a board moves to the end with each of its matches
    return [
        ComparedBoard(board, tuple(matches))
        for board, matches in played.items()
        if len(matches) == 2 and all(None not in match.places for match in matches)
    ]


def _played_match(rows: Sequence[Row[*tuple[Any, ...]]]) -> tuple[str, ComparedMatch]:
    first = rows[0]
    match = ComparedMatch(
        first.id,
        first.finished,
        tuple(Identity(row.owner, row.bot, row.version) for row in rows),
        tuple(row.place for row in rows),
        tuple(row.end_cause for row in rows),
    )
    return first.board_id, match


_SEATS_OF_TEST: Final = (
    select(
        MATCHES.c.number,
        MATCHES.c.id,
        MATCHES.c.board_id,
        MATCHES.c.finished,
        OWNERS.c.name.label("owner"),
        BOTS.c.name.label("bot"),
        VERSIONS.c.label.label("version"),
        SEATS.c.place,
        SEATS.c.end_cause,
    )
    .select_from(
        TEST_BOARDS.join(MATCHES, MATCHES.c.board_id == TEST_BOARDS.c.board_id)
        .join(SEATS, SEATS.c.match_number == MATCHES.c.number)
        .join(VERSIONS, VERSIONS.c.id == SEATS.c.version_id)
        .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
        .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
    )
    .order_by(MATCHES.c.number, SEATS.c.seat)
)


def _tests() -> Select[Any]:
    """Select tests with the names of their ladder, owner and versions."""
    new, old = VERSIONS.alias("new"), VERSIONS.alias("old")
    new_bot, old_bot = BOTS.alias("new_bot"), BOTS.alias("old_bot")
    return select(
        VERSION_TESTS,
        LADDERS.c.name.label("ladder"),
        OWNERS.c.name.label("owner"),
        new_bot.c.name.label("new_bot"),
        new.c.label.label("new_version"),
        old_bot.c.name.label("old_bot"),
        old.c.label.label("old_version"),
    ).select_from(
        VERSION_TESTS.join(LADDERS, LADDERS.c.id == VERSION_TESTS.c.ladder_id)
        .join(OWNERS, OWNERS.c.id == VERSION_TESTS.c.owner_id)
        .join(new, new.c.id == VERSION_TESTS.c.new_id)
        .join(new_bot, new_bot.c.id == new.c.bot_id)
        .join(old, old.c.id == VERSION_TESTS.c.old_id)
        .join(old_bot, old_bot.c.id == old.c.bot_id)
    )


def _entry(row: Row[*tuple[Any, ...]]) -> VersionTestEntry:
    return VersionTestEntry(
        row.id,
        row.ladder,
        row.owner,
        Identity(row.owner, row.new_bot, row.new_version),
        Identity(row.owner, row.old_bot, row.old_version),
        row.design,
        row.created,
        row.ended,
        row.outcome,
    )
