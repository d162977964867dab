"""The stored tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from cutpurse.leaderboard.errors import NoSuchEntry
from cutpurse.leaderboard.relations import OWNERS, TOKENS

__all__ = ["TokenEntry", "has_tokens", "token", "tokens"]


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """A stored token, without its secret; `digest` is the SHA-256 of the whole token."""

    id: str
    digest: bytes = field(repr=False)
    owner: str
    scopes: tuple[str, ...]
    label: str
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    last_used: datetime | None

    def is_good(self, now: datetime) -> bool:
        """Return whether the token is valid at `now`."""
        return self.revoked is None and (self.expires is None or now < self.expires)


def has_tokens(connection: Connection) -> bool:
    """Return whether a token was ever created, even if it is revoked."""
    return connection.execute(select(TOKENS.c.id).limit(1)).first() is not None


def tokens(connection: Connection, owner: str | None = None) -> list[TokenEntry]:
    """List tokens by owner and creation time, of one owner or of all.  Raises NoSuchEntry for an unknown owner."""
    query = _tokens().order_by(OWNERS.c.name, TOKENS.c.created, TOKENS.c.id)
    if owner is not None:
        if connection.scalar(select(OWNERS.c.id).where(OWNERS.c.name == owner)) is None:
            raise NoSuchEntry(f"there is no owner {owner!r:.300}")
        query = query.where(OWNERS.c.name == owner)
    return [_token(row) for row in connection.execute(query).all()]


def token(connection: Connection, token_id: str) -> TokenEntry:
    """Return the token with this ID, the 8 characters after the prefix.  Raises NoSuchEntry."""
    row = connection.execute(_tokens().where(TOKENS.c.id == token_id)).first()
    if row is None:
        raise NoSuchEntry(f"there is no token {token_id!r:.100}")
    return _token(row)


def _tokens() -> Select[Any]:
    return select(TOKENS, OWNERS.c.name.label("owner")).join(OWNERS, OWNERS.c.id == TOKENS.c.owner_id)


def _token(row: Row[*tuple[Any, ...]]) -> TokenEntry:
    return TokenEntry(
        row.id,
        row.digest,
        row.owner,
        tuple(row.scopes.split()),
        row.label,
        row.created,
        row.expires,
        row.revoked,
        row.last_used,
    )
