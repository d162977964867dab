"""The pauses of versions that keep failing.

A match fails for a version if the server had to take over its seat. A version is paused when that happened in
`pause_failed` of its last `pause_window` rated matches on one ladder; a version with fewer matches can be paused too.
The terms are the ladder's. So neither good matches in between nor good matches on another ladder hide a bot that keeps
failing. Single faults, void matches and requested matches do not count.

A paused version plays on no ladder. When a pause ends, a new window begins on every ladder. Every function works in
the transaction of its connection, which must hold the write lock. This module knows no thread, no file and no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, func, select, update

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import NoSuchEntry
from cutpurse.leaderboard.queries import Pause
from cutpurse.leaderboard.relations import MATCHES, PAUSES, SEATS
from cutpurse.leaderboard.results import NORMAL, FinishedMatch, Identity
from cutpurse.leaderboard.rows import stamp

__all__ = ["Conduct", "PauseTerms", "fault_streaks", "lift_pause"]


class PauseTerms(NamedTuple):
    """The terms of a ladder for pauses: `failed` taken-over matches of the last `window`; 0 failed means never."""

    ladder_id: int
    failed: int
    window: int


class _Rated(NamedTuple):
    """A rated match of a version, with what matters for pauses."""

    match: str
    end_cause: str


@dataclass(slots=True)
class Conduct:
    """The pauses while results are written; it covers only versions that fail in one of the results."""

    terms: Mapping[str, PauseTerms]  # by ladder
    windows: Mapping[tuple[str, int], list[_Rated]]  # by ladder and version, the newest match last
    paused: set[int]  # versions
    pauses: list[dict[str, object]] = field(default_factory=list)  # new rows to insert

    def note(self, result: FinishedMatch, versions: Sequence[int], number: int) -> tuple[Identity, ...]:
        """Add a rated result of these version IDs, stored as match `number`, and return the versions that it pauses."""
        terms = self.terms[result.ladder]
        paused = []
        for seat, version in zip(result.seats, versions, strict=True):
            window = self.windows.get((result.ladder, version))
            if window is None:
                continue
            window.append(_Rated(result.match, seat.end_cause))
            del window[: -terms.window]
            if version in self.paused or not seat.is_taken_over:
                continue
            failed = [f"{rated.match} ({rated.end_cause})" for rated in window if rated.end_cause != NORMAL]
            if not 0 < terms.failed <= len(failed):
                continue
            self.paused.add(version)
            paused.append(seat.player)
            matches = f"its last {len(window)} rated matches" if len(window) > 1 else "its last rated match"
            self.pauses.append(
                {
                    "version_id": version,
                    "match_number": number,
                    "since": stamp(result.finished),
                    "cause": f"taken over in {len(failed)} of {matches} on ladder {result.ladder}: {', '.join(failed)}",
                }
            )
        return tuple(paused)


def fault_streaks(
    connection: Connection, results: Iterable[tuple[FinishedMatch, Sequence[int]]], terms: Mapping[str, PauseTerms]
) -> Conduct:
    """Load the pauses and recent matches of the versions that fail in one of `results`.

    Args:
        connection: Connection in a transaction.
        results: Rated results that are not void and not stored yet, with the IDs of their versions by seat.
        terms: Terms by ladder; results of other ladders are ignored.
    """
    failing = {
        (result.ladder, version)
        for result, versions in results
        for seat, version in zip(result.seats, versions, strict=True)
        if seat.is_taken_over and result.ladder in terms
    }
    pauses = _last_pauses(connection, {version for _, version in failing})
    paused = {version for version, lifted_number in pauses.items() if lifted_number is None}
    windows = {
        (ladder, version): _newest(connection, terms[ladder], version, pauses.get(version) or 0)
        for ladder, version in failing
        if version not in paused
    }
    return Conduct(terms, windows, paused)


def lift_pause(connection: Connection, version: int, now: datetime) -> Pause:
    """End the pause of a version, and return the pause.  Raises NoSuchEntry if the version is not paused."""
    pause_id = connection.scalar(select(PAUSES.c.id).where(PAUSES.c.version_id == version, PAUSES.c.lifted.is_(None)))
    if pause_id is None:
        raise NoSuchEntry(f"version {version} is not paused")
    number = connection.scalar(select(func.coalesce(func.max(MATCHES.c.number), 0)))
    connection.execute(update(PAUSES).where(PAUSES.c.id == pause_id).values(lifted=now, lifted_number=number))
    return queries.pause(connection, pause_id)


_NEWEST: Final = (
    select(MATCHES.c.id, SEATS.c.end_cause)
    .join(MATCHES, MATCHES.c.number == SEATS.c.match_number)
    .where(
        SEATS.c.version_id == bindparam("version"),
        SEATS.c.ladder_id == bindparam("ladder"),
        SEATS.c.match_number > bindparam("behind"),
        MATCHES.c.is_rated,
        MATCHES.c.void_cause.is_(None),
    )
    .order_by(SEATS.c.match_number.desc())
    .limit(bindparam("window"))
)


def _newest(connection: Connection, terms: PauseTerms, version: int, behind: int) -> list[_Rated]:
    """Load the newest rated matches of a version on a ladder after match `behind`, the newest last."""
    which = {"version": version, "ladder": terms.ladder_id, "behind": behind, "window": terms.window}
    rows = connection.execute(_NEWEST, which).all()
    return [_Rated(row.id, row.end_cause) for row in reversed(rows)]


def _last_pauses(connection: Connection, versions: Set[int]) -> dict[int, int | None]:
    """Load by version the number of the last stored match when its newest pause ended; None means still paused."""
    if not versions:
        return {}
    query = select(PAUSES).where(PAUSES.c.version_id.in_(sorted(versions))).order_by(PAUSES.c.id)
    return {pause.version_id: pause.lifted_number for pause in connection.execute(query)}
