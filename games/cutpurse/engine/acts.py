"""Acts: the one shape of an option, of something under way and of what a seat did.

`agenda` has it under the name `Option`, too: imported and not assigned, so that the compiler knows the class.
"""

from __future__ import annotations

from typing import Any, final

from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.values import PlainValue

__all__ = ["Act", "distinct"]


@mypyc_attr(acyclic=True)
@final
class Act(PlainValue):
    """A verb with what it is done to: the one shape of an option, of something under way and of what a seat did."""

    __slots__ = ("actor", "cards", "number", "places", "seat", "verb", "zone")

    def __init__(
        self,
        verb: int,
        cards: tuple[int, ...] = (),
        zone: int = 0,
        seat: int | None = None,
        number: int = 0,
        places: tuple[int, ...] = (),
        actor: int | None = None,
    ) -> None:
        self.verb = verb
        self.cards = cards
        self.zone = zone
        self.seat = seat
        self.number = number
        self.places = places  # which copies, by their places in their zone, where equal faces can differ
        self.actor = actor  # who does it; None in an option: there it is the seat that is asked

    def values(self) -> tuple[Any, ...]:
        return self.verb, self.cards, self.zone, self.seat, self.number, self.places, self.actor

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Act)
            and self.verb == other.verb
            and self.cards == other.cards
            and self.zone == other.zone
            and self.seat == other.seat
            and self.number == other.number
            and self.places == other.places
            and self.actor == other.actor
        )

    def __hash__(self) -> int:
        return hash((self.verb, self.cards, self.zone, self.seat, self.number, self.places, self.actor))

    def by(self, actor: int) -> Act:
        """Return what was done when this seat took the option."""
        return Act(self.verb, self.cards, self.zone, self.seat, self.number, self.places, actor)

    def showing(self, cards: tuple[int, ...]) -> Act:
        """Return this act with other cards, without saying which copies they are."""
        return Act(self.verb, cards, self.zone, self.seat, self.number, (), self.actor)

    def at(self, places: tuple[int, ...]) -> Act:
        """Return this act with the copies at these places."""
        return Act(self.verb, self.cards, self.zone, self.seat, self.number, places, self.actor)


def distinct(cards: list[int]) -> list[int]:
    """Return each card of a sorted list once: equal copies are one option."""
    kinds: list[int] = []
    for card in cards:
        if not kinds or kinds[-1] != card:
            kinds.append(card)
    return kinds
