"""How many of each face lie where, as one viewer sees it: an array of bytes.

A zone has a block: its size and counters; for a viewer who sees faces `seen`, `top` where the order matters, and its
columns summed by face; for a viewer who sees backs `known` and `maybe` where learned cards are remembered, as far as
the level of knowledge goes. The blocks of the table come first, then those of the viewer and of the others clockwise,
then those of zones made in play, which have slots; what no slot is left for is summed. A column that says since when
counts how long ago that is. A byte ends at 255.

Not in the planes: the order below the top of a pile, which copy has which number, and clues. A zone's view never
changes, so its bytes are made once and cached with it. This module knows no particular game.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cutpurse.engine.game import Game
from cutpurse.engine.knowledge_level import NONE, PROOF
from cutpurse.engine.view import View
from cutpurse.engine.words import Slots, Visibility, Words, ZoneKind
from cutpurse.engine.zones import ZoneView
from cutpurse.learn.span import Span

__all__ = ["Planes"]

MOST: Final = 255


class _Block:
    """The bytes of a zone, as its owner or as others see it."""

    __slots__ = ("columns", "empty", "faces", "is_aging", "known", "maybe", "parts", "seen", "since", "top", "width")

    def __init__(self, words: Words, kind: ZoneKind, mine: bool, knowledge: str) -> None:
        self.faces = faces = len(words.cards)
        self.parts: list[tuple[str, int, int]] = [("size", 0, 1)]  # name, first byte, number of bytes
        self.width = 1
        for counter in kind.counters:
            self._add(counter.name, 1)
        visibility = kind.visibility
        is_own = visibility is Visibility.OWNER and mine
        self.seen = self.top = self.known = self.maybe = -1
        self.columns: list[int] = []
        self.since: list[int] = []  # by column, the table counter that it is counted from, or -1
        if is_own or visibility in (Visibility.ALL, Visibility.MIXED):
            self.seen = self._add("seen", faces)
            if kind.ordered:
                self.top = self._add("top", faces)
            names = [counter.name for counter in words.table_counters]
            for column in kind.columns:
                self.columns.append(self._add(column.name, faces))
                self.since.append(names.index(column.since) if column.since else -1)
        if kind.remembers and not is_own and knowledge != NONE:
            self.known = self._add("known", faces)
            if knowledge == PROOF:
                self.maybe = self._add("maybe", faces)
        self.is_aging = any(since >= 0 for since in self.since)
        self.empty = bytes(self.width)

    def _add(self, name: str, width: int) -> int:
        start = self.width
        self.parts.append((name, start, width))
        self.width += width
        return start

    def row(self, zone: ZoneView, counters: tuple[int, ...]) -> bytes:
        """Return the bytes of a zone: made once, as long as they do not age."""
        cached = zone.cached_row
        if cached is not None and cached[0] is self:
            return cached[1]
        if not zone.size and not zone.counters:
            return self.empty
        row = self._make_row(zone, counters)
        if not self.is_aging or not zone.cards:
            zone.cached_row = self, row
        return row

    def _make_row(self, zone: ZoneView, counters: tuple[int, ...]) -> bytes:
        row = bytearray(self.width)
        row[0] = min(zone.size, MOST)
        for place, value in enumerate(zone.counters, 1):
            row[place] = min(max(value, 0), MOST)
        cards = zone.cards
        if self.seen >= 0 and cards:
            base = self.seen - 1
            for card in cards:
                if card:
                    row[base + card] += 1
            if self.top >= 0 and cards[-1]:
                row[self.top - 1 + cards[-1]] = 1
            for start, since, column in zip(self.columns, self.since, zone.columns, strict=False):
                base = start - 1
                for card, value in zip(cards, column, strict=True):
                    age = counters[since] - value if since >= 0 else value
                    row[base + card] = min(max(row[base + card] + age, 0), MOST)
        if self.known >= 0:
            for card in zone.known:
                row[self.known - 1 + card] += 1
        if self.maybe >= 0:
            for card in zone.maybe:
                row[self.maybe - 1 + card] += 1
        return bytes(row)


class _MadeZones:
    """The slots of a kind of zone made in play, before one seat."""

    def __init__(self, words: Words, kind: ZoneKind, mine: bool, knowledge: str) -> None:
        self.kind = kind
        self.block = _Block(words, kind, mine, knowledge)
        self.slots: Slots = words.slots.get(kind.name, Slots())
        self.is_numbered = bool(self.slots.numbers and not self.slots.by_age)
        self.count = self.slots.most * self.slots.numbers if self.is_numbered else self.slots.by_age or self.slots.most
        self.rest = self.count * self.block.width  # where the sum of the others begins
        self.width = self.rest + 1 + len(words.cards)
        self.empty = bytes(self.width)

    def slot(self, place: int) -> str:
        """Name a slot."""
        if not self.is_numbered:
            return f"{self.kind.name} {place + 1}"
        number, rank = divmod(place, self.slots.most)
        return f"{self.kind.name} of {number + 1}, {rank + 1}"

    def places(self, zones: list[ZoneView]) -> Iterator[int]:
        """Yield the slot of each zone of a seat; `count` for those beyond the slots."""
        if not self.is_numbered:
            yield from (min(place, self.count) for place in range(len(zones)))
            return
        used: dict[int, int] = {}
        for zone in zones:
            number = zone.counters[0]
            rank = used.get(number, 0)
            used[number] = rank + 1
            is_slot = rank < self.slots.most and 1 <= number <= self.slots.numbers
            yield (number - 1) * self.slots.most + rank if is_slot else self.count

    def add_pieces(self, pieces: list[bytes], zones: list[ZoneView], counters: tuple[int, ...]) -> None:
        """Append the bytes of all zones of a seat, in pieces."""
        block, empty, width, count = self.block, self.empty, self.block.width, self.count
        if self.is_numbered:
            placed = sorted(zip(self.places(zones), range(len(zones)), zones, strict=True))
        else:
            placed = [(min(place, count), place, zone) for place, zone in enumerate(zones)]
        beyond: list[ZoneView] = []
        at = 0
        for place, _, zone in placed:
            if place == count:
                beyond.append(zone)
                continue
            if place > at:
                pieces.append(empty[: (place - at) * width])
            pieces.append(block.row(zone, counters))
            at = place + 1
        pieces.append(self._sum_from(at, beyond) if beyond else empty[at * width :])

    def _sum_from(self, at: int, zones: list[ZoneView]) -> bytes:
        """Return the bytes from a slot on, with the sum of the zones beyond the slots."""
        made = bytearray(self.empty)
        for zone in zones:
            made[self.rest] += 1
            for card in zone.cards:
                if card:
                    made[self.rest + card] += 1
        return bytes(made[at * self.block.width :])


class Planes:
    """The planes of a game with this many seats."""

    def __init__(self, rules: type[Game], seats: int, knowledge: str = PROOF) -> None:
        words = rules.words
        self.words = words
        self.seats = seats
        self.table = [kind for kind in words.zones if not kind.per_seat and not kind.many]
        self.of_seat = [kind for kind in words.zones if kind.per_seat and not kind.many]
        self.made = [kind for kind in words.zones if kind.many]
        self.fixed = len(self.table) + seats * len(self.of_seat)
        self._blocks = [{kind: _Block(words, kind, mine, knowledge) for kind in words.zones} for mine in (False, True)]
        self._made = [{kind: _MadeZones(words, kind, mine, knowledge) for kind in self.made} for mine in (False, True)]
        # By viewer, the index in a view and the block of each zone that every view has, in the order of the blocks.
        self._order = [self._ordered(viewer) for viewer in range(seats)]
        self._no_made = bytes(sum([self._made[seat == 0][kind].width for kind in self.made for seat in range(seats)]))
        spans = list(self._spans())
        self.spans: list[Span] = spans
        self.size = spans[-1].start + spans[-1].width
        self.sum_of, self.sums = self._find_sums()
        self.first_slot: dict[tuple[ZoneKind, int], int] = {}  # by kind and seat, the number of its first slot
        self.slots = 0  # of zones made in play
        count = self.fixed
        for kind in self.made:
            for seat in range(seats):
                self.first_slot[kind, seat] = count
                slots = self._made[seat == 0][kind].count
                self.slots += slots
                count += slots + 1

    def _ordered(self, viewer: int) -> list[tuple[int, _Block]]:
        first = len(self.table)
        blocks = [(place, self._blocks[True][kind]) for place, kind in enumerate(self.table)]
        for seat in range(self.seats):
            start = first + (viewer + seat) % self.seats * len(self.of_seat)
            blocks += [(start + k, self._blocks[seat == 0][kind]) for k, kind in enumerate(self.of_seat)]
        return blocks

    def _spans(self) -> Iterator[Span]:
        at = 0
        fixed = [(kind, f"{kind.name} of the table", True) for kind in self.table]
        fixed += [
            (kind, f"{kind.name} of seat +{seat}", seat == 0) for seat in range(self.seats) for kind in self.of_seat
        ]
        for kind, what, mine in fixed:
            block = self._blocks[mine][kind]
            yield from (Span("planes", what, part, at + start, width) for part, start, width in block.parts)
            at += block.width
        for kind in self.made:
            for seat in range(self.seats):
                made = self._made[seat == 0][kind]
                for place in range(made.count):
                    what = f"{made.slot(place)} of seat +{seat}"
                    for part, start, width in made.block.parts:
                        yield Span("planes", what, part, at + start, width)
                    at += made.block.width
                what = f"{kind.name} beyond the slots of seat +{seat}"
                yield Span("planes", what, "count", at, 1)
                yield Span("planes", what, "seen", at + 1, len(self.words.cards))
                at += 1 + len(self.words.cards)

    def _find_sums(self) -> tuple[list[int], int]:
        """Return for each byte the sum that it counts for, or -1, and the number of sums.

        What the slots of a seat have alike is summed: all packs, or all sets of one number.
        """
        sum_of, count = [-1] * self.size, 0
        made_zones = [self._made[seat == 0][kind] for kind in self.made for seat in range(self.seats)]
        at = self.size - sum(made.width for made in made_zones)
        for made in made_zones:
            width = made.block.width
            slots_of_sum = made.slots.most if made.is_numbered else made.count
            for place in range(made.count):
                first = count + place // slots_of_sum * width
                sum_of[at + place * width : at + (place + 1) * width] = range(first, first + width)
            count += made.count // slots_of_sum * width
            at += made.width
        return sum_of, count

    def add_pieces(self, pieces: list[bytes], view: View) -> None:
        """Append the planes of a view of a seat, in pieces."""
        viewer = view.viewer
        assert viewer is not None
        zones, counters = view.zones, view.counters
        for place, block in self._order[viewer]:
            pieces.append(block.row(zones[place], counters))
        if not self.made:
            return
        if len(zones) == self.fixed:
            pieces.append(self._no_made)
            return
        owned: dict[tuple[int, int], list[ZoneView]] = {}
        for zone in zones[self.fixed :]:
            owned.setdefault((zone.kind.number, zone.owner), []).append(zone)
        for kind in self.made:
            for seat in range(self.seats):
                made = self._made[seat == 0][kind]
                of_seat = owned.get((kind.number, (viewer + seat) % self.seats))
                if of_seat is None:
                    pieces.append(made.empty)
                else:
                    made.add_pieces(pieces, of_seat, counters)

    def bytes_of(self, view: View) -> bytes:
        """Return the planes of a view of a seat."""
        pieces: list[bytes] = []
        self.add_pieces(pieces, view)
        return b"".join(pieces)

    def parts_of(self, kind: ZoneKind, mine: bool) -> list[tuple[str, int, int]]:
        """List the parts of a block: name, first byte and number of bytes."""
        return self._blocks[mine][kind].parts

    def block_bytes(self, zone: ZoneView, mine: bool, counters: tuple[int, ...]) -> bytes:
        """Return the block of one zone."""
        return self._blocks[mine][zone.kind].row(zone, counters)

    def place(self, view: View, number: int) -> int:
        """Return the number of a zone's block: 1 and on, in the order of the blocks; 0 for no zone."""
        if number <= 0:
            return 0
        assert view.viewer is not None
        table, each = len(self.table), len(self.of_seat)
        if number <= table:
            return number
        if number <= self.fixed:
            seat, kind = divmod(number - table - 1, each)
            return 1 + table + (seat - view.viewer) % self.seats * each + kind
        for zone in view.zones[self.fixed :]:
            if zone.number == number:
                seat = (zone.owner - view.viewer) % self.seats
                made = self._made[seat == 0][zone.kind]
                same = [
                    other for other in view.zones[self.fixed :] if other.kind is zone.kind and other.owner == zone.owner
                ]
                place = [*made.places(same)][same.index(zone)]
                return 1 + self.first_slot[zone.kind, seat] + place
        return 0
