"""The stored owners, their bots, versions and tokens.

Every function works in the transaction of its connection, which must hold the write lock. Only the ID and the hash of
a token are stored. This module knows no thread, no file and no clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy import Table as Relation

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.queries import TokenEntry
from cutpurse.leaderboard.relations import BOTS, OWNERS, TOKENS, VERSIONS
from cutpurse.leaderboard.results import checked_name
from cutpurse.leaderboard.tokens import HOUSE, LINK, NOBODY, PEOPLE, SCOPES, Token, new_token
from cutpurse.leaderboard.write_hooks import BotForgets, send

__all__ = [
    "NewToken",
    "change_bot",
    "create_tokens",
    "ensure_owner",
    "ensure_version",
    "note_uses",
    "redeem_link",
    "revoke_token",
]

_OWNER: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,31}")  # as for names of bots
_LONGEST_LABEL: Final = 200  # characters


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token to create.

    Attributes:
        owner: Name of the owner.
        label: Text for people.
        scopes: What the token permits, of `SCOPES`; with `LINK` beside them, what the token behind the link permits.
        expires: When it expires, with a time zone. Default: never.

    Raises:
        InvalidEntry: If a value is invalid.
    """

    owner: str
    label: str = ""
    scopes: Sequence[str] = ("play", "read")
    expires: datetime | None = None

    def __post_init__(self) -> None:
        if not _OWNER.fullmatch(self.owner):
            raise InvalidEntry(
                f"the name of an owner is {self.owner!r:.100}; it can be 1 to 32 of a-z, 0-9, '_', '-' and '.', "
                "the first a letter or digit"
            )
        if self.owner == NOBODY:
            raise InvalidEntry(f"the owner {NOBODY} is reserved for bots without a token; choose another name")
        if self.owner == HOUSE:
            raise InvalidEntry(f"the owner {HOUSE} is reserved for the server's own bots; choose another name")
        if self.owner == PEOPLE:
            raise InvalidEntry(f"the owner {PEOPLE} is reserved for people who play on the page; choose another name")
        if len(self.label) > _LONGEST_LABEL or not self.label.isprintable():
            raise InvalidEntry(f"the label {self.label!r:.100} can be {_LONGEST_LABEL} printable characters at most")
        if not {*self.scopes} - {LINK}:
            raise InvalidEntry(f"a token needs at least one scope; there are: {', '.join(SCOPES)}")
        for scope in self.scopes:
            if scope not in (*SCOPES, LINK):
                raise InvalidEntry(f"there is no scope {scope!r:.100}; there are: {', '.join(SCOPES)}")
        if self.expires is not None and self.expires.tzinfo is None:
            raise InvalidEntry(f"the token of {self.owner} expires at {self.expires}, which needs a time zone")
        if self.expires is not None and not _is_kept(self.expires):
            raise InvalidEntry(f"the token of {self.owner} expires at {self.expires}, beyond the year 9999")


def _is_kept(moment: datetime) -> bool:
    """Return whether the timestamp exists in UTC, in which it is stored."""
    try:
        moment.astimezone(UTC)
    except OverflowError:
        return False
    return True


# -- names
def ensure_owner(connection: Connection, owner: str) -> int:
    """Return the ID of an owner, creating them if new.  Raises InvalidEntry if the name is invalid."""
    return _ensure(connection, OWNERS, {"name": checked_name("the name of an owner", owner)})


def ensure_version(connection: Connection, owner: str, bot: str, version: str, created: datetime | None = None) -> int:
    """Return the ID of a version, creating the version, its bot and its owner if new.

    The parent of a new version is the newest version of the bot.

    Args:
        connection: Connection in a transaction.
        owner: Name of the owner.
        bot: Name of the bot.
        version: Label of the version.
        created: Creation time to store for a new version.

    Raises:
        InvalidEntry: If a name is invalid.
    """
    owner_id = ensure_owner(connection, owner)
    bot_id = _ensure(connection, BOTS, {"owner_id": owner_id, "name": checked_name("the name of a bot", bot)})
    row = {"bot_id": bot_id, "label": checked_name("the label of a version", version)}
    row_id = _found(connection, VERSIONS, row)
    if row_id is not None:
        return row_id
    parent = connection.scalar(select(func.max(VERSIONS.c.id)).where(VERSIONS.c.bot_id == bot_id))
    return _made(connection, VERSIONS, {**row, "parent_id": parent, "created": created})


