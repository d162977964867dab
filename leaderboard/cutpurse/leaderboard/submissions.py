"""Bots that were handed in: what is written of them. The files themselves are kept elsewhere, by their hashes.

A name and a version never mean other bytes, once they have played. Of a bot one version at most is active, which the
database itself sees to. Like those of the ledger, every function works within the transaction it is given. What the
states mean for whoever runs bots is not known here, nor any file or clock.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects.sqlite import insert

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.queries import SubmissionEntry
from cutpurse.leaderboard.relations import OWNERS, SUBMISSIONS
from cutpurse.leaderboard.results import checked_name

__all__ = [
    "ACCEPTED",
    "BUILT",
    "RECEIVED",
    "REFUSED",
    "STATES",
    "TAKEN_OFF",
    "UNDER_WAY",
    "UNPACKED",
    "NewSubmission",
    "accept",
    "activate",
    "hand_in",
    "not_kept",
    "retire",
    "set_state",
]

RECEIVED: Final = "received"
UNPACKED: Final = "unpacked"
BUILT: Final = "built"
ACCEPTED: Final = "accepted"
REFUSED: Final = "refused"
TAKEN_OFF: Final = "taken_off"
STATES: Final = (RECEIVED, UNPACKED, BUILT, ACCEPTED, REFUSED, TAKEN_OFF)
UNDER_WAY: Final = (RECEIVED, UNPACKED, BUILT)  # they will play, if they pass their check
MOST_WHY: Final = 500  # characters


@dataclass(frozen=True, slots=True)
class NewSubmission:
    """What is handed in.  digest: SHA-256 of its archive of `size` bytes; ladders: where it plays, () is everywhere."""

    owner: str
    bot: str
    version: str
    digest: bytes
    size: int
    ladders: Sequence[str] = ()


def hand_in(connection: Connection, new: NewSubmission, received: datetime) -> SubmissionEntry:
    """Store a submission as received, with its owner if new. One with the same bytes stays as it is.

    One that was refused never played: it may come again, with other bytes too. Raises InvalidEntry for other bytes of a
    version that was not, and for other ladders.
    """
    row = {"name": checked_name("the name of an owner", new.owner)}
    connection.execute(insert(OWNERS).values(row).on_conflict_do_nothing())
    owner_id = connection.scalar(select(OWNERS.c.id).where(OWNERS.c.name == new.owner))
    found = connection.execute(
        select(
            SUBMISSIONS.c.id, SUBMISSIONS.c.digest, SUBMISSIONS.c.state, SUBMISSIONS.c.is_kept, SUBMISSIONS.c.ladders
        ).where(SUBMISSIONS.c.owner_id == owner_id, SUBMISSIONS.c.bot == new.bot, SUBMISSIONS.c.version == new.version)
    ).first()
    values = {
        "digest": new.digest,
        "size": new.size,
        "ladders": json.dumps(list(new.ladders)),
        "state": RECEIVED,
        "why": "",
        "is_active": False,
        "is_kept": True,
        "received": received,
        "changed": received,
        "log": None,
    }
    if found is None:
        names = {
            "owner_id": owner_id,
            "bot": checked_name("the name of a bot", new.bot),
            "version": checked_name("the label of a version", new.version),
        }
        made = connection.execute(insert(SUBMISSIONS).values({**names, **values}).returning(SUBMISSIONS.c.id))
        return queries.submission(connection, made.scalar_one())
    if found.state == REFUSED:
        connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == found.id).values(values))
    elif found.digest != new.digest:
        raise InvalidEntry(
            f"{new.bot}:{new.version} was handed in with other bytes (SHA-256 {found.digest.hex()[:16]}...), and a "
            "version never changes: give this one another version in bot.toml"
        )
    elif set(before := json.loads(found.ladders)) != set(new.ladders):
        raise InvalidEntry(
            f"{new.bot}:{new.version} was handed in for {_where(before)}, not for {_where(new.ladders)}, and a version "
            "never changes: give the one for others another version in bot.toml"
        )
    elif not found.is_kept:  # it is the same again, so it may be kept again
        connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == found.id).values(is_kept=True))
    return queries.submission(connection, found.id)


def _where(ladders: Sequence[str]) -> str:
    """Where a bot is to play, in words."""
    return ", ".join(ladders) or "every ladder of its games"


def set_state(
    connection: Connection, submission: int, state: str, changed: datetime, why: str = "", log: str | None = None
) -> SubmissionEntry:
    """Set the state of a submission.  why: one line; log: its new log, None keeps it.

    Raises NoSuchEntry.
    """
    values: dict[str, object] = {"state": state, "why": why[:MOST_WHY], "changed": changed}
    if log is not None:
        values["log"] = zlib.compress(log.encode())
    if state != ACCEPTED:
        values["is_active"] = False
    connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == submission).values(values))
    return queries.submission(connection, submission)


def accept(connection: Connection, submission: int, changed: datetime, log: str) -> SubmissionEntry:
    """Accept and activate a submission in one transaction, so that after any kill an accepted one plays.

    Raises as `activate` does.
    """
    set_state(connection, submission, ACCEPTED, changed, log=log)
    return activate(connection, submission, changed)


def activate(connection: Connection, submission: int, changed: datetime) -> SubmissionEntry:
    """Activate a submission, and no other version of its bot.

    Raises NoSuchEntry, and InvalidEntry for one that may not play.
    """
    entry = queries.submission(connection, submission)
    if entry.state not in (ACCEPTED, TAKEN_OFF):
        raise InvalidEntry(f"{entry.bot}:{entry.version} was not accepted, so it cannot play")
    if not entry.is_kept:
        raise InvalidEntry(f"the archive of {entry.bot}:{entry.version} is not kept any more: hand it in again")
    same = (SUBMISSIONS.c.owner_id == entry.owner_id, SUBMISSIONS.c.bot == entry.bot)
    connection.execute(update(SUBMISSIONS).where(*same).values(is_active=False))
    values = {"is_active": True, "state": ACCEPTED, "why": "", "changed": changed}
    connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == submission).values(values))
    return queries.submission(connection, submission)


def retire(connection: Connection, submission: int, changed: datetime) -> SubmissionEntry:
    """Deactivate a submission; it may be activated again.  Raises NoSuchEntry."""
    chosen = update(SUBMISSIONS).where(SUBMISSIONS.c.id == submission)
    connection.execute(chosen.values(is_active=False, changed=changed))
    return queries.submission(connection, submission)


def not_kept(connection: Connection, submissions: Iterable[int]) -> None:
    """Their archives are not kept any more.  Raises InvalidEntry if one of them plays."""
    for submission in submissions:
        if queries.submission(connection, submission).is_active:
            raise InvalidEntry("the archive of a version that plays is kept")
        connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == submission).values(is_kept=False))
