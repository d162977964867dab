"""At how many tables a bot sits: figures in, numbers out."""

from __future__ import annotations

import pytest

from cutpurse.sdk.online.concurrency import ConcurrencyControl, Durations, SpeedProof


def after(pace: ConcurrencyControl, seconds: float, decisions: int) -> int:
    for _ in range(decisions):
        pace.decided(seconds)
    return pace.tables


@pytest.mark.parametrize(
    ("took_s", "base_s", "most", "upper", "tables"),
    [
        (0.0, 1.0, 64, None, 64),  # an instant bot gets all there are
        (0.0001, 1.0, 256, None, 256),
        (0.0, 1.0, 64, 10, 10),  # but for what its owner allows
        (0.0, 1.0, 2, None, 2),  # or the server
        (0.010, 1.0, 64, None, 50),
        (0.100, 1.0, 64, None, 5),
        (0.300, 1.0, 64, None, 1),
        (2.0, 1.0, 64, None, 1),  # never none
        (0.300, 10.0, 64, None, 16),
        (0.010, 0.1, 64, None, 5),
    ],
)
def test_the_number_of_tables_a_steady_bot_ends_up_with(
    took_s: float, base_s: float, most: int, upper: int | None, tables: int
) -> None:
    pace = ConcurrencyControl(upper)
    pace.granted(most)
    pace.started(base_s)
    assert after(pace, took_s, 2_000) == tables


def test_it_begins_with_one_table_whatever_is_allowed() -> None:
    """Who thinks for nearly the whole base at each decision would be late at two."""
    assert ConcurrencyControl().tables == 1
    assert ConcurrencyControl(upper=3).tables == 1
    pace = ConcurrencyControl(upper=100)
    pace.granted(64)
    assert pace.tables == 1


def test_a_bot_that_is_known_to_be_quick_begins_with_many_tables_and_falls_at_once_if_it_is_not() -> None:
    pace = ConcurrencyControl(upper=100, first=100)
    pace.granted(128)
    pace.started(90.0)
    assert pace.tables == 100
    assert after(pace, 3.0, 1) == 15


def test_it_rises_slowly() -> None:
    pace = ConcurrencyControl()
    pace.granted(64)
    assert [after(pace, 0.001, decisions) for decisions in (7, 1, 15, 1, 24)] == [1, 2, 2, 3, 4]
    assert [after(pace, 0.001, 32) for _ in range(9)] == [6, 9, 13, 19, 28, 42, 63, 64, 64]


def test_it_falls_at_once_and_recovers() -> None:
    pace = ConcurrencyControl()
    pace.granted(64)
    assert after(pace, 0.001, 1_000) == 64
    assert after(pace, 0.300, 1) == 64  # one slow decision in 64 is no habit
    assert after(pace, 0.300, 3) == 1
    assert after(pace, 0.001, 64) == 2  # the slow ones are out of sight
    assert after(pace, 0.001, 1_000) == 64


def test_a_slow_first_decision_counts() -> None:
    pace = ConcurrencyControl()
    assert after(pace, 0.400, 1) == 1


def test_a_late_decision_halves_the_tables() -> None:
    pace = ConcurrencyControl()
    pace.granted(64)
    after(pace, 0.0, 2_000)
    pace.late()
    assert pace.tables == 32
    for _ in range(10):
        pace.late()
    assert pace.tables == 1


def test_a_shorter_base_time_counts_at_once() -> None:
    pace = ConcurrencyControl()
    pace.granted(64)
    assert after(pace, 0.010, 2_000) == 50
    pace.started(0.2)
    assert pace.tables == 10


def test_durations_forget_the_oldest() -> None:
    took = Durations(20)
    assert took.p95 == 0.0
    for seconds in [9.0, 9.0, *range(1, 20)]:
        took.add(seconds)
    assert len(took) == 20
    assert took.p95 == 18.0  # of 9 and 1 to 19, the nineteenth
    took.add(1.0)
    assert took.p95 == 18.0
    took.clear()
    assert len(took) == 0


def test_a_bot_is_proven_by_32_quick_decisions_and_doubted_after_a_slow_one() -> None:
    proven = SpeedProof()
    seen = []
    for seconds in [*[0.001] * 32, 0.019, 0.021, *[0.001] * 32]:
        proven.took(seconds)
        seen.append(proven.fast)
    # One in 33 may take longer, but not so long.
    assert seen == [*[False] * 31, True, True, False, *[False] * 31, True]


def test_a_bot_that_often_needs_longer_is_not_proven() -> None:
    proven = SpeedProof()
    for seconds in [0.001, 0.003] * 100:
        proven.took(seconds)
    assert not proven.fast
