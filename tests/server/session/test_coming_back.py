"""A session that lost its stream goes on with the next, for whoever has its secret."""

from __future__ import annotations

import pytest

from cutpurse.server.streams.session_stages import SessionStage
from cutpurse.v1 import arena_pb2
from tests.server.session.house import House, told
from tests.server.toys import ToySeat


def test_a_stall_of_the_server_gives_nobody_up(house: House) -> None:
    resume = house.dial().welcomed().lose()
    house.now += 40.0
    house.sessions.credit(40.0)
    house.sessions.tick(house.now)
    house.now += 30.0
    again = house.dial(resume=resume)
    response = again.read()
    assert response is not None
    assert response.welcome.resumed
    resume = again.lose()
    house.now += 30.1
    assert house.refusal(resume=resume).reason == "RESUME_EXPIRED"


def test_a_session_goes_on_with_everything_that_was_open(house: House) -> None:
    peer = house.dial().welcomed()
    asked, quiet, over, gone = peer.tables(4)
    asked.ask()
    gone.end()
    peer.expect("ask 1#1", "end 4")
    peer.say()
    resume = peer.lose()
    assert house.lobby.told[-1] == "leave ann"
    assert [seat.is_connected for seat in (asked, quiet, over)] == [False] * 3
    over.end()
    house.now += 30.0
    back = house.dial(resume=resume)
    assert back.session is peer.session
    assert all(seat.is_connected for seat in (asked, quiet, over))
    response = back.read()
    assert response is not None
    assert response.welcome.resumed
    assert told(response) == ["welcome", "start 1", "start 2", "start 3", "ask 1#1", "end 3"]
    back.say()
    back.expect()
    assert list(back.session.places) == [1, 2]


def test_an_end_that_was_not_acknowledged_is_told_again(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.end()
    peer.expect("end 1")
    back = house.dial(resume=peer.lose())
    back.expect("welcome", "start 1", "end 1")
    back.say()
    assert back.session.places == {}
    assert back.session.free_tables == 4


def test_an_answer_that_crossed_counts_once(house: House) -> None:
    peer = house.dial().welcomed()
    first, second = peer.tables(2)
    first.ask()
    second.ask()
    peer.expect("ask 1#1", "ask 2#1")
    peer.answer((1, 1, 2))  # arrives; that it was accepted is never read
    resume = peer.lose()
    back = house.dial(resume=resume)
    back.expect("welcome", "start 1", "start 2", "ask 2#1")
    back.answer((1, 1, 2), (2, 1, 0))
    back.expect("accepted 2", "refused 1#1 ALREADY_DECIDED 0")


def test_answers_may_come_with_the_hello_of_a_resume(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    hello = arena_pb2.Hello(protocol_major=1, bot="ann", resume=peer.lose())
    request = arena_pb2.PlayRequest(hello=hello, answers=[arena_pb2.Answer(table=1, decision=1, option=1)])
    link = house.sessions.admit(request, lambda: None, house.now)
    assert seat.answered == [(0, 1, house.now)]
    envelope = link.next_envelope(house.now)
    assert envelope is not None
    assert told(arena_pb2.PlayResponse.FromString(envelope)) == ["welcome", "accepted 1", "start 1"]


def test_after_the_window_a_session_is_gone_and_its_tables_go_on(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    resume = peer.lose()
    house.now += 30.1
    refusal = house.refusal(resume=resume)
    assert refusal.reason == "RESUME_EXPIRED"
    house.sessions.tick(house.now)
    assert len(house.sessions) == 0
    assert peer.session.stage is SessionStage.FORGOTTEN
    seat.ask()
    seat.end()  # nobody is told, and nothing is kept
    assert peer.session.places == peer.session.ready_places == {}


@pytest.mark.parametrize("secret", [b"", b"x" * 32, bytes(32)])
def test_a_wrong_secret_takes_nothing_over(house: House, secret: bytes) -> None:
    peer = house.dial().welcomed()
    refusal = house.refusal(resume=arena_pb2.Resume(session=peer.session.id, secret=secret))
    unknown = house.refusal(resume=arena_pb2.Resume(session="0" * 32, secret=secret))
    assert refusal == unknown
    assert refusal.reason == "RESUME_EXPIRED"
    assert peer.link.closed is None


def test_a_session_is_resumed_by_its_own_bot_only(house: House) -> None:
    peer = house.dial().welcomed()
    assert house.refusal(bot="bob", resume=peer.lose()).reason == "HELLO"


def test_a_newer_stream_with_the_secret_takes_the_session(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    back = house.dial(resume=arena_pb2.Resume(session=peer.session.id, secret=peer.session.secret))
    assert peer.ended() == ("UNAVAILABLE", "")  # whoever it was has the secret, so it may come back
    peer.answer((1, 1, 0))  # the older stream decides nothing any more
    assert seat.answered == []
    house.sessions.lost(peer.link, house.now)
    assert back.session.is_connected
    assert seat.is_connected
    back.expect("welcome", "start 1", "ask 1#1")


def test_a_newer_hello_of_the_same_bot_takes_over_and_the_older_cannot_come_back(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    other = house.dial(version="2").welcomed()
    newer = house.dial()
    assert peer.ended() == ("ABORTED", "SUPERSEDED")
    assert other.link.closed is None
    assert newer.session is not peer.session
    assert not seat.is_connected
    assert len(house.sessions) == 2
    assert house.refusal(resume=peer.lose()).reason == "RESUME_EXPIRED"
    assert newer.link.closed is None


def test_a_hello_that_resumes_nothing_begins_anew_though_the_older_stream_was_lost(house: House) -> None:
    peer = house.dial().welcomed()
    peer.tables(1)
    resume = peer.lose()
    newer = house.dial().welcomed()
    newer.expect()  # nothing of the older session
    assert peer.session.stage is SessionStage.FORGOTTEN
    assert len(house.sessions) == 1
    assert house.refusal(resume=resume).reason == "RESUME_EXPIRED"


def test_ends_that_are_never_acknowledged_do_not_pile_up_however_often_the_bot_resumes(house: House) -> None:
    peer = house.dial(max_tables=3).welcomed()
    for _ in range(5):
        seats = [ToySeat(peer.session).sit() for _ in range(peer.session.free_tables)]
        peer.read()  # and never says so
        for seat in seats:
            seat.end()
        peer = house.dial(max_tables=3, resume=peer.lose())
        peer.read()  # all that ended
        house.sessions.tick(house.now)
        house.now += 1.0
    assert len(peer.session.places) == 6
    assert peer.session.free_tables == 0
    told = len(house.lobby.told)
    peer.say()
    assert peer.session.free_tables == 3
    assert house.lobby.told[told:] == ["changed ann 3"]
