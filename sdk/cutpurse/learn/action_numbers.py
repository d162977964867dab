"""A number for every option, with the same meaning in every position.

The number says the verb and what it is done to, as the seat that is asked sees it: seats clockwise from itself, zones
by kind, owner and rank. Each verb has a block of numbers; inside it the digits are cards, seat, zone, number and copy.
Which of them a verb has follows from its sentence in the vocabulary, and from its `Shape`. The question is not in the
number: "discard a ruby" has the same one wherever it is asked.

This module knows no particular game.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from cutpurse.engine.agenda import Option
from cutpurse.engine.errors import UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.view import View
from cutpurse.engine.words import Shape, Slots, Verb, ZoneKind

__all__ = ["ActionNumbers"]

_DEFAULT: Final = Shape()


class _VerbBlock:
    """The numbers of one verb."""

    __slots__ = (
        "base",
        "copies",
        "digits",
        "has_cards",
        "has_number",
        "has_seat",
        "is_simple",
        "shape",
        "verb",
        "zones",
    )

    def __init__(
        self, verb: Verb, base: int, shape: Shape, digits: tuple[int, ...], zones: dict[ZoneKind, int]
    ) -> None:
        self.verb = verb
        self.base = base
        self.shape = shape
        self.digits = digits  # how many values each digit has
        self.zones = zones  # by kind, the first value of its digit; empty without {zone}
        self.has_cards = "{cards}" in verb.option_text
        self.has_seat = "{seat}" in verb.option_text
        self.has_number = "{number}" in verb.option_text and shape.numbers != ()
        self.copies = shape.copies
        self.is_simple = not zones and not self.copies and not shape.own

    @property
    def size(self) -> int:
        return prod(self.digits)


class ActionNumbers:
    """The numbers of all options of a game with this many seats: 0 to `size` - 1."""

    def __init__(self, rules: type[Game], seats: int) -> None:
        words = rules.words
        self.rules = rules
        self.seats = seats
        self.faces = len(words.cards)
        box = list(rules.box(seats, rules.check(seats, {})))
        self.most_copies = max([box.count(card) for card in set(box)])
        self.fixed = sum([seats if kind.per_seat else 1 for kind in words.zones if not kind.many])
        self.blocks: dict[int, _VerbBlock] = {}
        self.size = 0
        for verb in words.verbs:
            if verb.option_text:
                self.blocks[verb.number] = block = self._block(verb)
                self.size += block.size
        self._simple: list[dict[object, int]] = [{} for _ in range(seats)]  # by viewer and what an option says
        self._zones: object = None  # the zones of the last view
        self._ranks: dict[int, tuple[int, int]] = {}  # of those made in play: by age, and by their number

    def _block(self, verb: Verb) -> _VerbBlock:
        words, text = self.rules.words, verb.option_text
        shape = words.shapes.get(verb.number, _DEFAULT)
        digits: list[int] = []
        zones: dict[ZoneKind, int] = {}
        if "{cards}" in text:
            digits += [2] if shape.own else [self.faces] * shape.cards
        if "{seat}" in text:
            digits.append(self.seats)
        if "{zone}" in text:
            size = 0
            for kind in words.zones:
                if not shape.zones or kind.name in shape.zones:
                    zones[kind] = size
                    size += self._places(kind)
            digits.append(size)
        if "{number}" in text and shape.numbers != ():
            if shape.numbers is None and not shape.priced:
                raise UsageError(
                    f"the options of {words.game} have no numbers: verb {verb.name} names {{number}}, and its values "
                    f"are not declared; beside the verb say WORDS.shape({verb.name.upper()}, numbers=...)"
                )
            digits.append(2 if shape.numbers is None else len(shape.numbers))
        if shape.copies:
            digits.append(self.most_copies)
        return _VerbBlock(verb, self.size, shape, tuple(digits), zones)

    def _places(self, kind: ZoneKind) -> int:
        owners = self.seats if kind.per_seat else 1
        return owners * _places_of_owner(self._slots(kind)) if kind.many else owners

    def _slots(self, kind: ZoneKind) -> Slots:
        return self.rules.words.slots.get(kind.name, Slots())

    # -- numbers of options
    def number(self, view: View, option: Option) -> int:
        """Return the number of an option of the view's seat.  Raises UsageError if it has none."""
        block = self.blocks[option.verb]
        if block.is_simple:
            seat = view.viewer or 0
            key = option.verb, option.cards, option.seat, option.number
            action = self._simple[seat].get(key)
            if action is None:
                action = self._simple[seat][key] = self._compute(block, view, option)
            return action
        return self._compute(block, view, option)

    def numbers(self, view: View, options: Sequence[Option]) -> list[int]:
        """Return the numbers of options of the view's seat, in their order."""
        simple, blocks = self._simple[view.viewer or 0], self.blocks
        actions: list[int] = []
        for option in options:
            number = simple.get((option.verb, option.cards, option.seat, option.number))
            if number is None or not blocks[option.verb].is_simple:
                number = self.number(view, option)
            actions.append(number)
        return actions

    def _compute(self, block: _VerbBlock, view: View, option: Option) -> int:
        number = 0
        for digit, values in zip(self._digits(block, view, option), block.digits, strict=True):
            if not 0 <= digit < values:
                raise UsageError(f"an option of {self.rules.words.game} has no number: {option.values()}")
            number = number * values + digit
        return block.base + number

    def _digits(self, block: _VerbBlock, view: View, option: Option) -> list[int]:
        shape, digits = block.shape, []
        if block.has_cards:
            if shape.own:
                digits.append(int(view.zone(option.zone).counters[0] != option.cards[0]))
            else:
                digits += [card - 1 for card in option.cards]
        if block.has_seat:
            assert option.seat is not None
            assert view.viewer is not None
            digits.append((option.seat - view.viewer) % self.seats)
        if block.zones:
            digits.append(self._zone(block, view, option.zone))
        if block.has_number:
            if shape.numbers is None:
                digits.append(int(option.number != 0))
            else:
                digits.append(shape.numbers.index(option.number) if option.number in shape.numbers else -1)
        if block.copies:
            digits.append(self._copy(block, view, option))
        return digits

    def _zone(self, block: _VerbBlock, view: View, number: int) -> int:
        zone = view.zone(number)
        kind = zone.kind
        assert view.viewer is not None
        owner = (zone.owner - view.viewer) % self.seats if kind.per_seat else 0
        if not kind.many:
            return block.zones[kind] + owner
        slots = self._slots(kind)
        by_age, of_number = self.ranks(view)[number]
        rank = of_number if slots.numbers else by_age
        if rank >= slots.most:
            return -1
        if slots.numbers:
            rank += (zone.counters[0] - 1) * slots.most
        return block.zones[kind] + owner * _places_of_owner(slots) + rank

    def ranks(self, view: View) -> dict[int, tuple[int, int]]:
        """Rank the zones made in play among those of their kind and owner: by age, and among those of their number."""
        if view.zones is not self._zones:
            counts: dict[object, int] = {}
            ranks = {}
            for zone in view.zones[self.fixed :]:
                place = zone.kind.number, zone.owner
                same = *place, zone.counters[:1]
                ranks[zone.number] = counts.get(place, 0), counts.get(same, 0)
                counts[place] = counts.get(place, 0) + 1
                counts[same] = counts.get(same, 0) + 1
            self._zones, self._ranks = view.zones, ranks
        return self._ranks

    def _copy(self, block: _VerbBlock, view: View, option: Option) -> int:
        """Rank the numbers on a copy among those on the copies of its face."""
        if not option.places:
            return 0
        (zone,) = view.of(block.copies, view.viewer if view.viewer is not None else -1)
        copies = list(zip(zone.cards, *zone.columns, strict=True))
        face = option.cards[0]
        return sorted({copy for copy in copies if copy[0] == face}).index(copies[option.places[0]])

    # -- what they mean
    def describe(self) -> list[object]:
        """List all that the meaning of the numbers depends on, as JSON values."""
        words = self.rules.words
        return [
            words.game,
            self.seats,
            [card.name for card in words.cards],
            [
                [
                    block.verb.name,
                    block.base,
                    block.digits,
                    [kind.name for kind in block.zones],
                    [shape.cards, shape.own, shape.numbers, shape.priced, shape.copies],
                ]
                for block in self.blocks.values()
                for shape in [block.shape]
            ],
            [[name, slots.most, slots.numbers] for name, slots in words.slots.items()],
        ]


def _places_of_owner(slots: Slots) -> int:
    return slots.most * (slots.numbers or 1)
