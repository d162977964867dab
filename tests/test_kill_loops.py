"""The kill loops share out their kills, and sum what they have counted."""

import pytest

from tests.kill_loops import IN_SOAK, IN_TESTS, LOOPS, SHARES, KillLoop, format_sums, kills_of
from tests.roots import CHECKOUT


@pytest.mark.parametrize("total", [IN_TESTS, IN_SOAK, 5, 61, 333])
def test_the_loops_have_all_kills_together(total: int) -> None:
    assert sum(kills_of(part, total) for part in SHARES) == total


def test_each_loop_kills_in_the_tests_and_more_often_in_a_soak() -> None:
    assert [kills_of(part, IN_TESTS) for part in SHARES] == [18, 12, 18, 6, 6]
    assert [kills_of(part, IN_SOAK) for part in SHARES] == [600, 400, 600, 200, 200]


def test_each_loop_is_a_test() -> None:
    assert list(LOOPS) == list(SHARES)
    for test in LOOPS.values():
        file, _, name = test.partition("::")
        assert f"def {name}(" in (CHECKOUT / "tests" / file).read_text(encoding="utf-8")


def test_sums_name_each_victim_and_what_else_was_counted() -> None:
    first, second = KillLoop(), KillLoop()
    first.killed("writer")
    first.killed("writer")
    first.count(acknowledged_results=1_200)
    second.killed("database")
    second.count(acknowledged_results=34)
    told = "killed: 3 (writer 2, database 1); acknowledged results: 1,234"
    assert format_sums([first.counts, second.counts]) == told
    assert format_sums([]) == ""
