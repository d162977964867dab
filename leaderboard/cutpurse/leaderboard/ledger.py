"""The ledger is written here: boards that are announced, and results with the ratings that follow from them.

Every function works within the transaction it is given and leaves it open; it must hold the write lock, for what is
read here (is this match new? what is the next number?) decides what is written. No thread and no file is known here.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, delete, func, or_, select, update
from sqlalchemy.dialects.sqlite import insert

from cutpurse.leaderboard.conduct import Conduct, conduct
from cutpurse.leaderboard.courses import COMPRESSION, pack_courses, pack_notes
from cutpurse.leaderboard.encounters import Encounters
from cutpurse.leaderboard.errors import LedgerBroken, Refused
from cutpurse.leaderboard.ladders import epoch_of
from cutpurse.leaderboard.ratings import Skill, TrueSkill
from cutpurse.leaderboard.relations import (
    BOARDS,
    CHANGES,
    COURSES,
    LADDERS,
    MATCHES,
    NOTES,
    OPEN_MATCHES,
    OPPONENTS,
    PAUSES,
    RATINGS,
    SEATS,
    VERSIONS,
    rated_seats,
)
from cutpurse.leaderboard.results import Announcement, Change, Deal, MatchResult, SeatResult, Stored
from cutpurse.leaderboard.standings import Standing, standing_of, step

__all__ = ["VOID", "stored", "unfinished", "write"]

VOID: Final = "void_server"  # why a match is void that was cut off by the end of the server


# -- what is being written
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
    encounters: Encounters = field(default_factory=Encounters)
    added: int = 0  # results that are rated


@dataclass(frozen=True, slots=True)
class _Announced:
    """What was promised of a match that is not over."""

    board: str
    ladder_id: int
    deal: Deal
    versions: tuple[int, ...]


@dataclass(slots=True)
class _Rows:
    """What is to be written, relation by relation."""

    boards: dict[str, dict[str, object]] = field(default_factory=dict)  # new ones, by their ids
    rated: list[dict[str, object]] = field(default_factory=list)  # boards that were there, and have a number now
    open: dict[str, dict[str, object]] = field(default_factory=dict)  # new ones, by match
    closed: list[str] = field(default_factory=list)  # matches that were open
    matches: list[dict[str, object]] = field(default_factory=list)
    seats: list[dict[str, object]] = field(default_factory=list)
    courses: list[dict[str, object]] = field(default_factory=list)
    notes: list[dict[str, object]] = field(default_factory=list)
    changes: list[dict[str, object]] = field(default_factory=list)


@dataclass(slots=True)
class _World:
    """What is there already, as far as it concerns what is being written; kept up to date while it is."""

    known: dict[str, Stored]  # by match
    announced: dict[str, _Announced]  # by match
    boards: dict[str, str]  # which match has it or was announced with it
    courses: dict[str, _Course]  # by ladder
    versions: Mapping[int, int]  # the bot of each
    conduct: Conduct
    number: int  # of the last match


def write(
    connection: Connection, entries: Sequence[MatchResult | Announcement], rated: dict[int, int]
) -> list[Stored | Refused | None]:
    """Announce matches, store results and rate them, in this order; what came of each, of an announcement nothing.

    rated: how many boards of a ladder were rated when it was written last, by its id; a ladder that is not in it is
    counted, and all are kept up to date. Empty it if the transaction fails.

    What is there already changes nothing, and a result is answered as the first time. What does not fit is answered by
    a Refused, which is not raised, since the others are none the worse for it.
    Raises LedgerBroken if the numbers of a ladder have a gap, before or after.
    """
    world = _look(connection, entries)
    for name, course in world.courses.items():
        _check_before(connection, name, course, rated)
    rows = _Rows()
    answers: list[Stored | Refused | None] = []
    for entry in entries:
        if entry.match in world.known:
            answers.append(world.known[entry.match] if isinstance(entry, MatchResult) else None)
        elif problem := _problem(entry, world):
            answers.append(Refused(f"match {entry.match}: {problem}"))
        elif isinstance(entry, Announcement):
            _announce(entry, world, rows)
            answers.append(None)
        else:
            answers.append(_store(entry, world, rows))
    _insert(connection, rows, world)
    for name, course in world.courses.items():
        if course.added:
            _check_after(connection, name, course, rated)
    return answers


def unfinished(connection: Connection, now: datetime) -> list[MatchResult]:
    """A void result for each match that was announced and is not over, in the order of their beginning."""
    query = (
        select(OPEN_MATCHES, LADDERS.c.name.label("ladder"), BOARDS.c.commitment, BOARDS.c.seed, BOARDS.c.params)
        .join(BOARDS, BOARDS.c.id == OPEN_MATCHES.c.board_id)
        .join(LADDERS, LADDERS.c.id == BOARDS.c.ladder_id)
        .order_by(OPEN_MATCHES.c.started, OPEN_MATCHES.c.match_id)
    )
    return [
        MatchResult(
            match=row.match_id,
            board=row.board_id,
            ladder=row.ladder,
            rules=row.rules,
            started=row.started,
            finished=now,
            decisions=0,
            seats=tuple(SeatResult(version, None, None, VOID) for version in json.loads(row.versions)),
            deal=Deal(row.commitment, row.seed, row.params),
            void_cause=VOID,
            is_rated=not row.requested_by,
            requested_by=row.requested_by,
            reason=row.reason,
        )
        for row in connection.execute(query)
    ]


# -- that the ledger is whole
def _check_before(connection: Connection, name: str, course: _Course, rated: dict[int, int]) -> None:
    """The last number is that of the boards that were rated.  Raises LedgerBroken."""
    if course.id not in rated:  # counted once, for it takes the longer the more there are
        count = select(func.count(BOARDS.c.sequence)).where(BOARDS.c.ladder_id == course.id)
        rated[course.id] = connection.scalar(count) or 0
    if rated[course.id] != course.sequence:
        raise LedgerBroken(name)


def _check_after(connection: Connection, name: str, course: _Course, rated: dict[int, int]) -> None:
    """Each result that is rated has made one board with the next number, and one change for each seat.

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


