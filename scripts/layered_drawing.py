"""A drawing of boxes in layers with arrows downwards, as SVG that is readable on light and dark pages.

Layers, orders and positions follow from the arrows alone, so equal graphs are drawn equally. An arrow past other layers
gets a free lane between their boxes. This module knows no package and no state.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.sax.saxutils import escape

__all__ = ["Panel", "draw", "reduced"]

BOX: Final = (208, 68)  # width and height of a box, in px
LANE: Final = 28  # width of the lane of an arrow past a layer
GAP: Final = (20, 34)  # between boxes, and between layers
MARGIN: Final = 24
TITLE: Final = 40  # height of a panel's title
LETTERS: Final = 31  # in a line of a box
SWEEPS: Final = 24
_STYLE: Final = """\
text { font: 11px system-ui, sans-serif; fill: #4a4a4a; text-anchor: middle }
.name { font-size: 13px; font-weight: 600; fill: #1c1c1c }
.title { font-size: 15px; font-weight: 600; fill: #1c1c1c; text-anchor: start }
.page { fill: #fdfcf8 } .box { fill: #ffffff; stroke: #a33d12 }
.arrow, .head { fill: none; stroke: #6b7a86; stroke-width: 1.4 } .head { fill: #6b7a86 }
@media (prefers-color-scheme: dark) {
  text { fill: #c4c4c4 } .name, .title { fill: #f2f2f2 }
  .page { fill: #16181b } .box { fill: #22262b; stroke: #e08a5f }
  .arrow, .head { stroke: #93a3b0 } .head { fill: #93a3b0 }
}"""
_HEAD: Final = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path class="head" d="M1 1 7 4 1 7z"/></marker></defs>'
)


@dataclass(frozen=True)
class Panel:
    """A titled graph: the text of each box, and the boxes that its arrows lead to."""

    title: str
    texts: Mapping[str, str]
    arrows: Mapping[str, set[str]]


@dataclass(eq=False)
class _Place:
    """A box, or the lane of an arrow past a layer."""

    name: str  # "" for a lane
    layer: int  # from the bottom
    x: float = 0.0  # of its middle
    above: list[_Place] = field(default_factory=list)
    below: list[_Place] = field(default_factory=list)

    @property
    def width(self) -> int:
        return BOX[0] if self.name else LANE


def reduced(arrows: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the arrows that no other path of arrows makes superfluous."""

    def reached(start: str) -> set[str]:
        names = set(arrows[start])
        for name in arrows[start]:
            names |= reached(name)
        return names

    return {
        start: {end for end in ends if not any(end in reached(other) for other in ends - {end})}
        for start, ends in arrows.items()
    }


def draw(panels: Iterable[Panel], description: str) -> str:
    """Return the SVG of the panels, one below the other."""
    placed = [(panel, _placed(panel)) for panel in panels]
    inner = max(_right(layers) for _, layers in placed)
    top = 0
    parts: list[str] = []
    for panel, layers in placed:
        indent = round((inner - _right(layers)) / 2)
        parts.append(f'<text class="title" x="{MARGIN}" y="{top + MARGIN + 14}">{escape(panel.title)}</text>')
        parts.append(f'<g transform="translate({MARGIN + indent} {top + MARGIN + TITLE})">')
        parts += [*_drawn(panel, layers), "</g>"]
        top += MARGIN + TITLE + len(layers) * (BOX[1] + GAP[1])
    width, height = round(inner) + 2 * MARGIN, top - GAP[1] + MARGIN
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        [
            f'{head} role="img">',
            f"<title>{escape(description)}</title>",
            f"<style>{_STYLE}</style>",
            _HEAD,
            f'<rect class="page" width="{width}" height="{height}" rx="10"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _right(layers: list[list[_Place]]) -> float:
    return max(place.x + place.width / 2 for layer in layers for place in layer)


def _placed(panel: Panel) -> list[list[_Place]]:
    """Return the layers from the bottom, each with its places from left to right."""
    boxes = {name: _Place(name, layer) for name, layer in _layers(panel.arrows).items()}
    places = list(boxes.values())
    for start, ends in panel.arrows.items():
        for end in sorted(ends):
            above = boxes[start]
            for number in range(boxes[start].layer - 1, boxes[end].layer, -1):
                lane = _Place("", number)
                places.append(lane)
                _join(above, lane)
                above = lane
            _join(above, boxes[end])
    top = max(place.layer for place in places)
    layers = [[place for place in places if place.layer == number] for number in range(top + 1)]
    for layer in layers:
        _spread(layer, [float(number) for number, _ in enumerate(layer)])
    for sweep in range(SWEEPS):
        for layer in layers[::-1] if sweep % 2 else layers:
            if sweep < SWEEPS // 2:
                layer.sort(key=_above if sweep % 2 else _below)
            _spread(layer, [_middle([*place.above, *place.below], place.x) for place in layer])
    left = min(place.x - place.width / 2 for layer in layers for place in layer)
    for layer in layers:
        for place in layer:
            place.x = round(place.x - left)
    return layers


def _join(above: _Place, below: _Place) -> None:
    above.below.append(below)
    below.above.append(above)


def _layers(arrows: Mapping[str, set[str]]) -> dict[str, int]:
    """Return the layer of each box: above all that its arrows lead to, and as near to the boxes above as possible."""
    layers: dict[str, int] = {}

    def of(name: str) -> int:
        if name not in layers:
            layers[name] = 1 + max((of(end) for end in arrows[name]), default=-1)
        return layers[name]

    for name in sorted(arrows, key=of, reverse=True):
        above = [layers[start] for start, ends in arrows.items() if name in ends]
        if above:
            layers[name] = min(above) - 1
    return {name: layers[name] for name in arrows}


def _above(place: _Place) -> float:
    return _middle(place.above, place.x)


def _below(place: _Place) -> float:
    return _middle(place.below, place.x)


def _middle(places: list[_Place], default: float) -> float:
    return sum(place.x for place in places) / len(places) if places else default


def _spread(layer: list[_Place], positions: list[float]) -> None:
    """Put the places of a layer, in their order, as near to the wanted positions as their widths allow."""
    at = float("-inf")
    for place, x in zip(layer, positions, strict=True):
        place.x = max(x, at + place.width / 2)
        at = place.x + place.width / 2 + GAP[0]
    shift = sum(x - place.x for place, x in zip(layer, positions, strict=True)) / len(layer)
    for place in layer:
        place.x += shift


def _drawn(panel: Panel, layers: list[list[_Place]]) -> Iterator[str]:
    tops = [(len(layers) - 1 - number) * (BOX[1] + GAP[1]) for number, _ in enumerate(layers)]
    boxes = [place for layer in layers[::-1] for place in layer if place.name]
    for place in boxes:
        for lane in place.below:
            yield _arrow(place, lane, tops)
    for place in boxes:
        x, y = round(place.x - BOX[0] / 2), tops[place.layer]
        yield f'<rect class="box" x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="7"/>'
        yield f'<text class="name" x="{place.x:g}" y="{y + 18}">{escape(place.name)}</text>'
        for number, line in enumerate(textwrap.wrap(panel.texts[place.name], LETTERS)[:3]):
            yield f'<text x="{place.x:g}" y="{y + 33 + 13 * number}">{escape(line)}</text>'


def _arrow(start: _Place, then: _Place, tops: list[int]) -> str:
    """Draw the arrow from a box down through its lanes to the next box."""
    x, y = _port(start, then), tops[start.layer] + BOX[1]
    path = f"M{x:g} {y}"
    while True:
        end = tops[then.layer]
        half = (y + end) / 2
        next_x = _port(then, start) if then.name else then.x
        path += f" C{x:g} {half:g} {next_x:g} {half:g} {next_x:g} {end}"
        if then.name:
            return f'<path class="arrow" marker-end="url(#head)" d="{path}"/>'
        x, y = next_x, end + BOX[1]
        path += f" V{y}"
        start, then = then, then.below[0]


def _port(box: _Place, other: _Place) -> float:
    """Return where on a box's edge an arrow from or to the other place ends: side by side, in the others' order."""
    side = sorted(box.below if other in box.below else box.above, key=lambda place: place.x)
    return box.x + (side.index(other) - (len(side) - 1) / 2) * min(26, (BOX[0] - 40) / len(side))
