"""A frame as HTML: one template for replays, for what a seat saw, and for live matches.

The HTML comes as lines, one element each, of which most are the same in the next frame: `packed` sends a row of frames
as their different lines once, and for each frame what it changes. This module knows no view and no network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from cutpurse.server.web.loading import loader_of
from cutpurse.server.web.match_view.event_text import EventLine
from cutpurse.server.web.match_view.frames import CardShown, Frame

__all__ = ["TEMPLATES", "changes", "drawn", "environment", "filters", "lines_of", "packed", "rendered", "symbols"]

TEMPLATES: Final = Path(__file__).parents[1] / "templates"
_SEAT: Final = re.compile(r"\bseat (\d)\b")
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}


def filters() -> dict[str, Any]:
    """Return the functions that the templates of a table call."""
    return {"seats": _seats, "tooltip": _tooltip, "nth": _nth, "thought": _thought}


@cache
def environment() -> Environment:
    """Load the templates of the table alone, without the page around it."""
    made = Environment(
        loader=loader_of(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters.update(filters())
    return made


def rendered(template: str, **values: object) -> str:
    """Render a template without empty lines."""
    return "\n".join(lines_of(environment().get_template(template).render(**values)))


def lines_of(html: str) -> list[str]:
    """Return the lines of HTML, without empty ones."""
    return [line for one in html.splitlines() if (line := one.strip())]


def drawn(frame: Frame) -> str:
    """Draw the table at a moment."""
    return rendered("table.html", frame=frame)


def told(lines: Sequence[EventLine]) -> str:
    """Draw the log."""
    return rendered("told.html", told=lines)


@cache
def symbols() -> Markup:
    """Draw the symbols that cards use, to be put into a page once."""
    return Markup(environment().get_template("symbols.svg").render())  # a file of ours


# -- a row of frames
def packed(frames: Iterable[Sequence[str]]) -> Mapping[str, object]:
    """Frames, each as its lines, in a form that is small: {"lines": [...], "frames": [[same, left, number...], ...]}.

    A frame begins with as many lines of the one before it as `same` says and ends with as many as `left` says; between
    lie those whose places in `lines` follow. The one before the first is empty.
    """
    places: dict[str, int] = {}
    rows: list[list[int]] = []
    before: list[int] = []
    for lines in frames:
        now = [places.setdefault(line, len(places)) for line in lines]
        most = min(len(before), len(now))
        same = 0
        while same < most and before[same] == now[same]:
            same += 1
        left = 0
        while left < most - same and before[-1 - left] == now[-1 - left]:
            left += 1
        rows.append([same, left, *now[same : len(now) - left]])
        before = now
    return {"lines": list(places), "frames": rows}


def changes(before: Sequence[str], after: Sequence[str]) -> list[str | list[int]]:
    """How lines become others: new lines, and [first, end] of those that are taken over."""
    places = {line: place for place, line in enumerate(before)}
    steps: list[str | list[int]] = []
    for line in after:
        last = steps[-1] if steps else None
        if isinstance(last, list) and last[1] < len(before) and before[last[1]] == line:
            last[1] += 1
        elif (place := places.get(line)) is not None:
            steps.append([place, place + 1])
        else:
            steps.append(line)
    return steps


# -- filters
def _seats(text: str) -> Markup:
    """Draw a sentence in which each seat has its colour."""
    return Markup(_SEAT.sub(r'<span class="s s-\1">seat \1</span>', str(escape(text))))  # escaped


def _tooltip(card: CardShown) -> str:
    face = card.face
    assert face is not None
    text = f"{face.title}: {face.text}" if face.text else face.title
    notes = card.notes + card.more
    return f"{text} ({', '.join(notes)})" if notes else text


def _nth(place: int) -> str:
    """1st, 2nd, 3rd, 4th."""
    return f"{place}{_ENDINGS.get(place, 'th')}"


def _thought(ms: int) -> str:
    return f"{ms} ms" if ms < 1_000 else f"{ms / 1_000:.1f} s"
