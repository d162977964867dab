"""Limits of a decision, a match and a day, and the words in which use is noted."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.llm import Budget, Limit, Usage


def test_use_adds_up_and_reads_short() -> None:
    usage = Usage(1_204, 96, 40, 310, 1.84, 2, 1, 0)
    usage.add(Usage(input_tokens=100, output_tokens=4, seconds=0.2, calls=1, fallbacks=1))
    assert usage == Usage(1_304, 100, 40, 310, 2.04, 3, 1, 1)
    assert usage.tokens == 1_404
    assert usage.text() == "2.0 s, 40 reasoning tokens, 1 retry"
    assert Usage().text() == "0.0 s"


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({}, ""),
        ({"decision": Limit(tokens=111)}, ""),
        ({"decision": Limit(tokens=110)}, "of the decision, 110 of 110 tokens"),
        ({"match": Limit(cost_micros=800)}, "of the match, 900 of 800 micros"),
        ({"match": Limit(seconds=2.5)}, "of the match, 3 of 2 seconds"),
        ({"day": Limit(tokens=5_000)}, "of the day, 5,000 of 5,000 tokens"),
        ({"decision": Limit(tokens=0), "day": Limit(tokens=0)}, "of the decision, 110 of 0 tokens"),
    ],
)
def test_the_first_limit_that_is_used_up_is_named(limits: dict[str, Any], text: str) -> None:
    budget = Budget(**limits)
    budget.used_today().add(Usage(input_tokens=5_000))
    assert budget.used_up(Usage(100, 10), Usage(1_000, 100, cost_micros=900, seconds=3.0)) == text


def test_the_shortest_time_that_is_left_counts() -> None:
    budget = Budget(Limit(seconds=10), Limit(seconds=60), Limit(seconds=3_600))
    assert budget.seconds_left(Usage(seconds=4), Usage(seconds=58)) == 2
    assert budget.seconds_left(Usage(seconds=4), Usage(seconds=70)) == 0
    assert Budget().seconds_left(Usage(), Usage()) == float("inf")


def test_a_new_day_begins_with_nothing_used() -> None:
    today = [date(2026, 11, 25)]
    budget = Budget(day=Limit(tokens=50), today=lambda: today[0])
    budget.used_today().add(Usage(input_tokens=60))
    assert budget.used_up(Usage(), Usage()) == "of the day, 60 of 50 tokens"
    today[0] = date(2026, 11, 26)
    assert budget.used_up(Usage(), Usage()) == ""
    assert budget.used_today() == Usage()


@pytest.mark.parametrize("most", [-1, float("nan")])
def test_a_negative_limit_is_refused(most: float) -> None:
    with pytest.raises(UsageError, match=r"^a limit of (-1|nan) seconds: it is 0 or more, or None for no limit$"):
        Limit(seconds=most)
