"""A board of a tuning: one deal, played with a candidate in each seat in turn, the same deals for all candidates.

This module knows no search and no file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cutpurse.engine.chance import match_key
from cutpurse.engine.game import Game
from cutpurse.engine.match import Match
from cutpurse.engine.seating import square
from cutpurse.lab.tuning.parameters import BotParameter, Values, bot_with
from cutpurse.leaderboard.statistics.place_points import place_points
from cutpurse.process.pool import number_tasks
from cutpurse.sdk.bot import BotMaker
from cutpurse.sdk.local import Failure
from cutpurse.sdk.playing.digest import result_digest
from cutpurse.sdk.playing.seating import play_match

__all__ = ["CandidateBoard", "TuningTable", "TuningTasks"]


@dataclass(frozen=True)
class CandidateBoard:
    """What a candidate did on a board.

    Attributes:
        points: Mean place points, from 1 for the best to 0 for the last.
        moves: Digest of all its answers; equal for equal play.
        failure: Its first failure in one line; empty if there was none.
    """

    values: Values
    deal: int
    points: float
    moves: str
    failure: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the board as JSON values."""
        return {**vars(self), "values": list(self.values)}

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> CandidateBoard:
        """Read a board.  Raises KeyError, TypeError or ValueError if it is none."""
        return cls(
            tuple(line["values"]), int(line["deal"]), float(line["points"]), str(line["moves"]), str(line["failure"])
        )


@dataclass(frozen=True)
class TuningTable:
    """What is common to all boards of a tuning; can be sent to another process."""

    rules: type[Game]
    bot: BotMaker
    parameters: tuple[BotParameter, ...]
    against: tuple[BotMaker, ...]  # the bots of the other seats
    seed: int | str
    settings: dict[str, object]

    def board(self, values: Values, deal: int, watch: Callable[[Match], None] | None = None) -> CandidateBoard:
        """Play a deal with these values, once in each seat; `watch` is called after every answer."""
        maker = bot_with(self.bot, self.parameters, values)
        points, moves, failures = [], [], []
        for row in sorted(square(len(self.against) + 1, self.seed, deal), key=lambda row: row.index(0)):
            seat = row.index(0)
            makers = [maker if player == 0 else self.against[player - 1] for player in row]
            names = [self.bot.name if player == 0 else self.against[player - 1].name for player in row]
            match = Match(self.rules, names, match_key(self.seed, deal), self.settings, log=True)
            result, failed, _ = play_match(match, makers, watch)
            points.append(place_points(result.places)[seat])
            moves.append([repr(chosen.option) for chosen in match.choices if chosen.seat == seat])
            failures += [Failure(0, maker.name, maker.file, deal, *parts) for at, parts in failed if at == seat]
        failure = failures[0].text() if failures else ""
        return CandidateBoard(values, deal, sum(points) / len(points), result_digest(moves).hex()[:16], failure)


@dataclass(frozen=True)
class TuningTasks:
    """Boards to play in one or several processes."""

    table: TuningTable
    boards: tuple[tuple[Values, int], ...]  # values and deal

    def batch(self, numbers: range) -> list[CandidateBoard]:
        """Play several boards."""
        return [self.table.board(*self.boards[number]) for number in numbers]

    def describe(self, numbers: range) -> str:
        """Name some boards in an error."""
        return f"{self.table.rules.words.game}, {number_tasks('boards', numbers)} of {self.table.bot.name}"
