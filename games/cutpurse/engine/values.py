"""Values: plain objects that never change and are equal if what they hold is."""

from __future__ import annotations

from typing import Any

from cutpurse.engine.native import mypyc_attr

__all__ = ["PlainValue"]


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class PlainValue:
    """Base of small classes that are made in great number; a subclass lists in `values` what it holds."""

    __slots__ = ()

    def values(self) -> tuple[Any, ...]:
        """Return the arguments that make an equal object."""
        raise NotImplementedError  # each subclass says it

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, PlainValue) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash(self.values())

    def __repr__(self) -> str:
        return type(self).__name__ + repr(self.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.values()
