"""Two small judges of time: whether the server stood still, and whether a bot sends more than it was asked for."""

from __future__ import annotations

import pytest

from cutpurse.server.limits import Paced
from cutpurse.server.pulse import EVERY_S, Pulse


def test_a_stall_is_credited_from_the_last_beat_on() -> None:
    credited: list[float] = []
    pulse = Pulse(credited.append, 10.0)
    assert pulse.beat(10.0 + EVERY_S) == 0.0
    assert pulse.beat(10.0 + 2 * EVERY_S + 0.009) == 0.0  # a little late is no stall
    assert pulse.beat(12.109) == pytest.approx(2.0)
    assert pulse.beat(12.11) == 0.0  # once
    assert credited == [pytest.approx(2.0)]


def test_a_reader_that_comes_first_after_a_stall_counts_as_a_beat() -> None:
    credited: list[float] = []
    pulse = Pulse(credited.append, 0.0)
    pulse.beat(0.05)
    pulse.beat(0.55)
    pulse.beat(0.54)  # read a little before
    pulse.beat(0.60)
    assert credited == [pytest.approx(0.5)]


def test_a_bucket_gives_what_is_in_it_and_then_makes_wait() -> None:
    paced = Paced(10.0, 3.0, 0.0)
    assert [paced.take(0.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert paced.take(0.0) == pytest.approx(0.1)
    assert paced.take(0.0) == pytest.approx(0.2)
    assert paced.take(1.0) == 0.0


def test_a_bucket_is_never_fuller_than_it_holds_except_by_leave() -> None:
    paced = Paced(10.0, 2.0, 0.0)
    paced.allow(5)
    assert [paced.take(100.0) for _ in range(7)] == [0.0] * 7
    assert paced.take(100.0) > 0.0
    assert [paced.take(200.0) for _ in range(2)] == [0.0] * 2
    assert paced.take(200.0) > 0.0
