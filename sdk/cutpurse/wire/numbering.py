"""The numbers by which a game's questions, steps, counters and zones go on the wire.

The catalogue tells them to the world, and both directions of the wire use them, so they are made here once. Cards,
verbs and kinds of zone have theirs from the game's `Words`. This module knows no encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from cutpurse.engine.agenda import Question, Step
from cutpurse.engine.game import Game
from cutpurse.engine.words import Counter, Words, ZoneKind
from cutpurse.games.rule_book import steps_in_order

__all__ = ["Numbering", "StepField", "numbering_of"]


class StepField(NamedTuple):
    """A field of a step: its name, and int, bool or tuple (which goes as its length and its numbers)."""

    name: str
    shape: type


@dataclass(frozen=True, eq=False)
class Numbering:
    """The numbers of one game."""

    words: Words
    steps: tuple[type[Step], ...]  # step n is steps[n - 1]
    step_fields: tuple[tuple[StepField, ...], ...]  # by step
    step_number: dict[type[Step], int]
    asks: tuple[type[Question], ...]  # question n is asks[n - 1]
    ask_names: tuple[str, ...]  # of the same questions
    ask_number: dict[str, int]
    fixed_of_table: tuple[ZoneKind, ...]  # the kinds of zones 1, 2, ...
    fixed_of_seat: tuple[ZoneKind, ...]  # then those of seat 0, of seat 1, ...
    counters_of_made: tuple[Counter, ...]  # of zones made in play, alike for all their kinds

    def fixed_kind(self, zone: int, seats: int) -> ZoneKind | None:
        """Return the kind of a zone that exists from the beginning; None of one that is made in play."""
        if zone <= len(self.fixed_of_table):
            return self.fixed_of_table[zone - 1]
        place = zone - 1 - len(self.fixed_of_table)
        each = len(self.fixed_of_seat)
        return self.fixed_of_seat[place % each] if place < each * seats else None

    def counters(self, seat: int | None, zone: int, place: int | None, seats: int) -> Sequence[Counter]:
        """Return the counters that an event can change: of a seat, a zone, a card at a place, or else of the table."""
        if seat is not None:
            return self.words.seat_counters
        if not zone:
            return self.words.table_counters
        kind = self.fixed_kind(zone, seats)
        if place is not None:
            return kind.columns if kind else ()
        return kind.counters if kind else self.counters_of_made


_kept: Final[dict[type[Game], Numbering]] = {}


def numbering_of(rules: type[Game]) -> Numbering:
    """Return the numbers of a game."""
    numbering = _kept.get(rules)
    if numbering is None:
        numbering = _kept[rules] = _make(rules)
    return numbering


def _make(rules: type[Game]) -> Numbering:
    words = rules.words
    steps = tuple(steps_in_order(rules))
    asks = tuple([step for step in steps if issubclass(step, Question)])
    fixed = [kind for kind in words.zones if not kind.many]
    return Numbering(
        words,
        steps,
        tuple([_fields(step) for step in steps]),
        {step: number for number, step in enumerate(steps, 1)},
        asks,
        tuple([ask.name for ask in asks]),
        {ask.name: number for number, ask in enumerate(asks, 1)},
        tuple([kind for kind in fixed if not kind.per_seat]),
        tuple([kind for kind in fixed if kind.per_seat]),
        _counters_of_made(words),
    )


def _fields(step: type[Step]) -> tuple[StepField, ...]:
    return (StepField("seat", int), *[StepField(name, shape) for name, shape in step.fields.items()])


def _counters_of_made(words: Words) -> tuple[Counter, ...]:
    """Return the longest list of counters of a kind made in play: such a zone keeps its numbers as another kind.

    So an event can tell of a counter by its place, whatever the zone is called then.
    """
    made = [kind for kind in words.zones if kind.many]
    longest = max([kind.counters for kind in made], key=len, default=())
    for kind in made:
        if kind.columns or [c.name for c in kind.counters] != [c.name for c in longest[: len(kind.counters)]]:
            raise TypeError(f"zones of kind {kind.name} do not count like the other kinds made in play in {words.game}")
    return longest
