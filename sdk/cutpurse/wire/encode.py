"""The encoder of a match: what its viewers may know, as bytes of the messages in `game.proto` and `arena.proto`.

The engine's views decide what a viewer may see; this module reads no zone and no card beside them. It makes no protobuf
objects. From one decision to the next most zones don't change, so it reuses their bytes as long as the engine returns
the same zone view. Steps, acts and events are cached for all matches (`phrase_cache.py`). Protobuf reads back a message
equal to the one it would have made. This module knows no game and sends nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.engine import clues as engine_clues
from cutpurse.engine.agenda import Option
from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.engine.settings import Settings
from cutpurse.engine.view import View
from cutpurse.engine.zones import MOST_VIEWERS, ZoneView
from cutpurse.v1.arena_pb2 import Decision, MatchEnded
from cutpurse.v1.game_pb2 import Clue, Column, Observation, Possibility, Side, Spread, Zone
from cutpurse.wire.catalogue import catalogue_of
from cutpurse.wire.phrase_cache import PhraseCache
from cutpurse.wire.wire_format import (
    LOW,
    field,
    frame,
    frames,
    present_uint_field,
    sints,
    tag,
    uint_field,
    uint_fields,
    uints,
    uints_field,
)

__all__ = ["DECISION_EVENTS", "ENDED_EVENTS", "MatchEncoder", "zone_body"]

MOST_KEPT: Final = 512  # events; then all of them go

# Fields for `MatchEncoder.events`.
DECISION_EVENTS: Final = Decision.EVENTS_FIELD_NUMBER
ENDED_EVENTS: Final = MatchEnded.EVENTS_FIELD_NUMBER

# Fields by their numbers in the .proto files; tables for what is encoded at every decision.
_TABLE: Final = uint_fields(Decision.TABLE_FIELD_NUMBER)
_DECISION: Final = uint_fields(Decision.DECISION_FIELD_NUMBER)
_OBSERVATION: Final = frames(Decision.OBSERVATION_FIELD_NUMBER)
_FIRST_EVENT: Final = uint_fields(Decision.FIRST_EVENT_FIELD_NUMBER)
_SAFE_OPTION: Final = uint_fields(Decision.SAFE_OPTION_FIELD_NUMBER)

_VIEWER: Final = tuple([present_uint_field(Observation.VIEWER_FIELD_NUMBER, viewer) for viewer in range(MOST_VIEWERS)])
_TABLE_COUNTERS: Final = tag(Observation.COUNTERS_FIELD_NUMBER)
_TABLE_ZONE: Final = frames(Observation.ZONES_FIELD_NUMBER)
_SIDE: Final = frames(Observation.SIDES_FIELD_NUMBER)
_SIDE_COUNTERS: Final = tag(Side.COUNTERS_FIELD_NUMBER)
_SIDE_ZONE: Final = frames(Side.ZONES_FIELD_NUMBER)

_NUMBER: Final = uint_fields(Zone.ZONE_FIELD_NUMBER)
_KIND: Final = uint_fields(Zone.KIND_FIELD_NUMBER)
_SIZE: Final = uint_fields(Zone.SIZE_FIELD_NUMBER)
_CARDS: Final = frames(Zone.CARDS_FIELD_NUMBER)
_KNOWN: Final = Zone.KNOWN_FIELD_NUMBER
_MAYBE: Final = Zone.MAYBE_FIELD_NUMBER
_ZONE_COUNTERS: Final = Zone.COUNTERS_FIELD_NUMBER
_COLUMNS: Final = Zone.COLUMNS_FIELD_NUMBER


def zone_body(zone: ZoneView) -> bytes:
    """Encode a Zone, without its tag and length."""
    number, size, cards = zone.number, zone.size, zone.cards
    if number < LOW and size < LOW:
        body = _NUMBER[number] + _KIND[zone.kind.number] + _SIZE[size]
    else:
        body = uint_field(Zone.ZONE_FIELD_NUMBER, number) + _KIND[zone.kind.number]
        body += uint_field(Zone.SIZE_FIELD_NUMBER, size)
    if cards:
        packed = uints(cards)
        length = len(packed)
        body += (_CARDS[length] if length < LOW else frame(Zone.CARDS_FIELD_NUMBER, length)) + packed
    if zone.known or zone.maybe:
        body += uints_field(_KNOWN, zone.known) + uints_field(_MAYBE, zone.maybe)
    if zone.counters:
        body += field(_ZONE_COUNTERS, sints(zone.counters))
    for column, values in enumerate(zone.columns, 1):
        numbers = field(Column.VALUES_FIELD_NUMBER, sints(values))
        body += field(_COLUMNS, uint_field(Column.COLUMN_FIELD_NUMBER, column) + numbers)
    return body


def clues_field(clues: Sequence[tuple[engine_clues.Possibility, ...]]) -> bytes:
    """Encode Observation.clues, with tags and lengths."""
    encoded = b""
    for possibilities in clues:
        clue = b""
        for possibility in possibilities:
            spreads = b""
            for spread in possibility:
                zones = [zone for zone, _ in spread.places]
                counts = [count for _, count in spread.places]
                body = uints_field(Spread.CARDS_FIELD_NUMBER, spread.faces)
                body += uint_field(Spread.UNKNOWN_FIELD_NUMBER, spread.unknown)
                body += uints_field(Spread.ZONES_FIELD_NUMBER, zones) + uints_field(Spread.COUNTS_FIELD_NUMBER, counts)
                spreads += field(Possibility.SPREADS_FIELD_NUMBER, body)
            clue += field(Clue.POSSIBILITIES_FIELD_NUMBER, spreads)
        encoded += field(Observation.CLUES_FIELD_NUMBER, clue)
    return encoded


def _zone(zone: ZoneView) -> bytes:
    """Encode a Zone with its tag and length."""
    body = zone_body(zone)
    length = len(body)
    if zone.owner < 0:
        return (_TABLE_ZONE[length] if length < LOW else frame(Observation.ZONES_FIELD_NUMBER, length)) + body
    return (_SIDE_ZONE[length] if length < LOW else frame(Side.ZONES_FIELD_NUMBER, length)) + body


class MatchEncoder:
    """The bytes of one match for all its seats; what did not change since they were made is not made again."""

    def __init__(self, rules: type[Game], settings: Settings, seats: int, phrases: PhraseCache | None = None) -> None:
        """Use `phrases`, a cache that several matches of this game and number of seats share; default: a new one."""
        self.rules = rules
        self.settings = settings
        self.seats = seats
        self.phrases = phrases or PhraseCache(rules, seats)
        numbering = self.phrases.numbering
        self._of_table, self._of_seat = len(numbering.fixed_of_table), len(numbering.fixed_of_seat)
        self._fixed = self._of_table + seats * self._of_seat  # zones that are there from the beginning
        # By viewer: the zone views of the last observation, and their bytes.
        self._zones: list[tuple[tuple[ZoneView, ...], list[bytes]]] = [((), [])] * (seats + 1)
        # Kept by identity, with the event itself so that its identity is not used again.
        self._events: dict[int, tuple[bytes, ...]] = {}  # by viewer, with length
        self._kept_events: list[Event] = []
        # The counters of the seats as they were last, and their fields, by seat.
        self._values: tuple[tuple[int, ...], ...] | None = None
        self._counters: list[bytes] = [b""] * seats
        self._left_ms = (0, 0)  # the last encoded times, and their bytes
        self._left = b""

    @property
    def digest(self) -> str:
        """Names the catalogue whose numbers are spoken here."""
        return catalogue_of(self.rules, self.seats, self.settings.changed()).digest

    # -- what a seat may know
    def observation(self, view: View, agenda: bool) -> bytes:
        """Encode an Observation, without its tag and length; with the agenda only if requested."""
        return self._observation(view, [_zone(zone) for zone in view.zones], agenda)

    def observation_of(self, game: Game, seat: int | None, agenda: bool) -> bytes:
        """Encode `observation(game.view(seat), agenda)`, with cached bytes for the zones that did not change."""
        view = game.view(seat)
        return self._observation(view, self._cached_zones(view.zones, self.seats if seat is None else seat), agenda)

    def _cached_zones(self, zones: tuple[ZoneView, ...], viewer: int) -> list[bytes]:
        """Encode zones, reusing the bytes of each zone view that the viewer had at the same index before.

        A view never changes, and the one to compare with is still held here, so the same object has the same bytes.
        """
        views, encoded = self._zones[viewer]
        if len(views) == len(zones):
            encoded = encoded[:]
            for index, zone in enumerate(zones):
                if zone is not views[index]:
                    encoded[index] = self._find_or_encode(zone, index)
        else:  # a zone was made or dropped in play, so others have new indexes
            known = dict(zip(map(id, views), encoded, strict=True))
            encoded = [known.get(id(zone)) or self._find_or_encode(zone, index) for index, zone in enumerate(zones)]
        self._zones[viewer] = zones, encoded
        return encoded

    def _find_or_encode(self, zone: ZoneView, index: int) -> bytes:
        """Return the bytes of a zone view that another viewer may share, as all do of an open zone."""
        for views, encoded in self._zones:
            if index < len(views) and views[index] is zone:
                return encoded[index]
        return _zone(zone)

    def _observation(self, view: View, bodies: list[bytes], agenda: bool) -> bytes:
        phrases = self.phrases
        counters = view.counters
        if view.seat_counters is not self._values:
            self._encode_counters(view.seat_counters)
        pieces = [b"" if view.viewer is None else _VIEWER[view.viewer]]
        if counters:
            pieces += (_TABLE_COUNTERS, phrases.counters.get(counters) or phrases.counter(counters))
        of_table = self._of_table
        pieces += bodies[:of_table]
        if len(bodies) == self._fixed:
            rest = iter(bodies[of_table:])  # each seat takes the next few
            for side in map(b"".join, zip(self._counters, *[rest] * self._of_seat, strict=True)):
                length = len(side)
                pieces += (_SIDE[length] if length < LOW else frame(Observation.SIDES_FIELD_NUMBER, length), side)
        else:
            pieces += self._sides_with_made(view.zones, bodies)
        pending, planned = phrases.agendas.get(view.agenda) or phrases.agenda(view.agenda)
        pieces.append(pending)
        if agenda:
            pieces.append(planned)
            if view.clues:
                pieces.append(clues_field(view.clues))
        return b"".join(pieces)

    def _sides_with_made(self, zones: Sequence[ZoneView], bodies: list[bytes]) -> list[bytes]:
        """Encode the field `sides` of an Observation with zones that were made in play.

        They come last in a view, those of all seats mixed.
        """
        sides, end = [], self._of_table
        for own in self._counters:
            begin, end = end, end + self._of_seat
            sides.append([own, *bodies[begin:end]])
        for zone, body in zip(zones[end:], bodies[end:], strict=True):
            sides[zone.owner].append(body)
        pieces: list[bytes] = []
        for parts in sides:
            side = b"".join(parts)
            length = len(side)
            pieces += (_SIDE[length] if length < LOW else frame(Observation.SIDES_FIELD_NUMBER, length), side)
        return pieces

    def _encode_counters(self, values: tuple[tuple[int, ...], ...]) -> None:
        """Encode the field `counters` of each Side."""
        phrases = self.phrases
        self._values = values
        if values:
            kept = phrases.counters
            self._counters = [
                _SIDE_COUNTERS + (kept.get(own) or phrases.counter(own)) for own in zip(*values, strict=True)
            ]

    # -- a question
    def options(self, options: Sequence[Option]) -> bytes:
        """Encode the field `options` of a Decision."""
        kept = self.phrases.options
        try:
            return b"".join(map(kept.__getitem__, options))
        except KeyError:
            return b"".join([kept.get(option) or self.phrases.option(option) for option in options])

    def decision(
        self,
        table: int,
        number: int,
        ask: str,
        options: Sequence[Option],
        observation: bytes,
        events: bytes,
        first_event: int,
        base_left_ms: int,
        bank_left_ms: int,
        safe_option: int,
    ) -> bytes:
        """Encode a Decision, without its tag and length.

        `number` is the engine's, from 0; the wire's is one more. `events` is their encoded field, the first of them
        numbered `first_event`. Times are milliseconds.
        """
        number += 1
        length = len(observation)
        return b"".join(
            (
                _TABLE[table] if table < LOW else uint_field(Decision.TABLE_FIELD_NUMBER, table),
                _DECISION[number] if number < LOW else uint_field(Decision.DECISION_FIELD_NUMBER, number),
                self.phrases.asks[ask],
                self.options(options),
                _OBSERVATION[length] if length < LOW else frame(Decision.OBSERVATION_FIELD_NUMBER, length),
                observation,
                _FIRST_EVENT[first_event]
                if first_event < LOW
                else uint_field(Decision.FIRST_EVENT_FIELD_NUMBER, first_event),
                events,
                self._time_left(base_left_ms, bank_left_ms),
                _SAFE_OPTION[safe_option]
                if safe_option < LOW
                else uint_field(Decision.SAFE_OPTION_FIELD_NUMBER, safe_option),
            )
        )

    def _time_left(self, base_ms: int, bank_ms: int) -> bytes:
        """Encode the fields `base_left_ms` and `bank_left_ms` of a Decision; they are mostly the same as last time."""
        if self._left_ms != (base_ms, bank_ms):
            self._left_ms = base_ms, bank_ms
            base = uint_field(Decision.BASE_LEFT_MS_FIELD_NUMBER, base_ms)
            self._left = base + uint_field(Decision.BANK_LEFT_MS_FIELD_NUMBER, bank_ms)
        return self._left

    # -- what happened
    def events(self, number: int, events: Sequence[Event], viewer: int) -> bytes:
        """Encode the repeated field `number` of events for a viewer (a seat, or the number of seats)."""
        if not events:
            return b""
        kept = self._events
        bodies = [(kept.get(id(event)) or self._faces(event))[viewer] for event in events]
        head = tag(number)
        return head + head.join(bodies)

    def _faces(self, event: Event) -> tuple[bytes, ...]:
        """Encode an event with its length for each viewer."""
        if len(self._events) >= MOST_KEPT:
            self._events.clear()
            self._kept_events.clear()
        self._kept_events.append(event)
        faces = self._events[id(event)] = self.phrases.faces(event)
        return faces
