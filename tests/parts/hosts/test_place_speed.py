"""The speed of a place: the fastest playout counts, and a value that seems wrong is measured again."""

from __future__ import annotations

import asyncio
import io
import sys
from itertools import accumulate, chain, repeat

import pytest

from cutpurse.server.logs import logger
from cutpurse.server.parts.hosts import attendance as attendance_module
from cutpurse.server.parts.hosts import place_speed
from cutpurse.server.parts.hosts.attendance import Attendance
from cutpurse.server.parts.hosts.host_facts import host_facts
from cutpurse.server.parts.hosts.place_speed import LONG_S, measure_speed, speed_of_this_machine
from cutpurse.server.parts.hosts.speed_rule import are_like, largest_group
from cutpurse.wire.connection import Dialling


def test_the_fastest_playout_counts() -> None:
    ticks = chain([0.0, 0.0, 0.004, 0.0, 0.002], repeat(0.01))  # the start, and the begin and end of each playout
    assert measure_speed(accumulate(ticks).__next__) == pytest.approx(500.0)


def test_a_machine_that_is_too_busy_plays_fewer_times() -> None:
    clock = accumulate(repeat(LONG_S / 10)).__next__
    assert measure_speed(clock) == pytest.approx(10 / LONG_S)
    assert clock() < 10 * LONG_S


async def test_a_real_process_tells_a_speed() -> None:
    assert await speed_of_this_machine() > 0


async def test_an_interrupt_at_the_terminal_of_a_place_does_not_reach_the_measuring_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = "import os; print(float(os.getsid(0) == os.getpid()))"
    monkeypatch.setattr(place_speed, "module_command", lambda module: (sys.executable, "-c", program))
    assert await speed_of_this_machine() == 1.0


@pytest.mark.parametrize(("measured", "told"), [([97.0], 97.0), ([60.0, 99.0], 99.0), ([60.0, 61.0], 61.0)])
async def test_a_place_measures_twice_what_is_far_from_the_last_value(
    monkeypatch: pytest.MonkeyPatch, measured: list[float], told: float
) -> None:
    is_done = asyncio.Event()

    async def measure() -> float:
        if not measured:
            is_done.set()
            await asyncio.Event().wait()
        return measured.pop(0)

    monkeypatch.setattr(attendance_module, "MEASURE_S", 0.0)
    monkeypatch.setattr(attendance_module, "speed_of_this_machine", measure)
    place = Attendance(
        Dialling("127.0.0.1:1"),
        name="lab1",
        cores=1.0,
        runner="process",
        host=host_facts("process"),
        log=logger(io.StringIO()),
        say=lambda line: None,
    )
    place._hello.speed = 100.0
    measuring = asyncio.create_task(place._measure())
    await is_done.wait()
    measuring.cancel()
    assert place._new_speed == told


def test_speeds_are_like_within_a_tenth() -> None:
    assert are_like([100.0, 110.0])
    assert not are_like([100.0, 105.0, 110.5])
    assert are_like([])


def test_the_largest_group_has_the_most_weight_and_is_the_faster_one_if_equal() -> None:
    assert largest_group([(100.0, 1.0), (105.0, 1.0), (200.0, 1.5)])[0] == 100.0
    assert largest_group([(100.0, 1.0), (200.0, 1.0)])[0] == 200.0
