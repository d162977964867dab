"""The decision logs and notes of a bot's matches, for its owner, and the notes that owners publish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from cutpurse.leaderboard.decision_logs import unpack_notes
from cutpurse.leaderboard.queries.matches import (
    MatchEntry,
    courses_of,
    entries_of,
    match_number,
    numbers_of_versions,
    sealed,
)
from cutpurse.leaderboard.queries.names import versions_of
from cutpurse.leaderboard.relations import BOTS, NOTES, SEATS, VERSIONS
from cutpurse.leaderboard.results import DecisionLog, SeatNote

__all__ = ["SeatLogEntry", "logs", "published_notes"]


@dataclass(frozen=True, slots=True)
class SeatLogEntry:
    """The log of a bot's seat in a match.

    `course` is the decision log, None if it was not stored. `dropped_bytes` is the size of notes that were not stored.
    """

    match: MatchEntry
    seat: int
    course: DecisionLog | None
    notes: tuple[SeatNote, ...]
    dropped_bytes: int


def logs(
    connection: Connection,
    owner: str,
    bot: str,
    version: str | None = None,
    match: str | None = None,
    faulted: bool = False,
    limit: int = 10,
) -> list[SeatLogEntry]:
    """List the logs of a bot's newest matches, the newest first, or of one match.

    Matches of sealed boards are left out, because their logs reveal the cards.

    Args:
        connection: Connection to read from.
        owner: Name of the owner.
        bot: Name of the bot.
        version: Label of the version. Default: all versions.
        match: Match ID, or its first 8 or more characters.
        faulted: Only seats with a fault.
        limit: Maximum number of matches.

    Raises:
        NoSuchEntry: If there is no such bot, version or match.
        InvalidEntry: If several match IDs begin with the characters of `match`.
    """
    versions = versions_of(connection, owner, bot, version)
    hidden = sealed(connection)
    if match is None:
        numbers = numbers_of_versions(connection, versions, faulted=faulted, limit=limit + len(hidden))
    else:
        numbers = [match_number(connection, match)]
    numbers = [number for number in numbers if number not in hidden][:limit]
    courses = courses_of(connection, numbers)
    notes = {
        (row.match_number, row.seat): row
        for row in connection.execute(select(NOTES).where(NOTES.c.match_number.in_(numbers))).all()
    }
    entries = []
    for entry in entries_of(connection, numbers):
        for seat, taken in enumerate(entry.seats):
            if taken.version_id not in versions or (faulted and not taken.faults):
                continue
            kept = courses.get(entry.number)
            sent = notes.get((entry.number, seat))
            entries.append(
                SeatLogEntry(
                    entry,
                    seat,
                    None if kept is None else kept[seat],
                    () if sent is None else unpack_notes(sent.notes),
                    0 if sent is None else sent.dropped_bytes,
                )
            )
    return entries


def published_notes(connection: Connection, number: int) -> Mapping[int, tuple[SeatNote, ...]]:
    """Return the notes of a match, by number, whose owners publish them, by seat."""
    query = (
        select(NOTES.c.seat, NOTES.c.notes)
        .join(SEATS, (SEATS.c.match_number == NOTES.c.match_number) & (SEATS.c.seat == NOTES.c.seat))
        .join(VERSIONS, VERSIONS.c.id == SEATS.c.version_id)
        .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
        .where(NOTES.c.match_number == number, BOTS.c.publishes_notes)
    )
    return {row.seat: unpack_notes(row.notes) for row in connection.execute(query).all()}
