"""Cards as a bot author sees them: one object per card identity and game, compared by what is printed on it.

This module knows no zones and no seats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from cutpurse.engine.words import FACE_DOWN, CardKind, Words

__all__ = ["Card", "card_of", "cards_of", "seen_cards"]


class Card:
    """A card identity: all equal copies, in any zone, are this one object. A card you cannot identify is None."""

    __slots__ = ("game", "kind", "number")

    def __init__(self, game: str, number: int, kind: CardKind) -> None:
        self.game = game  # name of its game
        self.number = number  # in the box, from 1; valid for one rules version only
        self.kind = kind

    @property
    def name(self) -> str:
        """The identifier in records and tests: "gold_bar"."""
        return self.kind.name

    @property
    def title(self) -> str:
        """The display name: "Gold Bar"."""
        return self.kind.title

    @property
    def text(self) -> str:
        """One sentence that says what the card does; empty if it does nothing."""
        return self.kind.text

    @property
    def sort(self) -> str:
        """The card's type, in the game's own words."""
        return self.kind.sort

    @property
    def value(self) -> int:
        """The value that the rules list; 0 for a card without one."""
        return self.kind.value

    @property
    def traits(self) -> Mapping[str, int]:
        """Everything else that is printed on the card, by name."""
        return self.kind.traits

    def __repr__(self) -> str:
        return self.kind.name

    def __str__(self) -> str:
        return self.kind.title

    def __reduce__(self) -> tuple[object, ...]:
        return _by_name, (self.game, self.kind.name)


_interned: Final[dict[str, tuple[Card | None, ...]]] = {}


def cards_of(words: Words) -> tuple[Card | None, ...]:
    """Return every card of a game by its number; entry 0 is None, for a face-down card."""
    cards = _interned.get(words.game)
    if cards is None:
        cards = (None, *[Card(words.game, number, kind) for number, kind in enumerate(words.cards, 1)])
        assert FACE_DOWN == 0
        _interned[words.game] = cards
    return cards


def card_of(words: Words, name: str) -> Card:
    """Return the card with this name.  Raises KeyError if the game has none."""
    card = cards_of(words)[words.card_named(name)]
    assert card is not None
    return card


def seen_cards(words: Words, numbers: Iterable[int]) -> tuple[Card, ...]:
    """Return the cards with these numbers, without face-down ones."""
    cards = cards_of(words)
    return tuple([card for number in numbers if (card := cards[number]) is not None])


def _by_name(game: str, name: str) -> Card:
    from cutpurse.games import game_named

    return card_of(game_named(game).words, name)
