"""The rounds of a knock-out: the boards of the duels of a bracket.

In each round, all duels that are due play as many boards as they need at least. So a duel ends as soon as it is
decided, and everything follows from the boards that were played. On a board with several matches, the bot with more
points of them all is the better one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cutpurse.lab.tournament.tournament_file import Tournament
from cutpurse.lab.tournament.tournament_results import PlayedBoard
from cutpurse.leaderboard.formats.brackets import Duel, boards_needed
from cutpurse.leaderboard.formats.duels import Duels, most_duels
from cutpurse.leaderboard.formats.pairings import Field
from cutpurse.wire.text import format_count

__all__ = ["Knockout"]


class Knockout:
    """The rounds of elimination and of double elimination."""

    def __init__(self, tournament: Tournament) -> None:
        form = tournament.format
        self._kind, self._best_of, self._fill = form.kind, form.numbers["best_of"], form.fill
        self.bots = tuple(bot for bot in range(len(tournament.bots)) if bot not in self._fill)  # by seed
        self._max_duels = most_duels(self._kind, len(self.bots))

    def count(self) -> int:
        return self._max_duels * self._best_of  # far more than are needed: rounds are played until none is due

    def size(self, number: int) -> int:
        return len(self.bots) // 2 * self._best_of

    def boards(self) -> int:
        return self._max_duels * self._best_of

    def said(self, number: int) -> str:
        if number:
            return ""
        best_of = "a board each" if self._best_of == 1 else f"best of {self._best_of} boards"
        duels, boards = format_count(self._max_duels, "duel"), format_count(self.boards(), "board")
        return f"at most {duels}, {best_of}: {boards} at most"

    def fields(self, number: int, before: Sequence[PlayedBoard]) -> list[Field]:
        return [self._field(duel) for duel in self._due(self.duels(before))]

    def stages(self, played: Sequence[PlayedBoard]) -> list[tuple[tuple[int, ...], list[PlayedBoard]]]:
        return [(self.bots, list(played))]

    def byes(self, played: Sequence[PlayedBoard]) -> Counter[int]:
        return Counter()  # nobody gets points for a bye

    def ranks(self, played: Sequence[PlayedBoard]) -> Mapping[int, int] | None:
        return {self.bots[standing.bot]: standing.rank for standing in self._after(played).table()}

    def duels(self, played: Sequence[PlayedBoard]) -> list[Duel]:
        """Return the duels after these boards, which may end within a round."""
        return self._after(played).all

    def _after(self, played: Sequence[PlayedBoard]) -> Duels:
        results: dict[int, list[str]] = {}
        left = iter(played)
        is_over = False
        while not is_over:
            due = list(self._due(self._with(results).all))
            boards = list(zip(due, left, strict=False))
            for duel, board in boards:
                results.setdefault(duel.number, []).append(self._result(duel, board))
            is_over = len(boards) < len(due) or not due
        return self._with(results)

    def _with(self, results: Mapping[int, Sequence[str]]) -> Duels:
        return Duels(self._kind, len(self.bots), self._best_of, results)

    def _due(self, duels: Sequence[Duel]) -> Iterator[Duel]:
        """Yield the duels of the next round, each once for each of its boards."""
        for duel in duels:
            for _ in range(boards_needed(duel, self._best_of)):
                yield duel

    def _field(self, duel: Duel) -> Field:
        return (*self._pair(duel), *self._fill)

    def _pair(self, duel: Duel) -> tuple[int, int]:
        first, second = duel.seats(0)
        return self.bots[first], self.bots[second]

    def _result(self, duel: Duel, board: PlayedBoard) -> str:
        points = board.points()
        first, second = (round(points.get(bot, 0.0), 9) for bot in self._pair(duel))  # so that thirds add up to 1
        return "==" if first == second else f"{int(first > second)}{int(second > first)}"
