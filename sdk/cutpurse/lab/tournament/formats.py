"""The rounds of a tournament: which boards are played, given the results of earlier boards.

The number of boards is fixed before the first one; a knock-out may need fewer than planned. The fields of later rounds
follow from the results, by the rule of the format alone. This module plays nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from cutpurse.lab.tournament.knockout import Knockout
from cutpurse.lab.tournament.tournament_file import Tournament
from cutpurse.lab.tournament.tournament_results import PlayedBoard
from cutpurse.lab.tournament.tournament_table import BYE_POINTS, totals
from cutpurse.leaderboard.formats.brackets import KNOCKOUTS
from cutpurse.leaderboard.formats.pairings import Field, gauntlet, groups, meetings_of, round_robin, swiss_round
from cutpurse.wire.text import format_count

__all__ = ["Rounds", "rounds_of"]


class Rounds(Protocol):
    """The rounds of a format."""

    def count(self) -> int:
        """Return the number of rounds."""

    def size(self, number: int) -> int:
        """Return the number of boards in round `number`; in a knock-out, the maximum."""

    def boards(self) -> int:
        """Return the number of boards of all rounds; in a knock-out, the maximum."""

    def said(self, number: int) -> str:
        """Describe round `number` for people; empty if there is nothing to say."""

    def fields(self, number: int, before: Sequence[PlayedBoard]) -> list[Field]:
        """Return the fields of round `number`, from 0; `before` has the boards of all earlier rounds.

        After a round without fields, no other round is played.
        """

    def stages(self, played: Sequence[PlayedBoard]) -> list[tuple[tuple[int, ...], list[PlayedBoard]]]:
        """Return groups of bots for the table, each with the boards that rank it; earlier groups rank first."""

    def byes(self, played: Sequence[PlayedBoard]) -> Counter[int]:
        """Count the finished rounds that each bot rested; each gives it the mean of a table."""

    def ranks(self, played: Sequence[PlayedBoard]) -> Mapping[int, int] | None:
        """Return the ranks of bots if the format gives them, 1 is best; None if points do."""


def rounds_of(tournament: Tournament) -> Rounds:
    """Return the rounds of the tournament's format."""
    kind = tournament.format.kind
    if kind == "swiss":
        return _Swiss(tournament)
    if kind == "groups":
        return _Groups(tournament)
    if kind in KNOCKOUTS:
        return Knockout(tournament)
    return _Once(tournament)


class _Once:
    """A format with all fields known from the beginning: round robin and gauntlet."""

    def __init__(self, tournament: Tournament) -> None:
        self._bots = tuple(range(len(tournament.bots)))
        form, seats = tournament.format, tournament.seats
        meetings = form.numbers["meetings"]
        if form.kind == "gauntlet":
            others = [bot for bot in self._bots if bot != form.challenger]
            fields = gauntlet(form.challenger, others, seats, meetings)
        else:
            fields = round_robin(self._bots, seats, meetings)
        self._fields = [field for field in fields for _ in range(tournament.deals)]

    def count(self) -> int:
        return 1

    def size(self, number: int) -> int:
        return len(self._fields)

    def boards(self) -> int:
        return len(self._fields)

    def said(self, number: int) -> str:
        return format_count(len(self._fields), "board")

    def fields(self, number: int, before: Sequence[PlayedBoard]) -> list[Field]:
        return self._fields

    def stages(self, played: Sequence[PlayedBoard]) -> list[tuple[tuple[int, ...], list[PlayedBoard]]]:
        return [(self._bots, list(played))]

    def byes(self, played: Sequence[PlayedBoard]) -> Counter[int]:
        return Counter()

    def ranks(self, played: Sequence[PlayedBoard]) -> Mapping[int, int] | None:
        return None


