"""Everything one seat, or the spectator, may know at one moment.

A view is made of values that never change and can be kept. Two situations that a viewer cannot tell apart have equal
views, byte for byte (`View.to_bytes`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from cutpurse.engine.agenda import Act, Step
from cutpurse.engine.knowledge import Possibility, clues_to_lists
from cutpurse.engine.zones import ZoneView

if TYPE_CHECKING:
    from cutpurse.engine.game import Game
    from cutpurse.engine.settings import Settings

__all__ = ["View"]


class View(NamedTuple):
    """What a viewer may know: settings, counters, zones, and the agenda, which is open to all."""

    rules: type[Game]
    settings: Settings
    seats: int
    viewer: int | None  # a seat, or None: the spectator
    counters: tuple[int, ...]  # in the order of words.table_counters
    seat_counters: tuple[tuple[int, ...], ...]  # by counter in the order of words.seat_counters, then by seat
    zones: tuple[ZoneView, ...]  # the table's, each seat's fixed ones, then those made in play by kind, seat and age
    agenda: tuple[Step, ...]  # the last is what happens next
    clues: tuple[tuple[Possibility, ...], ...] = ()  # what is known of cards that lie in one of several zones

    @property
    def pending(self) -> tuple[Act, ...]:
        """What has been announced and is not finished, oldest first; the last is what is being asked about."""
        return tuple([act for step in self.agenda if (act := step.act()) is not None])

    def counter(self, name: str) -> int:
        """A counter of the table, by name."""
        return self.counters[[c.name for c in self.rules.words.table_counters].index(name)]

    def seat_counter(self, name: str, seat: int) -> int:
        """A counter of a seat, by name."""
        return self.seat_counters[[c.name for c in self.rules.words.seat_counters].index(name)][seat]

    def zone(self, number: int) -> ZoneView:
        """The zone of this number.  Raises KeyError if there is none (any more)."""
        for zone in self.zones:
            if zone.number == number:
                return zone
        raise KeyError(number)

    def of(self, kind: str, owner: int = -1) -> list[ZoneView]:
        """The zones of this kind before a seat (from the bottom or oldest), or on the table."""
        return [zone for zone in self.zones if zone.kind.name == kind and zone.owner == owner]

    def __reduce__(self) -> tuple[Any, ...]:
        """For `copy` and `pickle`: kinds of zones go by their numbers, since each of them is one object."""
        kinds = tuple([zone.kind.number for zone in self.zones])
        bare = tuple([(zone.number, *zone[2:]) for zone in self.zones])
        return _made_again, (*self[:6], kinds, bare, *self[7:])

    def to_json(self) -> dict[str, object]:
        """The view in numbers, JSON-able."""
        return {
            "game": self.rules.words.game,
            "settings": self.settings.changed(),
            "seats": self.seats,
            "viewer": self.viewer,
            "counters": list(self.counters),
            "seat_counters": [list(values) for values in self.seat_counters],
            "zones": [
                [z.number, z.kind.number, z.owner, z.size, z.cards, z.known, z.maybe, z.counters, z.columns]
                for z in self.zones
            ],
            "agenda": [step.save() for step in self.agenda],
            "clues": clues_to_lists(self.clues),
        }

    def to_bytes(self) -> bytes:
        """Canonical JSON: equal if and only if the views are."""
        return json.dumps(self.to_json(), separators=(",", ":"), sort_keys=True).encode()


def _made_again(rules: type[Game], *others: Any) -> View:
    """The view that `View.__reduce__` took apart."""
    *first, kinds, bare, agenda, clues = others
    zones = [
        ZoneView(number, rules.words.zones[kind - 1], *values)
        for kind, (number, *values) in zip(kinds, bare, strict=True)
    ]
    return View._make((rules, *first, tuple(zones), agenda, clues))
