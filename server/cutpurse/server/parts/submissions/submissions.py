"""The writer of submissions; their files are stored elsewhere, by hash.

A version that has played never gets other bytes. At most one version of a bot is active, which a unique index enforces.
Every function works in the transaction of its connection. This module does not know what the states mean for a runner,
and knows no file and no clock.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, insert, select, text, update

from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.owner_registry import ensure_owner
from cutpurse.leaderboard.relations import EVENTS, OWNERS
from cutpurse.leaderboard.results import Identity, checked_name
from cutpurse.leaderboard.rows import storable
from cutpurse.leaderboard.write_hooks import CheckingLadder, SubmissionSettled, send
from cutpurse.server.parts.submissions import submission_queries
from cutpurse.server.parts.submissions.submission_queries import SubmissionEntry
from cutpurse.server.parts.submissions.tables import SUBMISSIONS

__all__ = [
    "check_ladder",
    "versions_of",
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
    "claim",
    "hand_in",
    "not_kept",
    "publish",
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
UNDER_WAY: Final = (RECEIVED, UNPACKED, BUILT)  # states before the end of the check
MOST_WHY: Final = 500  # maximum characters
MOST_PUBLISHED: Final = 10  # versions of an owner; their archives stay stored
_LICENCE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,63}")


@dataclass(frozen=True, slots=True)
class NewSubmission:
    """A submission to store.

    Attributes:
        owner: Name of the owner.
        bot: Name of the bot.
        version: Label of the version.
        digest: SHA-256 of the archive.
        size: Size of the archive in bytes.
        ladders: Names of the ladders to play on; empty means all.
    """

    owner: str
    bot: str
    version: str
    digest: bytes
    size: int
    ladders: Sequence[str] = ()


def hand_in(connection: Connection, new: NewSubmission, received: datetime) -> SubmissionEntry:
    """Store a submission as received, creating a missing owner.

    A stored submission with the same bytes stays as it is. A refused one never played, so any bytes may replace it.

    Raises:
        InvalidEntry: If the stored version is not refused and has other bytes or ladders, or a name is invalid.
    """
    owner_id = ensure_owner(connection, new.owner)
    row = connection.execute(
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
        "licence": "",
        "public_from": None,
        "public_after": "",
        "received": received,
        "changed": received,
        "log": None,
    }
    if row is None:
        names = {
            "owner_id": owner_id,
            "bot": checked_name("the name of a bot", new.bot),
            "version": checked_name("the label of a version", new.version),
        }
        made = connection.execute(insert(SUBMISSIONS).values({**names, **values}).returning(SUBMISSIONS.c.id))
        return submission_queries.submission(connection, made.scalar_one())
    if row.state == REFUSED:
        connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == row.id).values(values))
    elif row.digest != new.digest:
        raise InvalidEntry(
            f"{new.bot}:{new.version} was submitted with other bytes (SHA-256 {row.digest.hex()[:16]}...), and a "
            "version never changes: give this one another version in bot.toml"
        )
    elif set(before := json.loads(row.ladders)) != set(new.ladders):
        raise InvalidEntry(
            f"{new.bot}:{new.version} was submitted for {_where(before)}, not for {_where(new.ladders)}, and a version "
            "never changes: give the one for others another version in bot.toml"
        )
    elif not row.is_kept:  # the same bytes arrived again, so the archive is stored again
        connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == row.id).values(is_kept=True))
    return submission_queries.submission(connection, row.id)


def _where(ladders: Sequence[str]) -> str:
    """Describe where a bot plays."""
    return ", ".join(ladders) or "every ladder of its games"


def set_state(
    connection: Connection, submission: int, state: str, changed: datetime, why: str = "", log: str | None = None
) -> SubmissionEntry:
    """Set the state of a submission; any state but accepted deactivates it.

    Args:
        connection: Connection in a transaction.
        submission: ID of the submission.
        state: New state, of `STATES`.
        changed: Time of the change.
        why: Reason in one line, for the owner. It may quote a bot, so it is made storable, as `log` is.
        log: New log; None keeps the old one.

    Raises:
        NoSuchEntry: If there is no such submission.
    """
    values: dict[str, object] = {"state": state, "why": storable(why[:MOST_WHY]), "changed": changed}
    if log is not None:
        values["log"] = zlib.compress(storable(log).encode())
    if state != ACCEPTED:
        values["is_active"] = False
    before = submission_queries.submission(connection, submission)
    connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == submission).values(values))
    entry = submission_queries.submission(connection, submission)
    if state == REFUSED != before.state:
        send(connection, SubmissionSettled(changed, _identity(entry), is_accepted=False, why=entry.why))
    return entry


# By the database's clock, so that the clocks of two arenas are not compared.
_TOUCH: Final = text("""
UPDATE submissions SET changed = clock_timestamp() AT TIME ZONE 'utc'
WHERE id = ANY(CAST(:working_on AS bigint[])) AND state = ANY(CAST(:under_way AS text[]))
""")
_CLAIM: Final = text("""
UPDATE submissions SET changed = clock_timestamp() AT TIME ZONE 'utc'
WHERE state = ANY(CAST(:under_way AS text[]))
  AND changed < (clock_timestamp() AT TIME ZONE 'utc') - make_interval(secs => :silent_s)
