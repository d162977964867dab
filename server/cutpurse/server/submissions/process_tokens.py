"""Tokens of the bots that the server itself runs: one for each process, good while it lives, and kept nowhere.

Whoever shows one is let in to play, as exactly the bot that it was made for, and to nothing else: where callers need
not say who they are, he is a stranger like others. All others are another guard's business. May be asked and changed
from any thread.
"""

from __future__ import annotations

import hmac
import re
import threading
from collections.abc import Iterable
from typing import Final

from cutpurse.leaderboard.tokens import Token, new_token, read_token
from cutpurse.server.access.owners import Grant, Guard, HostedBotIdentity, check_scope

__all__ = ["ProcessTokens"]

SCOPES: Final = ("play",)
_BEARER: Final = re.compile(r"bearer +(\S+)", re.IGNORECASE | re.ASCII)


class ProcessTokens:
    """A `Guard` before another one."""

    def __init__(self, others: Guard) -> None:
        self._others = others
        self._grants: dict[str, tuple[bytes, Grant]] = {}  # by the token's name: its hash, and what it is good for
        self._lock = threading.Lock()
        self._is_changed = False

    def give(self, owner: str, resident: HostedBotIdentity) -> Token:
        """Make a token for a process of this bot. One for a single match carries nothing over to the next."""
        token, forgets = new_token(), resident.one_match is not None
        with self._lock:
            self._grants[token.id] = (token.digest, Grant(owner, token.id, SCOPES, forgets, resident))
        return token

    def take_back(self, token: Token) -> None:
        """Revoke a token; its stream ends within a second."""
        with self._lock:
            self._grants.pop(token.id, None)
            self._is_changed = True

    def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
        """See `Guard`."""
        said = [*metadata]
        grant = self._known(said)
        if grant is None:
            return self._others.enter(said, peer, scope, now)
        check_scope(grant, scope)
        return grant

    def recognise(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        """See `Guard`. A bot that the server runs answers for nobody: it may see what anybody may."""
        said = [*metadata]
        return None if self._known(said) is not None else self._others.recognise(said, peer, now)

    def _known(self, metadata: Iterable[tuple[str, str | bytes]]) -> Grant | None:
        shown = [value for key, value in metadata if key == "authorization"]
        if len(shown) != 1 or not isinstance(shown[0], str) or (bearer := _BEARER.fullmatch(shown[0])) is None:
            return None
        token = read_token(bearer[1])
        if token is None or (found := self._grants.get(token.id)) is None:
            return None
        return found[1] if hmac.compare_digest(found[0], token.digest) else None

    def is_good(self, token: str) -> bool:
        """See `Guard`."""
        return token in self._grants or self._others.is_good(token)

    def look(self, now: float) -> bool:
        """See `Guard`."""
        with self._lock:
            is_changed, self._is_changed = self._is_changed, False
        return self._others.look(now) or is_changed

    def close(self) -> None:
        """See `Guard`."""
        self._others.close()