# -- one after the other
def _problem(entry: MatchResult | Announcement, world: _World) -> str | None:
    """Why an announcement or a result does not fit, or None."""
    course = world.courses.get(entry.ladder)
    if course is None:
        return f"there is no ladder {entry.ladder!r:.300}"
    versions = _versions(entry)
    if len(versions) != course.seats:
        return f"it has {len(versions)} seats, and ladder {entry.ladder} has {course.seats}"
    for seat, version in enumerate(versions):
        if version not in world.versions:
            return f"seat {seat} has version {version}, which nobody made known"
    announced = world.announced.get(entry.match)
    if announced is not None:
        if announced != _Announced(entry.board, course.id, entry.deal, versions):
            return "it was announced with another ladder, board, deal or other seats"
    elif entry.board in world.boards:
        return f"board {entry.board} has its match already, {world.boards[entry.board]}"
    return None


def _versions(entry: MatchResult | Announcement) -> tuple[int, ...]:
    if isinstance(entry, Announcement):
        return entry.versions
    return tuple(seat.version for seat in entry.seats)


def _announce(entry: Announcement, world: _World, rows: _Rows) -> None:
    if entry.match in world.announced:
        return
    course = world.courses[entry.ladder]
    world.announced[entry.match] = _Announced(entry.board, course.id, entry.deal, entry.versions)
    world.boards[entry.board] = entry.match
    rows.boards[entry.board] = _board(entry, course.id)
    rows.open[entry.match] = {
        "match_id": entry.match,
        "board_id": entry.board,
        "rules": entry.rules,
        "started": entry.started,
        "versions": json.dumps(entry.versions),
        "requested_by": entry.requested_by,
        "reason": entry.reason,
    }


def _store(result: MatchResult, world: _World, rows: _Rows) -> Stored:
    course = world.courses[result.ladder]
    world.number += 1
    answer = Stored(result.match, None, ())
    if result.is_rated and not result.void:
        changes = _rate(result, course, world.versions, rows)
        answer = Stored(result.match, course.sequence, changes, world.conduct.note(result, world.number))
    _note_board(result, course, answer.sequence, world, rows)
    _note(result, course.id, world.number, rows)
    world.known[result.match] = answer
    return answer


