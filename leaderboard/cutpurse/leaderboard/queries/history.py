"""How the rating of a bot came about, board by board and opponent by opponent, and how it did against the others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, bindparam, func, select

from cutpurse.leaderboard.boards import PLAIN, Sat, fields_of
from cutpurse.leaderboard.queries.names import bot_id_of, ladder_id_of, versions_of
from cutpurse.leaderboard.ratings import Skill, TrueSkill, likely_ahead
from cutpurse.leaderboard.relations import BOTS, EPOCHS, LADDERS, OPPONENTS, OWNERS, RATINGS

__all__ = ["HistoryStep", "Opponent", "StepOpponent", "history", "opponents"]

_NEWEST: Final = 2**63 - 1  # above every number


class StepOpponent(NamedTuple):
    """One of those against whom a version was rated on a board.

    before: what was believed of it. likely: how likely it was that the version would be ahead of it, by the numbers of
    the ladder then, ties counted half. outcome: 1, it was ahead; 0, they shared a place; -1, it was behind.
    """

    owner: str
    bot: str
    version: str
    before: Skill
    likely: float
    outcome: int


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """What one board made of a rating; `number` counts the rated boards of the ladder.

    match: the last of the board in which the version sat, of `matches`, and when it was over. place: among those
    against whom it was rated.
    """

    number: int
    match: str
    finished: datetime
    version: str
    place: int
    before: Skill
    after: Skill
    matches: tuple[str, ...]
    opponents: tuple[StepOpponent, ...]


@dataclass(frozen=True, slots=True)
class Opponent:
    """How a bot did against another, all versions of both together.

    matches: rated ones of both; ahead: in which it was ahead of the other; level: in which they shared a place.
    """

    owner: str
    bot: str
    matches: int
    ahead: int
    level: int


_VERSIONS: Final = func.json_each(bindparam("versions")).table_valued("value")
_LAST: Final = (
    select(RATINGS.c.version_id, RATINGS.c.sequence)
    .where(RATINGS.c.ladder_id == bindparam("ladder"), RATINGS.c.version_id.in_(select(_VERSIONS.c.value)))
    .order_by(RATINGS.c.sequence.desc())
)
# The changes of a version, the newest first; and all who sat on boards. SQLite is told in which order to join: it does
# not know that a board has few seats, and would look through all seats of a version for each board.
_CHANGES: Final = """
SELECT sequence, mu_before, sigma_before, mu_after, sigma_after FROM rating_changes
WHERE ladder_id = ? AND version_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?
"""
_SAT: Final = """
SELECT boards.sequence, matches.number, seats.version_id, seats.place, matches.id, matches.finished, boards.epoch,
  owners.name, bots.name, versions.label, rating_changes.mu_before, rating_changes.sigma_before
FROM json_each(?) AS asked
  CROSS JOIN boards ON boards.ladder_id = ? AND boards.sequence = asked.value
  CROSS JOIN matches ON matches.board_id = boards.id
  CROSS JOIN seats ON seats.match_number = matches.number
  CROSS JOIN versions ON versions.id = seats.version_id
  CROSS JOIN bots ON bots.id = versions.bot_id
  CROSS JOIN owners ON owners.id = bots.owner_id
  LEFT JOIN rating_changes ON rating_changes.ladder_id = boards.ladder_id
    AND rating_changes.sequence = boards.sequence AND rating_changes.version_id = seats.version_id
