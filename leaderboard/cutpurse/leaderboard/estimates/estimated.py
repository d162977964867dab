"""The input and the output of an estimate.

A server loads this module, and leaves numpy and scipy to the process that computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

__all__ = ["Estimated", "Field"]

Field: TypeAlias = tuple[Sequence[int], Sequence[int]]  # the players of a comparison, and their places


class Estimated(NamedTuple):
    """The estimate of a player's skill and place.

    Attributes:
        mu: The skill.
        low: Lower end of its 95 % interval.
        high: Upper end of its 95 % interval.
        best: Best place of the 95 % interval of the place among the placed players, which includes the place by `mu`.
            0 for a player that is not ranked or not placed yet (`cutpurse.leaderboard.placing`).
        worst: Worst place of that interval, or 0.
    """

    mu: float
    low: float
    high: float
    best: int
    worst: int
