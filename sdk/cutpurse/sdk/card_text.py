"""Descriptions of cards for a person who plays: the cards in a view, or a card found by name.

This module knows no game and no terminal.
"""

from __future__ import annotations

import re
import textwrap
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final

from cutpurse.engine.words import FACE_DOWN, CardKind
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.text_view import WIDTH
from cutpurse.sdk.views.base import GameView

__all__ = ["cards_in_view", "describe_card", "find_cards"]

MAX_MATCHES: Final = 8  # most cards returned for a part of a name


def cards_in_view(view: GameView[Any], decision: Decision) -> list[int]:
    """List the numbers of the cards that the view or an option names: seen, known or possible in some pile."""
    numbers = {card for option in decision.options for card in option.raw.cards}
    for zone in view.raw.zones:
        numbers |= {*zone.cards, *zone.known, *zone.maybe}
    return sorted(numbers - {FACE_DOWN})


def find_cards(view: GameView[Any], name: str) -> tuple[list[int], str]:
    """Find cards of the game by name, title or a part of one.

    Returns:
        Their numbers, and a message if there is none, with the nearest title if one is similar.
    """
    cards = view.words.cards
    plain_name = _plain(name)
    exact = [number for number, card in enumerate(cards, 1) if plain_name in (_plain(card.name), _plain(card.title))]
    if exact:
        return exact, ""
    parts = [
        n for n, card in enumerate(cards, 1) if plain_name and plain_name in f"{_plain(card.title)} {_plain(card.name)}"
    ]
    if parts:
        return parts[:MAX_MATCHES], ""
    titles = {_plain(card.title): card.title for card in cards}
    near = get_close_matches(plain_name, titles, 1, 0.5) or get_close_matches(plain_name, _words_of(titles), 1, 0.7)
    hint = ""
    if near:
        title = titles.get(near[0]) or next(title for plain, title in titles.items() if near[0] in plain.split())
        hint = f"; did you mean {title}?"
    return [], f"no card is called {name!r:.60}{hint}"


def describe_card(view: GameView[Any], number: int) -> list[str]:
    """Describe a card in lines of text: title, name, type, value, facts and effect."""
    card = view.words.cards[number - 1]
    value = view.raw.rules.values(view.settings)[number]
    facts = [card.sort] if card.sort else []
    if value:
        facts.append(f"{view.words.value_title} {value:,}")
    facts += [f"{heading}: {fact}" for heading, fact in card.facts.items() if fact and not _says(card, heading, fact)]
    printed = f" ({'; '.join(facts)})" if facts else ""
    text = f": {card.text}" if card.text else ""
    line = f"{card.title} [{card.name}]{printed}{text}"
    return [*_wrapped(line)]


@lru_cache(maxsize=1024)  # wrapping takes longer than all else, and a match describes its cards again and again
def _wrapped(line: str) -> tuple[str, ...]:
    lines = textwrap.wrap(line, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return tuple(lines)


def _says(card: CardKind, heading: str, fact: str) -> bool:
    """Return whether the card's text already contains a fact: "Cost: $10,000. ..."."""
    return f"{heading.capitalize()}: {fact}" in card.text


def _plain(name: str) -> str:
    """Return a name without case and punctuation: "king richard the third"."""
    return " ".join(re.findall(r"[a-z0-9+]+", name.lower().replace("'", "").replace("_", " ")))


def _words_of(titles: dict[str, str]) -> list[str]:
    return [word for title in titles for word in title.split() if len(word) > 2]
