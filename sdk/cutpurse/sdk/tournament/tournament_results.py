"""What came of the boards of a tournament, as plain data that goes to a file and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cutpurse.engine.match import EndCause
from cutpurse.sdk.compare import place_points
from cutpurse.sdk.tournament.schedule import Field

__all__ = ["TournamentBoard", "PlayedBoard", "TournamentMatch"]


@dataclass(frozen=True, slots=True)
class TournamentBoard:
    """A deal that is to be played by a field.

    number: counts all boards of the tournament from 0. seats: for each match, the bot on each seat.
    """

    number: int
    field: Field
    seats: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class TournamentMatch:
    """A match of a board; all tuples are by seat.

    bots: by their places in the list of the tournament. name: of a match of a server; empty: it was played here.
    """

    bots: tuple[int, ...]
    places: tuple[int, ...]
    scores: tuple[int, ...]
    end_causes: tuple[str, ...]
    name: str = ""

    def is_taken_over(self, seat: int) -> bool:
        """Whether the bot of a seat failed, so that the match played the seat on and placed it last."""
        return self.end_causes[seat] != EndCause.NORMAL.value


@dataclass(frozen=True, slots=True)
class PlayedBoard:
    """A board that is over.  faults: how many decisions were taken for each bot that had any."""

    number: int
    field: Field
    matches: tuple[TournamentMatch, ...]
    faults: Mapping[int, int]

    def points(self) -> dict[int, float]:
        """The mean of each bot's place points over the matches, from 0 for last to 1 for first."""
        won = dict.fromkeys(self.field, 0.0)
        for match in self.matches:
            for bot, points in zip(match.bots, place_points(match.places), strict=True):
                won[bot] += points / len(self.matches)
        return won

    def as_json(self) -> dict[str, Any]:
        """All of it, as plain data."""
        return {
            "board": self.number,
            "field": list(self.field),
            "matches": [
                {
                    "bots": list(match.bots),
                    "places": list(match.places),
                    "scores": list(match.scores),
                    "end_causes": list(match.end_causes),
                    **({"match": match.name} if match.name else {}),
                }
                for match in self.matches
            ],
            "faults": {str(bot): faults for bot, faults in sorted(self.faults.items())},
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> PlayedBoard:
        """The board that was written so.  Raises ValueError, KeyError or TypeError for what is none."""
        matches = tuple(
            TournamentMatch(
                _numbers(match["bots"]),
                _numbers(match["places"]),
                _numbers(match["scores"]),
                tuple(map(str, match["end_causes"])),
                str(match.get("match", "")),
            )
            for match in plain["matches"]
        )
        faults = {int(bot): int(faults) for bot, faults in plain["faults"].items()}
        board = cls(int(plain["board"]), _numbers(plain["field"]), matches, faults)
        for match in matches:
            if sorted(match.bots) != sorted(board.field) or len(match.scores) != len(match.end_causes):
                raise ValueError(f"board {board.number}: a match is not of its field")
        if not matches:
            raise ValueError(f"board {board.number} has no match")
        board.points()
        return board


def _numbers(given: Sequence[Any]) -> tuple[int, ...]:
    if not all(type(number) is int for number in given):
        raise TypeError(f"{given!r:.80} are no whole numbers")
    return tuple(given)
