"""The luck-adjusted gain of boards: its sums, its interval, and their saved form."""

from __future__ import annotations

import math
import random
from functools import reduce

import pytest

from cutpurse.lab.adjusted_gain import AdjustedGain


def gain_of(differences: list[float]) -> AdjustedGain:
    return reduce(AdjustedGain.after, differences, AdjustedGain())


def test_gain_and_variance_are_those_of_the_differences() -> None:
    found = gain_of([1.0, 0.0, -0.5, 1.5])
    assert (found.boards, found.gain) == (4, 0.5)
    assert found.variance == pytest.approx(2.5 / 3)


def test_fewer_than_two_boards_say_nothing() -> None:
    for differences in ([], [0.25]):
        assert gain_of(differences).interval == (-math.inf, math.inf)


def test_the_interval_holds_whenever_one_looks() -> None:
    rng = random.Random(7)
    missed = 0
    for _ in range(200):
        found = AdjustedGain()
        for board in range(150):
            found = found.after(rng.gauss(0.1, 0.4))
            low, high = found.interval
            if board >= 20 and not low <= 0.1 <= high:
                missed += 1
                break
    assert missed <= 10


def test_the_saved_form_is_read_again() -> None:
    found = gain_of([0.5, -1.25])
    assert AdjustedGain.from_json(found.to_json(), 2) == found


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "other members"),
        ({"boards": 2, "total": 0.0}, "other members"),
        ({"boards": 3, "total": 0.0, "squares": 0.0}, "3 boards, not of 2"),
        ({"boards": 2, "total": "a", "squares": 0.0}, "total of luck"),
        ({"boards": 2, "total": 0.0, "squares": math.nan}, "squares of luck"),
    ],
)
def test_a_broken_form_is_refused(value: object, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        AdjustedGain.from_json(value, 2)
