"""Options as rows of features, for nets that rate options instead of numbers.

One form of net then fits every game and any number of options. This module knows no particular game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from cutpurse.engine.agenda import Option
from cutpurse.engine.game import Game
from cutpurse.engine.view import View
from cutpurse.learn.span import Span

__all__ = ["OptionRows"]


class OptionRows:
    """The features of options of a game with this many seats."""

    def __init__(self, rules: type[Game], seats: int) -> None:
        self.words = rules.words
        self.seats = seats
        names = [counter.name for counter in rules.words.table_counters]
        self._since = {  # by kind, of its first column
            kind.name: names.index(kind.columns[0].since) if kind.columns[0].since else -1
            for kind in rules.words.zones
            if kind.columns
        }
        self.spans: list[Span] = []
        self._start: dict[str, int] = {}
        at = 0
        for what, part, width in self._parts():
            self.spans.append(Span("features", what, part, at, width))
            self._start[f"{what} {part}"] = at
            at += width
        self.size = at

    def _parts(self) -> Iterator[tuple[str, str, int]]:
        words, faces = self.words, len(self.words.cards)
        yield "option", "verb", len(words.verbs)
        yield "option", "cards", faces
        yield "option", "seat", self.seats
        yield "option", "number", 1
        yield "option", "age of the copy", 1
        yield "zone", "kind", len(words.zones)
        yield "zone", "owner", self.seats
        yield "zone", "size", 1
        yield "zone", "number", 1
        yield "zone", "cards", faces

    def rows(self, view: View, options: Sequence[Option]) -> npt.NDArray[np.int32]:
        """Return a row for each option: its verb, cards, seat and number, and the zone that it names."""
        assert view.viewer is not None
        start, viewer = self._start, view.viewer
        rows = np.zeros((len(options), self.size), np.int32)
        for row, option in zip(rows, options, strict=True):
            row[start["option verb"] + option.verb - 1] = 1
            for card in option.cards:
                row[start["option cards"] + card - 1] += 1
            if option.seat is not None:
                row[start["option seat"] + (option.seat - viewer) % self.seats] = 1
            row[start["option number"]] = option.number
            if option.places:
                row[start["option age of the copy"]] = self._age(view, option)
            if option.zone:
                zone = view.zone(option.zone)
                row[start["zone kind"] + zone.kind.number - 1] = 1
                if zone.owner >= 0:
                    row[start["zone owner"] + (zone.owner - viewer) % self.seats] = 1
                row[start["zone size"]] = zone.size
                if zone.counters:
                    row[start["zone number"]] = zone.counters[0]
                for card in zone.cards or zone.known:
                    if card:
                        row[start["zone cards"] + card - 1] += 1
        return rows

    def _age(self, view: View, option: Option) -> int:
        """Return the first number on the copy; of a column that says since when, how long ago that is."""
        shape = self.words.shapes.get(option.verb)
        if shape is None or not shape.copies or view.viewer is None:
            return 0
        (zone,) = view.of(shape.copies, view.viewer)
        since, value = self._since[shape.copies], zone.columns[0][option.places[0]]
        return view.counters[since] - value if since >= 0 else value
