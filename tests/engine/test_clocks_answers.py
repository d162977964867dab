"""Clocks and what a bot may send: corrections, repeats, giving up, and answers to what was never asked."""

from __future__ import annotations

import pytest

from cutpurse.engine.clocks import OutcomeKind
from cutpurse.engine.match import EndCause
from tests.engine.timed import HUGE, NO_BANK, toy
from tests.engine.transcript import play


def test_corrections_run_on_the_same_clock() -> None:
    play(
        toy(NO_BANK),
        """
        0.000 hand 0#0
        0.500 answer 0#0 2   -> illegal, 2 left, of 2
        0.500 next           -> 1.151
        0.650 left 0         -> 500 0
        0.700 answer 0#0     -> illegal, 1 left, of 2
        1.151 answer 0#0 1   -> too_late, by 1 ms
        1.151 tick           -> 0#0 timeout
        """,
    )
    play(
        toy(),
        """
        0.000 hand 0#0
        2.150 answer 0#0 2   -> illegal, 2 left, of 2
        3.150 answer 0#0 1   -> accepted
        3.150 left 0         -> 1000 8000
        """,
    )


def test_the_third_illegal_answer_closes_the_decision_and_its_time_is_spent() -> None:
    timed = toy()
    play(
        timed,
        """
        0.000 hand 0#0
        0.100 answer 0#0 -1  -> illegal, 2 left, of 2
        0.200 answer 0#0 9   -> illegal, 1 left, of 2
        2.150 answer 0#0 2   -> illegal_closed, of 2
        2.150 left 0         -> 1000 9000
        2.150 answer 0#0 1   -> already_decided
        2.150 opened         -> 1#0
        """,
    )
    assert timed.match.faults[0].cause is EndCause.ILLEGAL


def test_an_illegal_answer_that_is_sent_again_on_another_stream_is_a_repeat() -> None:
    """Whether its refusal was read before the stream was lost, the server cannot know."""
    timed = toy()
    play(
        timed,
        """
        0.000 hand 0#0
        0.100 answer 0#0 9   -> illegal, 2 left, of 2
        0.200 disconnected 0
        0.300 connected 0
        0.400 answer 0#0 9   -> illegal, 2 left, of 2
        0.500 answer 0#0     -> illegal, 1 left, of 2
        0.600 connected 0
        0.700 answer 0#0     -> illegal, 1 left, of 2
        0.700 answer 0#0 9   -> illegal, 1 left, of 2
        0.800 answer 0#0 8   -> illegal_closed, of 2
        0.900 connected 0
        0.900 answer 0#0 8   -> already_decided
        """,
    )
    assert len(timed.match.faults) == 1


def test_a_repeat_is_none_on_the_same_stream_at_another_decision_or_out_of_time() -> None:
    play(
        toy(NO_BANK, stars="01"),
        """
        0.000 hand 0#0
        0.100 answer 0#0 9   -> illegal, 2 left, of 2
        0.200 answer 0#0 9   -> illegal, 1 left, of 2
        0.300 connected 0
        0.400 answer 0#0 1   -> accepted
        0.400 hand 0#1 1#0
        0.500 answer 0#1 9   -> illegal, 2 left, of 2
        0.600 connected 0
        1.551 answer 0#1 9   -> too_late, by 1 ms
        """,
    )


def test_an_illegal_answer_is_told_what_was_possible() -> None:
    timed = toy()
    wrong = "decision 0 of seat 0 (take_one) has options 0-1: 'take a card', 'pass'; it answered "
    assert timed.answer(0, 0, 7, 0.0).problem == wrong + "7"
    assert timed.answer(0, 0, HUGE, 0.0).problem == wrong + "something (int) that cannot be shown"


def test_a_bot_gives_up_a_decision() -> None:
    timed = toy()
    play(
        timed,
        """
        0.000 hand 0#0
        0.300 give-up 0#0    -> accepted
        0.300 give-up 0#0    -> already_decided
        0.300 answer 0#0 1   -> already_decided
        0.300 asked          -> 1#0
        """,
    )
    (fault,) = timed.match.faults
    assert (fault.cause, fault.reason) == (EndCause.CRASHED, "KeyError: 7")


def test_repeated_future_and_foreign_answers_change_nothing() -> None:
    timed = toy()
    play(
        timed,
        """
        0.000 hand 0#0
        0.100 answer 1#0 1   -> unknown_decision
        0.100 answer 0#1 1   -> unknown_decision
        0.100 answer 0#0 1   -> accepted
        0.100 answer 0#0 1   -> already_decided
        0.100 answer 0#0 0   -> already_decided
        0.100 answer 0#0 7   -> already_decided
        9.100 answer 0#0 1   -> already_decided
        9.100 give-up 1#7    -> unknown_decision
        9.100 asked          -> 1#0
        """,
    )
    assert [chosen.seat for chosen in timed.match.choices] == [0]
    assert timed.match.faults == []


