"""The stored events of a server: tournaments, version tests, and series of seasons, each season an event of its own.

All have an entry with a plan, ladders, and an end. What else is stored of a format is in its module: `tournaments`,
`version_tests`, `seasons`. Every function works in the transaction of its connection. This module knows no rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, func, insert, select, update

from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.queries.names import ladder_id_of
from cutpurse.leaderboard.relations import EVENT_LADDERS, EVENTS, LADDERS

__all__ = [
    "FINISHED",
    "ON_LADDER",
    "SEASON",
    "SERIES",
    "STOPPED",
    "TEST",
    "TOURNAMENT",
    "EventEntry",
    "TooManyEvents",
    "add",
    "add_ladders",
    "count_running",
    "end",
    "entries",
    "entry",
]

TOURNAMENT: Final = "tournament"
TEST: Final = "test"
SERIES: Final = "seasons"
SEASON: Final = "season"
FINISHED: Final = "finished"  # outcome of an event that was played to its end
STOPPED: Final = "stopped"  # outcome of an event that a person ended


class TooManyEvents(InvalidEntry):
    """The error if as many events go on, or were started, as may."""


@dataclass(frozen=True, slots=True)
class EventEntry:
    """A stored event; `ended` is None and `outcome` empty while it goes on.

    Attributes:
        id: Its ID.
        ladder: Ladder on which it is played; empty for a series of seasons, which have their own.
        started_by: Owner of the token that started it.
        plan: All that was fixed before it began, as JSON.
        created: When it began.
        ended: When it ended.
        outcome: How it ended.
        name: Its name; empty if it has none.
        number: The newest season of a series.
        form: Its format.
    """

    id: str
    ladder: str
    started_by: str
    plan: str
    created: datetime
    ended: datetime | None = None
    outcome: str = ""
    name: str = ""
    number: int = 1
    form: str = ""


def add(connection: Connection, form: str, new: EventEntry, **values: object) -> None:
    """Store an event that goes on from now on.

    Args:
        connection: Connection in a transaction.
        form: Its format.
        new: The event.
        values: Further columns.

    Raises:
        NoSuchEntry: If there is no such ladder.
    """
    row = {
        "id": new.id,
        "format": form,
        "name": new.name,
        "started_by": new.started_by,
        "plan": new.plan,
        "created": new.created,
        "outcome": "",
        "phase": "",
        "number": 0,
        **values,
    }
    connection.execute(insert(EVENTS).values(row))
    if new.ladder:
        add_ladders(connection, new.id, [ladder_id_of(connection, new.ladder)], is_own=False)


def add_ladders(connection: Connection, event_id: str, ladder_ids: Sequence[int], *, is_own: bool) -> None:
    """Store the ladders of an event, one for each division; its own are no other event's."""
    for division, ladder_id in enumerate(ladder_ids, 1):
        row = {"event_id": event_id, "division": division, "ladder_id": ladder_id, "is_own": is_own}
        connection.execute(insert(EVENT_LADDERS).values(row))


def end(connection: Connection, event_id: str, outcome: str, ended: datetime) -> None:
    """End an event that goes on; one that has ended stays as it is."""
    runs = (EVENTS.c.id == event_id) & EVENTS.c.ended.is_(None)
    connection.execute(update(EVENTS).where(runs).values(outcome=outcome, ended=ended))


def count_running(connection: Connection, form: str) -> int:
    """Count the events of a format that go on."""
    running = select(func.count()).select_from(EVENTS).where(EVENTS.c.format == form, EVENTS.c.ended.is_(None))
    return connection.scalar(running) or 0


def entry(connection: Connection, event_id: str) -> EventEntry:
    """Return an event.  Raises NoSuchEntry."""
    row = connection.execute(_ENTRIES.where(EVENTS.c.id == event_id)).first()
    if row is None:
        raise NoSuchEntry(f"there is no event {event_id!r:.100}")
    return _entry(row)


def entries(
    connection: Connection, forms: Iterable[str], only_running: bool = False, started_by: str | None = None
) -> list[EventEntry]:
    """List the events of these formats, the newest first; optionally only those that go on, or of one owner."""
    query = _ENTRIES.where(EVENTS.c.format.in_([*forms])).order_by(EVENTS.c.created.desc(), EVENTS.c.id.desc())
    if only_running:
        query = query.where(EVENTS.c.ended.is_(None))
    if started_by is not None:
        query = query.where(EVENTS.c.started_by == started_by)
    return [_entry(row) for row in connection.execute(query)]


ON_LADDER: Final = EVENTS.outerjoin(  # an event with the ladder on which it is played
    EVENT_LADDERS, (EVENT_LADDERS.c.event_id == EVENTS.c.id) & EVENT_LADDERS.c.is_own.is_(False)
).outerjoin(LADDERS, LADDERS.c.id == EVENT_LADDERS.c.ladder_id)
_SEASONS: Final = EVENTS.alias("seasons")
_NEWEST: Final = select(func.max(_SEASONS.c.number)).where(_SEASONS.c.parent_id == EVENTS.c.id).scalar_subquery()
_ENTRIES: Final = select(EVENTS, LADDERS.c.name.label("ladder"), _NEWEST.label("newest")).select_from(ON_LADDER)


def _entry(row: Row[*tuple[Any, ...]]) -> EventEntry:
    return EventEntry(
        row.id,
        row.ladder or "",
        row.started_by,
        row.plan,
        row.created,
        row.ended,
        row.outcome,
        row.name,
        row.newest or 1,
        row.format,
    )
