"""A zone as a bot sees it. This module knows no game, and no card that the viewer does not see or know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from cutpurse.engine import words as engine
from cutpurse.engine.text import zone_text
from cutpurse.engine.words import Unit, Words
from cutpurse.engine.zones import TABLE, ZoneView
from cutpurse.sdk.cards import Card, cards_of, seen_cards

if TYPE_CHECKING:
    from cutpurse.sdk.views.base import GameView

__all__ = ["Pile", "pile_text"]

SHOWN_CARDS: Final = 12  # most different cards listed of a printed pile


class Pile:
    """A zone as you see it.

    `len`, iteration and indexing are over its cards, None for each card that is face down to you. `in` accepts a card
    or its name, and is true if you see or know that it is in this pile.
    """

    __slots__ = ("_view", "raw")

    def __init__(self, raw: ZoneView, view: GameView[Any]) -> None:
        self.raw = raw
        self._view = view

    @property
    def words(self) -> Words:
        """The vocabulary of the game."""
        return self._view.words

    @property
    def view(self) -> GameView[Any]:
        """The view that the pile belongs to."""
        return self._view

    @property
    def number(self) -> int:
        """The number of the pile in options and events, fixed for the whole match."""
        return self.raw.number

    @property
    def name(self) -> str:
        """The kind of zone: "hand"."""
        return self.raw.kind.name

    @property
    def title(self) -> str:
        """The display name: "draw pile", "pack 14 of seat 2"."""
        return zone_text(self._view.raw, self.raw.number)

    @property
    def owner(self) -> int | None:
        """The seat that the pile belongs to; None on the table."""
        return None if self.raw.owner == TABLE else self.raw.owner

    @property
    def size(self) -> int:
        """The number of cards."""
        return self.raw.size

    @property
    def cards(self) -> tuple[Card | None, ...]:
        """The cards from the bottom to the top, or sorted; None for each card that you do not see."""
        if not self.raw.cards:
            return (None,) * self.raw.size
        cards = cards_of(self._view.words)
        return tuple([cards[number] for number in self.raw.cards])

    @property
    def seen(self) -> tuple[Card, ...]:
        """The cards that you see."""
        return seen_cards(self._view.words, self.raw.cards)

    @property
    def known(self) -> tuple[Card, ...]:
        """Cards that you do not see, but know to be among the face-down ones."""
        return seen_cards(self._view.words, self.raw.known)

    @property
    def maybe(self) -> tuple[Card, ...]:
        """Cards that are either in this pile or in one of a few others."""
        return seen_cards(self._view.words, self.raw.maybe)

    @property
    def located(self) -> tuple[Card, ...]:
        """The cards that are certainly in this pile: seen or known."""
        return seen_cards(self._view.words, (*self.raw.cards, *self.raw.known))

    @property
    def top(self) -> Card | None:
        """The top card; None if there is none or it is face down."""
        return cards_of(self._view.words)[self.raw.cards[-1]] if self.raw.cards else None

    @property
    def counters(self) -> Mapping[str, int]:
        """The counters of the pile, by name."""
        kinds = self.raw.kind.counters
        return {kind.name: value for kind, value in zip(kinds, self.raw.counters, strict=True)}

    def counter(self, name: str) -> int:
        """Return a counter of the pile.  Raises KeyError if it has none of this name."""
        return self.counters[name]

    def column(self, name: str) -> tuple[int, ...]:
        """Return a number for each card that you see, in order.  Raises KeyError if cards have none of this name."""
        names = [column.name for column in self.raw.kind.columns]
        if name not in names:
            raise KeyError(name)
        return self.raw.columns[names.index(name)] if self.raw.columns else ()

    def count(self, card: Card | str) -> int:
        """Return the number of copies of a card that are certainly in this pile."""
        return sum(located_card is card or located_card.name == card for located_card in self.located)

    def __len__(self) -> int:
        return self.raw.size

    def __iter__(self) -> Iterator[Card | None]:
        return iter(self.cards)

    def __getitem__(self, place: int) -> Card | None:
        return self.cards[place]

    def __contains__(self, card: object) -> bool:
        return any(located_card is card or located_card.name == card for located_card in self.located)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pile) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash(self.raw.number)

    def __repr__(self) -> str:
        return f"<{self.title}: {pile_text(self)}>"


def pile_text(pile: Pile) -> str:
    """Describe a pile in one line: cards by title, the number of face-down cards, and what is known of those."""
    parts: list[str] = []
    cards = pile.cards
    columns = [(column, pile.column(column.name)) for column in pile.raw.kind.columns]
    counts: Counter[str] = Counter()
    for place, card in enumerate(cards):
        if card is not None:
            marks = [
                _marked(pile, column, values[place])
                for column, values in columns
                if values and values[place] and not (column.unit is Unit.CARD and values[place] == card.number)
            ]
            counts[card.title + (f" ({', '.join(marks)})" if marks else "")] += 1
    parts = [title if copies == 1 else f"{copies} x {title}" for title, copies in counts.items()]
    if len(parts) > SHOWN_CARDS:
        top = f", the top is {pile.top.title}" if pile.raw.kind.ordered and pile.top else ""
        parts = [f"{sum(counts.values())} cards{top}"]
    hidden = sum(card is None for card in cards)
    if hidden:
        learned = [*[card.title for card in pile.known], *[f"perhaps {card.title}" for card in pile.maybe]]
        among = f" (among them {', '.join(learned)})" if learned else ""
        parts.append(f"{hidden} face down{among}")
    numbers = zip(pile.raw.kind.counters, pile.raw.counters, strict=True)
    parts += [_marked(pile, counter, value) for counter, value in numbers if value]
    return ", ".join(parts) or "nothing"


def _marked(pile: Pile, kind: engine.Counter, value: int) -> str:
    """Format a number on a card or pile: "markers 2", "locked", "counts as Hideout"."""
    name = kind.name.replace("_", " ")
    if kind.unit is Unit.FLAG:
        return name
    return f"{name} {cards_of(pile.words)[value] if kind.unit is Unit.CARD else f'{value:,}'}"
