"""What the environments of learning libraries share: observation spaces, observations, and the runs of matches."""

from __future__ import annotations

import secrets
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from cutpurse.engine.errors import UsageError
from cutpurse.engine.game import Game
from cutpurse.learn.choice_table import ChoiceTable
from cutpurse.learn.space import Shapes, Space
from cutpurse.sdk.text_view import render_table
from cutpurse.sdk.views import VIEWS

__all__ = ["ANSI", "Observation", "Run", "TableObserver", "check_render_mode", "observation_space", "render"]

ANSI: Final = "ansi"  # the render mode
Observation = dict[str, npt.NDArray[Any]]  # "planes" or "rows" and "row_mask", "numbers", "history", "action_mask"


def observation_space(space: Space) -> spaces.Dict:
    """Return the space of observations: planes or rows, numbers, events, and the mask of the options."""
    shapes: Shapes = {**space.shapes, "action_mask": (np.int8, (space.actions,))}
    return spaces.Dict({name: _box(kind, shape) for name, (kind, shape) in shapes.items()})


def _box(kind: type[Any], shape: tuple[int, ...]) -> spaces.Box:
    """Return the space of an array: masks of int8 have 0 and 1, other types all their values."""
    limits = np.iinfo(kind)
    low, high = (0, 1) if kind is np.int8 else (int(limits.min), int(limits.max))
    return spaces.Box(low, high, shape, kind)


def check_render_mode(mode: str | None) -> str | None:
    """Return the render mode.  Raises UsageError if it is neither None nor "ansi"."""
    if mode not in (None, ANSI):
        raise UsageError(f"render_mode is {mode!r}; it can be {ANSI!r}, which gives text, or None")
    return mode


def render(table: ChoiceTable, seat: int | None) -> str:
    """Draw a table as text, as a seat sees it, or as a spectator does."""
    view = VIEWS[table.game.words.game](table.game.view(seat))
    return "\n".join([*render_table(view, table.names), ""])


class TableObserver:
    """What each seat of a table sees, as arrays."""

    def __init__(self, space: Space, table: ChoiceTable) -> None:
        self.space = space
        self.table = table
        self._game: Game | None = None
        self._trail = space.trail()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle without the events seen so far, which are read again from the table's log."""
        return TableObserver, (self.space, self.table)

    def observe(self, seat: int) -> Observation:
        """Return what a seat sees now; its mask is empty if it is not asked."""
        space, table = self.space, self.table
        is_asked = seat == table.seat
        view = table.view if is_asked else table.game.view(seat)
        arrays = space.arrays([view], [self._events(seat)] if space.history[0] else [])
        mask = space.mask(view, table.options) if is_asked else np.zeros(space.actions, np.int8)
        return {**{name: array[0] for name, array in arrays.items()}, "action_mask": mask}

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
