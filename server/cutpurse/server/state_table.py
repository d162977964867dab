"""State machines as literal tables: the events that may happen in each state, and the state that follows.

    STAGES: StateTable[Stage, Event] = {Stage.SEATED: {Event.BEGIN: Stage.PLAYING}, Stage.PLAYING: {}}

The tables are also drawn in docs/reference/states.md. This module knows none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias, TypeVar

__all__ = ["EventMisplaced", "StateTable", "next_state"]

S = TypeVar("S", bound=Enum)
E = TypeVar("E", bound=Enum)
StateTable: TypeAlias = Mapping[S, Mapping[E, S]]


class EventMisplaced(Exception):
    """An event that cannot happen in the state."""


def next_state(table: StateTable[S, E], state: S, event: E) -> S:
    """Return the state after an event.

    Raises:
        EventMisplaced: If the event cannot happen in this state.
    """
    try:
        return table[state][event]
    except KeyError:
        possible = ", ".join(one.value for one in table[state]) or "nothing"
        raise EventMisplaced(f"{event.value} cannot happen in state {state.value}; possible: {possible}") from None
