"""Values: plain objects that never change and are equal if what they hold is."""

from __future__ import annotations

from typing import Any

__all__ = ["PlainValue"]


class PlainValue:
    """Base of the small classes of which many objects are made; a subclass says in `values` what it holds."""

    __slots__ = ()

    def values(self) -> tuple[Any, ...]:
        """Return the arguments that make an equal object."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, PlainValue) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash(self.values())

    def __repr__(self) -> str:
        return type(self).__name__ + repr(self.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.values()
