"""No small bot of one rule reaches 40 % of first places against three greedy bots."""

from __future__ import annotations

from typing import Final

import pytest

from cutpurse.games import GAMES
from cutpurse.sdk.decision import Decision, Option
from tests.bots.degenerate.harness import LIMIT, Outcome, SmallBot, measure, measure_until_clear
from tests.bots.degenerate.lists import WAYS

FEW: Final = 64  # matches of a bot that does well, in `make test`
FULL: Final = 1000  # and in `make soak`
A_LOOK: Final = 0.8  # standard errors that clear a bot in `make test`, mostly after 4 or 8 matches
SURE: Final = 1.96  # standard errors on either side of a 95 % interval


def names(outcomes: list[Outcome]) -> list[str]:
    """Format outcomes for a failing assertion."""
    return [f"{outcome.bot}: {outcome.share:.1%} of {outcome.matches}" for outcome in outcomes]


def test_every_game_has_small_bots() -> None:
    assert {way.game for way in WAYS.values()} == set(GAMES)


@pytest.mark.parametrize("follows_greedy", [False, True])
@pytest.mark.parametrize("name", WAYS)
def test_no_small_bot_reaches_the_limit(name: str, follows_greedy: bool) -> None:
    """Play few matches of each bot and more of those that do well; the bound allows for chance."""
    way = WAYS[name]
    settings = {**way.settings, **way.in_short}
    bots = [bot for bot in way.bots if bot.follows_greedy == follows_greedy]
    outcomes = [measure_until_clear(way.game, bot, FEW, A_LOOK, settings=settings) for bot in bots]
    assert sum(outcome.faults for outcome in outcomes) == 0
    assert names([outcome for outcome in outcomes if outcome.bounds(SURE)[0] > LIMIT]) == []


@pytest.mark.soak
@pytest.mark.parametrize("name", WAYS)
def test_no_small_bot_reaches_the_limit_in_a_thousand_matches(name: str) -> None:
    way = WAYS[name]
    outcomes = [measure_until_clear(way.game, bot, FULL, settings=way.settings) for bot in way.bots]
    assert sum(outcome.faults for outcome in outcomes) == 0
    assert names([outcome for outcome in outcomes if outcome.share >= LIMIT]) == []


# -- the harness finds what it looks for
def greedily(view: object, decision: Decision) -> list[Option]:
    return []


def with_an_option_that_is_not_offered(view: object, decision: Decision) -> list[Option]:
    return [None]  # type: ignore[list-item]


def test_a_bot_that_wins_too_often_is_found() -> None:
    winner = measure("greed", SmallBot("greedy", greedily, follows_greedy=True), 40, opponent="random")
    assert winner.bounds(SURE)[0] > LIMIT


def test_a_bot_that_answers_illegally_is_counted_as_faulty() -> None:
    assert measure("greed", SmallBot("illegal", with_an_option_that_is_not_offered), 1).faults > 0
