"""Clocks, told as transcripts: what is in time, what is late and what it costs, and how clocks are set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cutpurse.engine.clocks import OutcomeKind, TimeControl
from cutpurse.engine.errors import SettingsError
from cutpurse.engine.match import EndCause
from tests.engine.timed import NO_BANK, PASS, toy
from tests.engine.transcript import play, told


# -- base and bank
def test_an_answer_within_its_base_costs_nothing() -> None:
    timed = toy()
    play(
        timed,
        """
        0.000 opened         -> 0#0
        0.000 hand 0#0
        0.000 next           -> 11.151
        0.000 left 0         -> 1000 10000
        0.150 left 0         -> 1000 10000
        0.650 left 0         -> 500 10000
        1.150 left 0         -> 0 10000
        1.150 answer 0#0 1   -> accepted
        1.150 left 0         -> 1000 10000
        1.150 opened         -> 1#0
        1.150 opened         ->
        1.200 hand 1#0
        1.300 answer 1#0 1   -> accepted
        1.300 opened         -> 0#1
        """,
    )
    assert [timed.thinking_ms(seat) for seat in (0, 1)] == [1150, 100]


def test_what_goes_beyond_the_base_is_taken_from_the_bank_and_does_not_come_back() -> None:
    play(
        toy(),
        """
        0.000 hand 0#0
        3.650 left 0         -> 0 7500
        3.650 answer 0#0 1   -> accepted
        3.650 left 0         -> 1000 7500
        3.650 left 1         -> 1000 10000
        3.650 hand 1#0
        3.700 answer 1#0 1   -> accepted
        4.000 hand 0#1
        4.000 next           -> 12.651
        12.650 answer 0#1 1  -> accepted
        12.650 left 0        -> 1000 0
        """,
    )


def test_how_long_a_seat_thought_is_told_decision_by_decision() -> None:
    timed = toy()
    play(
        timed,
        """
        0.0000 hand 0#0
        1.0006 answer 0#0 1  -> accepted
        1.1000 hand 1#0
        1.3000 answer 1#0 1  -> accepted
        2.0000 hand 0#1
        2.0306 answer 0#1 1  -> accepted
        """,
    )
    assert (timed.thinking_times(0), timed.thinking_ms(0)) == ([1000, 31], 1031)  # 1,000.6 ms and 30.6 ms
    assert (timed.thinking_times(1), timed.thinking_ms(1)) == ([200], 200)
    assert timed.all_thinking_times_s() == [1.0006, 0.0306, 0.2]


def test_a_bank_that_is_used_up_leaves_the_base() -> None:
    play(
        toy(replace(NO_BANK, bank_ms=500)),
        """
        0.000 hand 0#0
        1.651 tick           -> 0#0 timeout
        1.651 left 0         -> 1000 0
        1.651 hand 1#0
        1.700 answer 1#0 1   -> accepted
        2.000 hand 0#1
        2.000 next           -> 3.151
        3.150 answer 0#1 1   -> accepted
        3.150 left 0         -> 1000 0
        """,
    )


@pytest.mark.parametrize("start", [0.0, 0.1, 0.3, 12345.6789, 1e6 + 1 / 3])
@pytest.mark.parametrize("control", [TimeControl(), NO_BANK, TimeControl(base_ms=1, bank_ms=0, grace_ms=0)])
def test_the_outcome_changes_once_around_the_deadline_and_the_tie_goes_to_the_bot(
    start: float, control: TimeControl
) -> None:
    allowed = (control.base_ms + control.bank_ms + control.grace_ms) / 1000
    outcomes = []
    for tenth in range(-50, 51):
        timed = toy(control, now=start)
        timed.handed_over(0, 0, start)
        now = start + allowed + tenth / 10_000
        in_time = timed.answer(0, 0, PASS, now)
        ticked = toy(control, now=start)
        ticked.handed_over(0, 0, start)
        closed = ticked.tick(now)
        assert bool(closed) == (in_time.kind is OutcomeKind.TOO_LATE), "what tick closes is what an answer misses"
        outcomes.append(told(in_time))
    late = [f"too_late, by {-(-tenth // 10)} ms" for tenth in range(1, 51)]
    assert outcomes[:51] == ["accepted"] * 51
    assert outcomes[51:] == late


def test_the_tick_that_is_due_comes_after_the_last_moment() -> None:
    play(
        toy(NO_BANK),
        """
        0.000 hand 0#0
        0.000 next           -> 1.151
        1.150 tick           ->
        1.150 answer 0#0 1   -> accepted
        """,
    )


def test_a_late_answer_changes_nothing_before_and_after_the_decision_is_closed() -> None:
    timed = toy(NO_BANK)
    play(
        timed,
        """
        0.000 hand 0#0
        1.151 answer 0#0 1   -> too_late, by 1 ms
        1.151 answer 0#0 7   -> too_late, by 1 ms
        1.151 give-up 0#0    -> too_late, by 1 ms
        1.151 asked          -> 0#0
        1.200 tick           -> 0#0 timeout
        1.200 tick           ->
        1.900 answer 0#0 1   -> too_late, by 750 ms
        1.100 answer 0#0 1   -> too_late
        1.900 give-up 0#0    -> too_late, by 750 ms
        """,
    )
    (fault,) = timed.match.faults
    assert (fault.seat, fault.cause, fault.reason) == (0, EndCause.TIMEOUT, "no answer in 1150 ms")


# -- several at once
def test_simultaneous_questions_have_a_clock_each() -> None:
    timed = toy(NO_BANK, seats=3, stars="12")
    play(
        timed,
        """
        0.000 answer 0#0 1   -> accepted
        0.000 opened         -> 1#0 2#0
        0.000 hand 1#0
        0.400 hand 2#0
        0.400 next           -> 1.151
        1.160 tick           -> 1#0 timeout
        1.160 next           -> 1.551
        1.160 asked          -> 2#0
        1.550 answer 2#0 1   -> accepted
        1.550 opened         -> 1#1
        """,
    )
    assert timed.match.game.scores() == [0, 0, 10]


def test_of_several_that_are_late_the_earlier_deadline_is_closed_first_however_seldom_it_ticks() -> None:
    seldom, often = toy(NO_BANK, seats=3, stars="12"), toy(NO_BANK, seats=3, stars="12")
    for timed in (seldom, often):
        play(
            timed,
            """
            0.000 answer 0#0 1   -> accepted
            0.000 hand 2#0
            0.200 hand 1#0
            """,
        )
    play(seldom, "9.000 tick -> 2#0 timeout, 1#0 timeout")
    play(
        often,
        """
        1.151 tick -> 2#0 timeout
        1.351 tick -> 1#0 timeout
        """,
    )
    assert seldom.match.choices == often.match.choices
    assert seldom.match.faults == often.match.faults


# -- the control
def test_a_time_control_has_its_defaults_and_is_written_as_settings_are() -> None:
    control = TimeControl.parse({"base_ms": "500", "bank_ms": 0}, 4)
    assert control == TimeControl(base_ms=500, bank_ms=0)
    assert control.changed() == {"base_ms": "500", "bank_ms": "0"}
    usual = {"base_ms": 1_000, "bank_ms": 10_000, "grace_ms": 150, "poll_floor_ms": 25, "handover_ms": 1_000}
    assert {name: getattr(TimeControl(), name) for name in TimeControl.kinds()} == usual


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"base_ms": 0}, "setting base_ms cannot be 0; it can be: 1 to 3600000"),
        ({"bank_ms": -1}, "setting bank_ms cannot be -1; it can be: 0 to 86400000"),
        ({"grace_ms": 1.5}, r"setting grace_ms cannot be 1\.5; it can be: 0 to 60000"),
        ({"handover_ms": True}, "setting handover_ms cannot be True; it can be: 0 to 60000"),
        ({"poll_floor_ms": "25"}, "setting poll_floor_ms cannot be '25'; it can be: 0 to 10000"),
    ],
)
def test_a_time_control_that_cannot_be_is_refused_with_what_can(wrong: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        TimeControl(**wrong)
