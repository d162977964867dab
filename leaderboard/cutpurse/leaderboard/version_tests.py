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

from sqlalchemy import Connection, Row, func, insert, select

from cutpurse.leaderboard import events
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.events import TEST, EventEntry, TooManyEvents
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.relations import (
    BOTS,
    EVENT_BOARDS,
    EVENT_BOTS,
    EVENTS,
    MATCHES,
    OWNERS,
    SEATS,
    VERSIONS,
)
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.write_hooks import VersionTestOver, send

__all__ = ["ComparedBoard", "ComparedMatch", "VersionTestEntry", "boards", "count_boards", "end", "entry", "start"]

A_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class VersionTestEntry:
    """A stored test.

    Attributes:
        event: What it has as an event; its owner started it.
        new: The version that may be better.
        old: The version of the same owner that it is compared with.
    """

    event: EventEntry
    new: Identity
    old: Identity

    @property
    def ladder(self) -> str:
        """Name of its ladder."""
        return self.event.ladder


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


def start(
    connection: Connection, event: EventEntry, new: Identity, old: Identity, max_open: int, max_a_day: int
) -> VersionTestEntry:
    """Store a test that runs from now on, creating missing versions.

    Args:
        connection: Connection in a transaction.
        event: The test; its owner starts it.
        new: The version that may be better.
        old: The version of the same owner that it is compared with.
        max_open: Maximum number of tests of an owner that run.
        max_a_day: Maximum number of tests that an owner starts within 24 hours.

    Raises:
        NoSuchEntry: If there is no such ladder.
        TooManyEvents: If the owner has too many.
        InvalidEntry: If both versions are the same, or of different owners.
    """
    if new == old or new.owner != old.owner:
        raise InvalidEntry(f"{new.shown} and {old.shown} must be two versions of bots of one owner")
    versions = [ensure_version(connection, *identity, created=event.created) for identity in (new, old)]
    owner_id = connection.scalar(select(OWNERS.c.id).where(OWNERS.c.name == new.owner))
    tests = EVENTS.c.format == TEST, EVENTS.c.owner_id == owner_id
    of_owner = select(func.count()).select_from(EVENTS).where(*tests)
    running = connection.scalar(of_owner.where(EVENTS.c.ended.is_(None))) or 0
    if running >= max_open:
        raise TooManyEvents(f"{new.owner} has {running} tests that run, as many as may: wait for one, or stop it")
    started = connection.scalar(of_owner.where(EVENTS.c.created > event.created - A_DAY)) or 0
    if started >= max_a_day:
        raise TooManyEvents(f"{new.owner} has started {started} tests within a day, as many as may: start it later")
    events.add(connection, TEST, event, owner_id=owner_id)
    for seed, version_id in enumerate(versions, 1):
        bot = select(VERSIONS.c.bot_id).where(VERSIONS.c.id == version_id).scalar_subquery()
        row = {"event_id": event.id, "division": 1, "seed": seed, "bot_id": bot, "version_id": version_id}
        connection.execute(insert(EVENT_BOTS).values(is_late=False, has_left=False, **row))
    return entry(connection, event.id)


def end(connection: Connection, test_id: str, outcome: str, ended: datetime) -> None:
    """End a test that runs; one that has ended stays as it is.  Raises NoSuchEntry."""
    test = entry(connection, test_id)
    if test.event.ended is None:
        events.end(connection, test_id, outcome, ended)
        send(connection, VersionTestOver(ended, test_id, test.ladder, test.new, test.old, outcome))


def entry(connection: Connection, test_id: str) -> VersionTestEntry:
    """Return a test.  Raises NoSuchEntry."""
    event = events.entry(connection, test_id)
    new, old = (Identity(*row) for row in connection.execute(_VERSIONS.where(EVENT_BOTS.c.event_id == test_id)))
    return VersionTestEntry(event, new, old)


def boards(connection: Connection, test_id: str) -> list[ComparedBoard]:
    """List the boards of a test that count, in the order of their ends."""
    rows = connection.execute(_SEATS_OF_TEST.where(EVENT_BOARDS.c.event_id == test_id)).all()
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


def count_boards(connection: Connection, test_id: str) -> int:
    """Count the boards of a test that count."""
    counted = (
        select(EVENT_BOARDS.c.board_id)
        .join(MATCHES, MATCHES.c.board_id == EVENT_BOARDS.c.board_id)
        .where(EVENT_BOARDS.c.event_id == test_id, MATCHES.c.void_cause.is_(None))
        .group_by(EVENT_BOARDS.c.board_id)
        .having(func.count() == 2)
    )
    return connection.scalar(select(func.count()).select_from(counted.subquery())) or 0


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
        EVENT_BOARDS.join(MATCHES, MATCHES.c.board_id == EVENT_BOARDS.c.board_id)
        .join(SEATS, SEATS.c.match_number == MATCHES.c.number)
        .join(VERSIONS, VERSIONS.c.id == SEATS.c.version_id)
        .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
        .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
    )
    .order_by(MATCHES.c.number, SEATS.c.seat)
)

_VERSIONS: Final = (  # the new one first
    select(OWNERS.c.name, BOTS.c.name, VERSIONS.c.label)
    .select_from(EVENT_BOTS.join(VERSIONS, VERSIONS.c.id == EVENT_BOTS.c.version_id))
    .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
    .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
    .order_by(EVENT_BOTS.c.seed)
)
