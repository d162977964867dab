"""Tournaments of duels, as a fold over the results of their boards: which duels are due, and who is ahead.

Two bots play a duel of at most `best_of` boards. On each board the better placed bot wins a point; who shares a place
shares the point. A duel is over when one bot cannot be caught up any more. A bot that was away when a board was due
loses it; if both were, nobody gets a point.

* Round robin: each bot has a duel with each other bot. Duels won count, half for a tied duel, then points.
* Elimination and double elimination: see `brackets`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from cutpurse.leaderboard.formats.brackets import (
    DOUBLE_ELIMINATION,
    ELIMINATION,
    KNOCKOUTS,
    Duel,
    duel_after,
    knockout_duels,
    knockout_ranks,
    max_duels,
)
from cutpurse.leaderboard.formats.pairings import round_robin

__all__ = ["FORMATS", "ROUND_ROBIN", "Duels", "Standing", "most_duels"]

ROUND_ROBIN: Final = "round_robin"
FORMATS: Final = (ELIMINATION, ROUND_ROBIN, DOUBLE_ELIMINATION)


@dataclass(frozen=True, slots=True)
class Standing:
    """The standing of a bot.

    Attributes:
        bot: Its seed, counted from 0.
        rank: Its rank, 1 is best; equals share.
        duels: Duels that are over, byes left out.
        won: Duels won; half for a tied one.
        points: Points of all boards.
        boards: Boards played or lost by absence.
        is_out: Whether it was eliminated.
    """

    bot: int
    rank: int
    duels: int
    won: float
    points: float
    boards: int
    is_out: bool = False


def most_duels(form: str, count: int) -> int:
    """Return the maximum number of duels of a tournament, byes left out."""
    return max_duels(form, count) if form in KNOCKOUTS else count * (count - 1) // 2


class Duels:
    """The duels of a tournament after some boards."""

    def __init__(self, form: str, count: int, best_of: int, results: Mapping[int, Sequence[str]] | None = None) -> None:
        """Begin with these results.

        Args:
            form: One of `FORMATS`.
            count: Number of bots.
            best_of: Maximum number of boards of a duel.
            results: Results of the boards so far, by duel, in the order of the boards. Default: none.
        """
        self._form, self._count, self._best_of = form, count, best_of
        self._results = {duel: list(boards) for duel, boards in (results or {}).items()}
        self.all: list[Duel] = []  # by number
        if form in KNOCKOUTS:
            self.all = knockout_duels(form, count, best_of, self._results)
        else:
            pairs = round_robin(range(count), 2, 1)
            self.all = [Duel(number, 0, (first, second)) for number, (first, second) in enumerate(pairs)]
            for duel in self._results:
                self._count_in(duel)

    def after(self, duel: int, result: str) -> None:
        """Count the next board of a duel. In a round robin, it changes one duel of thousands.

        Args:
            duel: Number of the duel.
            result: As in `Duel.results`.
        """
        self._results.setdefault(duel, []).append(result)
        if self._form in KNOCKOUTS:
            self.all = knockout_duels(self._form, self._count, self._best_of, self._results)
        else:
            self._count_in(duel)

    def orders(self) -> Sequence[Duel]:
        """List the duels whose next board can be played; the tournament is over if there is none."""
        return [duel for duel in self.all if duel.is_due]

    def table(self) -> list[Standing]:
        """Rank the bots, the best first; equals in the order of their seeds."""
        ranked = knockout_ranks(self.all, self._count) if self._form in KNOCKOUTS else ()
        facts = []
        for bot in range(self._count):
            own = [duel for duel in self.all if bot in duel.bots and not duel.is_bye]
            over = [duel for duel in own if duel.is_over]
            won = sum(1.0 if duel.winner == bot else 0.5 if duel.winner is None else 0.0 for duel in over)
            points = sum(duel.points[duel.bots.index(bot)] for duel in own)
            boards = sum(len(duel.results) for duel in own)
            order = (float(ranked[bot].rank),) if ranked else (-won, -points)
            is_out = bool(ranked) and ranked[bot].is_out
            facts.append((order, Standing(bot, 0, len(over), won, points, boards, is_out)))
        facts.sort(key=lambda fact: fact[0])
        return [replace(standing, rank=1 + sum(other < order for other, _ in facts)) for order, standing in facts]

    def _count_in(self, duel: int) -> None:
        """Replace a duel of a round robin by what its results make of it."""
        self.all[duel] = duel_after(self.all[duel], self._results[duel], self._best_of, has_winner=False)
