"""The bots whose places were lost: a bot may be the reason, and could turn its losses into void matches.

Losses count in a row, and only if the bot had run for less than SOON_S since its place was lost before. A bot may run
in many processes, one after the other; their times are added up. Bots are known by their files, since the same files
do the same. This module knows no place and no clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["SOON_S", "SUSPICIOUS", "Suspects"]

SOON_S: Final = 60.0
SUSPICIOUS: Final = 2  # losses in a row after which a bot must run alone


@dataclass(slots=True)
class _Record:
    losses: int = 0  # in a row
    lived_s: float = 0.0  # since the latest loss, in processes that have ended


class Suspects:
    """The losses of each bot's places, by the folder of its files."""

    def __init__(self) -> None:
        self._records: dict[Path, _Record] = {}

    def losses(self, folder: Path) -> int:
        """Return how many places in a row were lost soon after the bot's start."""
        record = self._records.get(folder)
        return 0 if record is None else record.losses

    def is_suspect(self, folder: Path) -> bool:
        """Return whether the bot must run alone."""
        return self.losses(folder) >= SUSPICIOUS

    def note_end(self, folder: Path, lived_s: float) -> None:
        """Note that a process of the bot has ended while its place goes on."""
        self._records.setdefault(folder, _Record()).lived_s += lived_s
        self.clear_if_harmless(folder, 0.0)

    def clear_if_harmless(self, folder: Path, lived_s: float) -> bool:
        """Clear the bot if it has run long enough, in its present process for `lived_s`. Return whether it is clear."""
        record = self._records.setdefault(folder, _Record())
        if record.lived_s + lived_s >= SOON_S:
            record.losses = 0
        return record.losses == 0

    def note_loss(self, folder: Path, lived_s: float) -> int:
        """Note that the place was lost while the bot ran, in its present process for `lived_s`. Return `losses`."""
        is_harmless = self.clear_if_harmless(folder, lived_s) and self._records[folder].lived_s + lived_s >= SOON_S
        record = self._records[folder]
        record.losses += not is_harmless
        record.lived_s = 0.0
        return record.losses
