"""Where zones lay at each event, so that a sentence about an act names owners as they were before the act.

    history = ZoneHistory(game.words, game.n)
    history.add(game.log, 0)
    event_text(history.at(41), game.log[41].to(2))  # "seat 0 steals set 9 of seat 1 with Coin 5"

This module knows no rules, no cards and no match.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, Self

from cutpurse.engine.events import Event, Placed
from cutpurse.engine.view import View
from cutpurse.engine.words import Words, ZoneKind
from cutpurse.engine.zones import TABLE

__all__ = ["PastTable", "PastZone", "ZoneHistory"]


class _PastZone(Protocol):
    @property
    def number(self) -> int: ...
    @property
    def kind(self) -> ZoneKind: ...
    @property
    def owner(self) -> int: ...


class PastZone(NamedTuple):
    """Kind and owner of a zone at one event."""

    kind: ZoneKind
    owner: int


class ZoneHistory:
    """Kind and owner of every zone at each event of a match, as far as the events and views tell."""

    def __init__(self, words: Words, seats: int, zones: Iterable[_PastZone] = (), first: int = 0) -> None:
        """Begin with the zones that every match has, and with those known before an event.

        Args:
            words: Vocabulary of the game.
            seats: Number of seats.
            zones: Zones as they lay before event `first`; needed only if the history does not begin with the match.
            first: Number of the first event that will be added.
        """
        self.words = words
        self._changes: dict[int, list[tuple[int, PastZone]]] = {}  # by zone: event number, kind and owner since then
        fixed = [kind for kind in words.zones if not kind.many]
        owners = [(kind, TABLE) for kind in fixed if not kind.per_seat]
        owners += [(kind, seat) for seat in range(seats) for kind in fixed if kind.per_seat]
        for number, (kind, owner) in enumerate(owners, 1):
            self._changes[number] = [(-1, PastZone(kind, owner))]
        for zone in zones:
            self._changes[zone.number] = [(first - 1, PastZone(zone.kind, zone.owner))]

    @classmethod
    def of_window(cls, view: View, events: Sequence[Event], first: int, before: View | None) -> Self:
        """Build the history of the events that led to a view.

        Args:
            view: The table after the events.
            events: The events of the window.
            first: Number of the first of them.
            before: The table before them. None: unknown, unless the window begins with the match. The zones that did
                not move in the window are taken from `view`; a zone that moved has no owner before its first move.
        """
        if before is not None:
            zones = before.zones
        else:
            moved = {event.zone for event in events if isinstance(event, Placed)}
            zones = tuple([zone for zone in view.zones if zone.number not in moved])
        history = cls(view.rules.words, view.seats, zones, first)
        history.add(events, first)
        return history

    def add(self, events: Iterable[Event], first: int) -> None:
        """Add the events that follow; `first` is the number of the first of them."""
        kinds = self.words.zones
        for number, event in enumerate(events, first):
            if isinstance(event, Placed) and event.kind:
                zone = PastZone(kinds[event.kind - 1], event.seat)
                self._changes.setdefault(event.zone, []).append((number, zone))

    def at(self, event: int) -> PastTable:
        """Return the table as it lay when the event of this number happened."""
        return PastTable(self.words, self._changes, event)


class PastTable(NamedTuple):
    """The table at one event, for sentences; a zone that was dropped before still has its last owner."""

    words: Words
    changes: Mapping[int, list[tuple[int, PastZone]]]
    event: int

    def zone(self, number: int) -> PastZone:
        """Return kind and owner of a zone.

        Raises:
            KeyError: If nothing is known of the zone at this event.
        """
        for since, zone in reversed(self.changes[number]):
            if since <= self.event:
                return zone
        raise KeyError(number)
