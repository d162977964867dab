"""All of a view that counts, as whole numbers: counters, the agenda, what is under way, and the settings.

Seats are counted clockwise from the viewer: 0 is nobody, 1 the viewer, 2 the seat to the left. Zones are given by the
number of their block in the planes. This module knows no particular game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, Final

from cutpurse.engine.acts import Act
from cutpurse.engine.agenda import Step
from cutpurse.engine.game import Game
from cutpurse.engine.settings import Settings
from cutpurse.engine.view import View
from cutpurse.engine.words import Unit, Words
from cutpurse.learn.planes import Planes
from cutpurse.learn.span import Span

__all__ = ["ViewNumbers"]

STEPS: Final = 4  # from the top of the agenda
FIELDS: Final = 4  # of a step, beside its seat; a tuple gives its length
ACTS: Final = 2  # the last that are under way
MOST_KEPT: Final = 30_000
_STEP: Final = ("step", "seat", *[f"field {number}" for number in range(1, FIELDS + 1)])
_ACT: Final = ("verb", "actor", "seat", "zone", "number", "cards", "card 1", "card 2")
_NO_STEP: Final = [0] * len(_STEP)
_NO_ACT: Final = [0] * len(_ACT)

PLAIN, SEAT, ZONE, LENGTH = range(4)  # what the field of a step means


class _StepRow:
    """How the row of a class of step is made."""

    __slots__ = ("announces", "filling", "meanings", "number", "read")

    def __init__(self, words: Words, step: type[Step], number: int) -> None:
        names = [*step.fields][:FIELDS]
        self.number = number
        self.read: Callable[[object], tuple[Any, ...]] = attrgetter(*names, "seat")  # a tuple even of one field
        self.meanings = [_meaning(words, name, step.fields[name]) for name in names]
        self.filling = [0] * (FIELDS - len(names))
        self.announces = step.act is not Step.act  # an act


def _meaning(words: Words, name: str, kind: type) -> int:
    if name in words.step_seats:
        return SEAT
    if name in words.step_zones:
        return ZONE
    return LENGTH if kind is tuple else PLAIN


class ViewNumbers:
    """The numbers of a game with this many seats."""

    def __init__(self, rules: type[Game], seats: int, planes: Planes) -> None:
        self.rules = rules
        self.seats = seats
        self.planes = planes
        self.steps = {step: number for number, step in enumerate(rules.steps().values(), 1)}
        self._rows = {step: _StepRow(rules.words, step, number) for step, number in self.steps.items()}
        self._of_seats = [counter.unit is Unit.SEAT for counter in rules.words.table_counters]
        self._has_seats = any(self._of_seats)
        self._settings: dict[int, tuple[Settings, list[int]]] = {}
        self.spans: list[Span] = []
        self.size = 0
        for what, part in self._names():
            self.spans.append(Span("numbers", what, part, self.size, 1))
            self.size += 1

    def _names(self) -> Iterator[tuple[str, str]]:
        words = self.rules.words
        yield from (("table", counter.name) for counter in words.table_counters)
        for counter in words.seat_counters:
            yield from ((f"seat +{seat}", counter.name) for seat in range(self.seats))
        for place in range(1, STEPS + 1):
            yield from ((f"step {place} from the top of the agenda", part) for part in _STEP)
        for place in range(1, ACTS + 1):
            yield from ((f"act {place} from the last under way", part) for part in _ACT)
        for name, kind in self.rules.settings_type.kinds().items():
            yield from (("settings", f"{name} {key}".strip()) for key in kind.keys or ("",))

    def list_of(self, view: View) -> list[int]:
        """Return the numbers of a view of a seat."""
        numbers: list[int] = []
        self.add_to(numbers, view)
        return numbers

    def add_to(self, numbers: list[int], view: View) -> None:
        """Append the numbers of a view of a seat."""
        viewer, seats = view.viewer, self.seats
        assert viewer is not None
        if self._has_seats:
            numbers += [
                (value - 1 - viewer) % seats + 1 if of_seat and value else value
                for of_seat, value in zip(self._of_seats, view.counters, strict=True)
            ]
        else:
            numbers += view.counters
        for values in view.seat_counters:
            numbers += values[viewer:]
            numbers += values[:viewer]
        self._add_agenda(numbers, view, viewer)
        settings = self._settings.get(id(view.settings))
        if settings is None:
            if len(self._settings) > MOST_KEPT:
                self._settings.clear()
            settings = self._settings[id(view.settings)] = view.settings, self._values(view.settings)
        numbers += settings[1]

    def _add_agenda(self, numbers: list[int], view: View, viewer: int) -> None:
        """Append the rows of the top steps, and of the last acts under way."""
        agenda = view.agenda
        acts: list[Act] = []
        for place in range(len(agenda) - 1, -1, -1):
            step = agenda[place]
            if place >= len(agenda) - STEPS:
                self._add_step(numbers, view, viewer, step)
            elif len(acts) == ACTS:
                break
            if self._rows[type(step)].announces and len(acts) < ACTS and (act := step.act()) is not None:
                acts.append(act)
        if len(agenda) < STEPS:
            numbers += _NO_STEP * (STEPS - len(agenda))
        for act in acts:
            numbers += self._act(view, viewer, act)
        numbers += _NO_ACT * (ACTS - len(acts))

    def _add_step(self, numbers: list[int], view: View, viewer: int, step: Step) -> None:
        row = self._rows[type(step)]
        numbers.append(row.number)
        numbers.append(self._seat(step.seat, viewer))
        for value, meaning in zip(row.read(step) if row.meanings else (), row.meanings):  # noqa: B905  # the seat is left
            if meaning == PLAIN:
                numbers.append(int(value))
            elif meaning == SEAT:
                numbers.append(self._seat(value, viewer))
            elif meaning == ZONE:
                numbers.append(self.planes.place(view, value))
            else:
                numbers.append(len(value))
        numbers += row.filling

    def _act(self, view: View, viewer: int, act: Act) -> list[int]:
        return [
            act.verb,
            self._seat(act.actor, viewer),
            self._seat(act.seat, viewer),
            self.planes.place(view, act.zone),
            act.number,
            len(act.cards),
            *[*act.cards, 0, 0][:2],
        ]

    def _seat(self, seat: int | None, viewer: int) -> int:
        return 0 if seat is None or seat < 0 else (seat - viewer) % self.seats + 1

    def _values(self, settings: Settings) -> list[int]:
        """Return the settings as numbers: a word by its index among those allowed, a table by its keys."""
        numbers: list[int] = []
        for name, kind in settings.kinds().items():
            value = getattr(settings, name)
            if kind.keys:
                printed = {card.name: card.value for card in self.rules.words.cards}
                given = dict(value)
                numbers += [given.get(key, printed.get(key, 0)) for key in kind.keys]
            elif isinstance(value, str):
                numbers.append(kind.values.index(value))
            else:
                numbers.append(int(value))
        return numbers
