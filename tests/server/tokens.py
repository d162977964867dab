"""Tokens for the owners of tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.store import Store

__all__ = ["tokens_in"]


def tokens_in(database: str | Path, *owners: str, **scopes: Sequence[str]) -> dict[str, str]:
    """Create a token for each owner in a database, with the usual scopes or those of `scopes`; return them by owner."""
    wanted = [NewToken(owner) for owner in owners]
    wanted += [NewToken(owner, scopes=tuple(given)) for owner, given in scopes.items()]
    with Store(database) as store:
        made = store.write(create_tokens, wanted, datetime.now(UTC))
    return {entry.owner: token.reveal() for token, entry in made}
