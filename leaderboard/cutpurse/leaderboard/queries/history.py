"""How the rating of a bot came about, and how it did against the others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, func, select

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


_VERSIONS: Final = func.json_each(bindparam("versions")).table_valued("value")
_LAST: Final = (
    select(RATINGS.c.version_id, RATINGS.c.sequence)
    .where(RATINGS.c.ladder_id == bindparam("ladder"), RATINGS.c.version_id.in_(select(_VERSIONS.c.value)))
    .order_by(RATINGS.c.sequence.desc())
)
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
    steps: list[HistoryStep] = []
    # From the version that played last on: as soon as the page is full and all others are older, it is done.
    for version_id, last in connection.execute(_LAST, {"ladder": ladder_id, "versions": json.dumps(versions)}).all():
        if len(steps) >= limit and steps[limit - 1].number > last:
            break
        asked = {"ladder": ladder_id, "version": version_id, "before": before or _NEWEST, "most": limit}
        for row in connection.execute(_STEPS, asked).all():
            number, match, finished, label, place, mu_before, sigma_before, mu_after, sigma_after = row
            before_it, after_it = Skill(mu_before, sigma_before), Skill(mu_after, sigma_after)
            steps.append(HistoryStep(number, match, finished, label, place, before_it, after_it))
        steps.sort(key=lambda step: -step.number)
    return steps[:limit]


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