class _Swiss:
    """A format in which bots with similar points meet."""

    def __init__(self, tournament: Tournament) -> None:
        self._bots = tuple(range(len(tournament.bots)))
        self._seats, self._deals = tournament.seats, tournament.deals
        self._rounds = tournament.format.numbers["rounds"]
        self._of_a_round = len(self._bots) // self._seats * self._deals

    def count(self) -> int:
        return self._rounds

    def size(self, number: int) -> int:
        return self._of_a_round

    def boards(self) -> int:
        return self._rounds * self._of_a_round

    def said(self, number: int) -> str:
        rest = len(self._bots) % self._seats
        resting = f", {rest} rest" if rest else ""
        how = "by seeding" if number == 0 else "by points, as few as possible for a second time"
        return f"round {number + 1}: {format_count(self._of_a_round, 'board')}{resting}; who meets: {how}"

    def fields(self, number: int, before: Sequence[PlayedBoard]) -> list[Field]:
        byes = self.byes(before)
        points = totals(before)
        standing = sorted(self._bots, key=lambda bot: (-points[bot] - BYE_POINTS * self._deals * byes[bot], bot))
        fields, _ = swiss_round(standing, self._seats, meetings_of(board.field for board in before), byes)
        return [field for field in fields for _ in range(self._deals)]

    def stages(self, played: Sequence[PlayedBoard]) -> list[tuple[tuple[int, ...], list[PlayedBoard]]]:
        return [(self._bots, list(played))]

    def byes(self, played: Sequence[PlayedBoard]) -> Counter[int]:
        rounds = len(played) // self._of_a_round  # finished rounds; in an open one, bots may still get a board
        sat = Counter(bot for board in played[: rounds * self._of_a_round] for bot in board.field)
        return Counter({bot: rounds - sat[bot] // self._deals for bot in self._bots})

    def ranks(self, played: Sequence[PlayedBoard]) -> Mapping[int, int] | None:
        return None


class _Groups:
    """A format with round robins in groups, and one of the best bots."""

    def __init__(self, tournament: Tournament) -> None:
        self._seats, self._deals = tournament.seats, tournament.deals
        self._numbers = tournament.format.numbers
        self._groups = groups(range(len(tournament.bots)), self._numbers["groups"])
        meetings = self._numbers["meetings"]
        self._first = [
            field
            for group in self._groups
            for field in round_robin(group, self._seats, meetings)
            for _ in range(self._deals)
        ]

    def count(self) -> int:
        return 2

    def size(self, number: int) -> int:
        if number == 0:
            return len(self._first)
        return len(self._final_of(tuple(range(self._numbers["advance"] * len(self._groups)))))

    def boards(self) -> int:
        return self.size(0) + self.size(1)

    def said(self, number: int) -> str:
        if number == 0:
            return f"{format_count(len(self._groups), 'group')}: {format_count(self.size(0), 'board')}"
        return f"final of the first {self._numbers['advance']} of each group: {format_count(self.size(1), 'board')}"

    def fields(self, number: int, before: Sequence[PlayedBoard]) -> list[Field]:
        return self._first if number == 0 else self._final_of(self._finalists(before))

    def _final_of(self, bots: tuple[int, ...]) -> list[Field]:
        fields = round_robin(bots, self._seats, self._numbers["final_meetings"])
        return [field for field in fields for _ in range(self._deals)]

    def _finalists(self, before: Sequence[PlayedBoard]) -> tuple[int, ...]:
        """Return the first bots of each group, by points per board and seeding, in the order of the seeding."""
        points = totals(before)
        boards = Counter(bot for board in before for bot in board.field)
        first = [
            bot
            for group in self._groups
            for bot in sorted(group, key=lambda bot: (-points[bot] / boards[bot], bot))[: self._numbers["advance"]]
        ]
        return tuple(sorted(first))

    def stages(self, played: Sequence[PlayedBoard]) -> list[tuple[tuple[int, ...], list[PlayedBoard]]]:
        before, final = list(played[: len(self._first)]), list(played[len(self._first) :])
        if len(before) < len(self._first):
            return [(tuple(sorted(bot for group in self._groups for bot in group)), before)]
        finalists = self._finalists(before)
        others = tuple(sorted(bot for group in self._groups for bot in group if bot not in finalists))
        return [(finalists, final), (others, before)] if final else [(finalists, before), (others, before)]

    def byes(self, played: Sequence[PlayedBoard]) -> Counter[int]:
        return Counter()

    def ranks(self, played: Sequence[PlayedBoard]) -> Mapping[int, int] | None:
        return None
