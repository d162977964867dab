"""The results of the boards of a tournament, as plain data that can be stored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cutpurse.engine.match import EndCause
from cutpurse.leaderboard.formats.pairings import Field
from cutpurse.leaderboard.statistics.place_points import place_points
from cutpurse.sdk.playing.digest import RunDigest, result_digest

__all__ = ["TournamentBoard", "PlayedBoard", "TournamentMatch", "digest_of_boards"]


@dataclass(frozen=True, slots=True)
class TournamentBoard:
    """A deal to be played by a field.

    Attributes:
        number: Number of the board in the tournament, from 0.
        seats: For each match, the bot in each seat.
    """

    number: int
    field: Field
    seats: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class TournamentMatch:
    """A match of a board; all tuples are by seat.

    Attributes:
        bots: Indexes in the tournament's list of bots.
        name: Match ID on the server; empty for a local match.
        luck: Place points that the cards gave; empty if they were not asked for.
    """

    bots: tuple[int, ...]
    places: tuple[int, ...]
    scores: tuple[int, ...]
    end_causes: tuple[str, ...]
    name: str = ""
    luck: tuple[float, ...] = ()

    def is_taken_over(self, seat: int) -> bool:
        """Return whether the seat was taken over because its bot failed, so that it came last."""
        return self.end_causes[seat] != EndCause.NORMAL.value


@dataclass(frozen=True, slots=True)
class PlayedBoard:
    """A finished board.

    Attributes:
        faults: Number of decisions lost by each bot that lost any.
    """

    number: int
    field: Field
    matches: tuple[TournamentMatch, ...]
    faults: Mapping[int, int]

    def points(self) -> dict[int, float]:
        """Return the mean of each bot's place points over the matches, from 0 for last to 1 for first."""
        won = dict.fromkeys(self.field, 0.0)
        for match in self.matches:
            for bot, points in zip(match.bots, place_points(match.places), strict=True):
                won[bot] += points / len(self.matches)
        return won

    def adjusted_points(self) -> dict[int, float]:
        """Return the points without the luck of the cards, which may lie outside 0 to 1; empty if it is not known."""
        if not all(match.luck for match in self.matches):
            return {}
        won = self.points()
        for match in self.matches:
            for bot, luck in zip(match.bots, match.luck, strict=True):
                won[bot] -= luck / len(self.matches)
        return won

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
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
                    **({"luck": list(match.luck)} if match.luck else {}),
                }
                for match in self.matches
            ],
            "faults": {str(bot): faults for bot, faults in sorted(self.faults.items())},
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> PlayedBoard:
        """Read what `as_json` returned.  Raises ValueError, KeyError or TypeError for anything else."""
        matches = tuple(
            TournamentMatch(
                _numbers(match["bots"]),
                _numbers(match["places"]),
                _numbers(match["scores"]),
                tuple(map(str, match["end_causes"])),
                str(match.get("match", "")),
                _luck(match.get("luck", ()), len(match["bots"])),
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


def digest_of_boards(boards: Iterable[PlayedBoard]) -> str:
    """Return the digest of the results of boards, in order; the luck of the cards is no part of them."""
    digest = RunDigest()
    for board in boards:
        raw = replace(board, matches=tuple([replace(match, luck=()) for match in board.matches]))
        digest.add(result_digest(raw.as_json()))
    return digest.hex()


def _luck(given: Sequence[Any], seats: int) -> tuple[float, ...]:
    if given and (len(given) != seats or not all(type(luck) in (int, float) and math.isfinite(luck) for luck in given)):
        raise ValueError(f"{given!r:.80} is not the luck of {seats} seats")
    return tuple([float(luck) for luck in given])


def _numbers(given: Sequence[Any]) -> tuple[int, ...]:
    if not all(type(number) is int for number in given):
        raise TypeError(f"{given!r:.80} are no whole numbers")
    return tuple(given)
