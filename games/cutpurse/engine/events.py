"""What happened, stored once, with a face for every viewer.

Events are numbered from 0 without gaps, alike for all viewers: each viewer gets every event, with the faces that this
viewer may see. What not everybody may know to have happened (a sealed answer that did not count) is no event.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from cutpurse.engine.agenda import Act
from cutpurse.engine.words import FACE_DOWN, MOST_SEATS

__all__ = ["ALONE", "Asked", "Counted", "Event", "Happened", "Moved", "Placed", "Scored", "Shown", "Shuffled"]


# Tuples of one number: of a card, a seat, a set of viewers. Most events hold two, and each of these is made once.
ALONE: Final = tuple([(number,) for number in range(1 << (MOST_SEATS + 1))])


def _visible_cards(cards: tuple[int, ...], masks: tuple[int, ...], viewer: int) -> tuple[int, ...]:
    """Return the faces this viewer may see. If some are hidden, those seen come first: the order itself would tell."""
    if not masks:
        return cards
    seen = [card for card, mask in zip(cards, masks, strict=True) if mask >> viewer & 1]
    if len(seen) == len(cards):
        return cards
    return (*sorted(seen), *[FACE_DOWN] * (len(cards) - len(seen)))


class Happened(NamedTuple):
    """A seat did something that all may know, or the rules did."""

    act: Act
    masks: tuple[int, ...] = ()  # for each card who may see its face; empty: everybody

    def to(self, viewer: int) -> Happened:
        """Return the event as this viewer hears it."""
        return Happened(self.act.showing(_visible_cards(self.act.cards, self.masks, viewer)))


class Moved(NamedTuple):
    """Cards went from one zone to another."""

    from_zone: int
    to_zone: int
    cards: tuple[int, ...]
    masks: tuple[int, ...] = ()

    def to(self, viewer: int) -> Moved:
        """Return the event as this viewer hears it."""
        return Moved(self.from_zone, self.to_zone, _visible_cards(self.cards, self.masks, viewer))


class Shown(NamedTuple):
    """Cards were looked at where they lie."""

    zone: int
    seats: tuple[int, ...]  # who saw them; empty: everybody
    cards: tuple[int, ...]
    masks: tuple[int, ...] = ()

    def to(self, viewer: int) -> Shown:
        """Return the event as this viewer hears it."""
        return Shown(self.zone, self.seats, _visible_cards(self.cards, self.masks, viewer))


class Shuffled(NamedTuple):
    """The order of a zone was lost."""

    zone: int

    def to(self, viewer: int) -> Shuffled:
        """Return the event as this viewer hears it."""
        return self


class Counted(NamedTuple):
    """A counter has a new value: of a seat, of a zone, or (both None) of the table."""

    counter: str
    value: int
    seat: int | None = None
    zone: int | None = None
    place: int | None = None  # filled if it is a column of a card in the zone

    def to(self, viewer: int) -> Counted:
        """Return the event as this viewer hears it."""
        return self


class Placed(NamedTuple):
    """A zone was made, went to another seat, became another kind, or (kind 0) is gone."""

    zone: int
    kind: int
    seat: int

    def to(self, viewer: int) -> Placed:
        """Return the event as this viewer hears it."""
        return self


class Asked(NamedTuple):
    """Seats were asked something. Who is asked follows from what all know, never from what a hand holds."""

    ask: str
    seats: tuple[int, ...]

    def to(self, viewer: int) -> Asked:
        """Return the event as this viewer hears it."""
        return self


class Scored(NamedTuple):
    """A deal, or (over) the game, was counted up."""

    over: bool
    scores: tuple[int, ...]

    def to(self, viewer: int) -> Scored:
        """Return the event as this viewer hears it."""
        return self


Event = Happened | Moved | Shown | Shuffled | Counted | Placed | Asked | Scored
