"""The known bots with their versions and pauses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from cutpurse.leaderboard.queries.names import ladder_id_of
from cutpurse.leaderboard.relations import BOTS, LADDERS, OWNERS, PAUSES, RATINGS, VERSIONS

__all__ = ["BotEntry", "Pause", "bots", "pause"]


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of a version; `cause` explains it to the owner, and `lifted` is its end, None while it lasts."""

    version_id: int
    since: datetime
    cause: str
    lifted: datetime | None


@dataclass(frozen=True, slots=True)
class BotEntry:
    """A version of a bot.

    `created` is None for versions older than that column. `ladders` are the names of the ladders that rated the
    version. `paused` is its current pause, if any. `declines_people` is whether people may not pick the bot, and
    `publishes_notes` whether everybody may see its notes; both are about all its versions.
    """

    owner: str
    bot: str
    version: str
    version_id: int
    created: datetime | None
    ladders: tuple[str, ...]
    paused: Pause | None
    declines_people: bool
    publishes_notes: bool


def bots(connection: Connection, owner: str | None = None, ladder: str | None = None) -> list[BotEntry]:
    """List versions by owner, bot and age.

    Args:
        connection: Connection to read from.
        owner: Only versions of this owner; none if the owner is unknown.
        ladder: Only versions rated on this ladder.

    Raises:
        NoSuchEntry: If there is no such ladder.
    """
    whose = [] if owner is None else [OWNERS.c.name == owner]
    query = (
        select(
            OWNERS.c.name.label("owner"),
            BOTS.c.name.label("bot"),
            *BOTS.c["declines_people", "publishes_notes"],
            VERSIONS,
        )
        .select_from(VERSIONS.join(BOTS, BOTS.c.id == VERSIONS.c.bot_id).join(OWNERS, OWNERS.c.id == BOTS.c.owner_id))
        .where(*whose)
        .order_by(OWNERS.c.name, BOTS.c.name, VERSIONS.c.id)
    )
    if ladder is not None:
        rated_here = select(RATINGS.c.version_id).where(RATINGS.c.ladder_id == ladder_id_of(connection, ladder))
        query = query.where(VERSIONS.c.id.in_(rated_here))
    where = (
        select(RATINGS.c.version_id, LADDERS.c.name)
        .join(LADDERS, LADDERS.c.id == RATINGS.c.ladder_id)
        .where(RATINGS.c.version_id.in_(select(query.order_by(None).subquery().c.id)))
        .order_by(LADDERS.c.name)
    )
    rated: dict[int, list[str]] = {}
    for version_id, name in connection.execute(where).all():
        rated.setdefault(version_id, []).append(name)
    paused = {
        row.version_id: _pause(row) for row in connection.execute(select(PAUSES).where(PAUSES.c.lifted.is_(None))).all()
    }
    return [
        BotEntry(
            row.owner,
            row.bot,
            row.label,
            row.id,
            row.created,
            tuple(rated.get(row.id, ())),
            paused.get(row.id),
            row.declines_people,
            row.publishes_notes,
        )
        for row in connection.execute(query).all()
    ]


def pause(connection: Connection, pause_id: int) -> Pause:
    """Return the pause with this id, which must exist."""
    return _pause(connection.execute(select(PAUSES).where(PAUSES.c.id == pause_id)).one())


def _pause(row: Row[*tuple[Any, ...]]) -> Pause:
    return Pause(row.version_id, row.since, row.cause, row.lifted)
