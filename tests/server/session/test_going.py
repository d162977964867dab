"""Leaving and draining; and whatever is sent, a stream says so or goes on."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from cutpurse.server.limits import ServerLimits
from cutpurse.v1 import arena_pb2
from tests.server.session.house import House, told


def test_a_bot_that_leaves_plays_to_the_end_and_is_let_go(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    peer.say(leaving=True)
    assert peer.session.free_tables == 0
    seat.ask()
    peer.expect("ask 1#1")
    peer.answer((1, 1, 0))
    seat.end()
    peer.expect("accepted 1", "end 1")
    assert peer.link.closed is None
    peer.say()
    assert peer.ended() == ("OK", "")
    house.sessions.lost(peer.link, house.now)
    assert len(house.sessions) == 0


def test_a_drain_is_told_and_ends_streams_as_their_tables_end(house: House) -> None:
    idle, busy = house.dial("idle").welcomed(), house.dial("busy").welcomed()
    (seat,) = busy.tables(1)
    house.sessions.drain(house.now + 60.0, house.now)
    response = idle.read()
    assert response is not None
    assert told(response) == ["drain"]
    assert response.drain.time_left_ms == 60_000
    assert 500 <= response.drain.reconnect_after_ms < 3_000
    idle.say()
    assert idle.ended() == ("UNAVAILABLE", "DRAINING")
    assert idle.link.closed.retry_s == response.drain.reconnect_after_ms / 1_000  # type: ignore[union-attr]
    busy.expect("drain")
    busy.say()
    assert house.refusal(bot="late").reason == "DRAINING"
    house.now += 20.0
    back = house.dial("busy", resume=busy.lose())  # who has a table may come back to it
    response = back.read()
    assert response is not None
    assert told(response) == ["welcome", "start 1", "drain"]
    assert response.drain.time_left_ms == 40_000
    back.say()
    seat.end()
    back.expect("end 1")
    back.say()
    assert back.ended() == ("UNAVAILABLE", "DRAINING")


def test_at_the_end_every_stream_is_ended(house: House) -> None:
    peers = [house.dial(name).welcomed() for name in ("ann", "bob")]
    house.sessions.close(house.now)
    assert [peer.ended() for peer in peers] == [("UNAVAILABLE", "DRAINING")] * 2
    assert house.sessions.connected == 0


def test_trouble_is_told_once_for_each_envelope(house: House) -> None:
    peer = house.dial().welcomed()
    for _ in range(3):
        peer.session.tell("STORAGE", "results cannot be stored; no match is started until they can")
    peer.expect("problem STORAGE 0")
    house.sessions.lost(peer.link, house.now)
    peer.session.tell("STORAGE", "nobody is there to be told")


def test_whatever_a_bot_sends_the_stream_says_so_or_goes_on() -> None:
    """Garbage made of every kind of field never raises."""
    house = House(ServerLimits(strikes=1_000_000))
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    pieces: Sequence[Message | bytes] = [
        b"",
        b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x1a\x02\x08",
        arena_pb2.PlayRequest(answers=[arena_pb2.Answer(table=2**32 - 1, decision=2**32 - 1, option=2**32 - 1)]),
        arena_pb2.PlayRequest(answers=[arena_pb2.Answer(table=1, decision=1, option=2**32 - 1)]),
        arena_pb2.PlayRequest(give_ups=[arena_pb2.GiveUp(table=0, decision=0, reason="\x00")]),
        arena_pb2.PlayRequest(max_tables=2**32 - 1),
    ]
    for piece in pieces:
        peer.link.receive(piece if isinstance(piece, bytes) else piece.SerializeToString(), house.now)
    assert peer.link.closed is None
    assert seat.is_open


_FIELDS = st.integers(0, 2**32 - 1) | st.integers(0, 4)
_ANSWER = st.builds(arena_pb2.Answer, table=_FIELDS, decision=_FIELDS, option=st.none() | _FIELDS)
_GIVE_UP = st.builds(arena_pb2.GiveUp, table=_FIELDS, decision=_FIELDS, reason=st.text(max_size=300))
_ENVELOPE = st.builds(
    arena_pb2.PlayRequest,
    received=_FIELDS,
    answers=st.lists(_ANSWER, max_size=5),
    give_ups=st.lists(_GIVE_UP, max_size=2),
    max_tables=st.none() | _FIELDS,
    hello=st.none() | st.just(arena_pb2.Hello(protocol_major=1, bot="ann")),
).map(lambda request: request.SerializeToString())


@given(st.lists(st.binary(max_size=40) | _ENVELOPE, max_size=30))
@settings(max_examples=200, deadline=None)
def test_no_envelope_raises_or_is_answered_with_what_is_no_message(envelopes: list[bytes]) -> None:
    house = House(ServerLimits(strikes=10))
    peer = house.dial().welcomed()
    seats = peer.tables(3)
    for envelope in envelopes:
        for seat in seats:
            if not seat.is_open:
                seat.ask()
        house.now += 0.01
        peer.link.receive(envelope, house.now)
        response = peer.read()
        if response is not None:
            texts = [one.text for one in response.refusals] + [one.text for one in response.problems]
            assert all(text.isprintable() for text in texts)
    handed_over = [len(seat.handed_over) for seat in seats]
    assert all(sent <= seat.question for sent, seat in zip(handed_over, seats, strict=True))
    assert (peer.link.closed is None) == peer.session.is_connected
