"""Clocks and how decisions reach a bot: handing over, lost streams, stalls of the platform, void matches."""

from __future__ import annotations

import pytest

from cutpurse.engine.clocks import OutcomeKind, TimeControl
from cutpurse.engine.errors import WrongDecision
from cutpurse.engine.match import EndCause
from tests.engine.timed import NO_BANK, toy
from tests.engine.transcript import play


# -- handing over, streams, stalls
def test_a_decision_that_is_not_handed_over_starts_its_clock_all_the_same() -> None:
    play(
        toy(NO_BANK),
        """
        0.000 opened         -> 0#0
        0.000 next           -> 2.151
        1.000 left 0         -> 1000 0
        1.650 left 0         -> 500 0
        1.650 hand 0#0
        1.650 left 0         -> 500 0
        1.650 next           -> 2.151
        2.200 tick           -> 0#0 timeout
        """,
    )


@pytest.mark.parametrize("after_s", [0.0, 0.4, 1.0, 1.1, 1.9, 2.6, 60.0])
def test_handing_over_tells_the_time_that_is_left(after_s: float) -> None:
    timed = toy(now=100.0)
    for again_s in (0.0, 0.3):
        now = 100.0 + after_s + again_s
        assert timed.handed_over(0, 0, now) == timed.time_left(0, now)


def test_handing_over_again_after_a_resume_starts_no_new_clock() -> None:
    play(
        toy(NO_BANK),
        """
        0.000 hand 0#0
        0.200 disconnected 0
        0.800 connected 0
        0.800 hand 0#0
        0.800 next           -> 1.151
        1.151 tick           -> 0#0 timeout
        1.151 hand 0#0
        """,
    )


def test_what_is_late_while_a_seat_is_away_is_so_for_that_cause() -> None:
    timed = toy(NO_BANK)
    play(
        timed,
        """
        0.000 hand 0#0
        0.500 disconnected 0
        1.160 tick           -> 0#0 disconnected
        1.160 answer 1#0 1   -> accepted
        1.160 opened         -> 1#1
        1.160 connected 0
        2.000 answer 1#1 1   -> accepted
        3.000 answer 1#2 1   -> accepted
        4.000 answer 1#3 1   -> accepted
        """,
    )
    result = timed.result()
    assert result.end_causes == (EndCause.DISCONNECTED, EndCause.NORMAL), "one such decision takes the seat over"
    assert result.places == (2, 1)


def test_a_seat_that_comes_back_before_its_clock_is_over_is_not_taken_over() -> None:
    timed = toy(NO_BANK)
    play(
        timed,
        """
        0.000 hand 0#0
        0.500 disconnected 0
        1.100 connected 0
        1.140 answer 0#0 1   -> accepted
        """,
    )
    assert not timed.match.is_taken_over(0)


def test_a_seat_that_is_taken_over_has_no_clock_any_more() -> None:
    timed = toy(NO_BANK)
    timed.handed_over(0, 0, 0.0)
    assert timed.give_up(0, 0, "it could not start", 0.4, whole_match=True).kind is OutcomeKind.ACCEPTED
    assert timed.thinking_ms(0) == 400
    assert [(decision.seat, decision.number) for decision in timed.opened()] == [(1, 0)]
    assert timed.answer(0, 0, 1, 0.5).kind is OutcomeKind.ALREADY_DECIDED
    timed.give_up(1, 0, "it could not start either", 0.6, whole_match=True)
    assert timed.over
    assert timed.result().places == (1, 1)


@pytest.mark.parametrize("sees_it", [0.0, 0.25, 0.999, 1.0, 1.7, 5.0])
def test_going_away_at_every_decision_never_gives_more_time(sees_it: float) -> None:
    """A bot that leaves at each decision and comes back late thinks no longer than one that stays."""
    control = TimeControl(bank_ms=2_000)
    allowed_s = (1_000 + 2_000 + 150) / 1000
    timed = toy(control, rounds=1)
    timed.disconnected(0)
    timed.connected(0)
    timed.handed_over(0, 0, sees_it)
    due = timed.next_event_at()
    assert due is not None
    assert due - 0.001 - sees_it <= allowed_s + 1e-9, "from the moment when he sees it"
    assert due - 0.001 <= control.handover_ms / 1000 + allowed_s + 1e-9, "and in all"
    assert timed.tick(due) != []


def test_a_stall_of_the_platform_is_credited_to_every_clock() -> None:
    play(
        toy(NO_BANK, seats=3, stars="12"),
        """
        0.000 answer 0#0 1   -> accepted
        0.000 hand 1#0
        0.500 credit 2.5
        3.000 next           -> 3.651
        3.000 left 1         -> 650 0
        3.100 hand 2#0
        3.100 next           -> 3.651
        3.650 answer 1#0 1   -> accepted
        3.650 next           -> 4.251
        3.651 credit 0
        4.260 tick           -> 2#0 timeout
        """,
    )


def test_a_credit_just_after_the_start_leaves_the_whole_base_and_no_more() -> None:
    play(
        toy(),
        """
        0.000 hand 0#0
        0.001 credit 5
        0.002 left 0         -> 1000 10000
        0.002 answer 0#0 1   -> accepted
        0.002 left 0         -> 1000 10000
        """,
    )
    with pytest.raises(ValueError, match=r"never moved back: credit -0\.1"):
        toy().credit(-0.1)


def test_moments_of_several_readers_may_come_out_of_order() -> None:
    """Each answer is judged by its own moment; a decision is put no earlier than the latest that was heard of."""
    play(
        toy(NO_BANK, seats=3, stars="12"),
        """
        0.000 answer 0#0 1   -> accepted
        0.000 hand 1#0 2#0
        1.150 tick           ->
        1.200 answer 2#0 1   -> too_late, by 50 ms
        1.140 answer 1#0 1   -> accepted
        1.200 tick           -> 2#0 timeout
        1.100 opened         -> 1#1
        1.100 hand 1#1
        1.100 next           -> 2.351
        """,
    )


# -- void
@pytest.mark.parametrize("cause", [EndCause.VOID_SERVER, EndCause.VOID_OPERATOR])
@pytest.mark.parametrize("hold_polls", [False, True])
def test_a_void_match_is_over_at_once_and_counts_for_nothing(cause: EndCause, hold_polls: bool) -> None:
    timed = toy(seats=3, stars="12", hold_polls=hold_polls)
    play(
        timed,
        f"""
        0.000 answer 0#0 1   -> accepted
        0.000 hand 1#0
        0.100 void {cause.value}
        0.100 opened         ->
        0.100 next           -> never
        9.100 tick           ->
        9.100 answer 0#0 1   -> already_decided
        9.100 answer 1#0 1   -> stale
        9.100 answer 2#0 7   -> stale
        9.100 give-up 2#0    -> stale
        9.100 answer 1#1 1   -> unknown_decision
        """,
    )
    assert timed.over
    result = timed.result()
    assert result.voided
    assert (result.scores, result.places, result.end_causes) == ((), (), (cause,) * 3)


def test_only_a_platform_voids_a_match() -> None:
    timed = toy()
    with pytest.raises(ValueError, match="the cause timeout voids no match"):
        timed.void(EndCause.TIMEOUT)
    with pytest.raises(WrongDecision, match="goes on: 1 decisions are open"):
        timed.result()
