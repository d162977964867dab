"""What a match tells its seats, as bytes of the messages in `game.proto` and `arena.proto`.

No protobuf object is made on the way: from one decision to the next nearly everything is as it was, so the bytes of
each zone are kept as long as it does not change, those of steps, acts and events for all matches (`phrase_cache.py`),
and joined. Protobuf reads back a message equal to the one it would have made. This module knows no game and sends
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.engine.agenda import Option, Step
from cutpurse.engine.events import Event
from cutpurse.engine.game import Game
from cutpurse.engine.knowledge import Possibility
from cutpurse.engine.settings import Settings
from cutpurse.engine.view import View
from cutpurse.engine.zones import MOST_VIEWERS, NONE_KEPT, Zone, ZoneView
from cutpurse.sdk.wire.catalogue import catalogue_of
from cutpurse.sdk.wire.phrase_cache import PhraseCache
from cutpurse.sdk.wire.wire_format import (
    LOW,
    field,
    frame,
    frames,
    present_uint_field,
    sints,
    uint_field,
    uint_fields,
    uints,
    uints_field,
)

__all__ = ["MatchEncoder", "zone_body"]

MOST_KEPT: Final = 512  # events; then all of them go

# Fields of a Decision, and what stands before its observation.
_TABLE: Final = uint_fields(1)
_DECISION: Final = uint_fields(2)
_OBSERVATION: Final = frames(5)
_FIRST_EVENT: Final = uint_fields(6)
_SAFE: Final = uint_fields(10)
_VIEWER: Final = tuple([present_uint_field(1, viewer) for viewer in range(MOST_VIEWERS)])  # Observation.viewer
# What stands before each of several.
_TABLE_ZONE: Final = frames(3)  # Observation.zones
_SIDE: Final = frames(4)  # Observation.sides
_SIDE_ZONE: Final = frames(2)  # Side.zones
# Fields of a Zone.
_NUMBER: Final = uint_fields(1)
_KIND: Final = uint_fields(2)
_SIZE: Final = uint_fields(3)
_CARDS: Final = frames(4)


def zone_body(zone: ZoneView) -> bytes:
    """Encode a Zone, without its tag and length."""
    body = _lying(zone.number, zone.kind.number, zone.size, zone.cards)
    if zone.known or zone.maybe:
        body += uints_field(5, zone.known) + uints_field(6, zone.maybe)
    if zone.counters:
        body += field(7, sints(zone.counters))
    for column, values in enumerate(zone.columns, 1):
        body += field(8, uint_field(1, column) + field(2, sints(values)))
    return body


def _lying(number: int, kind: int, size: int, cards: Sequence[int]) -> bytes:
    """Encode the first fields of a Zone, up to its cards, which are left out if hidden."""
    if number < LOW and size < LOW:
        body = _NUMBER[number] + _KIND[kind] + _SIZE[size]
    else:
        body = uint_field(1, number) + uint_field(2, kind) + uint_field(3, size)
    if cards:
        packed = uints(cards)
        length = len(packed)
        body += (_CARDS[length] if length < LOW else frame(4, length)) + packed
    return body


def clues_field(clues: Sequence[tuple[Possibility, ...]]) -> bytes:
    """Encode Observation.clues, with tags and lengths."""
    found = b""
    for possibilities in clues:
        clue = b""
        for possibility in possibilities:
            spreads = b""
            for cards, unknown, places in possibility:
                zones = [zone for zone, _ in places]
                counts = [count for _, count in places]
                body = uints_field(1, cards) + (uint_field(2, unknown) if unknown else b"")
                spreads += field(1, body + uints_field(3, zones) + uints_field(4, counts))
            clue += field(1, spreads)
        found += field(9, clue)
    return found


def _zone(owner: int, body: bytes) -> bytes:
    """Encode a Zone with its tag and length."""
    length = len(body)
    if owner < 0:
        return (_TABLE_ZONE[length] if length < LOW else frame(3, length)) + body
    return (_SIDE_ZONE[length] if length < LOW else frame(2, length)) + body


def _cached_zone(zone: Zone, place: int) -> bytes:
    """Encode a zone for a viewer, and cache it for every viewer who has the same picture of it."""
    viewer = place - MOST_VIEWERS
    sees, kept, cards = zone.sees >> viewer & 1, zone.kept, zone.cards
    if sees and cards and zone.columns is None:  # most are like this: what a picture would hold is at hand
        body = _lying(zone.number, zone.kind.number, len(cards), cards)
        if zone.counters:
            body += field(7, sints(zone.counters))
        told = _zone(zone.owner, body)
        if kept is NONE_KEPT:
            kept = zone.kept = [*kept]
    else:
        picture = kept[viewer] or zone.picture(viewer)
        told, kept = _zone(picture.owner, zone_body(picture)), zone.kept
    if zone.shared:
        kept[MOST_VIEWERS:] = [told] * MOST_VIEWERS
    elif sees:
        kept[place] = told
    else:
        for other in range(zone.everyone.bit_length()):
            if kept[other] is picture:
                kept[other + MOST_VIEWERS] = told
    return told


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
        # Kept by identity, with the event itself so that its identity is not used again.
        self._events: dict[int, tuple[bytes, ...]] = {}  # by viewer, with length
        self._told: list[Event] = []
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
        shown = [_zone(zone.owner, zone_body(zone)) for zone in view.zones]
        body = self._observation(view.viewer, view.counters, view.seat_counters, view.zones, shown, view.agenda, agenda)
        return body + clues_field(view.clues) if agenda and view.clues else body

    def observation_of(self, game: Game, seat: int | None, agenda: bool) -> bytes:
        """`observation(game.view(seat), agenda)`; the bytes of zones are kept where their pictures are."""
        viewer = game.n if seat is None else seat
        place = viewer + MOST_VIEWERS
        if game.notes:
            game.catch_up()
        zones = game.in_order()
        shown = [zone.kept[place] or _cached_zone(zone, place) for zone in zones]
        counters, seat_counters = game.layout.values_of_table(game), game.seat_values()
        body = self._observation(seat, counters, seat_counters, zones, shown, game.agenda, agenda)
        return body + clues_field(game.clues_of(viewer)) if agenda and game.clues else body

    def _observation(
        self,
        seat: int | None,
        counters: tuple[int, ...],
        seat_counters: tuple[tuple[int, ...], ...],
        zones: Sequence[ZoneView | Zone],
        shown: list[bytes],
        steps: Sequence[Step],
        agenda: bool,
    ) -> bytes:
        phrases = self.phrases
        if seat_counters is not self._values:
            self._encode_counters(seat_counters)
        found = [b"" if seat is None else _VIEWER[seat]]
        if counters:
            found += (b"\x12", phrases.counters.get(counters) or phrases.counter(counters))
        of_table = self._of_table
        found += shown[:of_table]
        if len(zones) == self._fixed:
            rest = iter(shown[of_table:])  # each seat takes the next few
            for side in map(b"".join, zip(self._counters, *[rest] * self._of_seat, strict=True)):
                length = len(side)
                found += (_SIDE[length] if length < LOW else frame(4, length), side)
        else:
            found += self._sides_with_made(zones, shown)
        pending, planned = phrases.agendas.get(tuple(steps)) or phrases.agenda(steps)
        found.append(pending)
        if agenda:
            found.append(planned)
        return b"".join(found)

    def _sides_with_made(self, zones: Sequence[ZoneView | Zone], shown: list[bytes]) -> list[bytes]:
        """Encode the field `sides` of an Observation with zones that were made in play.

        They come last in a view, those of all seats mixed.
        """
        sides, end = [], self._of_table
        for own in self._counters:
            begin, end = end, end + self._of_seat
            sides.append([own, *shown[begin:end]])
        for zone, body in zip(zones[end:], shown[end:], strict=True):
            sides[zone.owner].append(body)
        found: list[bytes] = []
        for parts in sides:
            side = b"".join(parts)
            length = len(side)
            found += (_SIDE[length] if length < LOW else frame(4, length), side)
        return found

    def _encode_counters(self, values: tuple[tuple[int, ...], ...]) -> None:
        """Encode the field `counters` of each Side."""
        phrases = self.phrases
        self._values = values
        if values:
            kept = phrases.counters
            self._counters = [b"\x0a" + (kept.get(own) or phrases.counter(own)) for own in zip(*values, strict=True)]

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

        `number` is the engine's, from 0; the wire's is one more. `events` is the field 7 of them, the first of them
        numbered `first_event`. Times are milliseconds.
        """
        length = len(observation)
        return b"".join(
            (
                _TABLE[table] if table < LOW else uint_field(1, table),
                _DECISION[number + 1] if number + 1 < LOW else uint_field(2, number + 1),
                self.phrases.asks[ask],
                self.options(options),
                _OBSERVATION[length] if length < LOW else frame(5, length),
                observation,
                _FIRST_EVENT[first_event] if first_event < LOW else uint_field(6, first_event),
                events,
                self._time_left(base_left_ms, bank_left_ms),
                _SAFE[safe_option] if safe_option < LOW else uint_field(10, safe_option),
            )
        )

    def _time_left(self, base_ms: int, bank_ms: int) -> bytes:
        """Encode the fields `base_left_ms` and `bank_left_ms` of a Decision; they are mostly the same as last time."""
        if self._left_ms != (base_ms, bank_ms):
            self._left_ms = base_ms, bank_ms
            self._left = uint_field(8, base_ms) + uint_field(9, bank_ms)
        return self._left

    # -- what happened
    def events(self, number: int, events: Sequence[Event], viewer: int) -> bytes:
        """Encode the repeated field of events for a viewer (a seat, or the number of seats)."""
        if not events:
            return b""
        kept = self._events
        told = [(kept.get(id(event)) or self._faces(event))[viewer] for event in events]
        tag = field(number, b"")[:-1]
        return tag + tag.join(told)

    def _faces(self, event: Event) -> tuple[bytes, ...]:
        """Encode an event with its length for each viewer."""
        if len(self._events) >= MOST_KEPT:
            self._events.clear()
            self._told.clear()
        self._told.append(event)
        found = self._events[id(event)] = self.phrases.faces(event)
        return found
