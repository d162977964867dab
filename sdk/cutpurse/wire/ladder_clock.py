"""The clock that a message about a ladder means. This module knows no server."""

from __future__ import annotations

from dataclasses import replace

from cutpurse.engine.clocks import PEOPLE_CLOCK, TimeControl
from cutpurse.v1 import ladder_pb2

__all__ = ["control_of"]


def control_of(ladder: ladder_pb2.LadderDefined) -> TimeControl:
    """Return the time control of a ladder; what its message leaves open has the default of its kind.

    Raises:
        SettingsError: If a value is out of range.
    """
    default = PEOPLE_CLOCK if ladder.terms.people else TimeControl()
    return replace(default, **{field.name: value for field, value in ladder.clock.ListFields()})
