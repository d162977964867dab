"""What a match tells its seats, as bytes of the messages in `game.proto` and `arena.proto`.

No protobuf object is made on the way: from one decision to the next nearly everything is as it was, so the bytes of
each zone are kept as long as it does not change, those of steps, acts and events for all matches (`phrases.py`), and
joined. Protobuf reads back a message equal to the one it would have made. This module knows no game and sends nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.engine.agenda import Option
from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.engine.settings import Settings
from cutpurse.engine.view import View
from cutpurse.engine.zones import ZoneView
from cutpurse.sdk.wire.catalogue import catalogue_of
from cutpurse.sdk.wire.parts import Fields, Frames, field, present_uint_field, sints, uint_field, uints, uints_field
from cutpurse.sdk.wire.phrases import Phrases

__all__ = ["MatchEncoder", "zone_body"]

MOST_KEPT: Final = 512  # of each sort: several times what lies on a table; then all of them go

# Fields of a Decision, and what stands before its observation.
_TABLE: Final = Fields(1)
_DECISION: Final = Fields(2)
_ASK: Final = Fields(3)
_OBSERVATION: Final = Frames(5)
_FIRST_EVENT: Final = Fields(6)
_BASE_LEFT: Final = Fields(8)
_BANK_LEFT: Final = Fields(9)
_SAFE: Final = Fields(10)
# What stands before each of several.
_TABLE_ZONE: Final = Frames(3)  # Observation.zones
_SIDE: Final = Frames(4)  # Observation.sides
_SIDE_ZONE: Final = Frames(2)  # Side.zones
# Fields of a Zone.
_NUMBER: Final = Fields(1)
_KIND: Final = Fields(2)
_SIZE: Final = Fields(3)
_CARDS: Final = Frames(4)


def zone_body(zone: ZoneView) -> bytes:
    """A Zone, without its tag and length."""
    number, kind, _, size, cards, known, maybe, counters, columns = zone
    body = _NUMBER[number] + _KIND[kind.number] + _SIZE[size]
    if cards:
        packed = uints(cards)
        body += _CARDS[len(packed)] + packed
    if known or maybe:
        body += uints_field(5, known) + uints_field(6, maybe)
    if counters:
        body += field(7, sints(counters))
    if columns:
        for column, values in enumerate(columns, 1):
            body += field(8, uint_field(1, column) + field(2, sints(values)))
    return body


class MatchEncoder:
    """The bytes of one match for all its seats; what did not change since they were made is not made again."""

    def __init__(self, rules: type[Game], settings: Settings, seats: int, phrases: Phrases | None = None) -> None:
        """`phrases`: of this game with so many seats, to be shared by several matches; else its own."""
        self.rules = rules
        self.settings = settings
        self.seats = seats
        self.phrases = phrases or Phrases(rules, seats)
        numbering = self.phrases.numbering
        of_table, of_seat = len(numbering.fixed_of_table), len(numbering.fixed_of_seat)
        # Where in a view the zones are that are there from the beginning.
        self._of_table = of_table
        self._of_seats = [slice(of_table + seat * of_seat, of_table + (seat + 1) * of_seat) for seat in range(seats)]
        self._fixed = of_table + seats * of_seat
        # Kept by identity, with the object itself so that its identity is not used again.
        self._zones: dict[int, bytes] = {}  # with tag and length
        self._pictures: list[ZoneView] = []
        self._events: dict[int, tuple[bytes, ...]] = {}  # by viewer, with length
        self._told: list[Event] = []
        # The counters of the seats as they were last, and their fields, by seat.
        self._values: tuple[tuple[int, ...], ...] | None = None
        self._counters: list[bytes] = [b""] * seats

    @property
    def digest(self) -> str:
        """Names the catalogue whose numbers are spoken here."""
        return catalogue_of(self.rules, self.seats, self.settings.changed()).digest

    # -- what a seat may know
    def observation(self, view: View, agenda: bool) -> bytes:
        """An Observation, without its tag and length; the agenda is told only if it is asked for."""
        _, _, _, viewer, counters, seat_counters, zones, steps = view
        phrases = self.phrases
        kept = self._zones
        shown = [kept.get(id(zone)) or self._zone(zone) for zone in zones]
        if seat_counters is not self._values:
            self._encode_counters(seat_counters)
        found = [present_uint_field(1, viewer)]
        if counters:
            found += (b"\x12", phrases.counters.get(counters) or phrases.counter(counters))
        found += shown[: self._of_table]
        if len(zones) == self._fixed:
            for own, part in zip(self._counters, self._of_seats):  # noqa: B905  # slower
                side = own + b"".join(shown[part])
                found += (_SIDE[len(side)], side)
        else:
            sides = [[own, *shown[part]] for own, part in zip(self._counters, self._of_seats, strict=True)]
            # Zones made in play come last in a view, those of all seats mixed.
            for zone, body in zip(zones[self._fixed :], shown[self._fixed :], strict=True):
                sides[zone.owner].append(body)
            for parts in sides:
                side = b"".join(parts)
                found += (_SIDE[len(side)], side)
        made, tell, planned = phrases.steps, found.append, []
        for step in steps:
            _, told, field_of_agenda = made.get(id(step)) or phrases.step(step)
            tell(told)
            planned.append(field_of_agenda)
        if agenda:
            found += planned
        return b"".join(found)

    def _zone(self, zone: ZoneView) -> bytes:
        """A zone with its tag and length, encoded and kept."""
        if len(self._zones) >= MOST_KEPT:
            self._zones.clear()
            self._pictures.clear()
        self._pictures.append(zone)
        body = zone_body(zone)
        found = self._zones[id(zone)] = (_TABLE_ZONE if zone.owner < 0 else _SIDE_ZONE)[len(body)] + body
        return found

    def _encode_counters(self, values: tuple[tuple[int, ...], ...]) -> None:
        """The field `counters` of each Side."""
        phrases = self.phrases
        self._values = values
        if values:
            kept = phrases.counters
            self._counters = [b"\x0a" + (kept.get(own) or phrases.counter(own)) for own in zip(*values, strict=True)]

    # -- a question
    def options(self, options: Sequence[Option]) -> bytes:
        """The field `options` of a Decision."""
        kept = self.phrases.options
        try:
            return b"".join(map(kept.__getitem__, options))
        except KeyError:
            return b"".join([kept.get(option) or self.phrases.option(option) for option in options])

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
        observation = self.observation(view, agenda)
        return b"".join(
            (
                _TABLE[table],
                _DECISION[number + 1],
                _ASK[self.phrases.numbering.ask_number[ask]],
                self.options(options),
                _OBSERVATION[len(observation)],
                observation,
                _FIRST_EVENT[first_event],
                self.events(7, events, self.seats if view.viewer is None else view.viewer) if events else b"",
                _BASE_LEFT[base_left_ms],
                _BANK_LEFT[bank_left_ms],
                _SAFE[safe_option],
            )
        )

    # -- what happened
    def events(self, number: int, events: Sequence[Event], viewer: int) -> bytes:
        """The repeated field `number` of Events, as a viewer is told of them (a seat, or the number of seats)."""
        if not events:
            return b""
        kept = self._events
        told = [(kept.get(id(event)) or self._faces(event))[viewer] for event in events]
        tag = field(number, b"")[:-1]
        return tag + tag.join(told)

    def _faces(self, event: Event) -> tuple[bytes, ...]:
        """An event with its length as each viewer is told of it."""
        if len(self._events) >= MOST_KEPT:
            self._events.clear()
            self._told.clear()
        self._told.append(event)
        found = self._events[id(event)] = self.phrases.faces(event)
        return found
