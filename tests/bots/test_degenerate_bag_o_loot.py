"""No small bot of one rule reaches 40 % of first places against three greedy bots in Bag-O-Loot.

Three ways to play are measured: the standard game, the standard game with free wrong snitches, and advanced play.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from tests.bots.degenerate.bag_o_loot import ADVANCED, BOTS, SNITCHES
from tests.bots.degenerate.harness import LIMIT, Outcome, SmallBot, measure, measure_until_clear

WAYS: Final[Mapping[str, tuple[Mapping[str, object], Sequence[SmallBot]]]] = {
    "standard": ({}, BOTS),
    "free wrong snitch": ({"wrong_snitch": "free"}, SNITCHES),
    "advanced": ({"advanced": True}, ADVANCED),
}
FEW: Final = 200  # matches of a bot that does well, in `make test`
FULL: Final = 1000  # and in `make soak`
A_LOOK: Final = 0.8  # standard errors that clear a bot in `make test`, mostly after 4 or 8 matches
SURE: Final = 1.96  # standard errors on either side of a 95 % interval


def names(outcomes: list[Outcome]) -> list[str]:
    """Format outcomes for a failing assertion."""
    return [f"{outcome.bot}: {outcome.share:.1%} of {outcome.matches}" for outcome in outcomes]


@pytest.mark.parametrize("follows_greedy", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_no_small_bot_reaches_the_limit(way: str, follows_greedy: bool) -> None:
    """Play matches of one round, few of each bot and more of those that do well; the bound allows for chance."""
    settings = {**WAYS[way][0], "rounds": 1}
    bots = [bot for bot in WAYS[way][1] if bot.follows_greedy == follows_greedy]
    outcomes = [measure_until_clear("bag_o_loot", bot, FEW, A_LOOK, settings=settings) for bot in bots]
    assert sum(outcome.faults for outcome in outcomes) == 0
    assert names([outcome for outcome in outcomes if outcome.bounds(SURE)[0] > LIMIT]) == []


@pytest.mark.soak
@pytest.mark.parametrize("way", WAYS)
def test_no_small_bot_reaches_the_limit_in_a_thousand_matches(way: str) -> None:
    settings, bots = WAYS[way]
    outcomes = [measure_until_clear("bag_o_loot", bot, FULL, settings=settings) for bot in bots]
    assert sum(outcome.faults for outcome in outcomes) == 0
    assert names([outcome for outcome in outcomes if outcome.share >= LIMIT]) == []


@pytest.mark.parametrize("way", WAYS)
def test_a_bot_of_a_list_that_wins_too_often_is_found(way: str) -> None:
    """Every list has a bot that beats the limit against random bots: the lists can fail."""
    settings, bots = WAYS[way]
    (bot,) = [bot for bot in bots if bot.name == "forfeits to the right, else greedy"]
    outcome = measure("bag_o_loot", bot, 16, settings={**settings, "rounds": 1}, opponent="random")
    assert outcome.bounds(SURE)[0] > LIMIT