def change_bot(
    connection: Connection,
    owner: str,
    bot: str,
    *,
    declines_people: bool | None = None,
    publishes_notes: bool | None = None,
    forgets_on: str = "",
) -> None:
    """Change the settings of a bot that are given, None stays; nothing changes if there is no such bot.

    Args:
        connection: Connection in a transaction.
        owner: Name of the owner.
        bot: Name of the bot.
        declines_people: Whether people may not pick it as an opponent.
        publishes_notes: Whether everybody may see its notes beside replays.
        forgets_on: Ladder on which its memory folder is emptied; empty for none.
    """
    if forgets_on:
        send(connection, BotForgets(owner, bot, forgets_on))
    settings = {"declines_people": declines_people, "publishes_notes": publishes_notes}
    changes = {name: value for name, value in settings.items() if value is not None}
    if not changes:
        return
    owners = select(OWNERS.c.id).where(OWNERS.c.name == owner)
    bots = BOTS.c.owner_id.in_(owners) & (BOTS.c.name == bot)
    connection.execute(update(BOTS).where(bots).values(changes))


def _ensure(connection: Connection, relation: Relation, row: Mapping[str, object]) -> int:
    row_id = _found(connection, relation, row)
    return _made(connection, relation, row) if row_id is None else row_id


def _found(connection: Connection, relation: Relation, row: Mapping[str, object]) -> int | None:
    return connection.scalar(select(relation.c.id).where(*(relation.c[name] == row[name] for name in row)))


def _made(connection: Connection, relation: Relation, row: Mapping[str, object]) -> int:
    made: int = connection.execute(insert(relation).values(row).returning(relation.c.id)).scalar_one()
    return made


# -- tokens
def create_tokens(
    connection: Connection, new_tokens: Iterable[NewToken], created: datetime
) -> list[tuple[Token, TokenEntry]]:
    """Create tokens in this order, with missing owners; return them with their entries. All or nothing.

    Raises:
        InvalidEntry: If a token expires before `created`.
    """
    made = []
    for new in new_tokens:
        if new.expires is not None and new.expires <= created:
            raise InvalidEntry(f"the token of {new.owner} would have expired at {new.expires}, before it was made")
        token = new_token()
        row = {
            "id": token.id,
            "digest": token.digest,
            "owner_id": _ensure(connection, OWNERS, {"name": new.owner}),
            "scopes": " ".join(sorted(set(new.scopes))),
            "label": new.label,
            "created": created,
            "expires": new.expires,
        }
        connection.execute(insert(TOKENS).values(row))
        made.append((token, queries.token(connection, token.id)))
    return made


def revoke_token(connection: Connection, token_id: str, revoked: datetime) -> TokenEntry:
    """Revoke a token; a revoked token stays as it is.  Raises NoSuchEntry."""
    chosen = update(TOKENS).where(TOKENS.c.id == token_id)
    connection.execute(chosen.where(TOKENS.c.revoked.is_(None)).values(revoked=revoked))
    return queries.token(connection, token_id)


def redeem_link(connection: Connection, link_id: str, now: datetime) -> tuple[Token, TokenEntry]:
    """Exchange a link for the token that it stands for, once.

    Raises:
        InvalidEntry: If it is no link, or was used, revoked or has expired.
        NoSuchEntry: If there is no such token.
    """
    link = queries.token(connection, link_id)
    if LINK not in link.scopes or not link.is_good(now):
        raise InvalidEntry("this link was used before, or has expired; ask the host of the page for another")
    scopes = [scope for scope in link.scopes if scope != LINK]
    (made,) = create_tokens(connection, [NewToken(link.owner, link.label, scopes, link.expires)], now)
    revoke_token(connection, link_id, now)
    return made


def note_uses(connection: Connection, uses: Mapping[str, datetime]) -> None:
    """Store when tokens were last used, by ID; unknown tokens are ignored."""
    for token_id, used in uses.items():
        connection.execute(update(TOKENS).where(TOKENS.c.id == token_id).values(last_used=used))
