"""What matches of one game say again and again, as bytes that are made once for all of them.

An act, an event with its faces for each viewer, a step, a list of counters: a game has a few thousand different ones,
and every match is made of them. Each value is stored together with who may see what of it, so it is the same in every
match. This module knows no match and no zone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from cutpurse.engine.agenda import Act, Step
from cutpurse.engine.events import Asked, Counted, Event, Happened, Moved, Placed, Scored, Shown, Shuffled
from cutpurse.engine.game import Game
from cutpurse.v1 import arena_pb2, game_pb2
from cutpurse.wire.numbering import numbering_of
from cutpurse.wire.wire_format import (
    field,
    framed,
    present_uint_field,
    sint_field,
    sints,
    tag,
    uint_field,
    uints_field,
)

__all__ = ["PhraseCache", "act_body"]

MOST_KEPT: Final = 2_048  # of each sort: most of what a game has; then all of them go

_PENDING: Final = tag(game_pb2.Observation.PENDING_FIELD_NUMBER)
_AGENDA: Final = tag(game_pb2.Observation.AGENDA_FIELD_NUMBER)
_OPTION: Final = tag(arena_pb2.Decision.OPTIONS_FIELD_NUMBER)
_ACT: Final = tag(game_pb2.Event.ACT_FIELD_NUMBER)


def act_body(act: Act) -> bytes:
    """Encode an Act, without its tag and length."""
    verb, cards, zone, seat, number, places, actor = act.values()
    return (
        uint_field(game_pb2.Act.VERB_FIELD_NUMBER, verb)
        + present_uint_field(game_pb2.Act.ACTOR_FIELD_NUMBER, actor)
        + present_uint_field(game_pb2.Act.SEAT_FIELD_NUMBER, seat)
        + uint_field(game_pb2.Act.ZONE_FIELD_NUMBER, zone)
        + uints_field(game_pb2.Act.CARDS_FIELD_NUMBER, cards)
        + uints_field(game_pb2.Act.PLACES_FIELD_NUMBER, places)
        + sint_field(game_pb2.Act.NUMBER_FIELD_NUMBER, number)
    )


class PhraseCache:
    """The phrases of a game with one number of seats, for any number of matches and any settings.

    options, counters and agendas hold what was made so far; ask for what is missing with the method of that name.
    """

    def __init__(self, rules: type[Game], seats: int) -> None:
        self.rules = rules
        self.seats = seats
        self.numbering = numbering_of(rules)
        ask = arena_pb2.Decision.ASK_FIELD_NUMBER
        self.asks = {name: uint_field(ask, number) for name, number in self.numbering.ask_number.items()}
        self.options: dict[Act, bytes] = {}  # the field of a Decision
        self.counters: dict[tuple[int, ...], bytes] = {}  # with length
        # The fields `pending` and `agenda` of an Observation, of a whole agenda and of each step.
        self.agendas: dict[tuple[Step, ...], tuple[bytes, bytes]] = {}
        self._steps: dict[Step, tuple[bytes, bytes]] = {}
        self._acts: dict[Act, bytes] = {}  # with length
        # By kind, for events of different kinds can be equal as tuples: what `faces` returns.
        self._faces: dict[type, dict[Event, tuple[bytes, ...]]] = {}

    def option(self, act: Act) -> bytes:
        """Encode one option of a Decision."""
        _make_room(self.options)
        phrase = self.options[act] = _OPTION + self._act(act)
        return phrase

    def counter(self, values: tuple[int, ...]) -> bytes:
        """Encode the numbers of a list of counters, with their length."""
        _make_room(self.counters)
        phrase = self.counters[values] = framed(sints(values))
        return phrase

    def agenda(self, steps: tuple[Step, ...]) -> tuple[bytes, bytes]:
        """Return the fields `pending` and `agenda` of an Observation that tell of these steps."""
        phrases = [self._steps.get(step) or self._step(step) for step in steps]
        pending = b"".join([pending for pending, _ in phrases])
        _make_room(self.agendas)
        planned = b"".join([planned for _, planned in phrases])
        entry = self.agendas[steps] = (pending, planned)
        return entry

    def _step(self, step: Step) -> tuple[bytes, bytes]:
        """Return the fields of a step in `pending` (nothing if it announces nothing) and `agenda`."""
        numbering = self.numbering
        number = numbering.step_number[type(step)]
        numbers: list[int] = []
        for name, shape in numbering.step_fields[number - 1]:
            value = getattr(step, name)
            numbers += (len(value), *value) if shape is tuple else (value,)
        act = step.act()
        pending = b"" if act is None else _PENDING + self._act(act)
        body = uint_field(game_pb2.StepLeft.STEP_FIELD_NUMBER, number)
        if numbers:
            body += field(game_pb2.StepLeft.NUMBERS_FIELD_NUMBER, sints(numbers))
        _make_room(self._steps)
        entry = self._steps[step] = (pending, _AGENDA + framed(body))
        return entry

    def _act(self, act: Act) -> bytes:
        phrase = self._acts.get(act)
        if phrase is None:
            _make_room(self._acts)
            phrase = self._acts[act] = framed(act_body(act))
        return phrase

    # -- what happened
    def faces(self, event: Event) -> tuple[bytes, ...]:
        """Encode an Event with its length for each viewer: by seat, and last the spectator."""
        kept = self._faces.get(type(event))
        if kept is None:
            kept = self._faces[type(event)] = {}
        bodies = kept.get(event)
        if bodies is None:
            _make_room(kept)
            bodies = kept[event] = self._made(event)
        return bodies

    def _made(self, event: Event) -> tuple[bytes, ...]:
        """Encode an event for every viewer, once for each set of cards that a viewer sees."""
        masks = set(getattr(event, "masks", ()))  # who may see a card, for each card
        if not masks:
            return (framed(self.event(event, 0)),) * (self.seats + 1)
        made: dict[tuple[int, ...], bytes] = {}
        faces = []
        for viewer in range(self.seats + 1):
            seen = tuple([mask >> viewer & 1 for mask in masks])
            if (face := made.get(seen)) is None:
                face = made[seen] = framed(self.event(event, viewer))
            faces.append(face)
        return tuple(faces)

    def event(self, event: Event, viewer: int) -> bytes:
        """Encode an Event for a viewer, without its tag and length."""
        return _BODY[type(event)](self, event.to(viewer))

    def _happened(self, event: Happened) -> bytes:
        return _ACT + self._act(event.act)

    def _moved(self, event: Moved) -> bytes:
        return field(
            game_pb2.Event.MOVED_FIELD_NUMBER,
            uint_field(game_pb2.Moved.FROM_ZONE_FIELD_NUMBER, event.from_zone)
            + uint_field(game_pb2.Moved.TO_ZONE_FIELD_NUMBER, event.to_zone)
            + uints_field(game_pb2.Moved.CARDS_FIELD_NUMBER, event.cards),
        )

    def _shown_phrase(self, event: Shown) -> bytes:
        return field(
            game_pb2.Event.SHOWN_FIELD_NUMBER,
            uint_field(game_pb2.Shown.ZONE_FIELD_NUMBER, event.zone)
            + uints_field(game_pb2.Shown.SEATS_FIELD_NUMBER, event.seats)
            + uints_field(game_pb2.Shown.CARDS_FIELD_NUMBER, event.cards),
        )

    def _shuffled(self, event: Shuffled) -> bytes:
        return field(game_pb2.Event.SHUFFLED_FIELD_NUMBER, uint_field(game_pb2.Shuffled.ZONE_FIELD_NUMBER, event.zone))

    def _counted(self, event: Counted) -> bytes:
        counters = self.numbering.counters(event.seat, event.zone or 0, event.place, self.seats)
        number = [counter.name for counter in counters].index(event.counter)
        if event.place is not None:
            number += 1  # columns are numbered from 1
        return field(
            game_pb2.Event.COUNTED_FIELD_NUMBER,
            uint_field(game_pb2.Counted.COUNTER_FIELD_NUMBER, number)
            + present_uint_field(game_pb2.Counted.SEAT_FIELD_NUMBER, event.seat)
            + uint_field(game_pb2.Counted.ZONE_FIELD_NUMBER, event.zone or 0)
            + present_uint_field(game_pb2.Counted.PLACE_FIELD_NUMBER, event.place)
            + sint_field(game_pb2.Counted.VALUE_FIELD_NUMBER, event.value),
        )

    def _placed(self, event: Placed) -> bytes:
        return field(
            game_pb2.Event.PLACED_FIELD_NUMBER,
            uint_field(game_pb2.Placed.ZONE_FIELD_NUMBER, event.zone)
            + uint_field(game_pb2.Placed.KIND_FIELD_NUMBER, event.kind)
            + present_uint_field(game_pb2.Placed.SEAT_FIELD_NUMBER, None if event.seat < 0 else event.seat),
        )

    def _asked_phrase(self, event: Asked) -> bytes:
        return field(
            game_pb2.Event.ASKED_FIELD_NUMBER,
            uint_field(game_pb2.Asked.ASK_FIELD_NUMBER, self.numbering.ask_number[event.ask])
            + uints_field(game_pb2.Asked.SEATS_FIELD_NUMBER, event.seats),
        )

    def _scored(self, event: Scored) -> bytes:
        body = uint_field(game_pb2.Scored.OVER_FIELD_NUMBER, event.over)
        if event.scores:
            body += field(game_pb2.Scored.SCORES_FIELD_NUMBER, sints(event.scores))
        return field(game_pb2.Event.SCORED_FIELD_NUMBER, body)


_BODY: Final[dict[type, Callable[[PhraseCache, Any], bytes]]] = {
    Happened: PhraseCache._happened,
    Moved: PhraseCache._moved,
    Shown: PhraseCache._shown_phrase,
    Shuffled: PhraseCache._shuffled,
    Counted: PhraseCache._counted,
    Placed: PhraseCache._placed,
    Asked: PhraseCache._asked_phrase,
    Scored: PhraseCache._scored,
}


def _make_room(kept: dict[Any, Any]) -> None:
    if len(kept) >= MOST_KEPT:
        kept.clear()
