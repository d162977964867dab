"""The drawing of frames as HTML, with one template for replays and live matches.

The HTML has one element per line, and most lines are the same in the next frame. So `packed` encodes a sequence of
frames as its distinct lines plus the changes from frame to frame. This module knows no view and no network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from jinja2 import Environment
from markupsafe import Markup, escape

from cutpurse.games import GAMES, game_named
from cutpurse.page.language.game_words import sentences, spoken
from cutpurse.page.language.languages import Language
from cutpurse.page.language.speaking import language
from cutpurse.page.loading import templates_of
from cutpurse.page.match_view.frames import CardShown
from cutpurse.page.match_view.layouts import BREAKS

__all__ = [
    "TEMPLATES",
    "changes",
    "environment",
    "lines_of",
    "packed",
    "rendered",
    "seat_pattern",
    "symbols",
]

TEMPLATES: Final = Path(__file__).parents[1] / "templates"
MAX_SENTENCES: Final = 8_192  # that are cached, of some hundred bytes each


@cache
def environment() -> Environment:
    """Load the templates that draw a match, without those of the page around it."""
    made = templates_of(TEMPLATES)
    made.filters |= FILTERS
    return made


def rendered(template: str, **values: object) -> str:
    """Render a template without empty lines."""
    return "\n".join(lines_of(environment().get_template(template).render(**values)))


def lines_of(html: str) -> list[str]:
    """Return the lines of HTML, without empty ones."""
    return [line for row in html.splitlines() if (line := row.strip())]


@cache
def symbols() -> Markup:
    """Return the SVG symbols that cards use; a page needs them once."""
    return Markup(environment().get_template("symbols.svg").render())  # safe: our own file without variables


# -- sequences of frames
def packed(frames: Iterable[Sequence[str]]) -> Mapping[str, object]:
    """Encode frames, each a list of lines, as {"lines": [...], "frames": [[same, left, index...], ...]}.

    A frame starts with the first `same` lines of the frame before it, and ends with that frame's last `left` lines.
    The lines between are given as indices into `lines`. The first frame follows an empty one.
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
    """Return the change between two lists of lines: new lines, and [first, end] ranges of reused ones."""
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
def _seats(text: str, names: Sequence[str], game: str = "") -> Markup:
    """Convert a sentence to HTML in which each seat has the name of its bot, in its colour.

    With `game`, its cards and the zones that are made in play have their texts as titles, for `explain.js`.
    """
    return _sentence(text, tuple(names), game, language())


# Most sentences of a moment were in the one before: without the cache a person's table takes 1.6 times as long.
@lru_cache(MAX_SENTENCES)
def _sentence(text: str, names: tuple[str, ...], game: str, spoken: Language) -> Markup:
    words, pattern = _explained(game, spoken)

    def named(match: re.Match[str]) -> str:
        if match[1] is None:
            return f'<span class="term" title="{escape(words[match[0]])}">{match[0]}</span>'
        seat = int(match[1])
        return _seat_html(seat, names) if seat < len(names) else match[0]

    return Markup(pattern.sub(named, str(escape(text))))  # safe: the text, the names and the words are escaped


@cache
def _explained(game: str, _spoken: Language) -> tuple[Mapping[str, str], re.Pattern[str]]:
    """Return the explanations of a game by their terms in HTML, and the pattern of a seat or one of these terms."""
    texts: dict[str, str] = {}
    if game in GAMES:  # else it is not installed any more
        words = spoken(game_named(game).words)
        texts |= {kind.title: kind.text for kind in words.zones if kind.many and kind.text}
        texts |= {card.title: f"{card.title}: {card.text}" for card in words.cards if card.text}
    texts = {str(escape(term)): text for term, text in texts.items()}
    longest_first = sorted(texts, key=len, reverse=True)
    terms = "|".join([rf"(?<!\w){re.escape(term)}(?!\w)" for term in longest_first])
    seat = seat_pattern()
    return texts, re.compile(rf"{seat}|{terms}" if terms else seat)


def seat_pattern() -> str:
    """Return the pattern of a seat in the sentences of the language: "seat 2"."""
    before, _, after = sentences().seat.partition("{seat}")
    return rf"(?<!\w){re.escape(before)}(\d){re.escape(after)}(?!\w)"


def _seat_html(seat: int, names: Sequence[str]) -> str:
    title = escape(sentences().seat.format(seat=seat))
    return f'<span class="s s-{seat}" title="{title}"><bdi>{escape(names[seat])}</bdi></span>'


def _seat(seat: int, names: Sequence[str]) -> Markup:
    """Convert a seat to HTML: the name of its bot, in its colour."""
    return Markup(_seat_html(seat, names))  # safe: the name is escaped


@cache
def soft(title: str) -> str:
    """Add soft hyphens to the long words of a title, at places that a person chose."""
    for word in BREAKS:
        title = title.replace(word.replace("-", ""), word.replace("-", "\u00ad"))
    return title


def _tooltip(card: CardShown) -> str:
    face = card.face
    assert face is not None
    text = f"{face.title}: {face.text}" if face.text else face.title
    notes = card.notes + card.more
    return f"{text} ({', '.join(notes)})" if notes else text


def _thought(ms: int) -> str:
    return f"{ms} ms" if ms < 1_000 else f"{language().decimal(ms / 1_000, 1)} s"


FILTERS: Final = {"seats": _seats, "seat": _seat, "tooltip": _tooltip, "thought": _thought, "soft": soft}
