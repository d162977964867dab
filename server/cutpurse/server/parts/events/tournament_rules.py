"""The plan of a tournament, and what follows from it and the stored boards.

The bots swap seats from board to board, and house bots have the seats that the two bots of a duel leave. How duels
follow from results is in `cutpurse.leaderboard.formats.duels`. This module knows no match, no database and no clock.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from cutpurse.leaderboard.events import FINISHED, EventEntry
from cutpurse.leaderboard.formats.duels import Duels, most_duels
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tournaments import TournamentBoardEntry

__all__ = ["TournamentPlan", "is_played", "winner_of"]


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """All that is fixed before the first board.

    Attributes:
        ladder: Ladder whose rules are played.
        format: One of `duels.FORMATS`.
        best_of: Maximum number of boards of a duel.
        bots: The bots in the order of their seeds, the best first.
    """

    ladder: str
    format: str
    best_of: int
    bots: tuple[Identity, ...]

    @property
    def text(self) -> str:
        """The plan as JSON; the same plan has the same text."""
        facts = {
            "ladder": self.ladder,
            "format": self.format,
            "best_of": self.best_of,
            "bots": [list(bot) for bot in self.bots],
        }
        return json.dumps(facts, separators=(",", ":"), sort_keys=True)

    @property
    def digest(self) -> str:
        """The SHA-256 of the text, in hexadecimal."""
        return sha256(self.text.encode()).hexdigest()

    @classmethod
    def from_text(cls, text: str) -> TournamentPlan:
        """Read a plan that `text` returned."""
        facts = json.loads(text)
        bots = tuple(Identity(*bot) for bot in facts["bots"])
        return cls(facts["ladder"], facts["format"], facts["best_of"], bots)

    @property
    def max_duels(self) -> int:
        """Maximum number of duels until the end, byes left out."""
        return most_duels(self.format, len(self.bots))

    def duels(self, boards: Iterable[TournamentBoardEntry] = ()) -> Duels:
        """Return the duels after these boards, which are in order; those without a result do not count."""
        results: dict[int, list[str]] = {}
        for board in boards:
            if board.result:
                results.setdefault(board.duel, []).append(board.result)
        return Duels(self.format, len(self.bots), self.best_of, results)


def is_played(boards: Sequence[TournamentBoardEntry]) -> bool:
    """Return whether a match was played on one of these boards; others were lost by absence."""
    return any(board.match and board.result for board in boards)


def winner_of(entry: EventEntry, boards: Sequence[TournamentBoardEntry]) -> Identity | None:
    """Return the bot that won a tournament; None if it was not finished, or nobody played."""
    if entry.outcome != FINISHED or not is_played(boards):
        return None
    plan = TournamentPlan.from_text(entry.plan)
    return plan.bots[plan.duels(boards).table()[0].bot]
