"""Attributes of a game's view that are named after a zone or a counter, typed by the meaning of the number.

    class GreedPlayer(Player):
        hand = OnePile(Pile)
        points = CounterAttribute()

This module knows no game.
"""

from __future__ import annotations

from typing import Generic, Protocol, Self, TypeVar, overload

from cutpurse.sdk.views.piles import Pile

__all__ = ["Column", "CounterAttribute", "Flag", "OnePile", "Piles", "SeatOf"]


class _Counted(Protocol):
    """Anything that has counters by name: a view, a player, a pile."""

    def counter(self, name: str) -> int: ...


class CounterAttribute:
    """An attribute for the counter with the attribute's name, or with the name `of`."""

    def __init__(self, doc: str = "", of: str = "") -> None:
        self.__doc__ = doc
        self.name = of

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...
    @overload
    def __get__(self, holder: _Counted, owner: type) -> int: ...
    def __get__(self, holder: _Counted | None, owner: type) -> Self | int:
        return self if holder is None else holder.counter(self.name)


class Flag(CounterAttribute):
    """An attribute for a counter that is true or false."""

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...
    @overload
    def __get__(self, holder: _Counted, owner: type) -> bool: ...
    def __get__(self, holder: _Counted | None, owner: type) -> Self | bool:
        return self if holder is None else bool(holder.counter(self.name))


class SeatOf(CounterAttribute):
    """An attribute for a counter that is a seat, or None for no seat."""

    @overload  # type: ignore[override]  # the counter holds the seat plus 1
    def __get__(self, holder: None, owner: type) -> Self: ...
    @overload
    def __get__(self, holder: _Counted, owner: type) -> int | None: ...
    def __get__(self, holder: _Counted | None, owner: type) -> Self | int | None:
        if holder is None:
            return self
        return holder.counter(self.name) - 1 if holder.counter(self.name) else None


class Column:
    """An attribute for the column with its name: a number for each card you see, in order."""

    def __init__(self, doc: str = "") -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, pile: None, owner: type) -> Self: ...
    @overload
    def __get__(self, pile: Pile, owner: type) -> tuple[int, ...]: ...
    def __get__(self, pile: Pile | None, owner: type) -> Self | tuple[int, ...]:
        return self if pile is None else pile.column(self.name)


P = TypeVar("P", bound=Pile)


class _PilesOfOneKind(Generic[P]):
    """What the attributes for one pile and for several have in common."""

    def __init__(self, pile_type: type[P], doc: str = "", of: str = "") -> None:
        self.pile_type = pile_type
        self.__doc__ = doc
        self.name = of

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name


class OnePile(_PilesOfOneKind[P]):
    """An attribute for the single pile with its name, or with the name `of`, of a player or the table."""

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...
    @overload
    def __get__(self, holder: _Holder, owner: type) -> P: ...
    def __get__(self, holder: _Holder | None, owner: type) -> Self | P:
        if holder is None:
            return self
        pile = holder.pile(self.name)
        return pile if isinstance(pile, self.pile_type) else self.pile_type(pile.raw, pile.view)


class Piles(_PilesOfOneKind[P]):
    """An attribute for all piles with its name, or with the name `of`, from the bottom or oldest."""

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...
    @overload
    def __get__(self, holder: _Holder, owner: type) -> tuple[P, ...]: ...
    def __get__(self, holder: _Holder | None, owner: type) -> Self | tuple[P, ...]:
        if holder is None:
            return self
        return tuple([self.pile_type(pile.raw, pile.view) for pile in holder.piles(self.name)])


class _Holder(Protocol):
    """Anything that has piles: a player or a view."""

    def pile(self, name: str) -> Pile: ...

    def piles(self, name: str) -> list[Pile]: ...
