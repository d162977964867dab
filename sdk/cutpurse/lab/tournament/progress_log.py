"""The journal of a tournament: a line for each finished board or requested match.

This module knows no format and no bot.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from cutpurse.lab.journal_file import JournalFile
from cutpurse.lab.tournament.tournament_results import PlayedBoard

__all__ = ["Journal"]


class Journal(JournalFile):
    """The journal of one tournament.

    Attributes:
        played: Boards by number.
        asked: IDs of the matches requested from a server, by board; the last one counts.
    """

    schema: ClassVar[str] = "tournament/1"

    def __init__(self, path: Path, *, is_to_be_written: bool = True) -> None:
        """Open or create the file, as `JournalFile` does."""
        self.played: dict[int, PlayedBoard] = {}
        self.asked: dict[int, list[str]] = {}
        super().__init__(path, is_to_be_written=is_to_be_written)

    def add(self, board: PlayedBoard) -> None:
        """Store a finished board."""
        self.write(board.as_json())
        self.played[board.number] = board

    def ask(self, board: int, match: str) -> None:
        """Store a match requested from a server."""
        self.write({"asked": match, "board": board})
        self.asked.setdefault(board, []).append(match)

    def take(self, line: dict[str, Any]) -> None:
        if "asked" in line:
            self.asked.setdefault(int(line["board"]), []).append(str(line["asked"]))
        else:
            board = PlayedBoard.from_json(line)
            self.played[board.number] = board
