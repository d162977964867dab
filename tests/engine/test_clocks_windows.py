"""Windows: how long they last, whoever is asked in them."""

from __future__ import annotations

import pytest

from cutpurse.engine.clocks import OutcomeKind, TimeControl
from tests.engine.timed import PASS, toy
from tests.engine.transcript import play


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
