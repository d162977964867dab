"""No small bot of one rule reaches 40 % of first places against three greedy bots."""

from __future__ import annotations

from typing import Final

import pytest

from cutpurse.sdk.decision import Decision, Option
from tests.bots.degenerate.harness import LIMIT, Outcome, SmallBot, measure
from tests.bots.degenerate.lists import BOTS

FIRST_LOOK: Final = 16  # matches of each bot
SECOND_LOOK: Final = 300  # matches of a bot that reached the limit in the first look
FULL: Final = 1000  # matches of each bot in `make soak`


def names(outcomes: list[Outcome]) -> list[str]:
    """Format outcomes for a failing assertion."""
    return [f"{outcome.bot}: {outcome.share:.1%} of {outcome.matches}" for outcome in outcomes]


@pytest.mark.parametrize("game", BOTS)
def test_no_small_bot_reaches_the_limit(game: str) -> None:
    """Play 16 matches of each bot and 300 of those that did too well; the lower bound is for chance."""
    outcomes = [measure(game, bot, FIRST_LOOK) for bot in BOTS[game]]
    assert sum(outcome.faults for outcome in outcomes) == 0
    suspects = [bot for bot, outcome in zip(BOTS[game], outcomes, strict=True) if outcome.share >= LIMIT]
    again = [measure(game, bot, SECOND_LOOK) for bot in suspects]
    assert names([outcome for outcome in again if outcome.lower_bound > LIMIT]) == []


@pytest.mark.soak
@pytest.mark.parametrize("game", BOTS)
def test_no_small_bot_reaches_the_limit_in_a_thousand_matches(game: str) -> None:
    outcomes = [measure(game, bot, FULL) for bot in BOTS[game]]
    assert sum(outcome.faults for outcome in outcomes) == 0
    assert names([outcome for outcome in outcomes if outcome.share >= LIMIT]) == []


# -- the harness finds what it looks for
def greedily(view: object, decision: Decision) -> list[Option]:
    return []


def with_an_option_that_is_not_offered(view: object, decision: Decision) -> list[Option]:
    return [None]  # type: ignore[list-item]


def test_a_bot_that_wins_too_often_is_found() -> None:
    winner = measure("greed", SmallBot("greedy", greedily, follows_greedy=True), 40, opponent="random")
    assert winner.lower_bound > LIMIT


def test_four_equal_bots_share_the_first_places() -> None:
    equal = measure("greed", SmallBot("greedy", greedily, follows_greedy=True), 200)
    assert 0.17 < equal.share < 0.33


def test_a_bot_that_answers_illegally_is_counted_as_faulty() -> None:
    assert measure("greed", SmallBot("illegal", with_an_option_that_is_not_offered), 1).faults > 0
