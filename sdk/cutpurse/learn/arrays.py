"""What the environments of learning libraries share: observation spaces, observations, and the runs of matches."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from cutpurse.engine.game import Game
from cutpurse.learn.choice_table import ChoiceTable
from cutpurse.learn.space import Space

__all__ = ["Observation", "Run", "TableObserver", "observation_space"]

Observation = dict[str, npt.NDArray[Any]]  # "planes" or "rows" and "row_mask", "numbers", "history", "action_mask"


def observation_space(space: Space) -> spaces.Dict:
    """Return the space of observations: planes or rows, numbers, events, and the mask of the options."""
    whole = np.iinfo(np.int32)
    parts: dict[str, spaces.Space[Any]] = {}
    if space.rows[0]:
        parts["rows"] = spaces.Box(0, 255, space.rows, np.uint8)
        parts["row_mask"] = spaces.Box(0, 1, space.rows[:1], np.int8)
    else:
        parts["planes"] = spaces.Box(0, 255, (space.planes,), np.uint8)
    parts["numbers"] = spaces.Box(int(whole.min), int(whole.max), (space.numbers,), np.int32)
    if space.history[0]:
        parts["history"] = spaces.Box(int(whole.min), int(whole.max), space.history, np.int32)
    parts["action_mask"] = spaces.Box(0, 1, (space.actions,), np.int8)
    return spaces.Dict(parts)


class TableObserver:
    """What each seat of a table sees, as arrays."""

    def __init__(self, space: Space, table: ChoiceTable) -> None:
        self.space = space
        self.table = table
        self._game: Game | None = None
        self._trail = space.trail()

    def observe(self, seat: int) -> Observation:
        """Return what a seat sees now; its mask is empty if it is not asked."""
        space, table = self.space, self.table
        is_asked = seat == table.seat
        view = table.view if is_asked else table.game.view(seat)
        found: Observation = {}
        if space.rows[0]:
            found["rows"], found["row_mask"] = space.zone_rows(view)
            found["numbers"] = space.view_numbers(view)
        else:
            found["planes"], found["numbers"] = space.observe(view)
        if space.history[0]:
            found["history"] = self._events(seat)
        mask = space.mask(view, table.options) if is_asked else np.zeros(space.actions, np.int8)
        return {**found, "action_mask": mask}

    def _events(self, seat: int) -> npt.NDArray[np.int32]:
        if self._game is not self.table.game:
            self._game, self._trail = self.table.game, self.space.trail()
        self._trail.add(self.table.game.log or ())
        return self.space.events(self._trail, seat)


class Run:
    """The matches of an environment, one after the other."""

    def __init__(self, seed: int | str | None = None) -> None:
        """Begin a run; without a seed with one that nobody else has, so that copies of an environment differ."""
        self.seed: int | str = secrets.randbits(63) if seed is None else seed
        self.match = -1

    def begin(self, seed: int | str) -> None:
        """Begin the run of a seed anew."""
        self.seed, self.match = seed, -1

    def deal(self, table: ChoiceTable) -> None:
        """Deal the next match in which a learner has a choice."""
        while True:
            self.match += 1
            if table.deal(self.seed, self.match):
                return

    @property
    def info(self) -> dict[str, Any]:
        """What to give to `cutpurse play --seed`, and which of its matches this is."""
        return {"seed": self.seed, "match": self.match}
