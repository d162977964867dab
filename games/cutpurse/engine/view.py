"""Everything one seat, or the spectator, may know at one moment.

A view is made of values that never change and can be kept. Two situations that a viewer cannot tell apart have equal
views, byte for byte (`View.to_bytes`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, final

from cutpurse.engine.agenda import Act, Step
from cutpurse.engine.clues import Possibility, clues_to_lists
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.values import PlainValue
from cutpurse.engine.zones import ZoneView

if TYPE_CHECKING:
    from cutpurse.engine.game import Game
    from cutpurse.engine.settings import Settings

__all__ = ["View"]


@mypyc_attr(acyclic=True)
@final
class View(PlainValue):
    """What a viewer may know: settings, counters, zones, and the agenda, which is open to all."""

    __slots__ = (
        "agenda",
        "clues",
        "counters",
        "rules",
        "seat_counters",
        "seats",
        "settings",
        "viewer",
        "zones",
    )

    def __init__(
        self,
        rules: type[Game],
        settings: Settings,
        seats: int,
        viewer: int | None,
        counters: tuple[int, ...],
        seat_counters: tuple[tuple[int, ...], ...],
        zones: tuple[ZoneView, ...],
        agenda: tuple[Step, ...],
        clues: tuple[tuple[Possibility, ...], ...] = (),
    ) -> None:
        self.rules = rules
        self.settings = settings
        self.seats = seats
        self.viewer = viewer  # a seat, or None: the spectator
        self.counters = counters  # in the order of words.table_counters
        self.seat_counters = seat_counters  # by counter in the order of words.seat_counters, then by seat
        self.zones = zones  # the table's, each seat's fixed ones, then those made in play by kind, seat and age
        self.agenda = agenda  # the last is what happens next
        self.clues = clues  # what is known of cards that lie in one of several zones

    def values(self) -> tuple[Any, ...]:
        return (
            self.rules,
            self.settings,
            self.seats,
            self.viewer,
            self.counters,
            self.seat_counters,
            self.zones,
            self.agenda,
            self.clues,
        )

    def showing(self, zones: tuple[ZoneView, ...]) -> View:
        """Return this view with other zones."""
        rules, settings, seats, viewer, counters, seat_counters, _, agenda, clues = self.values()
        return View(rules, settings, seats, viewer, counters, seat_counters, zones, agenda, clues)

    @property
    def pending(self) -> tuple[Act, ...]:
        """What has been announced and is not finished, oldest first; the last is what is being asked about."""
        return tuple([act for step in self.agenda if (act := step.act()) is not None])

    def counter(self, name: str) -> int:
        """Return a counter of the table, by name."""
        return self.counters[[c.name for c in self.rules.words.table_counters].index(name)]

    def seat_counter(self, name: str, seat: int) -> int:
        """Return a counter of a seat, by name."""
        return self.seat_counters[[c.name for c in self.rules.words.seat_counters].index(name)][seat]

    def zone(self, number: int) -> ZoneView:
        """Look up a zone by its number.  Raises KeyError if there is none (any more)."""
        for zone in self.zones:
            if zone.number == number:
                return zone
        raise KeyError(number)

    def of(self, kind: str, owner: int = -1) -> list[ZoneView]:
        """List the zones of this kind before a seat (from the bottom or oldest), or on the table."""
        return [zone for zone in self.zones if zone.kind.name == kind and zone.owner == owner]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle kinds of zones by their numbers, since each of them is one object."""
        zones = tuple([(zone.number, zone.kind.number, *zone.values()[2:]) for zone in self.zones])
        return _made_again, (*self.values()[:6], zones, self.agenda, self.clues)

    def to_json(self) -> dict[str, object]:
        """Return the view in numbers, as JSON values."""
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
        """Return canonical JSON: equal if and only if the views are."""
        return json.dumps(self.to_json(), separators=(",", ":"), sort_keys=True).encode()


def _made_again(rules: type[Game], *others: Any) -> View:
    """Return the view that `View.__reduce__` took apart."""
    *first, bare, agenda, clues = others
    zones = tuple([ZoneView(number, rules.words.zones[kind - 1], *values) for number, kind, *values in bare])
    settings, seats, viewer, counters, seat_counters = first
    return View(rules, settings, seats, viewer, counters, seat_counters, zones, agenda, clues)
