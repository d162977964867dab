"""Many tables stepped together in one process.

    batch = Batch("greed", tables=64, seed=7)
    ended = batch.step(actions)
    batch.planes, batch.numbers, batch.mask, batch.seat

This module knows no particular game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cutpurse.engine.errors import UsageError
from cutpurse.learn.choice_table import BotSpec, ChoiceTable, TableRules
from cutpurse.learn.space import IllegalNumber, Space

__all__ = ["Batch", "Ended"]


@dataclass(frozen=True, slots=True)
class Ended:
    """A match that is over; its table has dealt the next one already."""

    table: int
    match: int  # number of the match in the run
    rewards: tuple[float, ...]  # by seat, as the next
    places: tuple[int, ...]
    scores: tuple[int, ...]
    learners: tuple[bool, ...]  # whether a learner had the seat


class Batch:
    """Tables that each wait for an answer of a learner.

    After every step the arrays have a row for each table, from the view of the seat that is asked there: `seat`. A
    learner that plays all seats just answers. The arrays are new ones in every step, but for `mask`.
    """

    planes: npt.NDArray[np.uint8]
    numbers: npt.NDArray[np.int32]

    def __init__(
        self,
        game: str,
        tables: int = 64,
        seats: int | None = None,
        seed: int | str = 0,
        settings: Mapping[str, object] | None = None,
        reward: str = "place",
        opponents: Sequence[BotSpec] | None = None,
    ) -> None:
        """Deal a match on each table.

        Args:
            game: Name of the game.
            tables: Number of tables.
            seats: Number of seats. Default: the game's own.
            seed: Of the run; match i has the key of match i of `cutpurse play --seed`.
            settings: Settings that differ from their defaults.
            reward: "place", "first" or "score".
            opponents: Bots in the other seats. Default: learners have all seats.

        Raises:
            UsageError: For unknown names and impossible values.
        """
        if tables < 1:
            raise UsageError(f"{tables} tables cannot be stepped; at least 1 can")
        parameters = TableRules(game, seats, settings, reward, opponents)
        self.space = Space(game, parameters.seats)
        self.seed = seed
        self.tables = [ChoiceTable(parameters) for _ in range(tables)]
        self.match = [0] * tables  # number of the match on each table
        self._dealt = 0
        self.offered: list[list[int]] = [[] for _ in range(tables)]  # numbers of the options, by table
        self.mask: npt.NDArray[np.int8] = np.zeros((tables, self.space.actions), np.int8)
        self.seat: npt.NDArray[np.int8] = np.zeros(tables, np.int8)
        for number in range(tables):
            self._deal(number)
        self._look()

    def _deal(self, number: int) -> None:
        """Deal the next match of the run in which a learner has a choice."""
        while True:
            self.match[number] = self._dealt
            self._dealt += 1
            if self.tables[number].deal(self.seed, self.match[number]):
                return

    def _look(self) -> None:
        space, views = self.space, [table.view for table in self.tables]
        self.planes, self.numbers = space.observe_all(views)
        for number, (table, row) in enumerate(zip(self.tables, self.mask, strict=True)):
            row[self.offered[number]] = 0
            self.offered[number] = options = space.option_numbers(table.view, table.options)
            row[options] = 1
        self.seat = np.array([table.seat for table in self.tables], np.int8)

    def step(self, actions: Sequence[int] | npt.NDArray[np.integer]) -> list[Ended]:
        """Answer on every table, and go on to the next choice on each.

        Args:
            actions: A number for each table.

        Returns:
            The matches that ended.

        Raises:
            IllegalNumber: If a number stands for no option of its table. Then no table has gone on.
            OpponentFailed: If a bot beside the learners failed.
        """
        if len(actions) != len(self.tables):
            raise UsageError(f"{len(actions)} numbers for {len(self.tables)} tables: give one for each")
        chosen = []
        for number, action in enumerate(map(int, actions)):
            offered = self.offered[number]
            if action not in offered:
                table = self.tables[number]
                text = self.space.illegal_text(table.view, table.options, offered, action)
                raise IllegalNumber(f"table {number}: {text}")
            chosen.append(offered.index(action))
        ended = []
        for number, (table, choice) in enumerate(zip(self.tables, chosen, strict=True)):
            if not table.answer(table.options[choice]):
                ended.append(self._ended(number, table))
                self._deal(number)
        self._look()
        return ended

    def _ended(self, number: int, table: ChoiceTable) -> Ended:
        learners = tuple([bot < table.parameters.learners for bot in table.bot_at])
        places, scores = tuple(table.game.places()), tuple(table.game.scores())
        return Ended(number, self.match[number], table.rewards(), places, scores, learners)
