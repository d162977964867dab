"""The tokens of hosted bots: one per process, valid while the process runs, and never stored.

A token permits only playing, as exactly the bot that it was made for. For calls that need no token, its caller counts
as a stranger. Another guard decides about all other tokens. All methods are thread-safe.
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
    """A `Guard` that knows the hosted bots' tokens, and passes all other calls to another guard."""

    def __init__(self, others: Guard) -> None:
        self._others = others
        self._grants: dict[str, tuple[bytes, Grant]] = {}  # by token ID: the token's hash and its grant
        self._lock = threading.Lock()
        self._is_changed = False

    def give(self, owner: str, resident: HostedBotIdentity) -> Token:
        """Create a token for a process of a bot. Its grant says that the bot forgets if it plays only one match."""
        token, forgets = new_token(), resident.one_match is not None
        with self._lock:
            self._grants[token.id] = (token.digest, Grant(owner, token.id, SCOPES, forgets, resident))
        return token

    def take_back(self, token: Token) -> None:
        """Revoke a token; streams that use it end within a second."""
        with self._lock:
            self._grants.pop(token.id, None)
            self._is_changed = True

    def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
        """Authorize a call, see `Guard`."""
        said = [*metadata]
        grant = self._known(said)
        if grant is None:
            return self._others.enter(said, peer, scope, now)
        check_scope(grant, scope)
        return grant

    def recognise(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        """Identify a caller, see `Guard`. Return None for a hosted bot, which may see only public data."""
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
        """Return whether the token of a grant is still valid, see `Guard`."""
        return token in self._grants or self._others.is_good(token)

    def look(self, now: float) -> bool:
        """Return whether tokens have changed since the last call, see `Guard`."""
        with self._lock:
            is_changed, self._is_changed = self._is_changed, False
        return self._others.look(now) or is_changed

    def close(self) -> None:
        """Close the other guard."""
        self._others.close()
