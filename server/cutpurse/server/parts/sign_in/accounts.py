"""The accounts of a sign-in provider, each linked with one owner, and the sessions of people who signed in with them.

An account is named by its issuer and its subject, which a provider never gives to another person. Names and e-mail
addresses can change hands, so no name ever leads to an owner that exists. A session is a token of its owner. Every
function works in the transaction of its connection, which must hold the write lock. This module knows no protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens, ensure_owner
from cutpurse.leaderboard.queries import TokenEntry
from cutpurse.leaderboard.relations import OWNERS, TOKENS
from cutpurse.leaderboard.tokens import SESSION, Token
from cutpurse.server.parts.sign_in.tables import ACCOUNTS

__all__ = ["NotLinked", "ProviderAccount", "link_account", "open_session"]

MAX_SUBJECT: Final = 255  # characters, as OpenID Connect has it
MAX_ISSUER: Final = 500


@dataclass(frozen=True, slots=True)
class ProviderAccount:
    """A person's account at a sign-in provider.

    Attributes:
        issuer: Address that names the provider.
        subject: Name of the account there, which never changes hands.

    Raises:
        InvalidEntry: If a value is invalid.
    """

    issuer: str
    subject: str

    def __post_init__(self) -> None:
        for what, text, most in (("issuer", self.issuer, MAX_ISSUER), ("subject", self.subject, MAX_SUBJECT)):
            if not 0 < len(text) <= most or not text.isprintable():
                raise InvalidEntry(f"the {what} of an account is {text!r:.100}; it can be 1 to {most} characters")


class NotLinked(InvalidEntry):
    """The error if an account is not linked with an owner, and may not become one.

    Attributes:
        owner: The existing owner with the wanted name; empty if the account may not create an owner.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        super().__init__(f"the owner {owner} is linked with another account, or with none" if owner else "no owner")


def open_session(
    connection: Connection, account: ProviderAccount, new: NewToken, now: datetime, *, may_create: bool
) -> tuple[Token, TokenEntry]:
    """Create a token for the owner whom an account is linked with, and remove the ended sessions of that owner.

    Args:
        connection: Connection in a transaction.
        account: The account, which the provider has confirmed.
        new: The token; its owner counts only for an account that is not linked, and is then created.
        now: Present time.
        may_create: Whether an account that is not linked may become a new owner.

    Raises:
        InvalidEntry: If the token expires before `now`.
        NotLinked: If the account is not linked, and the owner exists already or may not be created.
    """
    owner = _owner_of(connection, account)
    if owner is None:
        if connection.scalar(select(OWNERS.c.id).where(OWNERS.c.name == new.owner)) is not None:
            raise NotLinked(new.owner)
        if not may_create:
            raise NotLinked("")
        owner = new.owner
        _link(connection, account, owner, now)
    wanted = NewToken(owner, new.label, new.scopes, new.expires)
    ((token, made),) = create_tokens(connection, [wanted], now)
    connection.execute(update(TOKENS).where(TOKENS.c.id == made.id).values(scopes=" ".join((*made.scopes, SESSION))))
    for entry in _sessions(connection, owner):
        if not entry.is_good(now):
            connection.execute(delete(TOKENS).where(TOKENS.c.id == entry.id))
    return token, queries.token(connection, token.id)


def link_account(connection: Connection, account: ProviderAccount, owner: str, now: datetime) -> str:
    """Link an account with an owner, who is created if new; end the sessions of the owner it was linked with.

    Returns:
        The owner whom it was linked with before; empty if none.

    Raises:
        InvalidEntry: If the name of the owner is invalid or reserved.
    """
    NewToken(owner)  # checks the name
    before = _owner_of(connection, account)
    if before == owner:
        return before
    if before is not None:
        connection.execute(delete(ACCOUNTS).where(*_is(account)))
        for entry in _sessions(connection, before):
            if entry.revoked is None:
                connection.execute(update(TOKENS).where(TOKENS.c.id == entry.id).values(revoked=now))
    _link(connection, account, owner, now)
    return before or ""


def _link(connection: Connection, account: ProviderAccount, owner: str, now: datetime) -> None:
    row = {"issuer": account.issuer, "subject": account.subject, "owner_id": ensure_owner(connection, owner)}
    connection.execute(insert(ACCOUNTS).values({**row, "linked": now}))


def _owner_of(connection: Connection, account: ProviderAccount) -> str | None:
    """Return the owner whom an account is linked with; None if there is none."""
    joined = ACCOUNTS.join(OWNERS, OWNERS.c.id == ACCOUNTS.c.owner_id)
    found: str | None = connection.scalar(select(OWNERS.c.name).select_from(joined).where(*_is(account)))
    return found


def _is(account: ProviderAccount) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return ACCOUNTS.c.issuer == account.issuer, ACCOUNTS.c.subject == account.subject


def _sessions(connection: Connection, owner: str) -> list[TokenEntry]:
    return [entry for entry in queries.tokens(connection, owner) if SESSION in entry.scopes]
