"""The boards of a measurement in a chain of digests, and the file that stores them.

Each digest continues the one before, and the first that of the plan. So every alteration of a file shows, and equal
results have equal digests.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from cutpurse.engine.errors import RecordError
from cutpurse.lab.journal_file import JournalFile, digest_of
from cutpurse.lab.yardstick.yardstick_board import YardstickBoard
from cutpurse.sdk.playing.digest import RunDigest, result_digest

__all__ = ["BoardChain", "YardstickJournal"]


class BoardChain:
    """Boards by number, in the order of play, and the digest of all so far."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.boards: dict[int, YardstickBoard] = {}
        self._digest = RunDigest(digest_of(plan))

    @property
    def digest(self) -> str:
        """The digest of the plan and of all boards so far."""
        return self._digest.hex()

    def add(self, number: int, board: YardstickBoard) -> None:
        """Add the next board."""
        self.boards[number] = board
        self._digest.add(result_digest([number, asdict(board)]))


class YardstickJournal(JournalFile):
    """The journal of one measurement.

    Attributes:
        chain: Its boards; None in a new journal.
    """

    schema: ClassVar[str] = "yardstick/1"

    def __init__(self, path: Path, *, is_to_be_written: bool = True) -> None:
        """Open or create the file, as `JournalFile` does.  Raises RecordError if a board was altered."""
        self.chain: BoardChain | None = None
        super().__init__(path, is_to_be_written=is_to_be_written)

    def add(self, number: int, board: YardstickBoard) -> None:
        """Store a board that was just added to the chain."""
        assert self.chain is not None
        self.write({"board": number, **asdict(board), "digest": self.chain.digest})

    def settle(self, plan: dict[str, Any]) -> None:
        """Write the plan as the first line.  Raises UsageError if it has another plan."""
        super().settle(plan)
        self.chain = self.chain or BoardChain(plan)

    def take(self, line: dict[str, Any]) -> None:
        assert self.plan is not None
        self.chain = self.chain or BoardChain(self.plan)
        digest, number = line.pop("digest"), line.pop("board")
        self.chain.add(number, YardstickBoard.from_json(line))
        if digest != self.chain.digest:
            raise RecordError(f"{self.path} was altered at board {number}: its digest does not fit; measure again")
