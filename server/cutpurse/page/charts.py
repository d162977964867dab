"""SVG charts that need no script: ratings over time, intervals, thinking times and shares.

Colours are classes of the style sheet, so charts follow the light and the dark theme. The page repeats what a chart
shows in words, beside it or in its title. This module knows no page and no league.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Final

from markupsafe import Markup, escape

__all__ = ["Axis", "Line", "axis_of", "bars", "interval", "over_time", "scale", "share"]

COLOURS: Final = 8  # classes line-0 to line-7
_WIDTH, _HEIGHT = 960, 340  # of a large chart, in SVG units
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 168, 12, 34  # its margins for y numbers, line names, space and x numbers
_SIGNS, _SIGN = 5, 8  # characters of a number that fit into the left margin; width of each further one
_ROW: Final = 200  # width of a chart in a table cell; it has only shapes, so the browser may stretch it


@dataclass(frozen=True, slots=True)
class Axis:
    """The range of a chart's axis, with its tick marks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float, length: float) -> float:
        """Convert a value to its distance from the start of an axis of this length. Clamp it to the range."""
        return (min(max(value, self.low), self.high) - self.low) / (self.high - self.low) * length


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart."""

    name: str  # label at the end of the line
    points: Sequence[tuple[float, float]]  # (x, y) pairs in drawing order
    band: Sequence[tuple[float, float]] = ()  # (low, high) bounds of y per point; empty for no band


def axis_of(values: Iterable[float], marks: int = 5) -> Axis:
    """Return an axis that covers all values, with round ends and about `marks` intervals."""
    found = [*values] or [0.0]
    low, high = min(found), max(found)
    if high - low < 1e-9:
        low, high = low - 1, high + 1
    step = _round_step((high - low) / marks)
    low, high = floor(low / step) * step, ceil(high / step) * step
    count = round((high - low) / step)
    return Axis(low, high, tuple(low + step * number for number in range(count + 1)))


def _round_step(rough: float) -> float:
    power: float = 10.0 ** floor(log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10 or value == round(value) else f"{value:.1f}"


def _xy(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


# -- charts in table cells
def interval(low: float, high: float, axis: Axis) -> Markup:
    """Draw the interval of a rating to scale, without numbers."""
    left, right = axis.at(low, _ROW), axis.at(high, _ROW)
    middle = (left + right) / 2
    marks = "".join([f'<path class="tick" d="M{_xy(x)} 0V20"/>' for x in (axis.at(tick, _ROW) for tick in axis.ticks)])
    return Markup(
        f'<svg class="interval" viewBox="0 0 {_ROW} 20" preserveAspectRatio="none" aria-hidden="true">{marks}'
        f'<rect class="reach" x="{_xy(left)}" y="6" width="{_xy(max(right - left, 1))}" height="8" rx="4"/>'
        f'<path class="middle" d="M{_xy(middle)} 3V17"/></svg>'
    )


def scale(axis: Axis) -> Markup:
    """Draw the tick numbers of an axis, for the head of a column of intervals."""
    numbers = "".join(
        [
            f'<text x="{_xy(axis.at(tick, 100))}%" y="11" text-anchor="{_anchor(number, len(axis.ticks))}">'
            f"{_number(tick)}</text>"
            for number, tick in enumerate(axis.ticks)
        ]
    )
    return Markup(f'<svg class="scale" width="100%" height="14" aria-hidden="true">{numbers}</svg>')


def _anchor(number: int, of: int) -> str:
    return "start" if number == 0 else "end" if number == of - 1 else "middle"


def share(ahead: float, level: float, of: float) -> Markup:
    """Draw the shares of matches ahead, level and behind, out of `of` matches, without numbers."""
    of = max(of, 1)
    first, second = ahead / of * 100, level / of * 100
    return Markup(
        '<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="behind" width="100" height="10"/>'
        f'<rect class="level" x="{_xy(first)}" width="{_xy(second)}" height="10"/>'
        f'<rect class="ahead" width="{_xy(first)}" height="10"/></svg>'
    )


# -- large charts
def over_time(lines: Sequence[Line], *, title: str, x_name: str) -> Markup:
    """Draw lines over a common x axis, each with its name at its end.

    Returns:
        The SVG; empty if no line has two points.
    """
    lines = [line for line in lines if len(line.points) > 1]
    if not lines:
        return Markup("")
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points] + [y for line in lines for pair in line.band for y in pair]
    across, up = axis_of(xs, 6), axis_of(ys)
    counts = tuple(tick for tick in across.ticks if min(xs) <= tick <= max(xs) and tick == int(tick))
    across = Axis(min(xs), max(xs), counts)
    left = _LEFT + _SIGN * max(0, *(len(_number(tick)) - _SIGNS for tick in up.ticks))
    width, height = _WIDTH - left - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(x: float, y: float) -> str:
        return f"{_xy(left + across.at(x, width))} {_xy(_TOP + height - up.at(y, height))}"

    parts = [*_grid(across, up, left, width, height, x_name)]
    ends = _apart([_TOP + height - up.at(line.points[-1][1], height) for line in lines], 15)
    for number, line in enumerate(lines):
        colour = f"line-{number % COLOURS}"
        if line.band:
            pairs = [*zip(line.points, line.band, strict=True)]
            edge = [place(x, high) for (x, _), (_, high) in pairs]
            edge += [place(x, low) for (x, _), (low, _) in reversed(pairs)]
            parts.append(f'<path class="band {colour}" d="M{"L".join(edge)}Z"/>')
        course = "L".join([place(x, y) for x, y in line.points])
        parts.append(f'<path class="course {colour}" d="M{course}"><title>{escape(line.name)}</title></path>')
        x = left + across.at(line.points[-1][0], width)
        y = _TOP + height - up.at(line.points[-1][1], height)
        parts.append(f'<circle class="end {colour}" cx="{_xy(x)}" cy="{_xy(y)}" r="3.5"/>')
        parts.append(
            f'<path class="lead {colour}" d="M{_xy(x + 5)} {_xy(y)}L{_WIDTH - _RIGHT + 10} {_xy(ends[number])}"/>'
            f'<text class="name {colour}" x="{_WIDTH - _RIGHT + 14}" y="{_xy(ends[number] + 4)}">'
            f"{escape(_cut(line.name))}</text>"
        )
    return _chart(_WIDTH, _HEIGHT, title, parts)


def bars(counts: Sequence[tuple[str, int]], *, title: str, x_name: str) -> Markup:
    """Draw a bar chart, each bar above its name.

    Returns:
        The SVG; empty if all counts are 0.
    """
    most = max((count for _, count in counts), default=0)
    if not most:
        return Markup("")
    width, height = 480, 200
    step = (width - 24) / len(counts)
    parts = []
    for number, (name, count) in enumerate(counts):
        tall = count / most * (height - 74)
        x = 12 + number * step
        parts.append(
            f'<rect class="column" x="{_xy(x + 2)}" y="{_xy(height - 44 - tall)}" width="{_xy(step - 4)}" '
            f'height="{_xy(tall)}" rx="2"/>'
            f'<text x="{_xy(x + step / 2)}" y="{height - 28}" text-anchor="middle">{escape(name)}</text>'
        )
        if count:
            parts.append(
                f'<text class="count" x="{_xy(x + step / 2)}" y="{_xy(height - 49 - tall)}" text-anchor="middle">'
                f"{count:,}</text>"
            )
    parts.append(f'<text x="{width / 2:.0f}" y="{height - 8}" text-anchor="middle">{escape(x_name)}</text>')
    return _chart(width, height, title, parts)


def _grid(across: Axis, up: Axis, left: float, width: float, height: float, x_name: str) -> Iterable[str]:
    for tick in up.ticks:
        y = _TOP + height - up.at(tick, height)
        yield f'<path class="grid" d="M{_xy(left)} {_xy(y)}H{_xy(left + width)}"/>'
        yield f'<text x="{_xy(left - 8)}" y="{_xy(y + 4)}" text-anchor="end">{_number(tick)}</text>'
    for tick in across.ticks:
        x = left + across.at(tick, width)
        yield f'<text x="{_xy(x)}" y="{_HEIGHT - 18}" text-anchor="middle">{_number(tick)}</text>'
    yield f'<text x="{_xy(left + width / 2)}" y="{_HEIGHT - 2}" text-anchor="middle">{escape(x_name)}</text>'


def _apart(wanted: Sequence[float], least: float) -> list[float]:
    """Move the label positions `wanted` apart, so that neighbours are at least `least` units from each other."""
    order = sorted(range(len(wanted)), key=lambda number: wanted[number])
    placed = dict(zip(order, _pushed([wanted[number] for number in order], least), strict=True))
    return [placed[number] for number in range(len(wanted))]


def _pushed(wanted: Sequence[float], least: float) -> list[float]:
    top, bottom = float(_TOP), float(_HEIGHT - _BOTTOM)
    found: list[float] = []
    for value in wanted:
        found.append(max(value, found[-1] + least if found else top))
    for number in range(len(found) - 1, -1, -1):  # move labels back up that are below the chart now
        most = bottom if number == len(found) - 1 else found[number + 1] - least
        found[number] = min(found[number], most)
    return found


def _cut(name: str) -> str:
    return name if len(name) <= 18 else name[:17] + "…"


def _chart(width: int, height: int, title: str, parts: Iterable[str]) -> Markup:
    return Markup(
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img"><title>{escape(title)}</title>'
        f"{''.join(parts)}</svg>"
    )
