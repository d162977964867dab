"""The planes of a view as one row a zone, all of one form: for nets that attend to rows.

A row has the kind, owner and size of a zone, its counters, and by face what the block of the zone in the planes has.
The zones come in the order of the blocks, without empty slots; a mask says which rows are zones. This module knows no
particular game.
"""

from __future__ import annotations

from itertools import chain
from typing import Final

from cutpurse.engine.game import Game
from cutpurse.engine.view import View
from cutpurse.engine.words import ZoneKind
from cutpurse.engine.zones import ZoneView
from cutpurse.learn.planes import Planes
from cutpurse.learn.span import Span

__all__ = ["ZoneRows"]

MOST_KEPT: Final = 30_000


class ZoneRows:
    """The rows of a game with this many seats."""

    def __init__(self, rules: type[Game], seats: int, planes: Planes) -> None:
        words = rules.words
        self.seats = seats
        self.planes = planes
        # In play every zone has a card, so there are never more of them than cards.
        cards = len(rules.box(seats, rules.check(seats, {})))
        self.count = planes.fixed + (min(cards, planes.slots) if planes.made else 0)
        faces = len(words.cards)
        widths = {"kind": 1, "owner": 1, "size": 1}
        for counter in range(max([len(kind.counters) for kind in words.zones])):
            widths[f"counter {counter + 1}"] = 1
        widths |= {"seen": faces, "top": faces}
        for column in range(max([len(kind.columns) for kind in words.zones])):
            widths[f"column {column + 1}"] = faces
        known = {part for kind in words.zones for part, _, _ in planes.parts_of(kind, False)}
        widths |= {part: faces for part in ("known", "maybe") if part in known}
        self.spans: list[Span] = []
        self.width = 0
        for part, width in widths.items():
            self.spans.append(Span("rows", "zone", part, self.width, width))
            self.width += width
        self._copied = [{kind: self._parts(kind, mine) for kind in words.zones} for mine in (False, True)]
        self._empty = bytes(self.width)
        self._kept: dict[tuple[int, int, bytes], bytes] = {}  # by kind, owner and block

    def _parts(self, kind: ZoneKind, mine: bool) -> list[tuple[int, int, int]]:
        """List which bytes of a block go where: start there, start in a row, and width."""
        names = {counter.name: f"counter {place}" for place, counter in enumerate(kind.counters, 1)}
        names |= {column.name: f"column {place}" for place, column in enumerate(kind.columns, 1)}
        starts = {span.part: span.start for span in self.spans}
        return [
            (start, starts[names.get(part, part)], width) for part, start, width in self.planes.parts_of(kind, mine)
        ]

    def bytes_of(self, view: View) -> tuple[bytes, int]:
        """Return the rows of a view of a seat, those of zones first, and how many are zones."""
        viewer = view.viewer
        assert viewer is not None
        planes, zones = self.planes, view.zones
        table, each, fixed = len(planes.table), len(planes.of_seat), planes.fixed
        first = table + viewer * each
        made = sorted(zones[fixed:], key=lambda zone: (zone.kind.number, (zone.owner - viewer) % self.seats))
        ordered = chain(zones[:table], zones[first:fixed], zones[table:first], made)
        rows = [self._row(view, zone) for zone in ordered][: self.count]
        return b"".join([*rows, self._empty * (self.count - len(rows))]), len(rows)

    def _row(self, view: View, zone: ZoneView) -> bytes:
        owner = 0 if zone.owner < 0 else (zone.owner - (view.viewer or 0)) % self.seats + 1
        mine = owner <= 1
        block = self.planes.block_bytes(zone, mine, view.counters)
        key = zone.kind.number, owner, block
        row = self._kept.get(key)
        if row is None:
            if len(self._kept) > MOST_KEPT:
                self._kept.clear()
            made = bytearray(self._empty)
            made[:2] = zone.kind.number, owner
            for start, to, width in self._copied[mine][zone.kind]:
                made[to : to + width] = block[start : start + width]
            row = self._kept[key] = bytes(made)
        return row
