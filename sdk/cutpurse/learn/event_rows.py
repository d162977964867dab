"""The last events of a match as one seat heard them, a row each: what is in no view, such as who passed.

A row says what kind of event it is, and by whom, to whom, with which card and where it happened. Seats are counted
clockwise from the viewer: 0 is nobody, 1 the viewer. Zones are given by their kind and owner at that time. Of several
cards a row has the first and how many they are. This module knows no particular game.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from cutpurse.engine.events import Asked, Counted, Event, Happened, Moved, Placed, Scored, Shown, Shuffled
from cutpurse.engine.game import Game
from cutpurse.learn.span import Span

__all__ = ["EventRows", "EventTrail"]

KINDS: Final = (Happened, Moved, Shown, Shuffled, Counted, Placed, Asked, Scored)
PARTS: Final = ("kind", "what", "actor", "seat", "card", "from zone", "from owner", "zone", "owner", "number")

_Place = tuple[int, int | None]  # the number of the kind of a zone, and its owner
_Row = tuple[int, ...]

_NOTHING: Final[_Row] = (0,) * len(PARTS)
_NOWHERE: Final[_Place] = (0, None)


class EventRows:
    """The form of the rows of a game with this many seats."""

    def __init__(self, rules: type[Game], seats: int, length: int) -> None:
        words = rules.words
        self.seats = seats
        self.length = length  # number of rows
        self.width = len(PARTS)
        self.spans = [Span("history", "event", part, start, 1) for start, part in enumerate(PARTS)]
        self._kinds = {kind: number for number, kind in enumerate(KINDS, 1)}
        self._questions = {step.name: number for number, step in enumerate(rules.steps().values(), 1)}
        counters = [*words.table_counters, *words.seat_counters]
        counters += [counter for kind in words.zones for counter in (*kind.counters, *kind.columns)]
        self._counters = {name: number for number, name in enumerate(dict.fromkeys([c.name for c in counters]), 1)}
        fixed = [kind for kind in words.zones if not kind.many]
        places: list[_Place] = [(kind.number, None) for kind in fixed if not kind.per_seat]
        places += [(kind.number, seat) for seat in range(seats) for kind in fixed if kind.per_seat]
        self.fixed: dict[int, _Place] = dict(enumerate(places, 1))  # by zone

    def row(self, event: Event, before: _Place, after: _Place, viewer: int) -> _Row:
        """Return the row of an event.

        Args:
            event: The event, as all may know it or as the viewer heard it.
            before: Where its cards came from, or where a zone was that was placed.
            after: The zone that it is about.
            viewer: The seat that the row is for.
        """
        heard = event.to(viewer)
        what, number, card = 0, 0, 0
        actor: int | None = None
        seat: int | None = None
        if isinstance(heard, Happened):
            act = heard.act
            what, actor, seat, number = act.verb, act.actor, act.seat, act.number
            card = act.cards[0] if act.cards else 0
        elif isinstance(heard, Moved | Shown):
            card, number = heard.cards[0] if heard.cards else 0, len(heard.cards)
            if isinstance(heard, Shown) and heard.seats:
                seat = heard.seats[0]
        elif isinstance(heard, Counted):
            what, seat, number = self._counters.get(heard.counter, 0), heard.seat, heard.value
        elif isinstance(heard, Asked):
            what, number = self._questions.get(heard.ask, 0), len(heard.seats)
            seat = heard.seats[0] if heard.seats else None
        elif isinstance(heard, Scored):
            what, number = int(heard.over), heard.scores[viewer]
        return (
            self._kinds[type(heard)],
            what,
            self._relative(actor, viewer),
            self._relative(seat, viewer),
            card,
            before[0],
            self._relative(before[1], viewer),
            after[0],
            self._relative(after[1], viewer),
            number,
        )

    def _relative(self, seat: int | None, viewer: int) -> int:
        return 0 if seat is None or seat < 0 else (seat - viewer) % self.seats + 1


class EventTrail:
    """The last events of one match, and where its zones are."""

    def __init__(self, form: EventRows) -> None:
        self.form = form
        self._count = 0  # events so far
        self._zones = form.fixed.copy()
        self._last: deque[tuple[Event, _Place, _Place, dict[int, _Row]]] = deque(maxlen=form.length)

    def add(self, log: Sequence[Event]) -> None:
        """Add the events that are new in a log, which begins with the match."""
        zones = self._zones
        for event in log[self._count :]:
            before = after = _NOWHERE
            if isinstance(event, Moved):
                before, after = zones.get(event.from_zone, _NOWHERE), zones.get(event.to_zone, _NOWHERE)
            elif isinstance(event, Happened):
                after = zones.get(event.act.zone, _NOWHERE)
            elif isinstance(event, Placed):
                before = zones.get(event.zone, _NOWHERE)
                after = (event.kind, event.seat) if event.kind else _NOWHERE
                zones[event.zone] = after
            elif isinstance(event, Shown | Shuffled | Counted) and event.zone:
                after = zones.get(event.zone, _NOWHERE)
            self._last.append((event, before, after, {}))
        self._count = len(log)

    def numbers(self, viewer: int) -> list[int]:
        """Return the rows for a seat, one after the other, the newest last; before them, rows of zeros."""
        row_numbers: list[int] = [*_NOTHING * (self.form.length - len(self._last))]
        for event, before, after, rows in self._last:
            row = rows.get(viewer)
            if row is None:
                row = rows[viewer] = self.form.row(event, before, after, viewer)
            row_numbers += row
        return row_numbers
