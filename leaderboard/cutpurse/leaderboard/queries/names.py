"""Lookups of IDs by names; an error names what does not exist."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, bindparam, select

from cutpurse.leaderboard.errors import NoSuchEntry
from cutpurse.leaderboard.relations import BOTS, LADDERS, OWNERS, VERSIONS

__all__ = ["bot_id_of", "ladder_id_of", "versions_of"]


_LADDER: Final = select(LADDERS.c.id).where(LADDERS.c.name == bindparam("ladder"))
_BOT: Final = (
    select(BOTS.c.id)
    .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
    .where(OWNERS.c.name == bindparam("owner"), BOTS.c.name == bindparam("bot"))
)
_OF_OWNER: Final = (
    select(VERSIONS.c.id)
    .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
    .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
    .where(OWNERS.c.name == bindparam("owner"))
)
_OF_BOT: Final = _OF_OWNER.where(BOTS.c.name == bindparam("bot"))
_VERSION: Final = _OF_BOT.where(VERSIONS.c.label == bindparam("version"))


def ladder_id_of(connection: Connection, ladder: str) -> int:
    """Return the ID of a ladder.  Raises NoSuchEntry."""
    ladder_id = connection.scalar(_LADDER, {"ladder": ladder})
    if ladder_id is None:
        raise NoSuchEntry(f"there is no ladder {ladder!r:.300}")
    assert isinstance(ladder_id, int)
    return ladder_id


def bot_id_of(connection: Connection, owner: str, bot: str) -> int:
    """Return the ID of a bot.  Raises NoSuchEntry."""
    bot_id = connection.scalar(_BOT, {"owner": owner, "bot": bot})
    if bot_id is None:
        raise NoSuchEntry(f"owner {owner!r:.300} has no bot {bot!r:.300}")
    assert isinstance(bot_id, int)
    return bot_id


def versions_of(connection: Connection, owner: str, bot: str | None, version: str | None) -> list[int]:
    """List the IDs of one version, of all versions of a bot, or of all bots of an owner.  Raises NoSuchEntry."""
    query = _OF_OWNER if bot is None else _OF_BOT if version is None else _VERSION
    if version_ids := list(connection.scalars(query, {"owner": owner, "bot": bot, "version": version})):
        return version_ids
    if bot is None:
        raise NoSuchEntry(f"owner {owner!r:.300} has no bot")
    bot_id_of(connection, owner, bot)
    raise NoSuchEntry(f"bot {bot!r:.300} of owner {owner!r:.300} has no version {version!r:.300}")
