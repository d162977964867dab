"""The stored submissions, their states and logs."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from cutpurse.leaderboard.errors import NoSuchEntry
from cutpurse.leaderboard.relations import OWNERS, SUBMISSIONS

__all__ = ["SubmissionEntry", "submission", "submission_log", "submissions"]


@dataclass(frozen=True, slots=True)
class SubmissionEntry:
    """A submission.

    `digest` is the SHA-256 of the archive, and `state` one of `cutpurse.leaderboard.submissions.STATES`. Empty
    `ladders` mean all ladders. If `is_active` is True, this version of the bot plays. If `is_kept` is True, the archive
    is stored.
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
    for column, wanted in ((OWNERS.c.name, owner), (SUBMISSIONS.c.bot, bot), (SUBMISSIONS.c.version, version)):
        if wanted is not None:
            query = query.where(column == wanted)
    return [_entry(row) for row in connection.execute(query.limit(limit)).all()]


def submission(connection: Connection, submission_id: int) -> SubmissionEntry:
    """Return the submission with this id.  Raises NoSuchEntry."""
    row = connection.execute(_submissions().where(SUBMISSIONS.c.id == submission_id)).first()
    if row is None:
        raise NoSuchEntry(f"there is no submission {submission_id}")
    return _entry(row)


def submission_log(connection: Connection, submission_id: int) -> str:
    """Return the log of the build and check; empty if there is none yet."""
    found = connection.scalar(select(SUBMISSIONS.c.log).where(SUBMISSIONS.c.id == submission_id))
    return "" if found is None else zlib.decompress(found).decode()


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
    )
