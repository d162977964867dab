"""From names to ids, which stay inside; whoever asks for what is not there is told so by name."""

from __future__ import annotations

from sqlalchemy import Connection, select

from cutpurse.leaderboard.errors import NotFound
from cutpurse.leaderboard.relations import BOTS, LADDERS, OWNERS, VERSIONS

__all__ = ["bot_id_of", "ladder_id_of", "versions_of"]


def ladder_id_of(connection: Connection, ladder: str) -> int:
    """The id of a ladder.  Raises NotFound."""
    found = connection.scalar(select(LADDERS.c.id).where(LADDERS.c.name == ladder))
    if found is None:
        raise NotFound(f"there is no ladder {ladder!r:.300}")
    assert isinstance(found, int)
    return found


def bot_id_of(connection: Connection, owner: str, bot: str) -> int:
    """The id of a bot.  Raises NotFound."""
    query = select(BOTS.c.id).join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
    found = connection.scalar(query.where(OWNERS.c.name == owner, BOTS.c.name == bot))
    if found is None:
        raise NotFound(f"owner {owner!r:.300} has no bot {bot!r:.300}")
    assert isinstance(found, int)
    return found


def versions_of(connection: Connection, owner: str, bot: str | None, version: str | None) -> list[int]:
    """The ids of a version of a bot, of all its versions, or of all bots of an owner.  Raises NotFound."""
    query = (
        select(VERSIONS.c.id)
        .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
        .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
        .where(OWNERS.c.name == owner)
    )
    if bot is not None:
        query = query.where(BOTS.c.name == bot)
    if version is not None:
        query = query.where(VERSIONS.c.label == version)
    if found := list(connection.scalars(query)):
        return found
    if bot is None:
        raise NotFound(f"owner {owner!r:.300} has no bot")
    bot_id_of(connection, owner, bot)
    raise NotFound(f"bot {bot!r:.300} of owner {owner!r:.300} has no version {version!r:.300}")
