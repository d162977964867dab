"""The stored receivers: places where owners and hosts want notices to be sent.

Every function works in the transaction of its connection. This module sends nothing, and knows no clock.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Row, Select, delete, func, insert, select

from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.owner_registry import ensure_owner
from cutpurse.leaderboard.relations import OWNERS
from cutpurse.leaderboard.results import checked_name
from cutpurse.server.parts.notices.notice import EVENTS
from cutpurse.server.parts.notices.tables import OUTBOX, RECEIVERS

__all__ = [
    "MAX_RECEIVERS",
    "WEBHOOK",
    "NewReceiver",
    "ReceiverCounts",
    "ReceiverEntry",
    "add_receiver",
    "count_receivers",
    "receiver",
    "receivers",
    "remove_receiver",
]

WEBHOOK: Final = "webhook"
MAX_RECEIVERS: Final = 10  # of one owner
MAX_ADDRESS: Final = 2_000  # characters
MAX_LADDERS: Final = 100


@dataclass(frozen=True, slots=True)
class NewReceiver:
    """A receiver to store.

    Attributes:
        owner: Owner, who hears of their own bots.
        kind: `WEBHOOK`, or the scheme of an address of apprise.
        address: Its address, which may contain a password.
        secret: Key of the signature; empty where nothing is signed.
        events: Kinds of notices it gets; empty means all.
        ladders: Ladders it hears of; empty means all. With a list it gets no notices that are about no ladder.
        is_host: It hears of the bots of every owner.

    Raises:
        InvalidEntry: If a value is invalid.
    """

    owner: str
    kind: str
    address: str = field(repr=False)
    secret: bytes = field(repr=False)
    events: Sequence[str] = ()
    ladders: Sequence[str] = ()
    is_host: bool = False

    def __post_init__(self) -> None:
        if len(self.address) > MAX_ADDRESS:
            raise InvalidEntry(f"the address has {len(self.address):,} characters; the maximum is {MAX_ADDRESS:,}")
        if not self.address.isprintable():
            raise InvalidEntry("the address has characters that cannot be shown; write them as %00 to %FF")
        for event in self.events:
            if event not in EVENTS:
                raise InvalidEntry(f"there is no event {event!r:.100}; there are: {', '.join(EVENTS)}")
        if len(self.ladders) > MAX_LADDERS:
            raise InvalidEntry(f"{len(self.ladders)} ladders; the maximum is {MAX_LADDERS}")
        for ladder in self.ladders:
            checked_name("the name of a ladder", ladder)


@dataclass(frozen=True, slots=True)
class ReceiverEntry:
    """A stored receiver.

    Attributes:
        id: Its ID.
        owner: As in `NewReceiver`, like `kind`, `address`, `secret`, `events`, `ladders` and `is_host`.
        created: When it was added.
        waiting: Number of notices that wait for their delivery.
        delivered: Number of delivered notices.
        missed: Number of notices that were not queued, because it was paused or too many waited.
        failures: Failed deliveries since the last successful one.
        problem: Why the last delivery failed; empty if it did not.
        failing_since: Time of the first of `failures`.
        retry_at: Time of the next try, if one failed.
        paused: Time since which nothing is sent, because deliveries kept failing.
    """

    id: int
    owner: str
    kind: str
    address: str = field(repr=False)
    secret: bytes = field(repr=False)
    events: tuple[str, ...]
    ladders: tuple[str, ...]
    is_host: bool
    created: datetime
    waiting: int
    delivered: int
    missed: int
    failures: int
    problem: str
    failing_since: datetime | None
    retry_at: datetime | None
    paused: datetime | None


class ReceiverCounts(NamedTuple):
    """The number of receivers, of paused ones among them, and of the notices that wait for one."""

    receivers: int
    paused: int
    waiting: int


def add_receiver(connection: Connection, new: NewReceiver, created: datetime) -> ReceiverEntry:
    """Store a receiver, creating a missing owner.

    Raises:
        InvalidEntry: If the owner has as many as an owner may have, or has this one already.
    """
    owner_id = ensure_owner(connection, new.owner)
    own = connection.execute(select(RECEIVERS.c.address).where(RECEIVERS.c.owner_id == owner_id)).all()
    if len(own) >= MAX_RECEIVERS:
        raise InvalidEntry(f"{new.owner} has {len(own)} receivers, the maximum; remove one first")
    if any(row.address == new.address for row in own):
        raise InvalidEntry(f"{new.owner} has a receiver with this address already; remove it first")
    row = {
        "owner_id": owner_id,
        "kind": new.kind,
        "address": new.address,
        "secret": new.secret,
        "events": json.dumps(list(new.events)),
        "ladders": json.dumps(list(new.ladders)),
        "is_host": new.is_host,
        "created": created,
        "waiting": 0,
        "delivered": 0,
        "missed": 0,
        "failures": 0,
        "problem": "",
    }
    made: int = connection.execute(insert(RECEIVERS).values(row).returning(RECEIVERS.c.id)).scalar_one()
    return receiver(connection, made)


def remove_receiver(connection: Connection, receiver_id: int) -> ReceiverEntry:
    """Remove a receiver with all that waits for it, and return it.  Raises NoSuchEntry."""
    entry = receiver(connection, receiver_id)
    connection.execute(delete(OUTBOX).where(OUTBOX.c.receiver_id == receiver_id))
    connection.execute(delete(RECEIVERS).where(RECEIVERS.c.id == receiver_id))
    return entry


def receiver(connection: Connection, receiver_id: int) -> ReceiverEntry:
    """Return the receiver with this ID.  Raises NoSuchEntry."""
    row = connection.execute(_receivers().where(RECEIVERS.c.id == receiver_id)).first()
    if row is None:
        raise NoSuchEntry(f"there is no receiver {receiver_id}")
    return _entry(row)


def receivers(
    connection: Connection, owner: str | None = None, ids: Collection[int] | None = None
) -> list[ReceiverEntry]:
    """List receivers by ID: all, those of an owner, or those with these IDs."""
    query = _receivers().order_by(RECEIVERS.c.id)
    if owner is not None:
        query = query.where(OWNERS.c.name == owner)
    if ids is not None:
        query = query.where(RECEIVERS.c.id.in_(sorted(ids)))
    return [_entry(row) for row in connection.execute(query).all()]


def count_receivers(connection: Connection) -> ReceiverCounts:
    """Count receivers, and the notices that wait for them."""
    waiting = func.coalesce(func.sum(RECEIVERS.c.waiting), 0)
    row = connection.execute(select(func.count(), func.count(RECEIVERS.c.paused), waiting).select_from(RECEIVERS)).one()
    return ReceiverCounts(*map(int, row))  # PostgreSQL adds to decimals


def _receivers() -> Select[Any]:
    return select(RECEIVERS, OWNERS.c.name.label("owner")).join(OWNERS, OWNERS.c.id == RECEIVERS.c.owner_id)


def _entry(row: Row[*tuple[Any, ...]]) -> ReceiverEntry:
    return ReceiverEntry(
        id=row.id,
        owner=row.owner,
        kind=row.kind,
        address=row.address,
        secret=row.secret,
        events=tuple(json.loads(row.events)),
        ladders=tuple(json.loads(row.ladders)),
        is_host=row.is_host,
        created=row.created,
        waiting=row.waiting,
        delivered=row.delivered,
        missed=row.missed,
        failures=row.failures,
        problem=row.problem,
        failing_since=row.failing_since,
        retry_at=row.retry_at,
        paused=row.paused,
    )
