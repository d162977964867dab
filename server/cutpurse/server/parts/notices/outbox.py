"""The outbox: notices that wait for their delivery, written in the transaction of what they are about.

So a notice is stored if and only if it happened, and a killed server loses none. A sender claims receivers for a while,
delivers their oldest notices, and settles what it did: a delivered notice is deleted, a failed one stays. A sender that
is killed in between leaves its claim, which runs out. So a notice is delivered at least once, always with the same ID.

The outbox is bounded: a receiver for which `MAX_WAITING` notices wait, or which is paused, gets no more, and the missed
ones are counted. Every function works in the transaction of its connection. Times are passed in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, and_, delete, exists, or_, select, update

from cutpurse.leaderboard.relations import LADDERS, TOKENS
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.rows import add_rows, storable
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import LINK
from cutpurse.server.parts.notices.notice import ON_REQUEST, RESULTS, Notice
from cutpurse.server.parts.notices.receivers import ReceiverEntry, receivers
from cutpurse.server.parts.notices.tables import OUTBOX, RECEIVERS

__all__ = [
    "LONGEST_WAIT_S",
    "MAX_WAITING",
    "Claim",
    "Outcome",
    "Waiting",
    "claim_due",
    "claim_notices",
    "due_receivers",
    "has_receivers",
    "is_wanted",
    "queue_notices",
    "release_claims",
    "settle",
]

MAX_WAITING: Final = 20_000  # notices that may wait for one receiver; 10 MB
MAX_PROBLEM: Final = 200  # characters
LONGEST_WAIT_S: Final = 3_600.0  # longest wait for the next try; a later time was set by a clock that was wrong


@dataclass(frozen=True, slots=True)
class Waiting:
    """A notice that waits: its number in the outbox, its ID, and its body."""

    number: int
    event_id: str
    body: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A receiver that a sender has claimed, with its oldest notices in their order."""

    receiver: ReceiverEntry
    notices: Sequence[Waiting]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a claim.

    Attributes:
        receiver: ID of the receiver.
        delivered: Notices that were delivered.
        problem: Why the next one was not; empty if none failed.
        retry_at: When to try again, if it failed.
        is_given_up: Pause the receiver.
        is_tested: A test arrived, beside any claim; so the receiver works, and a pause ends.
    """

    receiver: int
    delivered: Sequence[Waiting]
    problem: str = ""
    retry_at: datetime | None = None
    is_given_up: bool = False
    is_tested: bool = False


def has_receivers(connection: Connection) -> bool:
    """Return whether anybody wants notices; where nobody does, none are made."""
    return connection.execute(select(RECEIVERS.c.id).limit(1)).first() is not None


def is_wanted(connection: Connection, event: str) -> bool:
    """Return whether a receiver names this kind of notice; of the frequent ones, none is made otherwise."""
    return any(event in json.loads(events) for events in connection.scalars(select(RECEIVERS.c.events)))


# -- into the outbox
def queue_notices(connection: Connection, notices: Sequence[Notice]) -> None:
    """Queue notices for every receiver that wants them and may have them, in this order."""
    if not notices:
        return
    listening = receivers(connection)
    terms = _terms_of(connection, {notice.ladder for notice in notices})
    rows: list[dict[str, object]] = []
    for receiver in listening:
        wanted = [notice for notice in notices if _is_for(notice, receiver, terms.get(notice.ladder))]
        room = 0 if receiver.paused is not None else max(0, MAX_WAITING - receiver.waiting)
        queued = wanted[:room]
        if wanted:
            counts = {"waiting": receiver.waiting + len(queued), "missed": receiver.missed + len(wanted) - len(queued)}
            connection.execute(update(RECEIVERS).where(RECEIVERS.c.id == receiver.id).values(counts))
        rows += [{"receiver_id": receiver.id, "event_id": notice.id, "body": notice.body()} for notice in queued]
    add_rows(connection, OUTBOX, rows)


def _terms_of(connection: Connection, names: set[str]) -> dict[str, LadderTerms]:
    """Return the terms of ladders that decide who may see them and their results."""
    times = (LADDERS.c.results_hidden_until, LADDERS.c.names_hidden_until)
    columns = (LADDERS.c.name, LADDERS.c.owners, LADDERS.c.is_private, *times)
    return {
        row.name: LadderTerms(
            owners=tuple(json.loads(row.owners)),
            is_private=row.is_private,
            results_hidden_until=row.results_hidden_until,
            names_hidden_until=row.names_hidden_until,
        )
        for row in connection.execute(select(*columns).where(LADDERS.c.name.in_(sorted(names))))
    }


def _is_for(notice: Notice, receiver: ReceiverEntry, terms: LadderTerms | None) -> bool:
    """Return whether a receiver gets a notice.

    Args:
        notice: The notice.
        receiver: The receiver.
        terms: Terms of its ladder; None if it is about none.
    """
    is_named = notice.event in receiver.events
    if not is_named and (receiver.events or notice.event in ON_REQUEST):
        return False
    if receiver.ladders and notice.ladder not in receiver.ladders:
        return False
    if receiver.is_host:
        return True
    if receiver.owner != notice.owner and receiver.owner not in notice.audience:
        return False
    if terms is None:
        return True
    if notice.event in RESULTS and terms.hides_results(notice.at):
        return False
    return not terms.is_private or not terms.owners or receiver.owner in terms.owners


# -- out of the outbox
def due_receivers(connection: Connection, now: datetime, most: int) -> list[int]:
    """List the IDs of receivers for which notices are due, those with the longest wait first.

    A receiver whose owner has no valid token is left out, or one of a host without the scope admin; so access that was
    taken away is taken away here, too.
    """
    tokens = select(TOKENS.c.id).where(
        TOKENS.c.owner_id == RECEIVERS.c.owner_id,
        TOKENS.c.revoked.is_(None),
        or_(TOKENS.c.expires.is_(None), TOKENS.c.expires > now),
        TOKENS.c.scopes.not_like(f"%{LINK}%"),
        or_(RECEIVERS.c.is_host.is_(False), TOKENS.c.scopes.like("%admin%")),
    )
    far = now + timedelta(seconds=2 * LONGEST_WAIT_S)
    retry, claimed = RECEIVERS.c.retry_at, RECEIVERS.c.claimed_until
    due = and_(
        RECEIVERS.c.waiting > 0,
        RECEIVERS.c.paused.is_(None),
        or_(retry.is_(None), retry <= now, retry > far),
        or_(claimed.is_(None), claimed <= now, claimed > far),
        exists(tokens),
    )
    oldest = (
        select(OUTBOX.c.number)
        .where(OUTBOX.c.receiver_id == RECEIVERS.c.id)
        .order_by(OUTBOX.c.number)
        .limit(1)
        .scalar_subquery()
    )
    return list(connection.scalars(select(RECEIVERS.c.id).where(due).order_by(oldest, RECEIVERS.c.id).limit(most)))


def claim_due(store: Store, now: datetime, until: datetime, most_receivers: int, most_each: int) -> list[Claim]:
    """Claim notices if any are due; else write nothing."""
    if not store.run(due_receivers, now, 1):
        return []
    return store.write_uncached(claim_notices, now, until, most_receivers, most_each)


def claim_notices(
    connection: Connection, now: datetime, until: datetime, most_receivers: int, most_each: int
) -> list[Claim]:
    """Claim receivers for which notices are due.

    Args:
        connection: Connection in a transaction.
        now: The time of day.
        until: End of the claim, in case that this sender settles nothing.
        most_receivers: Maximum number of receivers.
        most_each: Maximum number of notices of each.
    """
    ids = due_receivers(connection, now, most_receivers)
    if not ids:
        return []
    connection.execute(update(RECEIVERS).where(RECEIVERS.c.id.in_(ids)).values(claimed_until=until))
    return list(_claims(connection, ids, most_each))


def _claims(connection: Connection, ids: Sequence[int], most_each: int) -> Iterator[Claim]:
    for entry in receivers(connection, ids=ids):
        query = select(OUTBOX).where(OUTBOX.c.receiver_id == entry.id).order_by(OUTBOX.c.number).limit(most_each)
        yield Claim(entry, [Waiting(row.number, row.event_id, row.body) for row in connection.execute(query)])


def settle(connection: Connection, outcomes: Sequence[Outcome], now: datetime) -> None:
    """Store what became of claims, and release them; a receiver that was removed meanwhile is ignored."""
    for outcome in outcomes:
        entry = next(iter(receivers(connection, ids=[outcome.receiver])), None)
        if entry is None:
            continue
        delivered = _remove(connection, outcome.receiver, outcome.delivered) if outcome.delivered else 0
        values: dict[str, object] = {
            "waiting": entry.waiting - delivered,
            "delivered": entry.delivered + delivered,
        }
        if not outcome.is_tested:
            values["claimed_until"] = None
        if outcome.delivered or outcome.is_tested:
            values |= {"failures": 0, "problem": "", "failing_since": None, "retry_at": None, "paused": None}
        if outcome.problem:
            values |= {
                "failures": (0 if outcome.delivered else entry.failures) + 1,
                "problem": storable(outcome.problem[:MAX_PROBLEM]),
                "failing_since": now if outcome.delivered else entry.failing_since or now,
                "retry_at": outcome.retry_at,
                "paused": now if outcome.is_given_up else None,
            }
        connection.execute(update(RECEIVERS).where(RECEIVERS.c.id == outcome.receiver).values(values))


def _remove(connection: Connection, receiver: int, notices: Sequence[Waiting]) -> int:
    """Delete delivered notices, unless another sender has, and return the number of deleted rows.

    SQLite may number a new row as a deleted one, so the IDs are compared, too.
    """
    rows = (
        OUTBOX.c.receiver_id == receiver,
        OUTBOX.c.number.in_([notice.number for notice in notices]),
        OUTBOX.c.event_id.in_([notice.event_id for notice in notices]),
    )
    return connection.execute(delete(OUTBOX).where(*rows)).rowcount


def release_claims(connection: Connection) -> None:
    """Release the claims of a sender that was killed; only where no other one can be running."""
    connection.execute(update(RECEIVERS).where(RECEIVERS.c.claimed_until.is_not(None)).values(claimed_until=None))
