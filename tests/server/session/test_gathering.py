"""What goes into one envelope, and what waits for an acknowledgement."""

from __future__ import annotations

import pytest

from cutpurse.server.limits import ServerLimits
from cutpurse.v1 import arena_pb2
from tests.server.session.house import House
from tests.server.toys import ToySeat


def test_a_lone_decision_goes_at_once(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    peer.expect()
    wakes = peer.wakes
    seat.ask()
    assert peer.wakes == wakes + 1
    peer.expect("ask 1#1")
    assert seat.handed_over == [house.now]


def test_nobody_is_woken_for_what_must_wait_for_an_acknowledgement(house: House) -> None:
    peer = house.dial().welcomed()
    seats = peer.tables(3)
    seats[0].ask()
    peer.expect("ask 1#1")
    wakes = peer.wakes
    seats[1].ask()
    seats[2].ask()
    assert peer.wakes == wakes
    peer.say()
    assert peer.wakes > wakes
    peer.expect("ask 2#1", "ask 3#1")


def test_what_is_ready_at_once_goes_in_one_envelope(house: House) -> None:
    peer = house.dial().welcomed()
    seats = peer.tables(4)
    for seat in (seats[2], seats[0], seats[3]):
        seat.ask()
    peer.expect("ask 3#1", "ask 1#1", "ask 4#1")


def test_a_start_and_its_first_decision_go_together(house: House) -> None:
    peer = house.dial().welcomed()
    ToySeat(peer.session, asks_itself=True).sit()
    peer.expect("start 1", "ask 1#1")


def test_nothing_goes_while_an_envelope_is_unacknowledged_and_then_all_that_gathered(house: House) -> None:
    peer = house.dial().welcomed()
    first, second, third = peer.tables(3)
    first.ask()
    peer.expect("ask 1#1")
    second.ask()
    house.now += 0.5
    third.ask()
    peer.expect()
    house.now += 0.2
    peer.say()
    peer.expect("ask 2#1", "ask 3#1")
    # It is handed over when it is sent, not when it was put.
    assert second.handed_over == third.handed_over == [100.7]


def test_an_old_acknowledgement_is_none(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    peer.answer((1, 1, 0), received=peer.received - 1)
    seat.ask()
    peer.expect()
    peer.say()
    peer.expect("accepted 1", "ask 1#2")


def test_accepted_answers_go_with_the_next_decision_or_after_a_while_alone(house: House) -> None:
    peer = house.dial().welcomed()
    first, second = peer.tables(2)
    first.ask()
    second.ask()
    peer.expect("ask 1#1", "ask 2#1")
    peer.answer((1, 1, 0))
    peer.expect()
    first.ask()
    peer.expect("accepted 1", "ask 1#2")
    peer.answer((2, 1, 2))
    assert peer.link.next_event_at() == pytest.approx(house.now + 0.25)
    house.now += 0.25
    peer.expect("accepted 2")


@pytest.mark.parametrize("gives_up", [False, True])
def test_what_is_accepted_waits_for_a_while_from_the_first_of_it(house: House, gives_up: bool) -> None:
    peer = house.dial().welcomed()
    first, second = peer.tables(2)
    first.ask()
    second.ask()
    peer.expect("ask 1#1", "ask 2#1")
    house.now += 5.0
    for table in (1, 2):
        if gives_up:
            peer.say(give_ups=[arena_pb2.GiveUp(table=table, decision=1)])
        else:
            peer.answer((table, 1, 0))
        assert peer.link.next_event_at() == pytest.approx(105.25)
        house.now += 0.1
    peer.expect()
    house.now = 105.25
    peer.expect("accepted 1", "accepted 2")


def test_a_decision_that_was_decided_before_it_was_sent_is_not_sent(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    seat.is_open = False  # as when its time is over
    peer.expect()


def test_a_very_full_envelope_leaves_the_rest_for_the_next() -> None:
    house = House(ServerLimits(envelope_bytes=1_000))
    peer = house.dial(max_tables=5).welcomed()
    for _ in range(5):
        ToySeat(peer.session, asks_itself=True, size=400).sit()
    peer.expect("start 1", "start 2", "start 3", "ask 1#1", "ask 2#1", "ask 3#1")
    peer.say()
    peer.expect("start 4", "start 5", "ask 4#1", "ask 5#1")
    peer.say()
    peer.expect()


def test_a_heartbeat_goes_when_nothing_else_did(house: House) -> None:
    peer = house.dial().welcomed()
    assert peer.link.next_event_at() == house.now + 15.0
    house.now += 14.9
    peer.expect()
    house.now += 0.1
    peer.expect("heartbeat")
    peer.say()
    peer.expect()
