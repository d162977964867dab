"""What came over the wire, as the engine's own values: a view, options and events like those of a match played here.

Numbers that the game does not have raise ValueError: then the other side plays other rules, whatever version it
named. This module knows no game and receives nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from cutpurse.engine.agenda import Act, Option, Step
from cutpurse.engine.clues import Possibility, Spread
from cutpurse.engine.events import Asked, Counted, Event, Happened, Moved, Placed, Scored, Shown, Shuffled
from cutpurse.engine.game import Game
from cutpurse.engine.settings import Settings
from cutpurse.engine.view import View
from cutpurse.engine.words import Words, ZoneKind
from cutpurse.engine.zones import TABLE, ZoneView
from cutpurse.v1 import arena_pb2, game_pb2
from cutpurse.wire.numbering import Numbering, numbering_of

__all__ = ["TableInfo", "act_of", "ask_of", "event_of", "events_of", "options_of", "read_decision", "view_of"]


@dataclass(frozen=True, slots=True)
class TableInfo:
    """What stays the same at a table: the game, its settings, how many seats there are, and your own."""

    rules: type[Game]
    settings: Settings
    seats: int
    seat: int


def _wrong(what: str, words: Words) -> ValueError:
    return ValueError(f"{what}: {words.game} as it is played here, rules version {words.version}, has no such thing")


def _cards(cards: Iterable[int], words: Words) -> tuple[int, ...]:
    """Return faces, 0 for one face down."""
    numbers = tuple(cards)
    if numbers and max(numbers) > len(words.cards):
        raise _wrong(f"card {max(numbers)} where there are 1 to {len(words.cards)}", words)
    return numbers


def _seats(numbers: Iterable[int], seats: int, words: Words) -> tuple[int, ...]:
    seat_numbers = tuple(numbers)
    if seat_numbers and max(seat_numbers) >= seats:
        raise _wrong(f"seat {max(seat_numbers)} at a table of {seats}", words)
    return seat_numbers


def ask_of(ask: int, rules: type[Game]) -> str:
    """Return the name of the decision of this number.  Raises ValueError if there is none."""
    names = numbering_of(rules).ask_names
    if not 1 <= ask <= len(names):
        raise _wrong(f"question {ask} where there are 1 to {len(names)}", rules.words)
    return names[ask - 1]


def view_of(
    observation: game_pb2.Observation, rules: type[Game], settings: Settings, seats: int, viewer: int | None
) -> View:
    """Decode a view, equal to the engine's own; `viewer` is a seat, or None for the spectator.

    The observation must hold the agenda.  Raises ValueError for what this game cannot have sent.
    """
    numbering = numbering_of(rules)
    words = numbering.words
    if (observation.viewer if observation.HasField("viewer") else None) != viewer:
        raise _wrong(f"an observation of another viewer than seat {viewer}", words)
    if len(observation.sides) != seats:
        raise _wrong(f"{len(observation.sides)} sides at a table of {seats}", words)
    counters = tuple(observation.counters)
    by_seat = [tuple(side.counters) for side in observation.sides]
    if len(counters) != len(words.table_counters) or {len(words.seat_counters)} != {len(own) for own in by_seat}:
        raise _wrong("another number of counters", words)
    return View(
        rules,
        settings,
        seats,
        viewer,
        counters,
        tuple(zip(*by_seat, strict=True)),
        _zones(observation, numbering),
        tuple([_step(left, numbering) for left in observation.agenda]),
        _clues(observation, words) if observation.clues else (),
    )


def _zones(observation: game_pb2.Observation, numbering: Numbering) -> tuple[ZoneView, ...]:
    """Decode zones in the order of a view: the table's, each seat's fixed ones, then those made in play."""
    words = numbering.words
    fixed: list[ZoneView] = [_zone(zone, TABLE, words) for zone in observation.zones]
    expected = list(numbering.fixed_of_table)
    made: dict[int, list[ZoneView]] = {kind.number: [] for kind in words.zones if kind.many}
    for seat, side in enumerate(observation.sides):
        expected += numbering.fixed_of_seat
        for message in side.zones:
            zone = _zone(message, seat, words)
            made.get(zone.kind.number, fixed).append(zone)
    if [zone.kind for zone in fixed] != expected or [zone.number for zone in fixed] != [*range(1, len(fixed) + 1)]:
        raise _wrong("other zones than lie on the table from the beginning", words)
    for zones in made.values():
        fixed += zones
    return tuple(fixed)


def _zone(zone: game_pb2.Zone, owner: int, words: Words) -> ZoneView:
    number = zone.kind
    if not 1 <= number <= len(words.zones):
        raise _wrong(f"a zone of kind {number} where there are 1 to {len(words.zones)}", words)
    kind = words.zones[number - 1]
    size = zone.size
    cards = _cards(zone.cards, words)
    if len(cards) not in (0, size):
        raise _wrong(f"a {kind.name} of {size} that shows {len(cards)} cards", words)
    counters = tuple(zone.counters)
    if len(counters) != len(kind.counters):
        raise _wrong(f"a {kind.name} with {len(counters)} counters", words)
    columns = _columns(zone, kind, words) if kind.columns else ()
    known, maybe = _cards(zone.known, words), _cards(zone.maybe, words)
    return ZoneView(zone.zone, kind, owner, size, cards, known, maybe, counters, columns)


def _columns(zone: game_pb2.Zone, kind: ZoneKind, words: Words) -> tuple[tuple[int, ...], ...]:
    columns = tuple([tuple(column.values) for column in zone.columns])
    expected = len(kind.columns) if zone.cards else 0
    if [column.column for column in zone.columns] != [*range(1, expected + 1)] or {len(v) for v in columns} - {
        zone.size
    }:
        raise _wrong(f"a {kind.name} of {zone.size} with the columns {columns}", words)
    return columns


def _clues(observation: game_pb2.Observation, words: Words) -> tuple[tuple[Possibility, ...], ...]:
    """Decode what is known of cards that lie in one of several zones."""
    zones = {zone.zone: zone.size for zone in observation.zones}
    for side in observation.sides:
        zones.update({zone.zone: zone.size for zone in side.zones})
    clues = []
    for clue in observation.clues:
        possibilities = [
            tuple([_spread(spread, zones, words) for spread in each.spreads]) for each in clue.possibilities
        ]
        if not possibilities:
            raise _wrong("a clue without possibilities", words)
        clues.append(tuple(possibilities))
    return tuple(clues)


def _spread(spread: game_pb2.Spread, sizes: dict[int, int], words: Words) -> Spread:
    cards = _cards(spread.cards, words)
    numbers, counts = tuple(spread.zones), tuple(spread.counts)
    if len(numbers) != len(counts) or any(
        count > sizes.get(zone, 0) for zone, count in zip(numbers, counts, strict=False)
    ):
        raise _wrong(f"a clue on {counts} cards in zones {numbers}", words)
    if sum(counts) > len(cards) + spread.unknown:
        raise _wrong(f"a clue on {sum(counts)} of {len(cards) + spread.unknown} cards", words)
    return Spread(cards, spread.unknown, tuple(zip(numbers, counts, strict=True)))


def _step(left: game_pb2.StepLeft, numbering: Numbering) -> Step:
    if not 1 <= left.step <= len(numbering.steps):
        raise _wrong(f"step {left.step} where there are 1 to {len(numbering.steps)}", numbering.words)
    step = numbering.steps[left.step - 1]
    numbers = tuple(left.numbers)
    values: list[Any] = []
    at = 0
    for _, shape in numbering.step_fields[left.step - 1]:
        end = at + 1
        if end > len(numbers):
            break
        if shape is tuple:
            end += max(numbers[at], 0)
            values.append(numbers[at + 1 : end])
        else:
            values.append(shape(numbers[at]))
        at = end
    if at != len(numbers) or len(values) != len(numbering.step_fields[left.step - 1]):
        raise _wrong(f"step {step.__name__} with the numbers {numbers}", numbering.words)
    return step(*values)


def act_of(act: game_pb2.Act, rules: type[Game], seats: int) -> Act:
    """Decode an act.  Raises ValueError for a verb, card or seat that the game or table does not have."""
    words = rules.words
    actor = act.actor if act.HasField("actor") else None
    seat = act.seat if act.HasField("seat") else None
    if not 1 <= act.verb <= len(words.verbs):
        raise _wrong(f"verb {act.verb} where there are 1 to {len(words.verbs)}", words)
    if (actor or 0) >= seats or (seat or 0) >= seats:
        raise _wrong(f"an act of seat {actor} towards seat {seat} at a table of {seats}", words)
    return Act(act.verb, _cards(act.cards, words), act.zone, seat, act.number, tuple(act.places), actor)


def options_of(decision: arena_pb2.Decision, rules: type[Game], seats: int) -> list[Option]:
    """Decode the options, never none.  Raises ValueError as `act_of` does."""
    options = [act_of(act, rules, seats) for act in decision.options]
    if not options:
        raise _wrong("a decision without options", rules.words)
    return options


def event_of(event: game_pb2.Event, rules: type[Game], seats: int) -> Event:
    """Decode an event.  Raises ValueError for what the game or table does not have."""
    what = event.WhichOneof("what")
    if what is None:
        raise _wrong("an event that tells nothing", rules.words)
    return _EVENTS[what](getattr(event, what), rules, seats)


def _happened(act: game_pb2.Act, rules: type[Game], seats: int) -> Event:
    return Happened(act_of(act, rules, seats))


def _moved(moved: game_pb2.Moved, rules: type[Game], seats: int) -> Event:
    return Moved(moved.from_zone, moved.to_zone, _cards(moved.cards, rules.words))


def _shown_event(message: game_pb2.Shown, rules: type[Game], seats: int) -> Event:
    words = rules.words
    return Shown(message.zone, _seats(message.seats, seats, words), _cards(message.cards, words))


def _shuffled(shuffled: game_pb2.Shuffled, rules: type[Game], seats: int) -> Event:
    return Shuffled(shuffled.zone)


def _counted(counted: game_pb2.Counted, rules: type[Game], seats: int) -> Event:
    seat = counted.seat if counted.HasField("seat") else None
    place = counted.place if counted.HasField("place") else None
    zone = counted.zone or None
    if seat is not None:
        _seats((seat,), seats, rules.words)
    counters = numbering_of(rules).counters(seat, counted.zone, place, seats)
    at = counted.counter if place is None else counted.counter - 1  # columns are numbered from 1
    if not 0 <= at < len(counters):
        raise _wrong(f"counter {counted.counter} where there are {len(counters)}", rules.words)
    return Counted(counters[at].name, counted.value, seat, zone, place)


def _placed(placed: game_pb2.Placed, rules: type[Game], seats: int) -> Event:
    words = rules.words
    if placed.kind > len(words.zones):
        raise _wrong(f"a zone of kind {placed.kind} where there are 1 to {len(words.zones)}", words)
    return Placed(
        placed.zone, placed.kind, _seats((placed.seat,), seats, words)[0] if placed.HasField("seat") else TABLE
    )


def _asked_event(message: game_pb2.Asked, rules: type[Game], seats: int) -> Event:
    return Asked(ask_of(message.ask, rules), _seats(message.seats, seats, rules.words))


def _scored(scored: game_pb2.Scored, rules: type[Game], seats: int) -> Event:
    scores = tuple(scored.scores)
    if len(scores) != seats:
        raise _wrong(f"{len(scores)} scores at a table of {seats}", rules.words)
    return Scored(scored.over, scores)


_EVENTS: Final[dict[str, Callable[[Any, type[Game], int], Event]]] = {
    "act": _happened,
    "moved": _moved,
    "shown": _shown_event,
    "shuffled": _shuffled,
    "counted": _counted,
    "placed": _placed,
    "asked": _asked_event,
    "scored": _scored,
}


def events_of(message: arena_pb2.Decision | arena_pb2.MatchEnded, table: TableInfo) -> list[Event]:
    """Return what happened since the last decision.  Raises ValueError for an event that this game cannot have."""
    return [event_of(event, table.rules, table.seats) for event in message.events]


def read_decision(decision: arena_pb2.Decision, table: TableInfo) -> tuple[View, list[Event], int, list[Option]]:
    """Decode a decision: the view, the events since the last one, the number of the first of them, and the options.

    Raises ValueError for what this game cannot have sent.
    """
    view = view_of(decision.observation, table.rules, table.settings, table.seats, table.seat)
    options = options_of(decision, table.rules, table.seats)
    return view, events_of(decision, table), decision.first_event, options
