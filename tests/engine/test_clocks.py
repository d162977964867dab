"""Clocks: what is in time, what is late, what it costs, and how long a window lasts; told as transcripts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cutpurse.engine.clocks import OutcomeKind, TimeControl, TimedMatch
from cutpurse.engine.errors import SettingsError, WrongDecision
from cutpurse.engine.match import EndCause, Match
from tests.engine.toy import STAR, Toy
from tests.engine.transcript import play, told

KEY = bytes(range(32))
NO_BANK = TimeControl(bank_ms=0)
YES, PASS = 0, 1  # of the toy's question whether to take a card
HUGE = 10**5000


def toy(
    control: TimeControl | None = None,
    rounds: int = 9,
    seats: int = 2,
    hold_polls: bool = False,
    stars: str = "",
    now: float = 0.0,
) -> TimedMatch:
    """A timed toy match; the seats in `stars` hold one, as if they had drawn it."""
    match = Match(Toy, [f"bot {i}" for i in range(seats)], KEY, {"rounds": rounds}, log=True, hold_polls=hold_polls)
    for seat in map(int, stars):
        match.game.move(STAR, match.game.deck, match.game.hand[seat])  # type: ignore[attr-defined]  # a toy
    return TimedMatch(match, control or TimeControl(), now)


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


# -- what a bot may send
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
    assert timed.answer(0, 0, HUGE, 0.0).problem == wrong + "a number too long to be shown"


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
        look = timed.look_at()
        assert look is not None
        timed.handed_over(0, 0, handed)
        due = timed.next_event_at()
        assert due is not None
        looks = 0
        while look < due:
            assert timed.tick(look) == []  # too early does nothing
            looks, again = looks + 1, timed.look_at()
            assert again is not None
            assert look < again <= due
            look = again
        assert looks <= 1
        assert [closed.number for closed in timed.tick(due)] == [0]


def test_whoever_looks_while_nothing_is_handed_over_does_not_look_all_the_time() -> None:
    timed = toy()
    looks = 0
    while not timed.match.faults:
        look = timed.look_at()
        assert look is not None
        timed.tick(look)
        looks += 1
    assert looks == 2


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
        1.160 opened         -> 0#1
        3.320 tick           -> 0#1 disconnected
        3.320 answer 1#1 1   -> accepted
        3.320 connected 0
        3.320 hand 0#2
        5.000 tick           -> 0#2 timeout
        5.000 answer 1#2 1   -> accepted
        5.000 answer 1#3 1   -> accepted
        """,
    )
    assert timed.result().end_causes == (EndCause.DISCONNECTED, EndCause.NORMAL)


@pytest.mark.parametrize("sees_it", [0.0, 0.25, 0.999, 1.0, 1.7, 5.0])
def test_going_away_at_every_decision_never_gives_more_time(sees_it: float) -> None:
    """Whoever leaves as soon as he is asked and comes back late thinks no longer than who stays."""
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


# -- windows
@pytest.mark.parametrize("stars", ["", "1", "2", "12", "012"])
def test_a_window_lasts_its_floor_whoever_is_really_asked(stars: str) -> None:
    """Seat 0 holds no star but in the last case; whoever is asked answers after 10 ms."""
    timed = toy(seats=3, stars=stars, hold_polls=True)
    timed.opened()
    assert timed.answer(0, 0, PASS, 1.0).kind is OutcomeKind.ACCEPTED
    asked = timed.opened()
    assert [str(decision.seat) for decision in asked] == list(stars)
    for decision in asked:
        assert timed.answer(decision.seat, decision.number, 0, 1.01).kind is OutcomeKind.ACCEPTED
    assert timed.match.held
    assert timed.opened() == []
    assert not timed.over
    assert timed.next_event_at() == 1.025
    assert timed.tick(1.0249) == []
    assert timed.opened() == []
    assert timed.tick(1.025) == []
    (next_one,) = timed.opened()
    assert (next_one.seat, next_one.ask) == (1, "take_one")


def test_a_window_that_is_answered_after_its_floor_closes_at_once() -> None:
    play(
        toy(seats=3, stars="2", hold_polls=True),
        """
        1.000 answer 0#0 1   -> accepted
        1.000 opened         -> 2#0
        1.000 hand 2#0
        1.026 tick           ->
        1.030 answer 2#0 0   -> accepted
        1.030 opened         -> 1#0
        """,
    )


def test_without_a_floor_or_without_holding_a_window_closes_at_once() -> None:
    for timed in (toy(), toy(TimeControl(poll_floor_ms=0), hold_polls=True)):
        play(
            timed,
            """
            1.000 opened         -> 0#0
            1.000 answer 0#0 1   -> accepted
            1.000 opened         -> 1#0
            """,
        )


def test_windows_in_which_only_seats_are_asked_that_are_played_on_last_their_floor_too() -> None:
    play(
        toy(stars="0", hold_polls=True),
        """
        0.000 give-up 0#0    -> accepted
        0.001 give-up 0#1    -> accepted
        0.025 tick           ->
        0.100 answer 1#0 1   -> accepted
        0.100 give-up 0#2    -> accepted
        0.100 next           -> 0.125
        0.125 tick           ->
        0.125 asked          ->
        0.125 next           -> 0.150
        0.150 tick           ->
        0.150 asked          -> 1#1
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
    with pytest.raises(ValueError, match="not for the cause timeout"):
        timed.void(EndCause.TIMEOUT)
    with pytest.raises(WrongDecision, match="goes on: 1 decisions are open"):
        timed.result()


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