def _rate(result: MatchResult, course: _Course, bots: Mapping[int, int], rows: _Rows) -> tuple[Change, ...]:
    """The next board of the ladder; what it makes of those who sit there."""
    course.added += 1
    course.sequence += 1
    versions = _versions(result)
    before = [standing_of(version, course.standings, course.parents, course.settings) for version in versions]
    places = [seat.place or 0 for seat in result.seats]  # a result that counts has them all
    after = step(before, places, [seat.faults for seat in result.seats], course.settings, course.sequence)
    course.standings.update(zip(versions, after, strict=True))
    course.changed.update(versions)
    course.encounters.add([bots[version] for version in versions], places)
    rows.changes += [
        {
            "ladder_id": course.id,
            "sequence": course.sequence,
            "version_id": version,
            "mu_before": old.skill.mu,
            "sigma_before": old.skill.sigma,
            "mu_after": new.skill.mu,
            "sigma_after": new.skill.sigma,
        }
        for version, old, new in zip(versions, before, after, strict=True)
    ]
    return tuple(
        Change(version, old.skill, new.skill, new.matches)
        for version, old, new in zip(versions, before, after, strict=True)
    )


def _note_board(result: MatchResult, course: _Course, sequence: int | None, world: _World, rows: _Rows) -> None:
    """The board of a result, which is there already if it was announced."""
    number = {"sequence": sequence, "epoch": None if sequence is None else course.epoch}
    if world.announced.pop(result.match, None) is None:
        world.boards[result.board] = result.match
        rows.boards[result.board] = {**_board(result, course.id), **number}
    elif rows.open.pop(result.match, None) is not None:  # in this very transaction
        rows.boards[result.board].update(number)
    else:
        rows.closed.append(result.match)
        if sequence is not None:
            rows.rated.append({"board": result.board, **number})


def _board(entry: MatchResult | Announcement, ladder_id: int) -> dict[str, object]:
    return {
        "id": entry.board,
        "ladder_id": ladder_id,
        "sequence": None,
        "epoch": None,
        "commitment": entry.deal.commitment,
        "seed": entry.deal.seed,
        "params": entry.deal.params,
    }


def _note(result: MatchResult, ladder_id: int, number: int, rows: _Rows) -> None:
    """The rows of a result itself."""
    rows.matches.append(
        {
            "number": number,
            "id": result.match,
            "board_id": result.board,
            "ladder_id": ladder_id,
            "rules": result.rules,
            "started": result.started,
            "finished": result.finished,
            "decisions": result.decisions,
            "void_cause": result.void_cause,
            "is_rated": result.is_rated,
            "requested_by": result.requested_by,
            "reason": result.reason,
            "is_faulted": any(seat.faults for seat in result.seats),
            "record": None if result.record is None else zlib.compress(result.record.encode(), COMPRESSION),
        }
    )
    rows.seats += [
        {
            "match_number": number,
            "seat": seat,
            "ladder_id": ladder_id,
            "version_id": taken.version,
            "place": taken.place,
            "score": taken.score,
            "end_cause": taken.end_cause,
            "faults": taken.faults,
            "thinking_ms": taken.thinking_ms,
        }
        for seat, taken in enumerate(result.seats)
    ]
    courses = [taken.course for taken in result.seats]
    if any(course is not None for course in courses):
        rows.courses.append({"match_number": number, "courses": pack_courses(courses)})
    rows.notes += [
        {
            "match_number": number,
            "seat": seat,
            "dropped_bytes": taken.dropped_bytes,
            "notes": pack_notes(taken.notes),
        }
        for seat, taken in enumerate(result.seats)
        if taken.notes or taken.dropped_bytes
    ]


# -- everything at once, parents before children
_RATE: Final = (
    update(BOARDS)
    .where(BOARDS.c.id == bindparam("board"))
    .values(sequence=bindparam("sequence"), epoch=bindparam("epoch"))
)


