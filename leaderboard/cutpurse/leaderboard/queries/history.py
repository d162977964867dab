"""How the rating of a bot came about, and how it did against the others."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, select

from cutpurse.leaderboard.queries.names import bot_id_of, ladder_id_of, versions_of
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.relations import (
    BOARDS,
    BOTS,
    CHANGES,
    MATCHES,
    OPPONENTS,
    OWNERS,
    RATINGS,
    SEATS,
    VERSIONS,
)

__all__ = ["HistoryStep", "Opponent", "history", "opponents"]

_NEWEST: Final = 2**63 - 1  # above every number


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """What one match made of a rating; `number` counts the rated boards of the ladder."""

    number: int
    match: str
    finished: datetime
    version: str
    place: int
    before: Skill
    after: Skill


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


_STEPS: Final = (
    select(
        CHANGES.c.sequence,
        MATCHES.c.id,
        MATCHES.c.finished,
        VERSIONS.c.label,
        SEATS.c.place,
        CHANGES.c.mu_before,
        CHANGES.c.sigma_before,
        CHANGES.c.mu_after,
        CHANGES.c.sigma_after,
    )
    .select_from(
        CHANGES.join(BOARDS, (BOARDS.c.ladder_id == CHANGES.c.ladder_id) & (BOARDS.c.sequence == CHANGES.c.sequence))
        .join(MATCHES, MATCHES.c.board_id == BOARDS.c.id)
        .join(SEATS, (SEATS.c.match_number == MATCHES.c.number) & (SEATS.c.version_id == CHANGES.c.version_id))
        .join(VERSIONS, VERSIONS.c.id == CHANGES.c.version_id)
    )
    .where(
        CHANGES.c.ladder_id == bindparam("ladder"),
        CHANGES.c.version_id == bindparam("version"),
        CHANGES.c.sequence < bindparam("before"),
    )
    .order_by(CHANGES.c.sequence.desc())
    .limit(bindparam("most"))
)


def history(
    connection: Connection,
    ladder: str,
    owner: str,
    bot: str,
    version: str | None = None,
    limit: int = 100,
    before: int | None = None,
) -> list[HistoryStep]:
    """The rated matches of a version, or of all versions of a bot, the newest first.

    `before` is the number of the last step of the page before. Raises NotFound.
    """
    ladder_id = ladder_id_of(connection, ladder)
    versions = versions_of(connection, owner, bot, version)
    newest = select(RATINGS.c.version_id, RATINGS.c.sequence).where(
        RATINGS.c.ladder_id == ladder_id, RATINGS.c.version_id.in_(versions)
    )
    steps: list[HistoryStep] = []
    # From the version that played last on: as soon as the page is full and all others are older, it is done.
    for version_id, last in connection.execute(newest.order_by(RATINGS.c.sequence.desc())).all():
        if len(steps) >= limit and steps[limit - 1].number > last:
            break
        asked = {"ladder": ladder_id, "version": version_id, "before": before or _NEWEST, "most": limit}
        for row in connection.execute(_STEPS, asked).all():
            number, match, finished, label, place, *skills = row
            steps.append(HistoryStep(number, match, finished, label, place, Skill(*skills[:2]), Skill(*skills[2:])))
        steps.sort(key=lambda step: -step.number)
    return steps[:limit]


def opponents(connection: Connection, ladder: str, owner: str, bot: str) -> list[Opponent]:
    """Whom a bot met on a ladder, those it met most often first.  Raises NotFound."""
    ladder_id, bot_id = ladder_id_of(connection, ladder), bot_id_of(connection, owner, bot)
    behind = OPPONENTS.c.matches - OPPONENTS.c.ahead - OPPONENTS.c.level
    both = (
        select(OPPONENTS.c.other_id.label("id"), OPPONENTS.c.matches, OPPONENTS.c.ahead, OPPONENTS.c.level)
        .where(OPPONENTS.c.ladder_id == ladder_id, OPPONENTS.c.bot_id == bot_id)
        .union_all(
            select(OPPONENTS.c.bot_id, OPPONENTS.c.matches, behind, OPPONENTS.c.level).where(
                OPPONENTS.c.ladder_id == ladder_id, OPPONENTS.c.other_id == bot_id
            )
        )
        .subquery()
    )
    query = (
        select(OWNERS.c.name, BOTS.c.name, both.c.matches, both.c.ahead, both.c.level)
        .select_from(both.join(BOTS, BOTS.c.id == both.c.id).join(OWNERS, OWNERS.c.id == BOTS.c.owner_id))
        .order_by(both.c.matches.desc(), OWNERS.c.name, BOTS.c.name)
    )
    return [Opponent(*row) for row in connection.execute(query).all()]
