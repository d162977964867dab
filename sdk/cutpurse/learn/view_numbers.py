"""All of a view that counts, as whole numbers: counters, the agenda, what is under way, and the settings.

Seats are counted clockwise from the viewer: 0 is nobody, 1 the viewer, 2 the seat to the left. Zones are given by the
number of their block in the planes. This module knows no particular game.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from cutpurse.engine.acts import Act
from cutpurse.engine.agenda import Step
from cutpurse.engine.game import Game
from cutpurse.engine.settings import Settings
from cutpurse.engine.view import View
from cutpurse.engine.words import Unit
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

_Rows = tuple["list[int]", "list[int] | None"]  # of a step, and of what it announces


class ViewNumbers:
    """The numbers of a game with this many seats."""

    def __init__(self, rules: type[Game], seats: int, planes: Planes) -> None:
        self.rules = rules
        self.seats = seats
        self.planes = planes
        self.steps = {step: number for number, step in enumerate(rules.steps().values(), 1)}
        self._seat_fields = {
            step: tuple([name in rules.words.step_seats for name in step.fields]) for step in self.steps
        }
        self._zone_fields = {
            step: tuple([name in rules.words.step_zones for name in step.fields]) for step in self.steps
        }
        self._of_seats = [counter.unit is Unit.SEAT for counter in rules.words.table_counters]
        self._has_seats = any(self._of_seats)
        self._settings: dict[int, tuple[Settings, list[int]]] = {}
        # By viewer and the identity of a step, which is held.
        self._kept: list[dict[int, _Rows]] = [{} for _ in range(seats)]
        self._held: list[Step] = []
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
        viewer, seats = view.viewer, self.seats
        assert viewer is not None
        if self._has_seats:
            found = [
                (value - 1 - viewer) % seats + 1 if of_seat and value else value
                for of_seat, value in zip(self._of_seats, view.counters, strict=True)
            ]
        else:
            found = [*view.counters]
        for values in view.seat_counters:
            found += values[viewer:]
            found += values[:viewer]
        found += self._agenda(view, viewer)
        settings = self._settings.get(id(view.settings))
        if settings is None:
            if len(self._settings) > MOST_KEPT:
                self._settings.clear()
            settings = self._settings[id(view.settings)] = view.settings, self._values(view.settings)
        found += settings[1]
        return found

    def _agenda(self, view: View, viewer: int) -> list[int]:
        """Return the rows of the top steps, and of the last acts under way."""
        if len(self._held) > MOST_KEPT:
            self._held.clear()
            for each in self._kept:
                each.clear()
        agenda, kept = view.agenda, self._kept[viewer]
        found: list[int] = []
        acts: list[list[int]] = []
        for place in range(len(agenda) - 1, -1, -1):
            step = agenda[place]
            row, act = kept.get(id(step)) or self._make(view, step)
            if place >= len(agenda) - STEPS:
                found += row
            if act is not None and len(acts) < ACTS:
                acts.append(act)
        found += _NO_STEP * (STEPS - len(agenda))
        for act in acts:
            found += act
        found += _NO_ACT * (ACTS - len(acts))
        return found

    def _make(self, view: View, step: Step) -> _Rows:
        viewer, kind = view.viewer, type(step)
        assert viewer is not None
        seat, *values = step.values()
        row = [self.steps[kind], self._seat(seat, viewer)]
        zones = self._zone_fields[kind]
        for value, is_seat, is_zone in zip(values, self._seat_fields[kind], zones, strict=True):
            if is_seat:
                row.append(self._seat(value, viewer))
            elif is_zone:
                row.append(self.planes.place(view, value))
            else:
                row.append(_whole(value))
        row = (row + _NO_STEP)[: len(_STEP)]
        act = step.act()
        rows = row, None if act is None else self._act(view, viewer, act)
        if not any(zones) and (act is None or not act.zone):
            self._kept[viewer][id(step)] = rows
            self._held.append(step)
        return rows

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
        found: list[int] = []
        for name, kind in settings.kinds().items():
            value = getattr(settings, name)
            if kind.keys:
                printed = {card.name: card.value for card in self.rules.words.cards}
                given = dict(value)
                found += [given.get(key, printed.get(key, 0)) for key in kind.keys]
            elif isinstance(value, str):
                found.append(kind.values.index(value))
            else:
                found.append(int(value))
        return found


def _whole(value: Any) -> int:
    """Return the field of a step as a number: Any, as `Step.values` has it."""
    return len(value) if isinstance(value, tuple) else int(value)
