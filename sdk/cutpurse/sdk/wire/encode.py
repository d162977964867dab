"""What a match tells its seats, as bytes of the messages in `game.proto` and `arena.proto`.

No protobuf object is made on the way: from one decision to the next nearly everything is as it was, so the bytes of
each zone, step, act and event are kept and joined. Protobuf reads back a message equal to the one it would have
made. This module knows no game and sends nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from cutpurse.engine.agenda import Act, Option, Step
from cutpurse.engine.events import Asked, Counted, Event, Happened, Moved, Placed, Scored, Shown, Shuffled
from cutpurse.engine.game import Game
from cutpurse.engine.settings import Settings
from cutpurse.engine.view import View
from cutpurse.engine.zones import ZoneView
from cutpurse.sdk.wire.catalogue import catalogue_of
from cutpurse.sdk.wire.numbering import numbering_of
from cutpurse.sdk.wire.parts import (
    field,
    framed,
    present_uint_field,
    sint_field,
    sints,
    uint_field,
    uints,
    uints_field,
)

__all__ = ["MatchEncoder", "act_body", "zone_body"]

MOST_KEPT: Final = 512  # of each sort: several times what lies on a table; then all of them go

# Fields of which there are several, so that their tags are joined in between: number << 3 | 2.
_TABLE_ZONE: Final = field(3, b"")[:1]  # Observation.zones
_SIDE_ZONE: Final = field(2, b"")[:1]  # Side.zones
_SIDE: Final = field(4, b"")[:1]  # Observation.sides
_PENDING: Final = field(5, b"")[:1]  # Observation.pending
_AGENDA: Final = field(6, b"")[:1]  # Observation.agenda
_OPTION: Final = field(4, b"")[:1]  # Decision.options


def zone_body(zone: ZoneView) -> bytes:
    """A Zone, without its tag and length."""
    number, kind, _, size, cards, known, maybe, counters, columns = zone
    body = uint_field(1, number) + uint_field(2, kind.number) + uint_field(3, size)
    if cards:
        body += field(4, uints(cards))
    if known or maybe:
        body += uints_field(5, known) + uints_field(6, maybe)
    if counters:
        body += field(7, sints(counters))
    for column, values in enumerate(columns, 1):
        body += field(8, uint_field(1, column) + field(2, sints(values)))
    return body


def act_body(act: Act) -> bytes:
    """An Act, without its tag and length."""
    verb, cards, zone, seat, number, places, actor = act
    return (
        uint_field(1, verb)
        + present_uint_field(2, actor)
        + present_uint_field(3, seat)
        + uint_field(4, zone)
        + uints_field(5, cards)
        + uints_field(6, places)
        + sint_field(7, number)
    )


class MatchEncoder:
    """The bytes of one match for all its seats; what did not change since they were made is not made again."""

    def __init__(self, rules: type[Game], settings: Settings, seats: int) -> None:
        self.rules = rules
        self.settings = settings
        self.seats = seats
        self.numbering = numbering_of(rules)
        # Kept by identity, with the object itself so that its identity is not used again.
        self._zones: dict[int, bytes] = {}  # with length
        self._pictures: list[ZoneView] = []
        self._steps: dict[int, tuple[Step, bytes, bytes]] = {}  # with the fields in pending and in the agenda
        self._events: dict[int, list[bytes]] = {}  # by viewer, with length
        self._told: list[Event] = []
        # Kept by value.
        self._acts: dict[Act, bytes] = {}  # with length
        self._numbers: dict[tuple[int, ...], bytes] = {}  # lists of counters, with length
        self._event_body: dict[type, Callable[[Any], bytes]] = {
            Happened: self._happened,
            Moved: _moved,
            Shown: _shown,
            Shuffled: _shuffled,
            Counted: self._counted,
            Placed: _placed,
            Asked: self._asked,
            Scored: _scored,
        }

    @property
    def digest(self) -> str:
        """Names the catalogue whose numbers are spoken here."""
        return catalogue_of(self.rules, self.seats, self.settings.changed()).digest

    # -- what a seat may know
    def observation(self, view: View, agenda: bool) -> bytes:
        """An Observation, without its tag and length; the agenda is told only if it is asked for."""
        zones = view.zones
        try:
            shown = [self._zones[id(zone)] for zone in zones]
        except KeyError:
            shown = self._encode(zones)
        counters, numbers = view.counters, self._numbers
        head = present_uint_field(1, view.viewer)
        if counters:
            head += b"\x12" + (numbers.get(counters) or self._counters(counters))
        of_table, of_seat = len(self.numbering.fixed_of_table), len(self.numbering.fixed_of_seat)
        end = of_table
        sides = []
        for values in zip(*view.seat_counters, strict=True) if view.seat_counters else [()] * self.seats:
            own = b"\x0a" + (numbers.get(values) or self._counters(values)) if values else b""
            sides.append([own, *shown[end : end + of_seat]])
            end += of_seat
        # Zones made in play come last in a view, those of all seats mixed.
        for zone, body in zip(zones[end:], shown[end:], strict=True):
            sides[zone.owner].append(body)
        found = [_TABLE_ZONE.join([head, *shown[:of_table]])]
        for side in sides:
            found += (_SIDE, framed(_SIDE_ZONE.join(side)))
        told = [self._steps.get(id(step)) or self._step(step) for step in view.agenda]
        found += [pending for _, pending, _ in told]
        if agenda:
            found += [step for _, _, step in told]
        return b"".join(found)

    def _encode(self, zones: Sequence[ZoneView]) -> list[bytes]:
        """The zones with their lengths, new ones encoded."""
        kept = self._zones
        if len(kept) + len(zones) > MOST_KEPT:
            kept.clear()
            self._pictures.clear()
        for zone in zones:
            if id(zone) not in kept:
                kept[id(zone)] = framed(zone_body(zone))
                self._pictures.append(zone)
        return [kept[id(zone)] for zone in zones]

    def _counters(self, values: tuple[int, ...]) -> bytes:
        found = self._numbers.get(values)
        if found is None:
            _make_room(self._numbers)
            found = self._numbers[values] = framed(sints(values))
        return found

    def _step(self, step: Step) -> tuple[Step, bytes, bytes]:
        number = self.numbering.step_number[type(step)]
        numbers: list[int] = []
        for name, shape in self.numbering.step_fields[number - 1]:
            value = getattr(step, name)
            numbers += (len(value), *value) if shape is tuple else (value,)
        act = step.act()
        pending = b"" if act is None else _PENDING + self._act(act)
        body = uint_field(1, number) + (field(2, sints(numbers)) if numbers else b"")
        _make_room(self._steps)
        entry = self._steps[id(step)] = (step, pending, _AGENDA + framed(body))
        return entry

    def _act(self, act: Act) -> bytes:
        found = self._acts.get(act)
        if found is None:
            _make_room(self._acts)
            found = self._acts[act] = framed(act_body(act))
        return found

    # -- a question
    def options(self, options: Sequence[Option]) -> bytes:
        """The field `options` of a Decision."""
        kept = self._acts
        return b"".join([_OPTION + (kept.get(option) or self._act(option)) for option in options])

    def decision(
        self,
        *,
        table: int,
        number: int,
        ask: str,
        options: Sequence[Option],
        view: View,
        events: Sequence[Event],
        first_event: int,
        base_left_ms: int,
        bank_left_ms: int,
        safe_option: int,
        agenda: bool,
    ) -> bytes:
        """A Decision, without its tag and length.

        `number` is the engine's, from 0; the wire's is one more. `events` are as the engine logged them, the first of
        them numbered `first_event`; whose view it is sees of them what he may. Times are milliseconds.
        """
        viewer = self.seats if view.viewer is None else view.viewer
        return b"".join(
            (
                uint_field(1, table),
                uint_field(2, number + 1),
                uint_field(3, self.numbering.ask_number[ask]),
                self.options(options),
                field(5, self.observation(view, agenda)),
                uint_field(6, first_event),
                self.events(7, events, viewer),
                uint_field(8, base_left_ms),
                uint_field(9, bank_left_ms),
                uint_field(10, safe_option),
            )
        )

    # -- what happened
    def events(self, number: int, events: Sequence[Event], viewer: int) -> bytes:
        """The repeated field `number` of Events, as a viewer is told of them (a seat, or the number of seats)."""
        kept = self._events
        try:
            told = [kept[id(event)][viewer] for event in events]
        except KeyError:
            if len(kept) + len(events) > MOST_KEPT:
                kept.clear()
                self._told.clear()
            for event in events:
                if id(event) not in kept:
                    kept[id(event)] = self._faces(event)
                    self._told.append(event)
            told = [kept[id(event)][viewer] for event in events]
        tag = field(number, b"")[:-1]
        return tag + tag.join(told) if told else b""

    def event(self, event: Event, viewer: int) -> bytes:
        """An Event as a viewer is told of it, without its tag and length."""
        return self._event_body[type(event)](event.to(viewer))

    def _faces(self, event: Event) -> list[bytes]:
        """The same with its length for all viewers, made once for those who see the same faces."""
        masks = set(getattr(event, "masks", ()))  # who may see a card, for each card
        if not masks:
            return [framed(self.event(event, 0))] * (self.seats + 1)
        made: dict[tuple[int, ...], bytes] = {}
        faces = []
        for viewer in range(self.seats + 1):
            seen = tuple([mask >> viewer & 1 for mask in masks])
            if (face := made.get(seen)) is None:
                face = made[seen] = framed(self.event(event, viewer))
            faces.append(face)
        return faces

    def _happened(self, event: Happened) -> bytes:
        return b"\x0a" + self._act(event.act)

    def _counted(self, event: Counted) -> bytes:
        counters = self.numbering.counters(event.seat, event.zone or 0, event.place, self.seats)
        place = [counter.name for counter in counters].index(event.counter)
        return field(
            5,
            uint_field(1, place if event.place is None else place + 1)  # columns are numbered from 1
            + present_uint_field(2, event.seat)
            + uint_field(3, event.zone or 0)
            + present_uint_field(4, event.place)
            + sint_field(5, event.value),
        )

    def _asked(self, event: Asked) -> bytes:
        return field(7, uint_field(1, self.numbering.ask_number[event.ask]) + uints_field(2, event.seats))


def _moved(event: Moved) -> bytes:
    return field(2, uint_field(1, event.from_zone) + uint_field(2, event.to_zone) + uints_field(3, event.cards))


def _shown(event: Shown) -> bytes:
    return field(3, uint_field(1, event.zone) + uints_field(2, event.seats) + uints_field(3, event.cards))


def _shuffled(event: Shuffled) -> bytes:
    return field(4, uint_field(1, event.zone))


def _placed(event: Placed) -> bytes:
    seat = None if event.seat < 0 else event.seat
    return field(6, uint_field(1, event.zone) + uint_field(2, event.kind) + present_uint_field(3, seat))


def _scored(event: Scored) -> bytes:
    return field(8, uint_field(1, event.over) + (field(2, sints(event.scores)) if event.scores else b""))


def _make_room(kept: dict[Any, Any]) -> None:
    if len(kept) >= MOST_KEPT:
        kept.clear()
