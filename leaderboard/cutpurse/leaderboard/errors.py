"""What can go wrong in the leaderboard, and whose business it is.

    LeaderboardError
    |-- StoreError          the database could not do it: full, locked, read-only, damaged; nothing was stored
    |   |-- InUse           another process writes it
    |   |-- NewerSchema     the database was written by a newer version of this program
    |   |-- OlderSchema     the database must be upgraded first
    |   |-- LedgerCorrupt    what is stored cannot be right: nothing more is stored before somebody has looked
    |   `-- Unsure          it did not say whether a result is stored, and cannot be asked: hand the same in again
    |-- InvalidEntry             what was handed in does not fit, and never will; nothing was stored
    `-- NotFound            there is no ladder, match or record of this name

Each says in one line what was wrong, what was possible, and what to do. After a StoreError the same may be handed in
again; after a InvalidEntry it makes no sense, nor after a LedgerCorrupt.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "InUse",
    "LeaderboardError",
    "LedgerCorrupt",
    "NewerSchema",
    "NoSuchEntry",
    "OlderSchema",
    "InvalidEntry",
    "StoreError",
    "Unsure",
]


class LeaderboardError(Exception):
    """Anything the leaderboard raises on purpose."""


class StoreError(LeaderboardError):
    """The database could not do it."""


class InUse(StoreError):
    """Another process writes the database.  process: its number, if it said so."""

    def __init__(self, path: Path, process: int | None) -> None:
        which = "another process" if process is None else f"process {process}"
        super().__init__(f"the leaderboard {path} is being written by {which}; only one can at a time: end that first")
        self.path = path
        self.process = process


class OlderSchema(StoreError):
    """The database was written by an older version, and is only to be read here."""


class NewerSchema(StoreError):
    """The database was written by a newer version."""


class LedgerCorrupt(StoreError):
    """The rated boards of a ladder are not numbered 1, 2, 3 and so on, each with a change for every seat."""

    def __init__(self, ladder: str) -> None:
        super().__init__(
            f"the ledger of {ladder} is broken, and no result is stored any more: "
            "stop what writes it, see with 'cutpurse db recompute' what is wrong, and restore it from a backup"
        )
        self.ladder = ladder


class Unsure(StoreError):
    """The database failed as it committed, and cannot be asked whether it did."""


class InvalidEntry(LeaderboardError):
    """What was handed in does not fit."""


class NoSuchEntry(LeaderboardError):
    """There is nothing of this name."""
