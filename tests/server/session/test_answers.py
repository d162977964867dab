"""Answers, which are accepted or refused by name, and the tables that they free."""

from __future__ import annotations

import pytest

from cutpurse.server.streams.link import Link
from cutpurse.v1 import arena_pb2
from tests.server.session.house import House, told
from tests.server.toys import OPTIONS, SECRET, ToySeat


def test_every_answer_is_accepted_or_refused_by_name(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    peer.answer((1, 1, None))
    peer.expect("refused 1#1 ILLEGAL 2")
    peer.answer((1, 1, OPTIONS))
    peer.expect("refused 1#1 ILLEGAL 1")
    peer.answer((1, 1, 1), (1, 1, 2), (1, 2, 0), (1, 0, 0), (2, 1, 0))
    peer.expect(
        "accepted 1",
        "refused 1#1 ALREADY_DECIDED 0",
        "refused 1#2 UNKNOWN_DECISION 0",
        "refused 1#0 UNKNOWN_DECISION 0",
        "refused 2#1 UNKNOWN_DECISION 0",
    )
    assert [(decision, option) for decision, option, _ in seat.answered] == [
        (0, None),
        (0, 3),
        (0, 1),
        (0, 2),
        (1, 0),
        (-1, 0),
    ]


def test_tables_go_on_once_all_answers_of_an_envelope_are_taken_even_if_that_breaks(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = house.dial().welcomed()
    one, two, three = peer.tables(3)
    for seat in (one, two, three):
        seat.ask()
    peer.expect("ask 1#1", "ask 2#1", "ask 3#1")
    peer.answer((1, 1, 0))
    assert (one.went_on, two.went_on, three.went_on) == (1, 0, 0)

    def broken(*_: object) -> bool:
        assert (two.answered[0][1], two.went_on) == (1, 0), "its answer was taken, and the rest comes first"
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(Link, "_refuse", broken)
    with pytest.raises(RuntimeError):
        peer.answer((2, 1, 1), (7, 1, 0), (3, 1, 0))
    assert (one.went_on, two.went_on, three.went_on) == (1, 1, 0)


def test_a_refusal_tells_how_many_options_there_were_and_nothing_else(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    peer.answer((1, 1, 9))
    response = peer.read()
    assert response is not None
    (refusal,) = response.refusals
    assert refusal.options_count == OPTIONS
    assert refusal.text == "table 1, decision 1: answer with an option from 0 to 2; 2 more may be tried"
    peer.answer((1, 1, 9), (1, 1, 9))
    response = peer.read()
    assert response is not None
    assert [one.text for one in response.refusals] == [
        "table 1, decision 1: answer with an option from 0 to 2; 1 more may be tried",
        "table 1, decision 1: options were 0 to 2; the safe option was taken",
    ]
    assert SECRET not in str(response)


def test_giving_up_is_accepted_and_its_reason_cut_and_made_legible(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    reason = "Key\nError \x1b[31m" + "x" * 300
    peer.say(give_ups=[arena_pb2.GiveUp(table=1, decision=1, reason=reason)])
    assert seat.given_up == [("Key?Error ?[31m" + "x" * 300)[:200]]
    peer.say(give_ups=[arena_pb2.GiveUp(table=1, decision=1), arena_pb2.GiveUp(table=9, decision=1)])
    peer.expect("accepted 1", "refused 1#1 UNKNOWN_DECISION 0", "refused 9#1 UNKNOWN_DECISION 0")


def test_a_match_that_is_over_frees_its_table_and_answers_to_it_are_stale(house: House) -> None:
    peer = house.dial(max_tables=1).welcomed()
    (seat,) = peer.tables(1)
    assert peer.session.free_tables == 0
    seat.end()
    assert peer.session.free_tables == 0
    peer.expect("end 1")
    assert peer.session.free_tables == 1
    assert house.lobby.told[-1] == "changed ann 1"
    peer.answer((1, 1, 0))  # acknowledges the end, too
    peer.answer((1, 1, 0))
    peer.expect("refused 1#1 STALE 0", "refused 1#1 STALE 0")
    assert peer.session.places == {}
    assert ToySeat(peer.session).sit().number == 2


def test_a_match_that_broke_down_is_told_with_its_number(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.incident = "00c0ffee"
    seat.end()
    response = peer.read()
    assert response is not None
    assert told(response) == ["end 1", "problem INCIDENT 0"]
    assert (response.problems[0].table, response.problems[0].text) == (
        1,
        "the server made a fault, number 00c0ffee; its log says more",
    )


def test_the_number_of_tables_can_be_changed_at_any_time(house: House) -> None:
    peer = house.dial().welcomed()
    peer.say(max_tables=9)
    peer.say(max_tables=9)
    peer.say(max_tables=4_000_000_000)
    peer.say(max_tables=0)
    assert house.lobby.told == ["enter ann", "changed ann 4", "changed ann 9", "changed ann 64", "changed ann 0"]
