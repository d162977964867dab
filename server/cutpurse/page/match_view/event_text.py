"""The events of a match in words, line by line, redacted for one viewer.

A sentence names a zone by its owner at the time of the event, which `ZoneHistory` knows. This module knows no HTML, and
no card that the viewer may not see.
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
from cutpurse.page.language.game_words import spoken
from cutpurse.page.match_view.layouts import layout_of

__all__ = ["EventLine", "came_by", "told_lines"]


@dataclass(frozen=True, slots=True)
class EventLine:
    """An event in words."""

    text: str  # the sentence
    weight: str  # "act" for an action or a scoring, "count" for a change of money or points, "move" for the rest
    seat: int | None  # seat that acted or whose number changed, if any
    is_steal: bool  # whether the action takes from another seat, or tries to
    number: int  # number of the event
    times: int = 1  # number of equal events in a row that this line describes


def told_lines(
    view: View, events: Sequence[Event], first: int = 0, history: ZoneHistory | None = None
) -> tuple[EventLine, ...]:
    """Describe events, with equal neighbours joined to one line.

    Questions are left out, because their answers are described. So are changes of numbers other than money and points.

    Args:
        view: The viewer's view after the events.
        events: Events, redacted for the viewer.
        first: Number of the first event.
        history: History that has the events. Without it, the owners of zones are known from `view` and `events` only.
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
                text=event_text(history.at(number), event, spoken(words)),
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
    """Return the weight of an event's line; None if the event gets no line."""
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
    """Return, by zone, the cards that came there, each with the zone where it lay before these events."""
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
