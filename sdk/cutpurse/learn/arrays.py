"""What the environments of learning libraries share: observation spaces, observations, and the runs of matches."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from cutpurse.learn.choice_table import ChoiceTable
from cutpurse.learn.space import Space

__all__ = ["Observation", "Run", "observation", "observation_space"]

Observation = dict[str, npt.NDArray[Any]]  # "planes", "numbers", "action_mask"


def observation_space(space: Space) -> spaces.Dict:
    """Return the space of observations: planes, numbers, and the mask of the options."""
    whole = np.iinfo(np.int32)
    return spaces.Dict(
        {
            "planes": spaces.Box(0, 255, (space.planes,), np.uint8),
            "numbers": spaces.Box(int(whole.min), int(whole.max), (space.numbers,), np.int32),
            "action_mask": spaces.Box(0, 1, (space.actions,), np.int8),
        }
    )


def observation(space: Space, table: ChoiceTable, seat: int) -> Observation:
    """Return what a seat sees now; its mask is empty if it is not asked."""
    is_asked = seat == table.seat
    view = table.view if is_asked else table.game.view(seat)
    planes, numbers = space.observe(view)
    mask = space.mask(view, table.options) if is_asked else np.zeros(space.actions, np.int8)
    return {"planes": planes, "numbers": numbers, "action_mask": mask}


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
