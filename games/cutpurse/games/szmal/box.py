"""The box of Szmal: its eighty cards by number, and which of them have what kind of ability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cutpurse.games.szmal import actions, holdings, thugs  # each fills its rows of CARDS
from cutpurse.games.szmal.cards import CARDS, NUMBERS, SYMBOLS, WORDS, SzmalCard

__all__ = [
    "AFTER_ACTION",
    "COST",
    "DELAYED_LOSS",
    "EACH_TURN",
    "END_OF_GAME",
    "NEED",
    "ON_LEAVING",
    "ON_PLAY",
    "SAVES",
    "SHOWN_BY",
    "SORT",
]

for _number in NUMBERS:
    _card = CARDS[_number]
    assert type(_card).__module__ in (actions.__name__, thugs.__name__, holdings.__name__), f"no card {_number}"
    WORDS.card(
        _card.name(),
        _card.title,
        _card.words(),
        _card.sort,
        _number,
        _card.traits(),
        _card.facts(),
        rule=f"SZ-card-{_number}",
    )


# What is looked up at every play stands in lists by the number of the card: nothing is found quicker.
SORT: Final = [card.sort for card in CARDS]
COST: Final = [card.cost for card in CARDS]
NEED: Final = [card.need for card in CARDS]


def _with(ability: Callable[..., object]) -> list[bool]:
    """Whether a card has this ability, by its number: whether its method is not the empty one of `Card`."""
    name = ability.__name__
    return [getattr(type(card), name) is not ability for card in CARDS]


ON_PLAY: Final = _with(SzmalCard.on_play)
AFTER_ACTION: Final = _with(SzmalCard.after_action)
ON_LEAVING: Final = _with(SzmalCard.on_leaving)
SAVES: Final = _with(SzmalCard.saves)
EACH_TURN: Final = _with(SzmalCard.each_turn)
END_OF_GAME: Final = _with(SzmalCard.end_of_game)
DELAYED_LOSS: Final = tuple(number for number in NUMBERS if CARDS[number].takes)

SHOWN_BY: Final = [[card.shows.count(symbol) for card in CARDS] for symbol in range(len(SYMBOLS))]
"""SZ-1.2. How often a card shows a symbol: by symbol, then by the number of the card."""