def _insert(connection: Connection, rows: _Rows, world: _World) -> None:
    if rows.closed:
        connection.execute(delete(OPEN_MATCHES).where(OPEN_MATCHES.c.match_id.in_(rows.closed)))
    if rows.boards:
        connection.execute(BOARDS.insert(), list(rows.boards.values()))
    if rows.rated:
        connection.execute(_RATE, rows.rated)
    for relation, several in (
        (OPEN_MATCHES, list(rows.open.values())),
        (MATCHES, rows.matches),
        (SEATS, rows.seats),
        (COURSES, rows.courses),
        (NOTES, rows.notes),
        (CHANGES, rows.changes),
        (PAUSES, world.conduct.pauses),
    ):
        if several:
            connection.execute(relation.insert(), several)
    _keep_ratings(connection, world.courses.values())
    _keep_opponents(connection, world.courses.values())


def _keep_ratings(connection: Connection, courses: Collection[_Course]) -> None:
    ratings = [
        {"ladder_id": course.id, "version_id": version, **_columns(course.standings[version])}
        for course in courses
        for version in sorted(course.changed)
    ]
    if ratings:
        upsert = insert(RATINGS)
        new = {column.name: upsert.excluded[column.name] for column in RATINGS.c if not column.primary_key}
        connection.execute(upsert.on_conflict_do_update(index_elements=["ladder_id", "version_id"], set_=new), ratings)


def _keep_opponents(connection: Connection, courses: Collection[_Course]) -> None:
    met = [
        {
            "ladder_id": course.id,
            "bot_id": bot,
            "other_id": other,
            "matches": tally.matches,
            "ahead": tally.ahead,
            "level": tally.level,
        }
        for course in courses
        for (bot, other), tally in sorted(course.encounters.items())
    ]
    if met:
        upsert = insert(OPPONENTS)
        more = {column.name: column + upsert.excluded[column.name] for column in OPPONENTS.c if not column.primary_key}
        connection.execute(
            upsert.on_conflict_do_update(index_elements=["ladder_id", "bot_id", "other_id"], set_=more), met
        )


def _columns(standing: Standing) -> dict[str, object]:
    return {
        "mu": standing.skill.mu,
        "sigma": standing.skill.sigma,
        "matches": standing.matches,
        "wins": standing.wins,
        "faulted": standing.faulted,
        "sequence": standing.sequence,
        "form": bytes(standing.form),
    }


# -- what is there already
def stored(connection: Connection, matches: Set[str]) -> dict[str, Stored]:
    """The answers to the results of these matches that are stored, by match."""
    query = (
        select(MATCHES.c.id, MATCHES.c.number, BOARDS.c.sequence, CHANGES)
        .select_from(rated_seats())
        .where(MATCHES.c.id.in_(bindparam("ids", expanding=True)))
        .order_by(MATCHES.c.number, SEATS.c.seat)
    )
    by_match: dict[str, list[Row[*tuple[Any, ...]]]] = {}
    for row in connection.execute(query, {"ids": sorted(matches)}):
        by_match.setdefault(row.id, []).append(row)
    return {
        match: Stored(
            match,
            rows[0].sequence,
            tuple(_change(connection, row) for row in rows if row.version_id is not None),
            _paused(connection, rows[0].number),
        )
        for match, rows in by_match.items()
    }


def _change(connection: Connection, row: Row[*tuple[Any, ...]]) -> Change:
    whose = (CHANGES.c.ladder_id == row.ladder_id) & (CHANGES.c.version_id == row.version_id)
    since = select(func.count()).where(whose, CHANGES.c.sequence > row.sequence).scalar_subquery()
    now = select(RATINGS.c.matches - since).where(
        RATINGS.c.ladder_id == row.ladder_id, RATINGS.c.version_id == row.version_id
    )
    matches: int = connection.execute(now).scalar_one()
    before, after = Skill(row.mu_before, row.sigma_before), Skill(row.mu_after, row.sigma_after)
    return Change(row.version_id, before, after, matches)


