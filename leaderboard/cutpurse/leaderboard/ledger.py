"""The ledger is written here: ladders, and results with the ratings that follow from them.

Every function works within the transaction it is given and leaves it open; it must hold the write lock, for what is
read here (is this match new? what is the next number?) decides what is written. No thread and no file is known here.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, func, select
from sqlalchemy.dialects.sqlite import insert

from cutpurse.leaderboard.errors import LedgerBroken, Refused
from cutpurse.leaderboard.ratings import Skill, TrueSkill
from cutpurse.leaderboard.relations import (
    BOARDS,
    CHANGES,
    EPOCHS,
    LADDERS,
    MATCHES,
    RATINGS,
    SEATS,
    VERSIONS,
    rated_seats,
)
from cutpurse.leaderboard.results import Change, MatchResult, Stored, checked_name
from cutpurse.leaderboard.standings import Standing, standing_of, step

__all__ = ["ensure_ladder", "open_epoch", "stored", "write_results"]

_COMPRESSION: Final = 1  # zlib's; 6 makes records of Greed and Szmal 5-12 % smaller in 14-20 % more time


# -- ladders
def ensure_ladder(
    connection: Connection,
    ladder: str,
    game: str,
    settings: Mapping[str, object],
    seats: int,
    clock: Mapping[str, object],
    rating: TrueSkill,
) -> int:
    """The id of a ladder, made with its first epoch if it is new.

    Raises Refused if there is one of this name that is anything else.
    """
    row: dict[str, object] = {
        "name": checked_name("the name of a ladder", ladder),
        "game": game,
        "settings": _json(settings),
        "seats": seats,
        "clock": _json(clock),
    }
    found = connection.execute(select(LADDERS).where(LADDERS.c.name == ladder)).mappings().first()
    if found is None:
        if seats < 2:
            raise Refused(f"ladder {ladder} has {seats} seats; at least 2 are needed")
        made: int = connection.execute(insert(LADDERS).values(row).returning(LADDERS.c.id)).scalar_one()
        connection.execute(insert(EPOCHS).values(ladder_id=made, number=1, settings=rating.to_json()))
        return made
    for name, value in row.items():
        if found[name] != value:
            raise Refused(
                f"ladder {ladder} has {name} {found[name]}, not {value}; a ladder never changes: "
                "give the new one another name"
            )
    _, now = _epoch(connection, found["id"])
    if now != rating:
        raise Refused(f"ladder {ladder} is rated with {now}, not {rating}; to change that, open an epoch")
    return int(found["id"])


def open_epoch(connection: Connection, ladder: str, rating: TrueSkill) -> int:
    """Rate the boards of a ladder with other numbers from the next on; the epoch, which may be the one there is.

    Ratings go on from where they are. Raises Refused if there is no such ladder.
    """
    ladder_id = connection.scalar(select(LADDERS.c.id).where(LADDERS.c.name == ladder))
    if ladder_id is None:
        raise Refused(f"there is no ladder {ladder!r:.300}")
    number, now = _epoch(connection, ladder_id)
    if now == rating:
        return number
    connection.execute(insert(EPOCHS).values(ladder_id=ladder_id, number=number + 1, settings=rating.to_json()))
    return number + 1


def _epoch(connection: Connection, ladder_id: int) -> tuple[int, TrueSkill]:
    """The epoch of a ladder now: its number and settings."""
    query = select(EPOCHS).where(EPOCHS.c.ladder_id == ladder_id).order_by(EPOCHS.c.number.desc()).limit(1)
    row = connection.execute(query).one()
    return row.number, TrueSkill.from_json(row.settings)


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(dict(value), separators=(",", ":"), sort_keys=True)


# -- results
@dataclass(slots=True)
class _Course:
    """A ladder while results are written: where it stands, and what changed."""

    id: int
    seats: int
    epoch: int
    settings: TrueSkill
    sequence: int  # of the board rated last
    standings: dict[int, Standing]  # by version, of those who sit in these results or were before them
    parents: Mapping[int, int | None]  # of those who sit and were never rated here, and of all before them
    changed: set[int] = field(default_factory=set)
    added: int = 0  # results that count


@dataclass(slots=True)
class _Rows:
    """What is to be inserted, relation by relation."""

    boards: list[dict[str, object]] = field(default_factory=list)
    matches: list[dict[str, object]] = field(default_factory=list)
    seats: list[dict[str, object]] = field(default_factory=list)
    changes: list[dict[str, object]] = field(default_factory=list)


def write_results(
    connection: Connection, results: Sequence[MatchResult], rated: dict[int, int]
) -> list[Stored | Refused]:
    """Store results in this order and rate them; what came of each.

    rated: how many boards of a ladder were rated when it was written last, by its id; a ladder that is not in it is
    counted, and all are kept up to date. Empty it if the transaction fails.

    A result whose match is stored already changes nothing and is answered as the first time. One that does not fit is
    answered by a Refused, which is not raised, since the others are none the worse for it.
    Raises LedgerBroken if the numbers of a ladder have a gap, before or after.
    """
    known = stored(connection, {result.match for result in results})
    boards = _taken(connection, {result.board for result in results})
    courses = _courses(connection, results)
    for name, standing in courses.items():
        _check_before(connection, name, standing, rated)
    versions = _known_versions(connection, results)
    number: int = connection.scalar(select(func.coalesce(func.max(MATCHES.c.number), 0))) or 0
    rows = _Rows()
    answers: list[Stored | Refused] = []
    for result in results:
        if result.match in known:
            answers.append(known[result.match])
            continue
        course = courses.get(result.ladder)
        if problem := _problem(result, course, versions, boards):
            answers.append(Refused(f"match {result.match}: {problem}"))
            continue
        assert course is not None
        number += 1
        course.added += not result.void
        answer = _settle(result, course, rows)
        _note(result, course, number, answer.sequence, rows)
        boards[result.board] = result.match
        known[result.match] = answer
        answers.append(answer)
    _insert(connection, rows, courses)
    for name, written in courses.items():
        if written.added:
            _check_after(connection, name, written, rated)
    return answers


def _check_before(connection: Connection, name: str, course: _Course, rated: dict[int, int]) -> None:
    """The last number is that of the boards that were rated.  Raises LedgerBroken."""
    if course.id not in rated:  # counted once, for it takes the longer the more there are
        count = select(func.count(BOARDS.c.sequence)).where(BOARDS.c.ladder_id == course.id)
        rated[course.id] = connection.scalar(count) or 0
    if rated[course.id] != course.sequence:
        raise LedgerBroken(name)


def _check_after(connection: Connection, name: str, course: _Course, rated: dict[int, int]) -> None:
    """Each result that counts has made one board with the next number, and one change for each seat.

    Raises LedgerBroken.
    """
    before = rated[course.id]
    new = (BOARDS.c.ladder_id == course.id) & (BOARDS.c.sequence > before)
    boards, last = connection.execute(select(func.count(), func.max(BOARDS.c.sequence)).where(new)).one()
    new = (CHANGES.c.ladder_id == course.id) & (CHANGES.c.sequence > before)
    changes = connection.scalar(select(func.count()).select_from(CHANGES).where(new))
    after = before + course.added
    if (boards, last, changes) != (course.added, after, course.added * course.seats):
        raise LedgerBroken(name)
    rated[course.id] = after


def _problem(result: MatchResult, course: _Course | None, versions: set[int], boards: Mapping[str, str]) -> str | None:
    """Why a result does not fit, or None."""
    if course is None:
        return f"there is no ladder {result.ladder!r:.300}"
    if len(result.seats) != course.seats:
        return f"it has {len(result.seats)} seats, and ladder {result.ladder} has {course.seats}"
    for seat, taken in enumerate(result.seats):
        if taken.version not in versions:
            return f"seat {seat} has version {taken.version}, which nobody made known"
    if result.board in boards:
        return f"board {result.board} has its match already, {boards[result.board]}"
    return None


def _settle(result: MatchResult, course: _Course, rows: _Rows) -> Stored:
    """Rate a result, unless it is void."""
    if result.void:
        return Stored(result.match, None, ())
    course.sequence += 1
    versions = [seat.version for seat in result.seats]
    before = [standing_of(version, course.standings, course.parents, course.settings) for version in versions]
    places = [seat.place or 0 for seat in result.seats]  # a result that counts has them all
    after = step(before, places, [seat.faults for seat in result.seats], course.settings, course.sequence)
    course.standings.update(zip(versions, after, strict=True))
    course.changed.update(versions)
    changes = tuple(
        Change(version, old.skill, new.skill) for version, old, new in zip(versions, before, after, strict=True)
    )
    rows.changes += [
        {
            "ladder_id": course.id,
            "sequence": course.sequence,
            "version_id": change.version,
            "mu_before": change.before.mu,
            "sigma_before": change.before.sigma,
            "mu_after": change.after.mu,
            "sigma_after": change.after.sigma,
        }
        for change in changes
    ]
    return Stored(result.match, course.sequence, changes)


def _note(result: MatchResult, course: _Course, number: int, sequence: int | None, rows: _Rows) -> None:
    """The rows of a result itself."""
    rows.boards.append(
        {
            "id": result.board,
            "ladder_id": course.id,
            "sequence": sequence,
            "epoch": None if sequence is None else course.epoch,
            "commitment": result.deal.commitment,
            "seed": result.deal.seed,
            "params": result.deal.params,
        }
    )
    rows.matches.append(
        {
            "number": number,
            "id": result.match,
            "board_id": result.board,
            "ladder_id": course.id,
            "rules": result.rules,
            "started": result.started,
            "finished": result.finished,
            "decisions": result.decisions,
            "void_cause": result.void_cause,
            "record": None if result.record is None else zlib.compress(result.record.encode(), _COMPRESSION),
        }
    )
    rows.seats += [
        {
            "match_number": number,
            "seat": seat,
            "version_id": taken.version,
            "place": taken.place,
            "score": taken.score,
            "end_cause": taken.end_cause,
            "faults": taken.faults,
            "thinking_ms": taken.thinking_ms,
        }
        for seat, taken in enumerate(result.seats)
    ]


def _insert(connection: Connection, rows: _Rows, courses: Mapping[str, _Course]) -> None:
    """Everything at once, parents before children."""
    for relation, several in (
        (BOARDS, rows.boards),
        (MATCHES, rows.matches),
        (SEATS, rows.seats),
        (CHANGES, rows.changes),
    ):
        if several:
            connection.execute(relation.insert(), several)
    ratings = [
        {"ladder_id": course.id, "version_id": version, **_columns(course.standings[version])}
        for course in courses.values()
        for version in sorted(course.changed)
    ]
    if ratings:
        upsert = insert(RATINGS)
        new = {column.name: upsert.excluded[column.name] for column in RATINGS.c if not column.primary_key}
        connection.execute(upsert.on_conflict_do_update(index_elements=["ladder_id", "version_id"], set_=new), ratings)


def _columns(standing: Standing) -> dict[str, object]:
    return {
        "mu": standing.skill.mu,
        "sigma": standing.skill.sigma,
        "matches": standing.matches,
        "wins": standing.wins,
        "faulted": standing.faulted,
        "sequence": standing.sequence,
    }


# -- what is there already
def stored(connection: Connection, matches: set[str]) -> dict[str, Stored]:
    """The answers to the results of these matches that are stored, by match."""
    query = (
        select(MATCHES.c.id, BOARDS.c.sequence, CHANGES)
        .select_from(rated_seats())
        .where(MATCHES.c.id.in_(bindparam("ids", expanding=True)))
        .order_by(MATCHES.c.number, SEATS.c.seat)
    )
    by_match: dict[str, list[Row[*tuple[Any, ...]]]] = {}
    for row in connection.execute(query, {"ids": sorted(matches)}):
        by_match.setdefault(row.id, []).append(row)
    return {
        match: Stored(match, rows[0].sequence, tuple(_change(row) for row in rows if row.version_id is not None))
        for match, rows in by_match.items()
    }


def _change(row: Row[*tuple[Any, ...]]) -> Change:
    return Change(row.version_id, Skill(row.mu_before, row.sigma_before), Skill(row.mu_after, row.sigma_after))


def _taken(connection: Connection, boards: set[str]) -> dict[str, str]:
    """The match of each of these boards that has one."""
    query = select(MATCHES.c.board_id, MATCHES.c.id).where(MATCHES.c.board_id.in_(sorted(boards)))
    return {row.board_id: row.id for row in connection.execute(query)}


def _known_versions(connection: Connection, results: Sequence[MatchResult]) -> set[int]:
    wanted = {seat.version for result in results for seat in result.seats}
    return set(connection.scalars(select(VERSIONS.c.id).where(VERSIONS.c.id.in_(sorted(wanted)))))


def _courses(connection: Connection, results: Sequence[MatchResult]) -> dict[str, _Course]:
    """Where each ladder of these results stands, by name; ladders that do not exist are left out."""
    seated: dict[str, set[int]] = {}
    for result in results:
        seated.setdefault(result.ladder, set()).update(seat.version for seat in result.seats)
    courses = {}
    for ladder in connection.execute(select(LADDERS).where(LADDERS.c.name.in_(sorted(seated)))):
        last = select(func.coalesce(func.max(BOARDS.c.sequence), 0)).where(BOARDS.c.ladder_id == ladder.id)
        standings = _standings(connection, ladder.id, seated[ladder.name])
        parents = _parents(connection, seated[ladder.name] - standings.keys())
        if parents:
            standings |= _standings(connection, ladder.id, parents.keys() - standings.keys())
        epoch, settings = _epoch(connection, ladder.id)
        sequence: int = connection.scalar(last) or 0
        courses[ladder.name] = _Course(ladder.id, ladder.seats, epoch, settings, sequence, standings, parents)
    return courses


def _standings(connection: Connection, ladder_id: int, versions: Set[int]) -> dict[int, Standing]:
    ratings = select(RATINGS).where(RATINGS.c.ladder_id == ladder_id, RATINGS.c.version_id.in_(sorted(versions)))
    return {
        row.version_id: Standing(Skill(row.mu, row.sigma), row.matches, row.wins, row.faulted, row.sequence)
        for row in connection.execute(ratings)
    }


def _parents(connection: Connection, versions: Set[int]) -> dict[int, int | None]:
    """The version before each of these, and before each of those, as far back as it goes."""
    if not versions:
        return {}
    line = select(VERSIONS.c.id, VERSIONS.c.parent_id).where(VERSIONS.c.id.in_(sorted(versions))).cte(recursive=True)
    before = (VERSIONS.c.id == line.c.parent_id) & (VERSIONS.c.id < line.c.id)  # so that it ends, whatever is there
    line = line.union(select(VERSIONS.c.id, VERSIONS.c.parent_id).join(line, before))
    return {row.id: row.parent_id for row in connection.execute(select(line))}