ORDER BY boards.sequence DESC, matches.number, seats.seat
"""


def history(
    connection: Connection,
    ladder: str,
    owner: str,
    bot: str,
    version: str | None = None,
    limit: int = 100,
    before: int | None = None,
) -> list[HistoryStep]:
    """The rated boards of a version, or of all versions of a bot, the newest first.

    `before` is the number of the last step of the page before. Raises NotFound.
    """
    ladder_id = ladder_id_of(connection, ladder)
    versions = versions_of(connection, owner, bot, version)
    changes: list[tuple[int, int, Skill, Skill]] = []  # number, version, before and after
    # From the version that played last on: as soon as the page is full and all others are older, it is done.
    for version_id, last in connection.execute(_LAST, {"ladder": ladder_id, "versions": json.dumps(versions)}).all():
        if len(changes) >= limit and changes[limit - 1][0] > last:
            break
        asked = (ladder_id, version_id, before or _NEWEST, limit)
        for number, *skills in connection.exec_driver_sql(_CHANGES, asked):
            changes.append((number, version_id, Skill(*skills[:2]), Skill(*skills[2:])))
        changes.sort(key=lambda change: -change[0])
    boards = _boards(connection, ladder_id, {number for number, *_ in changes[:limit]})
    return [_step(boards[number], version_id, was, now) for number, version_id, was, now in changes[:limit]]


class _Board(NamedTuple):
    """What is known of a rated board: its numbers, and who sat there, match by match."""

    number: int
    kind: str
    settings: TrueSkill
    matches: Sequence[Sequence[Any]]


def _boards(connection: Connection, ladder_id: int, numbers: set[int]) -> Mapping[int, _Board]:
    kind = connection.scalar(select(LADDERS.c.boards).where(LADDERS.c.id == ladder_id)) or PLAIN
    epochs = {
        row.number: TrueSkill.from_json(row.settings)
        for row in connection.execute(select(EPOCHS).where(EPOCHS.c.ladder_id == ladder_id))
    }
    rows = connection.exec_driver_sql(_SAT, (json.dumps(sorted(numbers)), ladder_id)).all()
    found = {}
    for number, of_board in groupby(rows, lambda row: row[0]):
        matches = [list(of_match) for _, of_match in groupby(of_board, lambda row: row[1])]
        found[number] = _Board(number, kind, epochs[matches[0][0][6]], matches)
    return found


def _step(board: _Board, version: int, before: Skill, after: Skill) -> HistoryStep:
    """What a board made of a version."""
    sat = [Sat(tuple(r[2] for r in rows), tuple(r[3] for r in rows), (0,) * len(rows)) for rows in board.matches]
    (field,) = [field for field in fields_of(board.kind, sat) if version in field.versions]
    place = field.places[field.versions.index(version)]
    of_version = {row[2]: row for rows in board.matches for row in rows}
    others = []
    for other, its in zip(field.versions, field.places, strict=True):
        row = of_version[other]
        if other != version and row[10] is not None:  # or somebody changed the file
            skill = Skill(row[10], row[11])
            likely = likely_ahead(before, skill, board.settings)
            others.append(StepOpponent(row[7], row[8], row[9], skill, likely, (its > place) - (its < place)))
    mine = [next(row for row in rows if row[2] == version) for rows in board.matches if version in {r[2] for r in rows}]
    finished = datetime.fromisoformat(mine[-1][5]).replace(tzinfo=UTC)
    return HistoryStep(
        board.number,
        mine[-1][4],
        finished,
        mine[-1][9],
        place,
        before,
        after,
        tuple(row[4] for row in mine),
        tuple(others),
    )


_MET: Final = (
    select(OPPONENTS.c.other_id.label("id"), OPPONENTS.c.matches, OPPONENTS.c.ahead, OPPONENTS.c.level)
    .where(OPPONENTS.c.bot_id == bindparam("bot"), OPPONENTS.c.ladder_id == bindparam("ladder"))
    .union_all(
        select(
            OPPONENTS.c.bot_id,
            OPPONENTS.c.matches,
            OPPONENTS.c.matches - OPPONENTS.c.ahead - OPPONENTS.c.level,
            OPPONENTS.c.level,
        ).where(OPPONENTS.c.other_id == bindparam("bot"), OPPONENTS.c.ladder_id == bindparam("ladder"))
    )
    .subquery()
)
_OPPONENTS: Final = select(OWNERS.c.name, BOTS.c.name, _MET.c.matches, _MET.c.ahead, _MET.c.level).select_from(
    _MET.join(BOTS, BOTS.c.id == _MET.c.id).join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
)


def opponents(connection: Connection, ladder: str, owner: str, bot: str) -> list[Opponent]:
    """Whom a bot met on a ladder, those it met most often first.  Raises NotFound."""
    asked = {"ladder": ladder_id_of(connection, ladder), "bot": bot_id_of(connection, owner, bot)}
    met = [Opponent(*row) for row in connection.execute(_OPPONENTS, asked).all()]
    met.sort(key=lambda opponent: (-opponent.matches, opponent.owner, opponent.bot))
    return met