def _paused(connection: Connection, number: int) -> tuple[int, ...]:
    query = select(PAUSES.c.version_id).where(PAUSES.c.match_number == number).order_by(PAUSES.c.id)
    return tuple(connection.scalars(query))


def _look(connection: Connection, entries: Sequence[MatchResult | Announcement]) -> _World:
    known = stored(connection, {entry.match for entry in entries})
    new = [entry for entry in entries if isinstance(entry, MatchResult) and entry.match not in known]
    announced = _announced(connection, entries)
    boards = _taken(connection, {entry.board for entry in entries})
    boards |= {one.board: match for match, one in announced.items()}
    return _World(
        known,
        announced,
        boards,
        _courses(connection, entries),
        _bots(connection, entries),
        conduct(connection, [result for result in new if result.is_rated and not result.void]),
        connection.scalar(select(func.coalesce(func.max(MATCHES.c.number), 0))) or 0,
    )


def _announced(connection: Connection, entries: Sequence[MatchResult | Announcement]) -> dict[str, _Announced]:
    """What was announced of these matches, or of others with one of these boards, and is not over."""
    matches, boards = {entry.match for entry in entries}, {entry.board for entry in entries}
    query = (
        select(OPEN_MATCHES.c.match_id, OPEN_MATCHES.c.versions, BOARDS)
        .join(BOARDS, BOARDS.c.id == OPEN_MATCHES.c.board_id)
        .where(or_(OPEN_MATCHES.c.match_id.in_(sorted(matches)), OPEN_MATCHES.c.board_id.in_(sorted(boards))))
    )
    return {
        row.match_id: _Announced(
            row.id, row.ladder_id, Deal(row.commitment, row.seed, row.params), tuple(json.loads(row.versions))
        )
        for row in connection.execute(query)
    }


def _taken(connection: Connection, boards: Set[str]) -> dict[str, str]:
    """The match of each of these boards that has one."""
    query = select(MATCHES.c.board_id, MATCHES.c.id).where(MATCHES.c.board_id.in_(sorted(boards)))
    return {row.board_id: row.id for row in connection.execute(query)}


def _bots(connection: Connection, entries: Sequence[MatchResult | Announcement]) -> dict[int, int]:
    """The bot of each of these versions that is known."""
    wanted = {version for entry in entries for version in _versions(entry)}
    query = select(VERSIONS.c.id, VERSIONS.c.bot_id).where(VERSIONS.c.id.in_(sorted(wanted)))
    return {row.id: row.bot_id for row in connection.execute(query)}


def _courses(connection: Connection, entries: Sequence[MatchResult | Announcement]) -> dict[str, _Course]:
    """Where each ladder of these entries stands, by name; ladders that do not exist are left out."""
    seated: dict[str, set[int]] = {}
    for entry in entries:
        seated.setdefault(entry.ladder, set()).update(_versions(entry))
    courses = {}
    for ladder in connection.execute(select(LADDERS).where(LADDERS.c.name.in_(sorted(seated)))):
        last = select(func.coalesce(func.max(BOARDS.c.sequence), 0)).where(BOARDS.c.ladder_id == ladder.id)
        standings = _standings(connection, ladder.id, seated[ladder.name])
        parents = _parents(connection, seated[ladder.name] - standings.keys())
        if parents:
            standings |= _standings(connection, ladder.id, parents.keys() - standings.keys())
        epoch, settings = epoch_of(connection, ladder.id)
        sequence: int = connection.scalar(last) or 0
        courses[ladder.name] = _Course(ladder.id, ladder.seats, epoch, settings, sequence, standings, parents)
    return courses


def _standings(connection: Connection, ladder_id: int, versions: Set[int]) -> dict[int, Standing]:
    ratings = select(RATINGS).where(RATINGS.c.ladder_id == ladder_id, RATINGS.c.version_id.in_(sorted(versions)))
    return {
        row.version_id: Standing(
            Skill(row.mu, row.sigma), row.matches, row.wins, row.faulted, row.sequence, tuple(row.form)
        )
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
