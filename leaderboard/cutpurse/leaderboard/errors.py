"""The errors of the leaderboard.

    LeaderboardError
    |-- StoreError          the database failed: full, locked, read-only or damaged; nothing was stored
    |   |-- InUse           another process writes the database
    |   |-- NewerSchema     a newer version of this program wrote the database
    |   |-- OlderSchema     the database must be upgraded first, perhaps by an older version
    |   |-- LedgerCorrupt   stored results contradict each other; no result is stored until a person has repaired them
    |   `-- Unsure          it is unknown whether the result was stored; submit it again
    |-- InvalidEntry        the input is invalid; nothing was stored
    |   `-- LadderMoved     another arena has the ladder of the match now, or had it meanwhile
    `-- NoSuchEntry         no ladder, match, record or other entry has this name

Each message says in one line what was wrong, what was expected, and what to do. A retry can help after a StoreError,
but not after an InvalidEntry or a LedgerCorrupt.
"""

from __future__ import annotations

__all__ = [
    "InUse",
    "LeaderboardError",
    "LadderMoved",
    "LedgerCorrupt",
    "NewerSchema",
    "NoSuchEntry",
    "OlderSchema",
    "InvalidEntry",
    "StoreError",
    "Unsure",
]


class LeaderboardError(Exception):
    """Base class of the leaderboard's errors."""


class StoreError(LeaderboardError):
    """A failure of the database: nothing was stored."""


class InUse(StoreError):
    """The error if another process writes the database.

    Attributes:
        database: Address of the database.
        holder: The other process, such as "process 77"; "another process" if it is unknown.
    """

    def __init__(self, database: str, holder: str | None) -> None:
        self.database = database
        self.holder = holder or "another process"
        super().__init__(
            f"the leaderboard {database} is being written by {self.holder}; only one can at a time: end that first"
        )


class OlderSchema(StoreError):
    """The error if an older version wrote the database, and only a writer or that version can upgrade it."""


class NewerSchema(StoreError):
    """The error if a newer version wrote the database."""


class LedgerCorrupt(StoreError):
    """The error if the rated boards of a ladder are not numbered 1, 2, 3, ..., each with a change for every seat."""

    def __init__(self, ladder: str) -> None:
        super().__init__(
            f"the ledger of {ladder} is broken, and no result is stored any more: "
            "stop what writes it, see with 'cutpurse db verify' what is wrong, and restore it from a backup"
        )
        self.ladder = ladder


class Unsure(StoreError):
    """The error if a commit failed and the database cannot say whether it happened."""


class InvalidEntry(LeaderboardError):
    """The error if an entry is invalid, or contradicts what is stored."""


class NoSuchEntry(LeaderboardError):
    """The error if no entry has this name."""


class LadderMoved(InvalidEntry):
    """The error if this arena does not have the ladder of a match any more; a retry cannot help."""
