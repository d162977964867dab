"""All ratings computed again from the results, and compared with what is stored, to the bit.

The results are the truth, and a rating is what follows from them: step by step in the order of the ledger, each step
with the settings of its epoch. A difference means that somebody changed the database by other ways than the store, or
that this machine computes `exp` or `log` otherwise than the one that rated. This module writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, func, select

from cutpurse.leaderboard.queries import Step, ladder_history, ladders
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.relations import BOARDS, CHANGES, LADDERS, MATCHES, RATINGS, VERSIONS
from cutpurse.leaderboard.standings import Standing, standing_of, step

__all__ = ["SHOWN", "LadderCheck", "recompute"]

SHOWN: Final = 20  # differences told of one ladder


@dataclass(frozen=True, slots=True)
class LadderCheck:
    """What came of one ladder: `differences` says in plain words where it differs, the first `SHOWN` of all `count`."""

    ladder: str
    boards: int
    versions: int
    count: int
    differences: tuple[str, ...]

    @property
    def equal(self) -> bool:
        """Whether every step and every rating is the same to the bit."""
        return self.count == 0


def recompute(leaderboard: Readings) -> list[LadderCheck]:
    """Check every ladder, by name, as of one moment; results may go on coming in.  Raises StoreError."""
    with leaderboard.reading() as connection:
        query = select(VERSIONS.c.id, VERSIONS.c.parent_id).where(VERSIONS.c.parent_id < VERSIONS.c.id)
        parents: dict[int, int | None] = {row.id: row.parent_id for row in connection.execute(query)}
        return [_check(connection, ladder.name, parents) for ladder in ladders(connection)]


def _check(connection: Connection, ladder: str, parents: Mapping[int, int | None]) -> LadderCheck:
    found = _Differences(list(_unrated(connection, ladder)))
    standings: dict[int, Standing] = {}
    boards = changes = last = 0
    for entry in ladder_history(connection, ladder):
        if entry.sequence != last + 1:
            found.add(f"boards {last + 1} to {entry.sequence - 1} are missing")
        last = entry.sequence
        boards += 1
        changes += sum(change is not None for change in entry.changes)
        for difference in _take(entry, standings, parents):
            found.add(difference)
    for difference in (*_orphans(connection, ladder, changes), *_ratings(connection, ladder, standings)):
        found.add(difference)
    return LadderCheck(ladder, boards, len(standings), found.count, tuple(found.shown))


class _Differences:
    """All are counted, the first are kept."""

    def __init__(self, first: list[str]) -> None:
        self.shown = first[:SHOWN]
        self.count = len(first)

    def add(self, difference: str) -> None:
        self.count += 1
        if len(self.shown) < SHOWN:
            self.shown.append(difference)


def _take(entry: Step, standings: dict[int, Standing], parents: Mapping[int, int | None]) -> Iterator[str]:
    """Rate one board again; `standings` goes on from there."""
    where = f"board {entry.sequence} (match {entry.match})"
    before = [standing_of(version, standings, parents, entry.settings) for version in entry.versions]
    after = step(before, entry.places, entry.faults, entry.settings, entry.sequence)
    standings.update(zip(entry.versions, after, strict=True))
    for version, old, new, stored in zip(entry.versions, before, after, entry.changes, strict=True):
        if stored is None:
            yield f"{where} has no change of version {version}"
        elif _bits(*stored) != _bits(old.skill, new.skill):
            computed = f"{old.skill} to {new.skill}"
            yield f"{where}: version {version} went from {computed}, stored is {stored[0]} to {stored[1]}"


def _unrated(connection: Connection, ladder: str) -> Iterator[str]:
    """Results that count and were not rated, and those that were though they are void or were played on request."""
    is_to_be = MATCHES.c.void_cause.is_(None) & MATCHES.c.is_rated
    unrated = (
        select(MATCHES.c.id)
        .join(BOARDS, BOARDS.c.id == MATCHES.c.board_id)
        .join(LADDERS, LADDERS.c.id == MATCHES.c.ladder_id)
        .where(LADDERS.c.name == ladder, is_to_be != BOARDS.c.sequence.is_not(None))
    )
    for match in connection.scalars(unrated):
        yield f"match {match} counts and was not rated, or is void or on request and was"


def _orphans(connection: Connection, ladder: str, changes: int) -> Iterator[str]:
    """Changes that belong to no seat of a rated board, of which there are so many that do."""
    stored = select(func.count()).select_from(CHANGES.join(LADDERS, LADDERS.c.id == CHANGES.c.ladder_id))
    found = connection.execute(stored.where(LADDERS.c.name == ladder)).scalar_one()
    if found != changes:
        yield f"{found - changes} changes belong to no result"


def _ratings(connection: Connection, ladder: str, standings: dict[int, Standing]) -> Iterator[str]:
    """Where the kept ratings differ from these."""
    query = select(RATINGS).join(LADDERS, LADDERS.c.id == RATINGS.c.ladder_id).where(LADDERS.c.name == ladder)
    kept = {
        row.version_id: Standing(
            Skill(row.mu, row.sigma), row.matches, row.wins, row.faulted, row.sequence, tuple(row.form)
        )
        for row in connection.execute(query)
    }
    for version in sorted(kept.keys() | standings.keys()):
        stored, computed = kept.get(version), standings.get(version)
        if stored is None or computed is None or _bits(stored.skill) != _bits(computed.skill) or stored != computed:
            yield f"version {version} is rated {stored}, computed is {computed}"


def _bits(*skills: Skill) -> list[str]:
    return [number.hex() for skill in skills for number in skill]
