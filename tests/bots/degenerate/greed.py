"""Small bots for Greed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.greed import GreedView
from tests.bots.degenerate.harness import SmallBot, small_bots, verb_bots

__all__ = ["BOTS"]


def stops_at_one_card(view: GreedView, decision: Decision) -> Sequence[Option]:
    """Stop after the first card of every raid."""
    return [option for option in decision.options if option.verb == "stop"]


def never_stops(view: GreedView, decision: Decision) -> Sequence[Option]:
    """Draw until the hand is empty or a bust."""
    return [option for option in decision.options if option.verb == "go_on"]


BOTS: Final[list[SmallBot]] = small_bots([stops_at_one_card, never_stops]) + verb_bots("greed")
