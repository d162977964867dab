"""What happened at a table, in words for people: events as one viewer was told them, line by line.

A sentence names a zone by where it lay when the event was told, which `ZoneHistory` knows. This module knows no HTML,
and no face that the viewer was not told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from cutpurse.engine.events import Asked, Counted, Event, Happened, Moved, Placed, Scored
from cutpurse.engine.history import ZoneHistory
from cutpurse.engine.text import event_text
from cutpurse.engine.view import View
from cutpurse.engine.words import Unit, Words
from cutpurse.server.web.match_view.layouts import layout_of

__all__ = ["EventLine", "came_by", "told_lines"]


@dataclass(frozen=True, slots=True)
class EventLine:
    """Something that happened, in words.  weight: "act" for what somebody did, "move", "count" for the rest."""

    text: str
    weight: str
    seat: int | None
    is_steal: bool
    number: int
    times: int = 1


def told_lines(
    view: View, events: Sequence[Event], first: int = 0, history: ZoneHistory | None = None
) -> tuple[EventLine, ...]:
    """Describe events, with equal ones in a row joined. `first`: the number of the first event.

    history: has the events; without it owners are known only as far as the events and the view tell.

    That a seat is asked is left out, since the answer is told; so are numbers that are not money or points.
    """
    words = view.rules.words
    steals = layout_of(words.game).steals
    if history is None:
        history = ZoneHistory.of_window(view, events, first, None)
    lines: list[EventLine] = []
    for number, event in enumerate(events, first):
        if (weight := _weight(words, event)) is None:
            continue
        act = event.act if isinstance(event, Happened) else None
        lines.append(
            EventLine(
                text=event_text(history.at(number), event),
                weight=weight,
                seat=act.actor if act is not None else event.seat if isinstance(event, Counted) else None,
                is_steal=act is not None and words.verbs[act.verb - 1].name in steals,
                number=number,
            )
        )
    merged = []
    for _, group in groupby(lines, key=lambda one: one.text):
        same = list(group)
        one = same[0]
        merged.append(EventLine(one.text, one.weight, one.seat, one.is_steal, one.number, len(same)))
    return tuple(merged)


def _weight(words: Words, event: Event) -> str | None:
    """How much a line about it matters; None: nothing is said."""
    if isinstance(event, Happened | Scored):
        return "act"
    if isinstance(event, Asked) or (isinstance(event, Placed) and event.kind == 0):
        return None
    if isinstance(event, Counted):
        units = {counter.name: counter.unit for counter in words.seat_counters}
        shown = event.seat is not None and units.get(event.counter) in (Unit.MONEY, Unit.POINTS)
        return "count" if shown else None
    return "move"


def came_by(events: Sequence[Event]) -> dict[int, list[tuple[int, int]]]:
    """By zone the faces that came there, each with the zone where it lay before all of this happened."""
    came: dict[int, list[tuple[int, int]]] = {}
    for event in events:
        if not isinstance(event, Moved):
            continue
        there = came.get(event.from_zone, [])
        for card in event.cards:
            entry = next((one for one in there if one[0] == card), None)
            if entry is not None:
                there.remove(entry)
            came.setdefault(event.to_zone, []).append((card, entry[1] if entry else event.from_zone))
    return came
