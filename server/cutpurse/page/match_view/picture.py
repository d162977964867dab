"""The picture of a table: a frame drawn as one small SVG, for lists of matches and for previews of links.

It stands alone: colours are attributes, and no style sheet, script or font is needed. What does not fit is counted and
left out. In an animation, a caption below the table says what has just happened. This module knows no page and no
network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from markupsafe import escape

from cutpurse.page.language.speaking import language, ngettext
from cutpurse.page.match_view.drawing import symbols
from cutpurse.page.match_view.frames import CardShown, Face, Frame, SeatShown, ZoneShown

__all__ = ["HEIGHT", "STRIP", "WIDTH", "Caption", "picture"]

WIDTH: Final = 600
HEIGHT: Final = 315  # as high as previews of links show a picture of this width
STRIP: Final = 30  # height of a caption, which is added
_EDGE: Final = 10
_GAP: Final = 8
_ROW: Final = 120  # height of a seat
_CARD: Final = (24, 33)
_LETTER: Final = 7.2  # width of a letter of the large type
_SMALL: Final = 6.5  # and of the small type
_FELTS: Final = {
    "steal_and_plunder": "#f3e7d2",
    "stolen_treasure": "#dbeaf4",
    "szmal": "#f4e3e3",
    "bag_o_loot": "#ece3f5",
}
_FELT: Final = "#e2efe6"
_SEATS: Final = ("#b1421a", "#1769aa", "#2a7d3f", "#8a3fa0", "#8f6a00", "#00757a", "#b02a64", "#4e5a66")
_HUES: Final = {"yellow": 46, "blue": 207, "red": 4, "green": 140, "violet": 280}
_INK, _QUIET = "#1d1a16", "#655d52"


@dataclass(frozen=True, slots=True)
class Caption:
    """The line below a table: what has just happened, and the name of the moment."""

    text: str
    moment: str


def picture(frame: Frame, caption: Caption | None = None) -> str:
    """Draw a frame: seats around the table, each with its worth or its score and its cards."""
    height = HEIGHT if caption is None else HEIGHT + STRIP
    far = (len(frame.seats) + 1) // 2
    sides = ((frame.seats[:far], _EDGE), (frame.seats[: far - 1 - len(frame.seats) : -1], HEIGHT - _EDGE - _ROW))
    parts = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{_FELTS.get(frame.game, _FELT)}"/>',
        *[part for seats, top in sides for part in _side(seats, top)],
        *_middle(frame),
        *(_strip(caption) if caption is not None else ()),
    ]
    drawn = "".join(parts)
    title = f"{frame.title}: " + ", ".join([f"{seat.short} {_standing(seat)}" for seat in frame.seats])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui,sans-serif"><title>{escape(title)}</title>{_symbols_in(drawn)}{drawn}</svg>'
    )


def _side(seats: Iterable[SeatShown], top: int) -> Iterator[str]:
    """Draw the seats of one side, from left to right."""
    sitting = list(seats)
    width = (WIDTH - 2 * _EDGE - (len(sitting) - 1) * _GAP) / max(len(sitting), 1)
    for number, seat in enumerate(sitting):
        yield from _seat(seat, _EDGE + number * (width + _GAP), top, width)


def _seat(seat: SeatShown, left: float, top: int, width: float) -> Iterator[str]:
    colour = _SEATS[seat.seat % len(_SEATS)]
    is_first = seat.marks.place == 1 or (seat.is_leading and not seat.marks.place)
    yield (
        f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_ROW}" rx="8" '
        f'fill="{"#fff6dd" if is_first else "#fff"}" stroke="{colour}" stroke-width="{2.5 if is_first else 1}"/>'
        f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="6" rx="3" fill="{colour}"/>'
    )
    standing = _standing(seat)
    room = int((width - 24 - _LETTER * len(standing)) / _LETTER)
    yield _text(left + 8, top + 24, _cut(seat.short, room), size=14, weight=700, fill=colour)
    yield _text(left + width - 8, top + 24, standing, size=14, weight=700, anchor="end")
    yield from _cards(seat.zones, left + 8, top + 34, left + width - 8, top + _ROW - 6)


def _standing(seat: SeatShown) -> str:
    if seat.marks.place:
        return f"{language().ordinal(seat.marks.place)} {language().number(seat.marks.score or 0)}"
    return seat.worth.text if seat.worth else ""


def _middle(frame: Frame) -> Iterator[str]:
    """Draw the zones of the table between the two sides."""
    zones = [zone for zone in frame.zones if zone.size]
    wanted = sum([_width(zone) + _GAP for zone in zones]) - _GAP
    left = max(_EDGE, (WIDTH - wanted) / 2)
    yield from _cards(zones, left, HEIGHT / 2 - _CARD[1] / 2, WIDTH - _EDGE, HEIGHT / 2 + _CARD[1] / 2)


def _strip(caption: Caption) -> Iterator[str]:
    """Draw the caption below the table."""
    base = HEIGHT + STRIP - 10
    yield f'<rect x="0" y="{HEIGHT}" width="{WIDTH}" height="{STRIP}" fill="#fff"/>'
    room = int((WIDTH - 3 * _EDGE - _SMALL * len(caption.moment)) / _SMALL)
    yield _text(_EDGE, base, _cut(caption.text, room), size=13)
    yield _text(WIDTH - _EDGE, base, caption.moment, size=11, fill=_QUIET, anchor="end")


# -- zones and cards
def _cards(zones: Iterable[ZoneShown], left: float, top: float, right: float, bottom: float) -> Iterator[str]:
    """Draw zones in rows; of those that do not fit, the number of cards."""
    x, y, left_out = left, top, 0
    for zone in zones:
        if not zone.size:
            continue
        width = min(_width(zone), right - left)
        if x > left and x + width > right:
            x, y = left, y + _CARD[1] + 5
        if left_out or y + _CARD[1] > bottom:
            left_out += zone.size
            continue
        yield from _zone(zone, x, y, x + width)
        x += width + _GAP
    if left_out:
        yield _text(
            right,
            bottom,
            ngettext("and %(num)s more card", "and %(num)s more cards", left_out),
            size=11,
            fill=_QUIET,
            anchor="end",
        )


def _is_pile(zone: ZoneShown) -> bool:
    return zone.is_made or zone.style == "stack" or zone.backs > 0


def _note(zone: ZoneShown) -> str:
    return f"×{zone.size} {zone.worth}".strip()


def _width(zone: ZoneShown) -> float:
    if _is_pile(zone):
        return _CARD[0] + 3 + _SMALL * len(_note(zone))
    return len(zone.cards) * (_CARD[0] + 2) - 2


def _zone(zone: ZoneShown, left: float, top: float, right: float) -> Iterator[str]:
    if _is_pile(zone):
        top_card = zone.cards[-1] if zone.cards and not zone.backs else None
        yield _card(top_card, left, top)
        yield _text(left + _CARD[0] + 3, top + 21, _note(zone), size=11, fill=_QUIET)
        return
    step = min(_CARD[0] + 2.0, (right - left - _CARD[0]) / max(len(zone.cards) - 1, 1))
    for number, card in enumerate(zone.cards):
        yield _card(card, left + number * step, top)


def _card(card: CardShown | None, x: float, y: float) -> str:
    face = card.face if card is not None else None
    width, height = _CARD
    paint, ink = _colours(face)
    box = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width}" height="{height}" rx="3" fill="{paint}" stroke="{ink}"/>'
    if face is None:
        return box
    size = 10 if len(face.index) < 4 else 8
    box += _text(x + width / 2, y + 12, face.index, size=size, weight=700, anchor="middle", fill=ink)
    if face.emblem:
        box += f'<use href="#e-{face.emblem}" x="{x + 5:.1f}" y="{y + 15:.1f}" width="14" height="14" color="{ink}"/>'
    return box


def _colours(face: Face | None) -> tuple[str, str]:
    """Return the colours of a card and of what is printed on it."""
    if face is None:
        return "#4b5a86", "#36436b"
    if face.tone == "dark":
        return "#38344a", "#e9c46a"
    if face.tone == "grime":
        return "#d3d1bd", "#55533c"
    hue = _HUES[face.tone] if face.tone in _HUES else int(face.tone[1:]) * 47 % 360
    return f"hsl({hue},70%,91%)", f"hsl({hue},65%,30%)"


@cache
def _symbol_texts() -> dict[str, str]:
    found = re.findall(r'<symbol id="([^"]+)".*?</symbol>', str(symbols()), re.DOTALL)
    texts = re.findall(r"<symbol .*?</symbol>", str(symbols()), re.DOTALL)
    return dict(zip(found, [text.replace("var(--face)", "#fff") for text in texts], strict=True))


def _symbols_in(drawn: str) -> str:
    """Return the definitions of the symbols that a drawing uses."""
    names = sorted(set(re.findall(r'href="#([^"]+)"', drawn)))
    return f"<defs>{''.join([_symbol_texts()[name] for name in names])}</defs>" if names else ""


def _text(
    x: float, y: float, text: str, *, size: int, weight: int = 400, fill: str = _INK, anchor: str = "start"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{fill}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def _cut(name: str, room: int) -> str:
    return name if len(name) <= room else name[: max(room - 1, 1)] + "…"
