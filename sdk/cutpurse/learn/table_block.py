"""Tables that are stepped together by one process, and the arrays of what is asked at them.

Table t of T plays the matches t, t + T, t + 2 T and so on of a run, so it does not matter which process has it. This
module knows no other process and no particular game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cutpurse.learn.choice_table import ChoiceTable, TableRules
from cutpurse.learn.event_rows import EventTrail
from cutpurse.learn.space import IllegalNumber, Space

__all__ = ["Arrays", "Ended", "TableBlock", "shapes"]

# By name, a row for each table: planes, or rows and row_mask; numbers; history where there is one; mask, seat, match.
Arrays = dict[str, npt.NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Ended:
    """A match that is over; its table has dealt the next one already."""

    table: int
    match: int  # number of the match in the run
    rewards: tuple[float, ...]  # by seat, as the next
    places: tuple[int, ...]
    scores: tuple[int, ...]
    learners: tuple[bool, ...]  # whether a learner had the seat


def shapes(space: Space) -> dict[str, tuple[type[np.generic], tuple[int, ...]]]:
    """Return the type and shape of each array's row of a table."""
    found: dict[str, tuple[type[np.generic], tuple[int, ...]]] = {}
    if space.rows[0]:
        found["rows"] = np.uint8, space.rows
        found["row_mask"] = np.int8, space.rows[:1]
    else:
        found["planes"] = np.uint8, (space.planes,)
    found["numbers"] = np.int32, (space.numbers,)
    if space.history[0]:
        found["history"] = np.int32, space.history
    return {**found, "mask": (np.int8, (space.actions,)), "seat": (np.int8, ()), "match": (np.int64, ())}


class TableBlock:
    """Some of the tables of a batch."""

    def __init__(self, parameters: TableRules, space: Space, seed: int | str, numbers: range, tables: int) -> None:
        """Deal a match on each table.

        Args:
            parameters: Of the tables.
            space: Their numbers and arrays.
            seed: Of the run.
            numbers: The tables of this block.
            tables: Number of tables of the whole batch.
        """
        self.space = space
        self.seed = seed
        self.numbers = numbers
        self.match = [*numbers]  # number of the match on each table
        self.offered: list[list[int]] = [[] for _ in numbers]  # numbers of the options, by table
        self.tables = [ChoiceTable(parameters) for _ in numbers]
        self._stride = tables
        self._trails = [space.trail() for _ in numbers]
        self._mask = np.zeros((len(numbers), space.actions), np.int8)
        for place in range(len(numbers)):
            self._deal(place)

    def _deal(self, place: int) -> None:
        """Deal the next match of a table in which a learner has a choice."""
        while not self.tables[place].deal(self.seed, self.match[place]):
            self.match[place] += self._stride
        self._trails[place] = self.space.trail()

    def look(self) -> Arrays:
        """Return the arrays of what is asked now. They are new ones, but for the mask."""
        space, views = self.space, [table.view for table in self.tables]
        found: Arrays = {}
        if space.rows[0]:
            each = [space.zone_rows(view) for view in views]
            found["rows"] = np.stack([rows for rows, _ in each])
            found["row_mask"] = np.stack([mask for _, mask in each])
            found["numbers"] = np.stack([space.view_numbers(view) for view in views])
        else:
            found["planes"], found["numbers"] = space.observe_all(views)
        if space.history[0]:
            found["history"] = np.stack([*map(self._events, self.tables, self._trails)])
        for place, (table, row) in enumerate(zip(self.tables, self._mask, strict=True)):
            row[self.offered[place]] = 0
            self.offered[place] = options = space.option_numbers(table.view, table.options)
            row[options] = 1
        found["mask"] = self._mask
        found["seat"] = np.array([table.seat for table in self.tables], np.int8)
        found["match"] = np.array(self.match, np.int64)
        return found

    def _events(self, table: ChoiceTable, trail: EventTrail) -> npt.NDArray[np.int32]:
        assert table.seat is not None
        trail.add(table.game.log or ())
        return self.space.events(trail, table.seat)

    def check(self, place: int, action: int) -> int:
        """Return which option of a table has this number.  Raises IllegalNumber if none has."""
        offered = self.offered[place]
        if action not in offered:
            table = self.tables[place]
            text = self.space.illegal_text(table.view, table.options, offered, action)
            raise IllegalNumber(f"table {self.numbers[place]}: {text}")
        return offered.index(action)

    def step(self, actions: Sequence[int]) -> list[Ended]:
        """Answer on every table, and go on to the next choice on each; see `Batch.step`."""
        chosen = [self.check(place, action) for place, action in enumerate(actions)]
        ended = []
        for place, (table, choice) in enumerate(zip(self.tables, chosen, strict=True)):
            if not table.answer(table.options[choice]):
                ended.append(self._ended(place, table))
                self.match[place] += self._stride
                self._deal(place)
        return ended

    def _ended(self, place: int, table: ChoiceTable) -> Ended:
        learners = tuple([bot < table.parameters.learners for bot in table.bot_at])
        places, scores = tuple(table.game.places()), tuple(table.game.scores())
        return Ended(self.numbers[place], self.match[place], table.rewards(), places, scores, learners)
