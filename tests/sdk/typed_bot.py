"""Plays Greed, with the types of what it is given."""

from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.greed import GreedView


class Bot:
    def choose(self, view: GreedView, decision: Decision) -> Option:
        def has(option: Option) -> int:
            return view.me.sets[option.card.value] if option.card else 0

        return max(decision.options, key=has)