RETURNING id
""")


def claim(connection: Connection, working_on: Collection[int], silent_s: float) -> list[SubmissionEntry]:
    """Claim the submissions on which no arena works any more, in PostgreSQL.

    An arena calls this every few seconds, and so shows that it works on those that it has.

    Args:
        connection: Connection in a transaction.
        working_on: IDs of the submissions that wait or are being processed at this arena.
        silent_s: Seconds without a sign of its arena after which a submission is claimed.

    Returns:
        The claimed submissions, the oldest first.
    """
    under_way = list(UNDER_WAY)
    connection.execute(_TOUCH, {"working_on": sorted(working_on), "under_way": under_way})
    rows = connection.execute(_CLAIM, {"under_way": under_way, "silent_s": silent_s}).all()
    return [submission_queries.submission(connection, number) for number in sorted(row.id for row in rows)]


def accept(connection: Connection, submission: int, changed: datetime, log: str) -> SubmissionEntry:
    """Accept and activate a submission in one transaction, so that an accepted one plays even after a crash.

    Raises as `activate` does.
    """
    before = submission_queries.submission(connection, submission)
    set_state(connection, submission, ACCEPTED, changed, log=log)
    entry = activate(connection, submission, changed)
    if before.state != ACCEPTED:
        send(connection, SubmissionSettled(changed, _identity(entry), is_accepted=True))
    return entry


def _identity(entry: SubmissionEntry) -> Identity:
    return Identity(entry.owner, entry.bot, entry.version)


def activate(connection: Connection, submission: int, changed: datetime) -> SubmissionEntry:
    """Activate a submission, and deactivate the other versions of its bot.

    Raises:
        NoSuchEntry: If there is no such submission.
        InvalidEntry: If it was not accepted, or its archive is not stored.
    """
    entry = submission_queries.submission(connection, submission)
    if entry.state not in (ACCEPTED, TAKEN_OFF):
        raise InvalidEntry(f"{entry.bot}:{entry.version} was not accepted, so it cannot play")
    if not entry.is_kept:
        raise InvalidEntry(f"the archive of {entry.bot}:{entry.version} was deleted: submit it again")
    same = (SUBMISSIONS.c.owner_id == entry.owner_id, SUBMISSIONS.c.bot == entry.bot)
    connection.execute(update(SUBMISSIONS).where(*same).values(is_active=False))
    values = {"is_active": True, "state": ACCEPTED, "why": "", "changed": changed}
    connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == submission).values(values))
    return submission_queries.submission(connection, submission)


def retire(connection: Connection, submission: int, changed: datetime) -> SubmissionEntry:
    """Deactivate a submission; it may be activated again.  Raises NoSuchEntry."""
    chosen = update(SUBMISSIONS).where(SUBMISSIONS.c.id == submission)
    connection.execute(chosen.values(is_active=False, changed=changed))
    return submission_queries.submission(connection, submission)


def publish(
    connection: Connection, submission: int, licence: str, public_from: datetime | None, public_after: str
) -> SubmissionEntry:
    """Publish a submission under a licence, or withdraw it with an empty one.

    Args:
        connection: Connection in a transaction.
        submission: ID of the submission.
        licence: Name of the licence; empty: others may not fetch it any more.
        public_from: From when on others may fetch it; None means at once.
        public_after: ID of an event before whose end others may not fetch it; empty: of none.

    Raises:
        NoSuchEntry: If there is no such submission.
        InvalidEntry: If it was not accepted, its archive is not stored, there is no such licence or event, or too many
            versions of its owner are published.
    """
    entry = submission_queries.submission(connection, submission)
    if licence:
        if entry.state not in (ACCEPTED, TAKEN_OFF) or not entry.is_kept:
            raise InvalidEntry(f"{entry.bot}:{entry.version} is not accepted, or its archive was deleted: submit it")
        if not _LICENCE.fullmatch(licence):
            raise InvalidEntry(f"licence {licence!r:.40}: name one of SPDX, such as MIT, or LicenceRef-MINE")
        if public_after and connection.scalar(select(EVENTS.c.id).where(EVENTS.c.id == public_after)) is None:
            raise InvalidEntry(f"there is no event {public_after!r:.40}; a season is ID.NUMBER, as 0123456789ab.1")
        others = [one for one in submission_queries.submissions(connection, entry.owner) if one.licence]
        if not entry.licence and len(others) >= MOST_PUBLISHED:
            raise InvalidEntry(f"{len(others)} versions of {entry.owner} are published, as many as may: withdraw one")
    values = {"licence": licence, "public_from": public_from, "public_after": public_after}
    connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == submission).values(values))
    return submission_queries.submission(connection, submission)


def not_kept(connection: Connection, submissions: Iterable[int]) -> None:
    """Mark the archives of submissions as deleted.  Raises InvalidEntry if one of them is active."""
    for submission in submissions:
        if submission_queries.submission(connection, submission).is_active:
            raise InvalidEntry("the archive of a version that plays is kept")
        connection.execute(update(SUBMISSIONS).where(SUBMISSIONS.c.id == submission).values(is_kept=False))


def versions_of(connection: Connection, owner: str) -> dict[Identity, str]:
    """Return the versions that an owner has submitted, the oldest first, and why one cannot play; empty if it can."""
    versions = {}
    for entry in reversed(submission_queries.submissions(connection, owner)):
        version, why_not = Identity(owner, entry.bot, entry.version), ""
        if entry.state != ACCEPTED:
            why_not = f"{version.shown} was submitted and is not accepted, so it cannot play: {entry.state}"
        elif not entry.is_kept:
            why_not = f"the archive of {version.shown} is not stored any more, so it cannot play: submit it again"
        versions[version] = why_not
    return versions


def check_ladder(connection: Connection, event: CheckingLadder) -> None:
    """Check that no submission that is active or still being checked names a ladder.

    Raises:
        InvalidEntry: If one does.
    """
    may_play = SUBMISSIONS.c.is_active | SUBMISSIONS.c.state.in_(UNDER_WAY)
    handed_in = select(OWNERS.c.name, SUBMISSIONS.c.bot, SUBMISSIONS.c.version, SUBMISSIONS.c.ladders).join(
        OWNERS, OWNERS.c.id == SUBMISSIONS.c.owner_id
    )
    for owner, bot, version, names in connection.execute(handed_in.where(may_play).order_by(SUBMISSIONS.c.id)):
        if event.ladder in json.loads(names):
            raise InvalidEntry(
                f"{owner}/{bot}:{version} was submitted for ladder {event.ladder}: freeze it instead, or have the bot "
                "retired"
            )
