"""A named part of an array.

This module knows no game.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Span"]


@dataclass(frozen=True, slots=True)
class Span:
    """A part of an array, so that a notebook can label a weight."""

    array: str  # "planes", "numbers" or "features"; "rows" and "history" mean each row
    what: str  # "hand of seat +1": seats are counted clockwise from the viewer, who is +0
    part: str  # "known"
    start: int  # index of its first value
    width: int  # number of values

    @property
    def slice(self) -> slice:
        """The index of this part in its array."""
        return slice(self.start, self.start + self.width)
