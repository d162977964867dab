"""The check that stored ratings follow from the stored results, to the last bit.

Ratings, form, first places and head-to-head results are computed again from the results. Boards are rated in the order
of the ledger, each with the parameters of its epoch. A difference has one of two causes: the database was changed in
another way than by the store, or this machine rounds `exp` or `log` differently. This module writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, case, exists, func, select

from cutpurse.leaderboard.head_to_head import Encounters, HeadToHead
from cutpurse.leaderboard.queries import RatingStep, ladder_history, ladders
from cutpurse.leaderboard.rating_state import RatingState, standing_of, step
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.relations import BOARDS, CHANGES, LADDERS, MATCHES, OPPONENTS, RATINGS, SEATS, VERSIONS

__all__ = ["SHOWN", "LadderCheck", "recompute"]

SHOWN: Final = 20  # differences reported for one ladder


@dataclass(frozen=True, slots=True)
class LadderCheck:
    """The result for one ladder.

    Attributes:
        ladder: Name of the ladder.
        boards: Number of rated boards.
        versions: Number of rated versions.
        count: Number of differences.
        differences: Descriptions of the first `SHOWN` differences.
    """

    ladder: str
    boards: int
    versions: int
    count: int
    differences: tuple[str, ...]

    @property
    def equal(self) -> bool:
        """Whether everything stored equals what follows from the results, ratings to the last bit."""
        return self.count == 0


def recompute(leaderboard: Readings, progress: Callable[[int, int], None] | None = None) -> list[LadderCheck]:
    """Check every ladder, by name, in one snapshot; new results may be stored meanwhile.

    Args:
        leaderboard: The leaderboard to check.
        progress: Called with the number of boards rated again, and of all boards.

    Raises:
        StoreError: If the database cannot be read.
    """
    with leaderboard.reading() as connection:
        versions = connection.execute(select(VERSIONS)).all()
        parents = {row.id: row.parent_id for row in versions if row.parent_id is not None and row.parent_id < row.id}
        bots = {row.id: row.bot_id for row in versions}
        entries = ladders(connection)
        total, earlier = sum(entry.matches for entry in entries), 0
        checks = []
        for entry in entries:

            def tell(boards: int, earlier: int = earlier) -> None:
                if progress is not None:
                    progress(earlier + boards, total)

            checks.append(_check(connection, entry.name, parents, bots, tell))
            earlier += entry.matches
        return checks


def _check(
    connection: Connection,
    ladder: str,
    parents: Mapping[int, int | None],
    bots: Mapping[int, int],
    progress: Callable[[int], None],
) -> LadderCheck:
    differences = _Differences([*_unrated(connection, ladder), *_marks(connection, ladder)])
    standings: dict[int, RatingState] = {}
    encounters = Encounters()
    boards = changes = last = 0
    for entry in ladder_history(connection, ladder):
        if entry.sequence > last + 1:
            differences.add(f"boards {last + 1} to {entry.sequence - 1} are missing")
        boards += entry.sequence != last
        progress(boards)
        last = entry.sequence
        changes += sum(change is not None for change in entry.changes)
        encounters.add([bots[version] for version in entry.versions], entry.places)
        for difference in _take(entry, standings, parents):
            differences.add(difference)
    for difference in (
        *_orphans(connection, ladder, changes),
        *_ratings(connection, ladder, standings),
        *_opponents(connection, ladder, encounters),
    ):
        differences.add(difference)
    return LadderCheck(ladder, boards, len(standings), differences.count, tuple(differences.shown))


class _Differences:
    """The number of differences, and the first `SHOWN` of them."""

    def __init__(self, first: list[str]) -> None:
        self.shown = first[:SHOWN]
        self.count = len(first)

    def add(self, difference: str) -> None:
        self.count += 1
        if len(self.shown) < SHOWN:
            self.shown.append(difference)


def _take(entry: RatingStep, standings: dict[int, RatingState], parents: Mapping[int, int | None]) -> Iterator[str]:
    """Rate a comparison again, update `standings`, and find differences to the stored changes."""
    where = f"board {entry.sequence} (match {entry.match})"
    before = [standing_of(version, standings, parents, entry.settings) for version in entry.versions]
    after = step(before, entry.places, entry.faults, entry.settings, entry.sequence)
    standings.update(zip(entry.versions, after, strict=True))
    for version, old, new, stored in zip(entry.versions, before, after, entry.changes, strict=True):
        if stored is None:
            yield f"{where} has no change of version {version}"
        elif difference := _difference(_change_fields(*stored), _change_fields(old.skill, new.skill)):
            yield f"{where}: change of version {version}: {difference}"


def _unrated(connection: Connection, ladder: str) -> Iterator[str]:
    """Find results that should be rated but are not, and rated ones that are void or were requested."""
    is_to_be = MATCHES.c.void_cause.is_(None) & MATCHES.c.is_rated
    is_rated = BOARDS.c.sequence.is_not(None)
    of_ladder = MATCHES.join(BOARDS, BOARDS.c.id == MATCHES.c.board_id).join(
        LADDERS, LADDERS.c.id == MATCHES.c.ladder_id
    )
    alone = (
        select(MATCHES.c.id)
        .select_from(of_ladder)
        .where(LADDERS.c.name == ladder, BOARDS.c.matches == 1, is_to_be != is_rated)
    )
    for match in connection.scalars(alone):
        yield f"match {match} counts and was not rated, or is void or on request and was"
    several = (
        select(BOARDS.c.id)
        .select_from(of_ladder)
        .where(LADDERS.c.name == ladder, BOARDS.c.matches > 1)
        .group_by(BOARDS.c.id)
        .having((func.count(case((is_to_be, 1))) == func.max(BOARDS.c.matches)) != (func.count(BOARDS.c.sequence) > 0))
    )
    for board in connection.scalars(several):
        yield f"all matches of board {board} count and it was not rated, or one is void or missing and it was"


def _orphans(connection: Connection, ladder: str, changes: int) -> Iterator[str]:
    """Find rating changes that belong to no seat of a rated board; `changes` is the number that do."""
    stored = select(func.count()).select_from(CHANGES.join(LADDERS, LADDERS.c.id == CHANGES.c.ladder_id))
    count = connection.execute(stored.where(LADDERS.c.name == ladder)).scalar_one()
    if count != changes:
        yield f"{count - changes} changes belong to no result"


def _ratings(connection: Connection, ladder: str, standings: dict[int, RatingState]) -> Iterator[str]:
    """Find stored ratings that differ from `standings`."""
    query = select(RATINGS).join(LADDERS, LADDERS.c.id == RATINGS.c.ladder_id).where(LADDERS.c.name == ladder)
    kept = {
        row.version_id: RatingState(
            Skill(row.mu, row.sigma), row.matches, row.wins, row.faulted, row.sequence, tuple(row.form)
        )
        for row in connection.execute(query).all()
    }
    for version in sorted(kept.keys() | standings.keys()):
        stored, computed = kept.get(version), standings.get(version)
        if difference := _difference(_state_fields(stored), _state_fields(computed)):
            yield f"rating of version {version}: {difference}"


def _opponents(connection: Connection, ladder: str, encounters: Encounters) -> Iterator[str]:
    """Find stored head-to-head results that differ from `encounters`."""
    query = select(OPPONENTS).join(LADDERS, LADDERS.c.id == OPPONENTS.c.ladder_id).where(LADDERS.c.name == ladder)
    kept = {
        (row.bot_id, row.other_id): HeadToHead(row.matches, row.ahead, row.level) for row in connection.execute(query)
    }
    for pair in sorted(kept.keys() | encounters.keys()):
        stored, computed = kept.get(pair), encounters.get(pair)
        if difference := _difference(_result_fields(stored), _result_fields(computed)):
            yield f"results of bots {pair[0]} and {pair[1]}: {difference}"


def _marks(connection: Connection, ladder: str) -> Iterator[str]:
    """Find matches with wrong index columns: a wrong `is_faulted`, or seats with another ladder."""
    of_ladder = select(MATCHES.c.id).join(LADDERS, LADDERS.c.id == MATCHES.c.ladder_id).where(LADDERS.c.name == ladder)
    seats = SEATS.c.match_number == MATCHES.c.number
    has_faults = exists().where(seats, SEATS.c.faults > 0)
    for match in connection.scalars(of_ladder.where(MATCHES.c.is_faulted != has_faults)):
        yield f"match {match} is marked as faulted and is not, or the other way round"
    for match in connection.scalars(of_ladder.where(exists().where(seats, SEATS.c.ladder_id != MATCHES.c.ladder_id))):
        yield f"match {match} has seats of another ladder"


def _difference(stored: Mapping[str, str] | None, computed: Mapping[str, str] | None) -> str:
    """Describe the fields that differ; empty if none does."""
    if stored is None and computed is None:
        return ""
    if stored is None:
        return f"not stored; computed is {_listed(computed or {})}"
    if computed is None:
        return f"stored without a result: {_listed(stored)}"
    differing = [name for name in stored if stored[name] != computed[name]]
    return "; ".join([f"{name} is stored as {stored[name]}, computed as {computed[name]}" for name in differing])


def _listed(fields: Mapping[str, str]) -> str:
    return ", ".join([f"{name} {value}" for name, value in fields.items()])


def _state_fields(state: RatingState | None) -> dict[str, str] | None:
    if state is None:
        return None
    return {
        "mu": repr(state.skill.mu),  # the shortest text of a float that has the same bits
        "sigma": repr(state.skill.sigma),
        "boards": str(state.matches),
        "wins": str(state.wins),
        "boards with faults": str(state.faulted),
        "last board": str(state.sequence),
        "recent places": " ".join(map(str, state.form)) or "none",
    }


def _change_fields(before: Skill, after: Skill) -> dict[str, str]:
    return {
        "mu before": repr(before.mu),
        "sigma before": repr(before.sigma),
        "mu after": repr(after.mu),
        "sigma after": repr(after.sigma),
    }


def _result_fields(result: HeadToHead | None) -> dict[str, str] | None:
    if result is None:
        return None
    return {"matches": str(result.matches), "ahead": str(result.ahead), "level": str(result.level)}
