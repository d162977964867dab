"""The rule by which the bots of other languages choose to begin with, in Python: the measure of what they do.

What an option promises is the value of its cards, so far as they are seen; less is better where they are given away.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["Starter"]

GIVES_AWAY: Final = frozenset({"discard", "give", "stake", "contribute", "ditch", "pay", "pick", "choose"})
STOPS: Final = frozenset({"pass", "end_turn", "done"})


def price(option: Any) -> int:
    """What it promises."""
    if option.verb in STOPS:
        return -1  # rather anything else
    value: int = sum(card.value for card in option.cards if card is not None)
    return -value if option.verb in GIVES_AWAY else value


class Starter:
    """The best option; of equal ones the safe one, or the first."""

    def choose(self, view: Any, decision: Any) -> Any:
        most = max(map(price, decision.options))
        if price(decision.safe) == most:
            return decision.safe
        return next(option for option in decision.options if price(option) == most)
