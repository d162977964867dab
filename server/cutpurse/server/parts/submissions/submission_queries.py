"""The stored submissions, their states and logs."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from cutpurse.leaderboard.errors import NoSuchEntry
from cutpurse.leaderboard.relations import EVENTS, OWNERS
from cutpurse.server.parts.submissions.tables import SUBMISSIONS

__all__ = ["SubmissionEntry", "published", "submission", "submission_log", "submissions"]


@dataclass(frozen=True, slots=True)
class SubmissionEntry:
    """A submission.

    `digest` is the SHA-256 of the archive, and `state` one of `submissions.STATES`. Empty
    `ladders` mean all ladders. If `is_active` is True, this version of the bot plays. If `is_kept` is True, the archive
    is stored. With a `licence` it is published: from `public_from` on, and after the end of the event `public_after`.
    """

    id: int
    owner_id: int
    owner: str
    bot: str
    version: str
    digest: bytes
    size: int
    ladders: tuple[str, ...]
    state: str
    why: str
    is_active: bool
    is_kept: bool
    received: datetime
    changed: datetime
    licence: str = ""
    public_from: datetime | None = None
    public_after: str = ""

    @property
    def shown(self) -> str:
        """The text by which people name it, such as "ann/sneak:3"."""
        return f"{self.owner}/{self.bot}:{self.version}"


def submissions(
    connection: Connection,
    owner: str | None = None,
    bot: str | None = None,
    version: str | None = None,
    limit: int | None = None,
) -> list[SubmissionEntry]:
    """List submissions, the newest first, optionally only those with this owner, bot name or version label."""
    query = _submissions().order_by(SUBMISSIONS.c.received.desc(), SUBMISSIONS.c.id.desc())
    for column, value in ((OWNERS.c.name, owner), (SUBMISSIONS.c.bot, bot), (SUBMISSIONS.c.version, version)):
        if value is not None:
            query = query.where(column == value)
    return [_entry(row) for row in connection.execute(query.limit(limit)).all()]


def published(
    connection: Connection, owner: str, bot: str | None, version: str | None, at: datetime, limit: int | None = None
) -> list[SubmissionEntry]:
    """List the published versions of an owner whose archives others may fetch at this time, the newest first."""
    licensed = [entry for entry in submissions(connection, owner, bot, version) if entry.licence and entry.is_kept]
    awaited = {entry.public_after for entry in licensed if entry.public_after}
    is_over = EVENTS.c.id.in_(awaited) & EVENTS.c.ended.is_not(None)
    over = {"", *connection.scalars(select(EVENTS.c.id).where(is_over))}
    return [
        entry
        for entry in licensed
        if entry.public_after in over and (entry.public_from is None or entry.public_from <= at)
    ][:limit]


def submission(connection: Connection, submission_id: int) -> SubmissionEntry:
    """Return the submission with this id.  Raises NoSuchEntry."""
    row = connection.execute(_submissions().where(SUBMISSIONS.c.id == submission_id)).first()
    if row is None:
        raise NoSuchEntry(f"there is no submission {submission_id}")
    return _entry(row)


def submission_log(connection: Connection, submission_id: int) -> str:
    """Return the log of the build and check; empty if there is none yet."""
    log = connection.scalar(select(SUBMISSIONS.c.log).where(SUBMISSIONS.c.id == submission_id))
    return "" if log is None else zlib.decompress(log).decode()


def _submissions() -> Select[Any]:
    columns = [column for column in SUBMISSIONS.c if column.name != "log"]
    return select(*columns, OWNERS.c.name.label("owner")).join(OWNERS, OWNERS.c.id == SUBMISSIONS.c.owner_id)


def _entry(row: Row[*tuple[Any, ...]]) -> SubmissionEntry:
    return SubmissionEntry(
        id=row.id,
        owner_id=row.owner_id,
        owner=row.owner,
        bot=row.bot,
        version=row.version,
        digest=row.digest,
        size=row.size,
        ladders=tuple(json.loads(row.ladders)),
        state=row.state,
        why=row.why,
        is_active=row.is_active,
        is_kept=row.is_kept,
        received=row.received,
        changed=row.changed,
        licence=row.licence,
        public_from=row.public_from,
        public_after=row.public_after,
    )
