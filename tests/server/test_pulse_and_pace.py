"""Two small judges of time: whether the server stood still, and whether a bot sends more than it was asked for."""

from __future__ import annotations

import pytest

from cutpurse.server.hosting.stall_monitor import EVERY_S, Pulse
from cutpurse.server.limits import TokenBucket


def test_a_stall_is_credited_from_the_last_beat_on() -> None:
    credited: list[float] = []
    pulse = Pulse(credited.append, 10.0)
    assert pulse.ring(10.0 + EVERY_S) == 0.0
    assert pulse.ring(10.0 + 2 * EVERY_S + 0.009) == 0.0  # a little late is no stall
    assert pulse.ring(12.109) == pytest.approx(2.0)
    assert pulse.beat(12.11) == 0.0  # once
    assert credited == [pytest.approx(2.0)]


def test_a_reader_that_comes_first_after_a_stall_counts_as_a_beat() -> None:
    credited: list[float] = []
    pulse = Pulse(credited.append, 0.0)
    pulse.ring(0.05)
    pulse.beat(0.55)
    pulse.beat(0.54)  # read a little before
    pulse.beat(0.57)
    pulse.ring(0.58)
    assert credited == [pytest.approx(0.5)]
    assert pulse.stalls == 1
    assert pulse.stalled_s == pytest.approx(0.5)


def test_a_loop_that_goes_from_one_read_to_the_next_and_never_to_its_timer_is_behind() -> None:
    credited: list[float] = []
    pulse = Pulse(credited.append, 0.0)
    pulse.ring(0.05)
    for read in range(1, 31):  # a burst: 30 reads, 7 ms each; the timer is due at 0.1
        pulse.beat(0.05 + read * 0.007)
    assert credited == [pytest.approx(0.055), pytest.approx(0.056)]
    assert pulse.stalls == 2
    assert pulse.stalled_s == pytest.approx(0.111)
    pulse.ring(0.26)
    assert len(credited) == 2
    assert pulse.lag.total == pytest.approx(0.16)
    assert pulse.lag.counts[pulse.lag.bounds.index(0.25)] == 1


@pytest.mark.parametrize("reads_ms", [[], [50], [20, 70], [3_040], [20, 70, 3_040, 3_060], [130, 3_200]])
def test_no_moment_is_credited_twice(reads_ms: list[int]) -> None:
    credited: list[float] = []
    pulse = Pulse(credited.append, 0.0)
    pulse.ring(0.05)
    for at in reads_ms:
        pulse.beat(0.05 + at / 1_000)
    pulse.ring(3.35)
    pulse.ring(3.4)
    assert 3.3 - 2 * (EVERY_S + 0.01) <= sum(credited) <= 3.3 + 1e-9


def test_a_loop_that_is_always_a_little_late_is_not_standing_still() -> None:
    credited: list[float] = []
    pulse = Pulse(credited.append, 0.0)
    now = 0.0
    for _ in range(100):
        for _ in range(9):
            now += 0.01
            pulse.beat(now)
        now += 0.005
        pulse.ring(now)  # 45 ms late
    assert credited == []


def test_a_bucket_gives_what_is_in_it_and_then_makes_wait() -> None:
    paced = TokenBucket(10.0, 3.0, 0.0)
    assert [paced.take(0.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert paced.take(0.0) == pytest.approx(0.1)
    assert paced.take(0.0) == pytest.approx(0.2)
    assert paced.take(1.0) == 0.0


def test_a_bucket_is_never_fuller_than_it_holds_except_by_leave() -> None:
    paced = TokenBucket(10.0, 2.0, 0.0)
    paced.allow(5)
    assert [paced.take(100.0) for _ in range(7)] == [0.0] * 7
    assert paced.take(100.0) > 0.0
    assert [paced.take(200.0) for _ in range(2)] == [0.0] * 2
    assert paced.take(200.0) > 0.0
