"""What can go wrong in the leaderboard, and whose business it is.

    LeaderboardError
    |-- StoreError          the database could not do it: full, locked, read-only, damaged; nothing was stored
    |   `-- NewerSchema     the database was written by a newer version of this program
    |-- Refused             what was handed in does not fit, and never will; nothing was stored
    `-- NotFound            there is no ladder, match or record of this name

Each says in one line what was wrong, what was possible, and what to do. After a StoreError the same may be handed in
again; after a Refused it makes no sense.
"""

from __future__ import annotations

__all__ = ["LeaderboardError", "NewerSchema", "NotFound", "Refused", "StoreError"]


class LeaderboardError(Exception):
    """Anything the leaderboard raises on purpose."""


class StoreError(LeaderboardError):
    """The database could not do it."""


class NewerSchema(StoreError):
    """The database was written by a newer version."""


class Refused(LeaderboardError):
    """What was handed in does not fit."""


class NotFound(LeaderboardError):
    """There is nothing of this name."""
