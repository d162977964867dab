"""The guard that knows people who play on rated ladders: by their own token, and a token of the server's page.

The owner's token says who plays. The page's token, which is of this run and stored nowhere, says that a person does and
no program: so no program can enter as a person, and the page can enter as nobody who has not signed in. This module
knows no page.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable

from cutpurse.leaderboard.tokens import HOUSE, NOBODY, PEOPLE, Token, read_token
from cutpurse.server.access.owners import BAD, Grant, Guard, TokenRefused
from cutpurse.wire.person_names import VOUCHER_KEY

__all__ = ["PersonGuard"]

NO_OWNERS = "people play on rated ladders as owners, and this server has none: its host makes tokens first"


class PersonGuard:
    """A guard that recognises people, and asks another guard about their tokens and about all other calls."""

    def __init__(self, others: Guard, token: Token) -> None:
        """Recognise people by `token` of the page."""
        self._others = others
        self._token = token

    def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
        """Implement `Guard.enter`. A person needs a token of an owner with the scope too."""
        sent = [*metadata]
        vouchers = [value for key, value in sent if key == VOUCHER_KEY]
        grant = self._others.enter(sent, peer, scope, now)
        if not vouchers:
            return grant
        if not self._is_of_the_page(vouchers):
            raise TokenRefused("TOKEN_INVALID", BAD)
        if grant.owner in (NOBODY, HOUSE, PEOPLE):
            raise TokenRefused("TOKEN_INVALID", NO_OWNERS)
        return grant._replace(is_person=True)

    def _is_of_the_page(self, vouchers: list[str | bytes]) -> bool:
        (first, *others) = vouchers
        token = read_token(first) if isinstance(first, str) and not others else None
        return token is not None and hmac.compare_digest(token.digest, self._token.digest)

    def recognise(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        """Return whose token the other guard recognises."""
        return self._others.recognise(metadata, peer, now)

    def is_good(self, token: str) -> bool:
        """Return whether the other guard holds a token for valid."""
        return self._others.is_good(token)

    def look(self, now: float) -> bool:
        """Return whether the other guard found tokens that may have become invalid."""
        return self._others.look(now)

    def close(self) -> None:
        """Close the other guard."""
        self._others.close()
