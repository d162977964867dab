"""The box of Szmal: its eighty cards by number, with their words."""

from __future__ import annotations

from cutpurse.games.szmal import actions, holdings, thugs  # noqa: F401  # they define the subclasses below
from cutpurse.games.szmal.cards import CARDS, NUMBERS, WORDS, Action, Holding, Thug

__all__ = ["CARDS"]

for _sort in (Action, Thug, Holding):
    for _card_class in _sort.__subclasses__():
        _new = _card_class()
        assert not CARDS[_new.number].number, f"there are two cards with the number {_new.number}"
        CARDS[_new.number] = _new

for _number in NUMBERS:
    _card = CARDS[_number]
    assert _card.number == _number, f"there is no card with the number {_number}"
    WORDS.card(
        _card.name(),
        _card.title,
        _card.full_text(),
        _card.sort,
        _number,
        _card.traits(),
        _card.facts(),
        rule=_card.rule,
    )
