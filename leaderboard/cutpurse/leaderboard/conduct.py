"""Versions that keep failing are paused: three rated matches in a row with a fault of their own.

Void matches and those on request neither count nor break such a row; matches of all ladders count, in the order of
storing. After a pause was lifted a new row begins. Every function works within the transaction it is given, which must
hold the write lock; no thread, no file and no clock is known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, func, select, update

from cutpurse.leaderboard.errors import NotFound
from cutpurse.leaderboard.relations import MATCHES, PAUSES, SEATS
from cutpurse.leaderboard.results import MatchResult
from cutpurse.leaderboard.rows import stamp

__all__ = ["IN_A_ROW", "Conduct", "conduct", "lift_pause"]

IN_A_ROW: Final = 3  # rated matches with a fault


@dataclass(slots=True)
class _Row:
    """The last rated matches of a version that had a fault, up to the newest, while none was without."""

    matches: list[str]
    is_paused: bool


@dataclass(slots=True)
class Conduct:
    """Who is being paused while results are written; versions without a fault in these are not looked at."""

    rows: Mapping[int, _Row]
    pauses: list[dict[str, object]] = field(default_factory=list)  # new ones, to be inserted

    def note(self, result: MatchResult, number: int) -> tuple[int, ...]:
        """Take a rated result, the match of this number; the versions that it pauses."""
        paused = []
        for seat in result.seats:
            row = self.rows.get(seat.version)
            if row is None or row.is_paused:
                continue
            row.matches = [*row.matches, result.match] if seat.faults else []
            if len(row.matches) == IN_A_ROW:
                row.is_paused = True
                paused.append(seat.version)
                self.pauses.append(
                    {
                        "version_id": seat.version,
                        "match_number": number,
                        "since": stamp(result.finished),
                        "cause": f"faults in {IN_A_ROW} rated matches in a row: {', '.join(row.matches)}",
                    }
                )
        return tuple(paused)


def conduct(connection: Connection, results: Iterable[MatchResult]) -> Conduct:
    """How the versions stand that have a fault in one of these results, none of which is stored yet."""
    faulty = {seat.version for result in results for seat in result.seats if seat.faults}
    return Conduct(_rows(connection, faulty) if faulty else {})


def lift_pause(connection: Connection, version: int, now: datetime) -> int:
    """Let a version play again; the id of the pause that ends.  Raises NotFound if it is not paused."""
    pause = connection.scalar(select(PAUSES.c.id).where(PAUSES.c.version_id == version, PAUSES.c.lifted.is_(None)))
    if pause is None:
        raise NotFound(f"version {version} is not paused")
    number = connection.scalar(select(func.coalesce(func.max(MATCHES.c.number), 0)))
    connection.execute(update(PAUSES).where(PAUSES.c.id == pause).values(lifted=now, lifted_number=number))
    assert isinstance(pause, int)
    return pause


# The newest rated matches of a version behind a number, one less than make a pause.
_NEWEST: Final = (
    select(MATCHES.c.id, SEATS.c.faults)
    .join(MATCHES, MATCHES.c.number == SEATS.c.match_number)
    .where(
        SEATS.c.version_id == bindparam("version"),
        SEATS.c.match_number > bindparam("behind"),
        MATCHES.c.is_rated,
        MATCHES.c.void_cause.is_(None),
    )
    .order_by(SEATS.c.match_number.desc())
    .limit(IN_A_ROW - 1)
)


def _rows(connection: Connection, versions: Set[int]) -> dict[int, _Row]:
    query = select(PAUSES).where(PAUSES.c.version_id.in_(sorted(versions))).order_by(PAUSES.c.id)
    last = {pause.version_id: pause for pause in connection.execute(query)}  # of each the newest
    rows = {}
    for version in versions:
        pause = last.get(version)
        if pause is not None and pause.lifted is None:
            rows[version] = _Row([], True)
            continue
        matches: list[str] = []
        behind = 0 if pause is None else pause.lifted_number
        for match in connection.execute(_NEWEST, {"version": version, "behind": behind}).all():
            if not match.faults:
                break
            matches.insert(0, match.id)
        rows[version] = _Row(matches, False)
    return rows
