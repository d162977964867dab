"""The journal of a tuning: a line for each round, with its boards to play, and for each board."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from cutpurse.lab.journal_file import JournalFile
from cutpurse.lab.tuning.candidate_board import CandidateBoard
from cutpurse.lab.tuning.parameters import Values

__all__ = ["TuningJournal"]


class TuningJournal(JournalFile):
    """The journal of one tuning.

    Attributes:
        boards: The boards played, in order.
        missing: Values and deal of the boards of the last round that were not played.
        seconds: Time that the boards took, in all sessions.
    """

    schema: ClassVar[str] = "tuning/1"

    def __init__(self, path: Path) -> None:
        """Open or create the file, as `JournalFile` does."""
        self.boards: list[CandidateBoard] = []
        self.missing: list[tuple[Values, int]] = []
        self.seconds = 0.0
        super().__init__(path)

    def begin_round(self, boards: list[tuple[Values, int]]) -> None:
        """Store the boards to play next."""
        self.write({"round": [[list(values), deal] for values, deal in boards]})
        self.missing = boards

    def add(self, board: CandidateBoard, seconds: float) -> None:
        """Store the first missing board, and the time since the one before."""
        self.write({**board.as_json(), "seconds": round(seconds, 4)})
        self._count(board, round(seconds, 4))

    def take(self, line: dict[str, Any]) -> None:
        if "round" in line:
            self.missing = [(tuple(values), int(deal)) for values, deal in line["round"]]
        else:
            self._count(CandidateBoard.from_json(line), float(line["seconds"]))

    def _count(self, board: CandidateBoard, seconds: float) -> None:
        """Count a board.  Raises ValueError if it is not the next one."""
        if not self.missing or self.missing[0] != (board.values, board.deal):
            raise ValueError(f"deal {board.deal} of {board.values} is not the next board of the round")
        self.missing.pop(0)
        self.boards.append(board)
        self.seconds += seconds
