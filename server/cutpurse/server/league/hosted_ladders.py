"""Whether a league can have hosted ladders, whose matches workers play. This module knows no ladder."""

from __future__ import annotations

from importlib.util import find_spec

from cutpurse.leaderboard.address import is_postgresql
from cutpurse.wire.installation import how_to_install

__all__ = ["missing_queue", "why_not_hosted"]


def missing_queue() -> str:
    """Return why there can be no queue of matches here, and what to do; empty if there can."""
    if find_spec("pgqueuer") is not None:
        return ""
    return f"workers need pgqueuer, which is not installed; {how_to_install('cluster')}"


def why_not_hosted(address: str) -> str:
    """Return why the league in this database can have no hosted ladder; empty if it can."""
    if not is_postgresql(address):
        return f"workers play on a hosted ladder, and find their matches in PostgreSQL; this league is in {address}"
    return missing_queue()
