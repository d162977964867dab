"""Pictures of a tuning: lines for a terminal, and an SVG with a panel for each parameter.

Each shows the mean place points of the candidates by the value of one parameter, whatever the others were. This module
knows no search and no file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from cutpurse.lab.tuning.parameters import BotParameter, Value, Values
from cutpurse.lab.tuning.search import Played
from cutpurse.wire.text import format_count

__all__ = ["plot_lines", "plot_svg"]

ROWS: Final = 10  # of a terminal's plot, at most
BAR: Final = 30  # characters for a point of 1
WIDTH: Final = 640  # of a picture, in pixels
PANEL: Final = 200  # height
MARGIN: Final = 44
START_COLOUR: Final = "#b1421a"
BEST_COLOUR: Final = "#2a7d3f"
OTHER_COLOUR: Final = "#1769aa"


def plot_lines(parameter: BotParameter, at: int, played: Mapping[Values, Played]) -> list[str]:
    """Return a bar for each value of a parameter, or for some values together, that was played."""
    rows: dict[int, list[tuple[Value, Played]]] = {}
    for values, boards in played.items():
        number = parameter.index(values[at])
        if number is not None:
            row = number if len(parameter.values) <= ROWS else number * ROWS // len(parameter.values)
            rows.setdefault(row, []).append((values[at], boards))
    lines = []
    for row in sorted(rows):
        own = [value for value, _ in rows[row]]
        points = [board for _, boards in rows[row] for board in boards.points]
        mean = sum(points) / len(points)
        low, high = (min(own), max(own)) if parameter.is_number else (own[0], own[0])
        name = f"{low}" if low == high else f"{low} to {high}"
        lines.append(f"{name:<20} {'#' * round(mean * BAR):<{BAR}} {mean:.3f}, {format_count(len(points), 'board')}")
    return [f"{parameter.name}, mean place points:", *lines]


def plot_svg(parameters: Sequence[BotParameter], played: Mapping[Values, Played], start: Values, best: Values) -> str:
    """Return a picture with a dot for each candidate: the more boards, the larger."""
    most = max(len(boards.points) for boards in played.values())
    height = PANEL * len(parameters)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
            f'font-size="12"><title>Points by value</title><rect width="{WIDTH}" height="{height}" fill="#fff"/>'
        )
    ]
    for at, parameter in enumerate(parameters):
        top, bottom = PANEL * at + 24, PANEL * (at + 1) - 36
        parts.append(f'<path d="M{MARGIN} {top}V{bottom}H{WIDTH - MARGIN}" fill="none" stroke="#888"/>')
        parts += [_text(8, y, text) for y, text in ((top + 4, "1"), (bottom, "0"))]
        parts.append(_text(MARGIN, PANEL * at + 16, f"{parameter.name}: place points"))
        parts += [_text(_x(parameter, value), bottom + 18, str(value)) for value in _ticks(parameter)]
        for values, boards in played.items():
            radius = 2 + 4 * len(boards.points) / most
            y = bottom - boards.mean * (bottom - top)
            colour = BEST_COLOUR if values == best else START_COLOUR if values == start else OTHER_COLOUR
            parts.append(
                f'<circle cx="{_x(parameter, values[at]):.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{colour}" '
                'fill-opacity=".6"/>'
            )
    parts.append(_text(MARGIN, height - 4, "green: the best; red: the start; larger: more boards"))
    return "".join([*parts, "</svg>\n"])


def _x(parameter: BotParameter, value: Value) -> float:
    """Return where a value is drawn; a start outside the range is at an edge."""
    if parameter.is_number:
        first, last = float(parameter.values[0]), float(parameter.values[-1])
        share = (float(value) - first) / (last - first)
    else:
        share = (parameter.index(value) or 0) / (len(parameter.values) - 1)
    return MARGIN + min(1.0, max(0.0, share)) * (WIDTH - 2 * MARGIN)


def _ticks(parameter: BotParameter) -> list[Value]:
    values = parameter.values
    return [values[0], values[len(values) // 2], values[-1]] if parameter.is_number else list(values)


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
