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
from cutpurse.learn.space import Arrays, IllegalNumber, Shapes, Space

__all__ = ["Ended", "TableBlock", "shapes"]


@dataclass(frozen=True, slots=True)
class Ended:
    """A match that is over; its table has dealt the next one already."""

    table: int  # index of the row that it had in the arrays
    match: int  # number of the match in the run
    rewards: tuple[float, ...]  # by seat
    places: tuple[int, ...]  # by seat, 1 is best
    scores: tuple[int, ...]  # by seat
    learners: tuple[bool, ...]  # by seat, whether a learner had it; else one of the opponents


def shapes(space: Space) -> Shapes:
    """Return the type and shape of each array's row of a table."""
    return {**space.shapes, "mask": (np.int8, (space.actions,)), "seat": (np.int8, ()), "match": (np.int64, ())}


class TableBlock:
    """Some of the tables of a batch."""

    def __init__(
        self,
        parameters: TableRules,
        space: Space,
        seed: int | str,
        numbers: range,
        tables: int,
        out: Arrays | None = None,
    ) -> None:
        """Deal a match on each table.

        Args:
            parameters: Of the tables.
            space: Their numbers and arrays.
            seed: Of the run.
            numbers: The tables of this block.
            tables: Number of tables of the whole batch.
            out: Arrays with a row for each table, zeros at first, that every look writes. Default: new ones each time.
        """
        self.space = space
        self.seed = seed
        self.numbers = numbers
        self.match = [*numbers]  # number of the match on each table
        self.offered: list[list[int]] = [[] for _ in numbers]  # numbers of the options, by table
        self.tables = [ChoiceTable(parameters) for _ in numbers]
        self._stride = tables
        self._trails = [space.trail() for _ in numbers]
        self._out = out
        self._mask = np.zeros((len(numbers), space.actions), np.int8) if out is None else out["mask"]
        self._marks = self._mask.reshape(-1)  # the same array
        self._marked: list[int] = []  # the indices in it that are 1
        for place in range(len(numbers)):
            self._deal(place)

    def _deal(self, place: int) -> None:
        """Deal the next match of a table in which a learner has a choice."""
        while not self.tables[place].deal(self.seed, self.match[place]):
            self.match[place] += self._stride
        self._trails[place] = self.space.trail()

    def look(self) -> Arrays:
        """Return the arrays of what is asked now: new ones but for the mask, or those that were given."""
        tables = self.tables
        events = [*map(self._events, tables, self._trails)] if self.space.history[0] else []
        arrays = self.space.arrays([table.view for table in tables], events)
        arrays["seat"] = np.array([table.seat for table in tables], np.int8)
        arrays["match"] = np.array(self.match, np.int64)
        self._mark()
        if self._out is None:
            return {**arrays, "mask": self._mask}
        for name, array in arrays.items():
            self._out[name][...] = array
        return self._out

    def _mark(self) -> None:
        """Set the mask to the options of now."""
        marks, width = self._marks, self.space.actions
        marks[self._marked] = 0
        marked: list[int] = []
        for place, table in enumerate(self.tables):
            self.offered[place] = options = self.space.option_numbers(table.view, table.options)
            first = place * width
            marked += [first + number for number in options]
        marks[marked] = 1
        self._marked = marked

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