@pytest.mark.parametrize("number", [-1, 1, 7, HUGE, -HUGE], ids=["-1", "1", "7", "huge", "-huge"])
@pytest.mark.parametrize("seat", [-1, 0, 1, 2, HUGE, -HUGE], ids=["-1", "0", "1", "2", "huge", "-huge"])
def test_nothing_that_is_sent_for_a_decision_never_put_does_anything(seat: int, number: int) -> None:
    timed = toy()
    before = timed.match.game.save()
    for option in (None, 0, 1, -1, HUGE, -HUGE):
        assert timed.answer(seat, number, option, 0.5).kind is OutcomeKind.UNKNOWN_DECISION
    assert timed.give_up(seat, number, "no reason", 0.5).kind is OutcomeKind.UNKNOWN_DECISION
    assert timed.handed_over(seat, number, 0.5) == (0, 0)
    assert timed.match.game.save() == before
    assert timed.next_event_at() == 12.151


def test_whoever_looks_when_he_was_told_is_never_late_whatever_is_handed_over_meanwhile() -> None:
    for handed in (0.0, 0.3, 0.999, 1.5):
        timed = toy()
        look = timed.next_poll_at()
        assert look is not None
        timed.handed_over(0, 0, handed)
        due = timed.next_event_at()
        assert due is not None
        assert 11.15 == timed.none_ends_before <= due
        looks = 0
        while look < due:
            assert timed.tick(look) == []  # too early does nothing
            looks, again = looks + 1, timed.next_poll_at()
            assert again is not None
            assert look < again <= due
            look = again
        assert looks <= 1
        assert [closed.number for closed in timed.tick(due)] == [0]


def test_whoever_looks_while_nothing_is_handed_over_does_not_look_all_the_time() -> None:
    timed = toy()
    looks = 0
    while not timed.match.faults:
        look = timed.next_poll_at()
        assert look is not None
        timed.tick(look)
        looks += 1
    assert looks == 2


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_whoever_looks_is_told_of_the_clock_that_ends_first(order: tuple[int, int]) -> None:
    timed = toy(NO_BANK, seats=3, stars="12")
    assert timed.answer(0, 0, 1, 0.0).kind is OutcomeKind.ACCEPTED
    for seat, handed in zip(order, (0.0, 0.4), strict=True):
        timed.handed_over(seat, 0, handed)
    assert timed.next_poll_at() == timed.next_event_at() == 1.151
    assert timed.none_ends_before == 1.15


def test_none_ends_before_the_time_of_whoever_has_the_least_bank() -> None:
    for spends in (1, 2):  # seat 1 or seat 2 thinks for longer than the base, and both are asked again at once
        timed = toy(seats=3, stars="12")
        assert timed.answer(0, 0, 1, 0.0).kind is OutcomeKind.ACCEPTED
        for seat in (1, 2):
            timed.handed_over(seat, 0, 0.0)
        thinks = {1: 0.1, 2: 0.1, spends: 5.15}
        for seat in sorted(thinks, key=thinks.__getitem__):
            assert timed.answer(seat, 0, 1, thinks[seat]).kind is OutcomeKind.ACCEPTED
        while not {1, 2} <= {one.seat for one in timed.match.decisions()}:
            (one,) = timed.match.decisions()
            assert timed.answer(one.seat, one.number, 1, 5.15).kind is OutcomeKind.ACCEPTED
        for one in timed.match.decisions():
            timed.handed_over(one.seat, one.number, 5.15)
        assert (timed.none_ends_before, timed.next_event_at()) == (12.3, 12.301)


def test_three_faults_and_no_clock_runs_for_the_seat_any_more() -> None:
    timed = toy(NO_BANK, rounds=9)
    play(
        timed,
        """
        0.000 hand 0#0
        1.200 tick           -> 0#0 timeout
        1.200 hand 1#0
        1.200 answer 1#0 1   -> accepted
        1.200 hand 0#1
        1.300 give-up 0#1    -> accepted
        1.300 answer 1#1 1   -> accepted
        1.300 hand 0#2
        2.460 tick           -> 0#2 timeout
        2.460 opened         -> 1#2
        2.460 answer 1#2 1   -> accepted
        2.460 opened         -> 1#3
        2.460 answer 0#2 1   -> too_late, by 10 ms
        2.460 answer 0#3 1   -> unknown_decision
        2.460 left 0         -> 1000 0
        2.460 answer 1#3 1   -> accepted
        2.460 next           -> never
        """,
    )
    assert timed.over
    assert timed.result().end_causes == (EndCause.TIMEOUT, EndCause.NORMAL)
    assert len(timed.match.faults) == 3
