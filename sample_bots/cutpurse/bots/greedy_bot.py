"""A bot with a rule of thumb for every question: your first own bot should beat it.

Its strategies are in `greedy/`, a short module per game. This module knows no game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from cutpurse.games.lazy_registry import Registry
from cutpurse.sdk.decision import Decision, Option

__all__ = ["GreedyBot"]

# Any: each game's functions take its own view class
ANSWERS: Final[Registry[Mapping[str, Callable[[Any, Decision], Option]]]] = Registry(
    {
        "steal_and_plunder": "cutpurse.bots.greedy.steal_and_plunder:ANSWERS",
        "stolen_treasure": "cutpurse.bots.greedy.stolen_treasure:ANSWERS",
        "szmal": "cutpurse.bots.greedy.szmal:ANSWERS",
        "greed": "cutpurse.bots.greedy.greed:ANSWERS",
        "bag_o_loot": "cutpurse.bots.greedy.bag_o_loot:ANSWERS",
    }
)


class GreedyBot:
    """A bot that chooses what looks best now, without looking ahead."""

    reads_events = False  # so a server need not send them
    hides_time = False  # it answers within a few milliseconds

    def choose(self, view: Any, decision: Decision) -> Option:
        """Apply the rule of thumb for this question; without one, choose the safe option."""
        if decision.count == 1:
            return decision.options[0]
        answer = ANSWERS.get(view.game, {}).get(decision.ask)
        return answer(view, decision) if answer else decision.safe
