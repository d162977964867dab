"""The writer of the ledger: announcements, and results with the ratings that follow from them.

Every function works in the transaction of its connection and leaves it open. The transaction must hold the write lock,
because values read here (is this match new? what is the next number?) decide what is written. This module knows no
thread and no file.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sqlalchemy import Connection, delete, func, select, update

from cutpurse.leaderboard.comparisons import Comparison, comparisons_of, kind_of, why_incompatible
from cutpurse.leaderboard.decision_logs import COMPRESSION, pack_courses, pack_notes
from cutpurse.leaderboard.dialects import driver_sql
from cutpurse.leaderboard.errors import InvalidEntry, LedgerCorrupt
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.rating_state import RatingState, standing_of, step
from cutpurse.leaderboard.relations import (
    BOARDS,
    CHANGES,
    COURSES,
    MATCHES,
    NOTES,
    OPEN_MATCHES,
    PAUSES,
    RATINGS,
    SEATS,
    USAGES,
)
from cutpurse.leaderboard.results import Change, FinishedMatch, Identity, MatchAnnouncement, StoreOutcome
from cutpurse.leaderboard.rows import add_rows, stamp
from cutpurse.leaderboard.write_hooks import MatchesAnnounced, ResultsWritten, send
from cutpurse.leaderboard.write_state import (
    AnnouncedMatch,
    BoardState,
    LadderState,
    StoredVersion,
    World,
    load_write_state,
)

__all__ = ["LastCommit", "write"]

MOST_KNOWN: Final = 10_000  # versions whose IDs are cached


@dataclass(slots=True)
class LastCommit:
    """Cached values of the database as of the last commit. Clear them if a transaction fails.

    Attributes:
        rated: Number of rated boards by ladder ID.
        versions: IDs of versions.
    """

    rated: dict[int, int] = field(default_factory=dict)
    versions: dict[Identity, int] = field(default_factory=dict)

    def clear(self) -> None:
        """Drop all values."""
        self.rated.clear()
        self.versions.clear()


# -- pending rows
@dataclass(slots=True)
class _PendingRows:
    """The rows to write, by table."""

    boards: dict[str, dict[str, object]] = field(default_factory=dict)  # new boards, by ID
    rated: list[tuple[int, int, str]] = field(default_factory=list)  # sequence, epoch, ID of existing boards to rate
    nonces: list[tuple[str, str]] = field(default_factory=list)  # nonces and ID of existing boards
    over: list[str] = field(default_factory=list)  # existing boards of several matches that are over now
    open: dict[str, dict[str, object]] = field(default_factory=dict)  # new open matches, by ID
    closed: list[str] = field(default_factory=list)  # IDs of open matches to delete
    matches: list[dict[str, object]] = field(default_factory=list)
    seats: list[dict[str, object]] = field(default_factory=list)
    courses: list[dict[str, object]] = field(default_factory=list)
    notes: list[dict[str, object]] = field(default_factory=list)
    usages: list[dict[str, object]] = field(default_factory=list)
    changes: list[dict[str, object]] = field(default_factory=list)
    stored: list[tuple[FinishedMatch, int]] = field(default_factory=list)  # results with their numbers, not a table
    announced: list[MatchAnnouncement] = field(default_factory=list)  # newly announced matches, not a table


def write(
    connection: Connection, entries: Sequence[FinishedMatch | MatchAnnouncement], last: LastCommit
) -> list[StoreOutcome | InvalidEntry | None]:
    """Write announcements and results in the order of `entries`, and rate the boards that are complete.

    Missing versions are created. An entry that is stored already changes nothing, and a result gets its first answer
    again. The answer to an invalid entry is an InvalidEntry, which is not raised, so that the other entries are stored.

    Args:
        connection: Connection in a transaction that holds the write lock.
        entries: Announcements and results.
        last: Cached values, which are completed and updated.

    Returns:
        The answer to each entry; None for an announcement.

    Raises:
        LedgerCorrupt: If the sequence numbers of a ladder have a gap, before or after the write.
        InvalidEntry: If a name is invalid.
        Exception: What making a record raises.
    """
    world = load_write_state(connection, entries, _version_ids(connection, entries, last.versions))
    rated = last.rated
    for name, ladder in world.ladders.items():
        _check_before(connection, name, ladder, rated)
    rows = _PendingRows()
    answers: list[StoreOutcome | InvalidEntry | None] = []
    for entry in entries:
        if entry.match in world.known:
            answers.append(world.known[entry.match] if isinstance(entry, FinishedMatch) else None)
        elif problem := _problem(entry, world):
            answers.append(InvalidEntry(f"match {entry.match}: {problem}"))
        elif isinstance(entry, MatchAnnouncement):
            _announce(entry, world, rows)
            answers.append(None)
        else:
            answers.append(_store(entry, world, rows))
    _insert(connection, rows, world)
    for name, ladder in world.ladders.items():
        if ladder.added:
            _check_after(connection, name, ladder, rated)
    if rows.announced:
        send(connection, MatchesAnnounced(rows.announced))
    send(connection, ResultsWritten(rows.stored, world.ids, world.conduct.pauses))
    return answers


def _version_ids(
    connection: Connection, entries: Sequence[FinishedMatch | MatchAnnouncement], known: dict[Identity, int]
) -> dict[Identity, int]:
    """Return the IDs of the versions in these matches, creating missing ones.  Raises InvalidEntry."""
    ids = {}
    for entry in entries:
        for player in entry.players:
            if player in known:
                ids[player] = known[player]
            elif player not in ids:
                ids[player] = ensure_version(connection, *player, created=entry.started)
    if len(known) >= MOST_KNOWN:
        known.clear()
    known.update(ids)
    return ids


# -- consistency of the ledger
def _check_before(connection: Connection, name: str, ladder: LadderState, rated: dict[int, int]) -> None:
    """Check that the last sequence number equals the number of rated boards.  Raises LedgerCorrupt."""
    if ladder.id not in rated:  # counted only once, because the time grows with the number of boards
        count = select(func.count(BOARDS.c.sequence)).where(BOARDS.c.ladder_id == ladder.id)
        rated[ladder.id] = connection.scalar(count) or 0
    if rated[ladder.id] != ladder.sequence:
        raise LedgerCorrupt(name)


def _check_after(connection: Connection, name: str, ladder: LadderState, rated: dict[int, int]) -> None:
    """Check the numbers of new rated boards, and the number of their changes.  Raises LedgerCorrupt."""
    before = rated[ladder.id]
    new = (BOARDS.c.ladder_id == ladder.id) & (BOARDS.c.sequence > before)
    boards, last = connection.execute(select(func.count(), func.max(BOARDS.c.sequence)).where(new)).one()
    new = (CHANGES.c.ladder_id == ladder.id) & (CHANGES.c.sequence > before)
    changes = connection.scalar(select(func.count()).select_from(CHANGES).where(new))
    after = before + ladder.added
    if (boards, last, changes) != (ladder.added, after, ladder.added_changes):
        raise LedgerCorrupt(name)
    rated[ladder.id] = after


# -- single entries
def _problem(entry: FinishedMatch | MatchAnnouncement, world: World) -> str | None:
    """Explain why an entry is invalid, or return None."""
    ladder = world.ladders.get(entry.ladder)
    if ladder is None:
        return f"there is no ladder {entry.ladder!r:.300}"
    versions = world.seated(entry)
    if len(versions) != ladder.seats:
        return f"it has {len(versions)} seats, and ladder {entry.ladder} has {ladder.seats}"
    announced = world.announced.get(entry.match)
    if announced is not None:
        if announced != AnnouncedMatch(ladder.id, entry.deal.announced, versions, entry.board_matches):
            return "it was announced with another ladder, board, deal or other seats"
        return None
    board = world.boards.get(entry.deal.board)
    if board is not None and len(board.versions) >= board.matches:
        has = "its match" if board.matches == 1 else f"its {board.matches} matches"
        return f"board {entry.deal.board} has {has} already, {', '.join(board.versions)}"
    if board is not None and (board.ladder_id, board.deal, board.matches) != (
        ladder.id,
        entry.deal.announced,
        entry.board_matches,
    ):
        return f"board {entry.deal.board} has another ladder, another deal or another number of matches"
    others = board.versions.values() if board is not None else ()
    kind = kind_of(ladder.boards, entry.board_matches, entry.is_rated)
    return why_incompatible(kind, entry.board_matches, versions, others)


def _announce(entry: MatchAnnouncement, world: World, rows: _PendingRows) -> None:
    if entry.match in world.announced:
        return
    ladder, versions = world.ladders[entry.ladder], world.seated(entry)
    world.announced[entry.match] = AnnouncedMatch(ladder.id, entry.deal.announced, versions, entry.board_matches)
    _seat(entry, ladder.id, world, rows)
    rows.announced.append(entry)
    rows.open[entry.match] = {
        "match_id": entry.match,
        "board_id": entry.deal.board,
        "rules": entry.rules,
        "started": stamp(entry.started),
        "versions": str(list(versions)),  # a list of integers is valid JSON
        "requested_by": entry.requested_by,
        "reason": entry.reason,
    }


def _store(result: FinishedMatch, world: World, rows: _PendingRows) -> StoreOutcome:
    ladder = world.ladders[result.ladder]
    world.number += 1
    board = _seat(result, ladder.id, world, rows)
    board.over.append(_sat(result, world))
    answer = StoreOutcome()
    if result.is_rated and not result.is_void:
        paused = world.conduct.note(result, world.seated(result), world.number)
        if matches := board.counts():
            changes = _rate(comparisons_of(ladder.boards, matches), ladder, world.versions, rows)
            order = sorted(changes) if len(matches) > 1 else changes
            answer = StoreOutcome(ladder.sequence, tuple(changes[version] for version in order), paused)
        else:
            answer = replace(answer, paused=paused)
    _note_board(result, ladder, answer.sequence, world, rows)
    _note(result, ladder.id, world, rows)
    rows.stored.append((result, world.number))
    world.known[result.match] = answer
    return answer


def _seat(entry: FinishedMatch | MatchAnnouncement, ladder_id: int, world: World, rows: _PendingRows) -> BoardState:
    """Return the board of a match, and add the match to it."""
    board = world.boards.get(entry.deal.board)
    if board is None:
        board = world.boards[entry.deal.board] = BoardState(ladder_id, entry.deal.announced, entry.board_matches)
        rows.boards[entry.deal.board] = _board(entry, ladder_id)
    board.versions[entry.match] = world.seated(entry)
    return board


def _sat(result: FinishedMatch, world: World) -> Comparison | None:
    """Return the places and faults of a match; None if it is void."""
    if result.is_void:
        return None
    places, faults = zip(*((seat.place or 0, seat.faults) for seat in result.seats), strict=True)
    return Comparison(world.seated(result), places, faults)


def _rate(
    fields: Sequence[Comparison], ladder: LadderState, bots: Mapping[int, StoredVersion], rows: _PendingRows
) -> dict[int, Change]:
    """Rate the next board of the ladder, and return the changes by version ID."""
    ladder.added += 1
    ladder.sequence += 1
    changes: dict[int, Change] = {}
    for versions, places, faults in fields:
        before = [standing_of(version, ladder.standings, ladder.parents, ladder.settings) for version in versions]
        after = step(before, places, faults, ladder.settings, ladder.sequence)
        ladder.standings.update(zip(versions, after, strict=True))
        ladder.changed.update(versions)
        ladder.encounters.add([bots[version].bot_id for version in versions], places)
        for version, old, new in zip(versions, before, after, strict=True):
            changes[version] = Change(bots[version].player, old.skill, new.skill)
            rows.changes.append(
                {
                    "ladder_id": ladder.id,
                    "sequence": ladder.sequence,
                    "version_id": version,
                    "mu_before": old.skill.mu,
                    "sigma_before": old.skill.sigma,
                    "mu_after": new.skill.mu,
                    "sigma_after": new.skill.sigma,
                }
            )
    ladder.added_changes += len(changes)
    return changes


def _note_board(
    result: FinishedMatch, ladder: LadderState, sequence: int | None, world: World, rows: _PendingRows
) -> None:
    """Update the board of a result."""
    is_announced = world.announced.pop(result.match, None) is not None
    if is_announced and rows.open.pop(result.match, None) is None:  # announced in an earlier transaction
        rows.closed.append(result.match)
    board = world.boards[result.deal.board]
    row = rows.boards.get(result.deal.board)
    nonces = None if result.deal.nonces is None else result.deal.nonces.to_json()
    if row is not None:
        row["is_sealed"] = not board.is_over
        row["nonces"] = nonces or row["nonces"]
        if sequence is not None:
            row.update(sequence=sequence, epoch=ladder.epoch)
        return
    if nonces is not None:
        rows.nonces.append((nonces, result.deal.board))
    if sequence is not None:
        rows.rated.append((sequence, ladder.epoch, result.deal.board))
    if board.matches > 1 and board.is_over:
        rows.over.append(result.deal.board)


def _board(entry: FinishedMatch | MatchAnnouncement, ladder_id: int) -> dict[str, object]:
    return {
        "id": entry.deal.board,
        "ladder_id": ladder_id,
        "sequence": None,
        "epoch": None,
        "commitment": entry.deal.commitment,
        "seed": entry.deal.seed,
        "params": entry.deal.params,
        "nonces": None,
        "matches": entry.board_matches,
        "is_sealed": entry.board_matches > 1,
    }


def _note(result: FinishedMatch, ladder_id: int, world: World, rows: _PendingRows) -> None:
    """Add the rows of a match and its seats.  Raises what making its record raises."""
    number, record = world.number, result.record()
    rows.matches.append(
        {
            "number": number,
            "id": result.match,
            "board_id": result.deal.board,
            "ladder_id": ladder_id,
            "rules": result.rules,
            "started": stamp(result.started),
            "finished": stamp(result.finished),
            "decisions": result.decisions,
            "void_cause": result.void_cause,
            "is_rated": result.is_rated,
            "requested_by": result.requested_by,
            "reason": result.reason,
            "is_faulted": any(seat.faults for seat in result.seats),
            "record": zlib.compress(record.encode(), COMPRESSION) if record else None,
        }
    )
    rows.seats += [
        {
            "match_number": number,
            "seat": seat,
            "ladder_id": ladder_id,
            "version_id": world.ids[taken.player],
            "place": taken.place,
            "score": taken.score,
            "end_cause": taken.end_cause,
            "faults": taken.faults,
            "thinking_ms": taken.thinking_ms,
            "cpu_ms": taken.cpu_ms,
            "peak_bytes": taken.peak_bytes,
            "memory": taken.memory,
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
    rows.usages += [
        {
            "match_number": number,
            "seat": seat,
            "ladder_id": ladder_id,
            "version_id": world.ids[taken.player],
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cost_micros": usage.cost_micros,
            "fallbacks": usage.fallbacks,
            "model": usage.model,
        }
        for seat, taken in enumerate(result.seats)
        if taken.course is not None and (usage := taken.course.usage) is not None
    ]


# -- all rows, parents before children
def _insert(connection: Connection, rows: _PendingRows, world: World) -> None:
    if rows.closed:
        connection.execute(delete(OPEN_MATCHES).where(OPEN_MATCHES.c.match_id.in_(rows.closed)))
    add_rows(connection, BOARDS, list(rows.boards.values()))
    if rows.rated:
        connection.exec_driver_sql(driver_sql(connection, _RATE), rows.rated)
    if rows.nonces:
        connection.exec_driver_sql(driver_sql(connection, _GIVE), rows.nonces)
    if rows.over:
        connection.execute(update(BOARDS).where(BOARDS.c.id.in_(rows.over)).values(is_sealed=False))
    for relation, several in (
        (OPEN_MATCHES, list(rows.open.values())),
        (MATCHES, rows.matches),
        (SEATS, rows.seats),
        (COURSES, rows.courses),
        (NOTES, rows.notes),
        (USAGES, rows.usages),
        (CHANGES, rows.changes),
        (PAUSES, world.conduct.pauses),
    ):
        add_rows(connection, relation, several)
    for ladder in world.ladders.values():
        changed = [
            {"ladder_id": ladder.id, "version_id": version, **_columns(ladder.standings[version])}
            for version in sorted(ladder.changed)
        ]
        add_rows(connection, RATINGS, changed, replaces=True)
        met = [
            (ladder.id, bot, other, tally.matches, tally.ahead, tally.level)
            for (bot, other), tally in sorted(ladder.encounters.items())
        ]
        if met:
            connection.exec_driver_sql(driver_sql(connection, _MEET), met)


_RATE: Final = "UPDATE boards SET sequence = ?, epoch = ? WHERE id = ?"
_GIVE: Final = "UPDATE boards SET nonces = ? WHERE id = ?"
_MEET: Final = """
INSERT INTO opponents (ladder_id, bot_id, other_id, matches, ahead, level) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (bot_id, ladder_id, other_id) DO UPDATE SET
matches = opponents.matches + excluded.matches, ahead = opponents.ahead + excluded.ahead,
level = opponents.level + excluded.level
"""


def _columns(standing: RatingState) -> dict[str, object]:
    return {
        "mu": standing.skill.mu,
        "sigma": standing.skill.sigma,
        "matches": standing.matches,
        "wins": standing.wins,
        "faulted": standing.faulted,
        "sequence": standing.sequence,
        "form": bytes(standing.form),
    }
