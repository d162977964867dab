"""A habit: something that the bots of a game do more or less often. Each game's view class lists its own few.

habits = (Habit("raids on", ("go_on",)), Habit("numbers at a stop", ("stop",), measure=numbers, most=7))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Habit"]


@dataclass(frozen=True)
class Habit:
    """How often a bot takes some options where it could also take others, or a mean when it does.

    Attributes:
        name: What the number says, such as "attacks when it can".
        verbs: The verbs of the options.
        sorts: Sorts of the option's card. If given, only other options with these verbs count as others.
        is_lowest: Whether only cards of the least value offered count. Others are then as with `sorts`.
        measure: Returns a number of the seat's view; the habit is its mean over the choices of these options.
        most: Largest value of `measure`, by which similarities scale it.
    """

    name: str
    verbs: tuple[str, ...]
    sorts: tuple[str, ...] = ()
    is_lowest: bool = False
    measure: Callable[[Any], float] | None = None  # Any: each game has its own view class
    most: float = 1.0
