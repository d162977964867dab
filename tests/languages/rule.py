"""The rule by which the generated bots in other languages choose, in Python, for comparison.

The worth of an option is the sum of the values of its visible cards, or minus the sum if the cards are given away.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["Starter"]

GIVES_AWAY: Final = frozenset({"discard", "give", "stake", "contribute", "ditch", "pay", "pick", "choose"})
STOPS: Final = frozenset({"pass", "end_turn", "done"})


def price(option: Any) -> int:
    """Return the worth of an option."""
    if option.verb in STOPS:
        return -1  # worse than any other option
    value: int = sum(card.value for card in option.cards if card is not None)
    return -value if option.verb in GIVES_AWAY else value


class Starter:
    """A bot that takes the option of most worth; of equal ones the safe option, else the first."""

    def choose(self, view: Any, decision: Any) -> Any:
        most = max(map(price, decision.options))
        if price(decision.safe) == most:
            return decision.safe
        return next(option for option in decision.options if price(option) == most)
