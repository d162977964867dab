"""The parser of drawings for tests: it lists the cards and face-down cards by zone."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from html.parser import HTMLParser
from re import DOTALL, findall

__all__ = ["Drawing", "seats_in", "taken_apart"]


@dataclass
class Drawing:
    """The contents of a drawing.

    Attributes:
        faces: Names of visible cards, by zone.
        known: Names of known face-down cards, by zone.
        backs: Number of face-down cards, by zone.
        keys: Keys of all cards.
        came_from: Zone from which a card came, by key.
    """

    faces: defaultdict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    known: defaultdict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    backs: Counter[int] = field(default_factory=Counter)
    keys: list[str] = field(default_factory=list)
    came_from: dict[str, int] = field(default_factory=dict)
    text: str = ""


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.drawing = Drawing()
        self.zone = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if zone := found.get("data-zone"):
            self.zone = int(zone)
        if key := found.get("data-key"):
            self.drawing.keys.append(key)
            if origin := found.get("data-from"):
                self.drawing.came_from[key] = int(origin)
            if name := found.get("data-face"):
                is_known = "known" in (found.get("class") or "").split()
                (self.drawing.known if is_known else self.drawing.faces)[self.zone][name] += 1
            else:
                self.drawing.backs[self.zone] += int(found.get("data-backs") or 1)

    def handle_data(self, data: str) -> None:
        self.drawing.text += data


def taken_apart(html: str) -> Drawing:
    """Parse a drawing."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    return parser.drawing


def seats_in(table: str) -> list[str]:
    """List what a drawn table has for each seat; a person's page puts them elsewhere than a replay does."""
    return findall(r'<section class="player.*?</section>', table, DOTALL)
