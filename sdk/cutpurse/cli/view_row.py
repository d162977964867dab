"""A view in the documents of --json: as in records, with each counter under its name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cutpurse.engine.view import View
from cutpurse.engine.words import Counter

__all__ = ["view_row"]


def view_row(view: View) -> dict[str, Any]:
    """Return a view for a JSON document. `seat_counters` has an object per seat."""
    words = view.rules.words
    by_seat = zip(*view.seat_counters, strict=True) if view.seat_counters else ((),) * view.seats
    return {
        **view.to_json(),
        "counters": _named(words.table_counters, view.counters),
        "seat_counters": [_named(words.seat_counters, values) for values in by_seat],
        "zones": [
            {
                "number": zone.number,
                "kind": zone.kind.name,
                "owner": zone.owner,
                "size": zone.size,
                "cards": zone.cards,
                "known": zone.known,
                "maybe": zone.maybe,
                "counters": _named(zone.kind.counters, zone.counters),
                "columns": zone.columns,
            }
            for zone in view.zones
        ],
    }


def _named(counters: Iterable[Counter], values: Sequence[int]) -> dict[str, int]:
    return {counter.name: value for counter, value in zip(counters, values, strict=True)}
