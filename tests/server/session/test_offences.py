"""What a bot may not do, and what it costs: strikes, a slower stream, its end."""

from __future__ import annotations

import pytest

from cutpurse.server.limits import ServerLimits
from cutpurse.server.streams.server_session import ServerSession
from cutpurse.v1 import arena_pb2
from tests.server.session.house import House, told


def test_three_bad_messages_end_the_stream(house: House) -> None:
    peer = house.dial().welcomed()
    peer.link.receive(b"\xff\xff\xff", house.now)
    peer.expect("problem BAD_MESSAGE 2")
    peer.say(received=99)
    peer.say(hello=arena_pb2.Hello())
    assert peer.ended() == ("INVALID_ARGUMENT", "BAD_MESSAGE")
    assert "Hello may come in the first envelope" in peer.link.closed.text  # type: ignore[union-attr]
    assert house.lobby.told == ["enter ann", "changed ann 4", "leave ann"]


def test_nobody_sits_down_who_could_not_come_back(house: House) -> None:
    """Without its Welcome a bot has no secret: a match that began before would be lost with that envelope."""
    peer = house.dial()
    assert peer.session.free_tables == 0
    peer.expect("welcome")
    assert peer.session.free_tables == 0
    peer.say()
    assert peer.session.free_tables == 4
    assert house.lobby.told == ["enter ann", "changed ann 4"]
    back = house.dial(resume=peer.lose())
    assert back.session.free_tables == 4  # whoever has the secret need not show it twice


def test_an_envelope_with_a_wrong_number_changes_nothing(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    peer.answer((1, 1, 0), received=peer.received + 1)
    assert seat.answered == []
    peer.say()
    response = peer.read()
    assert response is not None
    assert told(response) == ["problem BAD_MESSAGE 2"]
    assert response.problems[0].text == ("PlayRequest.received is 4, but 3 was the last envelope sent on this stream")


def test_unknown_fields_are_ignored(house: House) -> None:
    peer = house.dial().welcomed()
    peer.link.receive(b"\xa2\x3f\x03abc", house.now)  # field 1012
    peer.expect()
    assert peer.link.closed is None


def test_refusals_that_nobody_reads_do_not_pile_up() -> None:
    house = House(ServerLimits(most_unread=10))
    peer = house.dial().welcomed()
    peer.answer(*[(7, 1, 0)] * 1_000)
    response = peer.read()
    assert response is not None
    assert told(response) == ["refused 7#1 UNKNOWN_DECISION 0"] * 10 + ["problem BAD_MESSAGE 2"]


def test_a_flood_is_read_more_slowly_and_what_was_asked_for_is_free() -> None:
    house = House(ServerLimits(envelopes_per_second=10, envelopes_at_once=5))
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    house.now += 1.0
    assert [peer.say() for _ in range(5)] == [0.0] * 5
    assert peer.say() == pytest.approx(0.1)
    assert peer.say() == pytest.approx(0.2)
    house.now += 0.35
    assert peer.say() == 0.0
    for _ in range(100):
        seat.ask()
        assert peer.read() is not None
        assert peer.say() == 0.0  # that it has the question
        number = seat.question
        assert peer.say(answers=[arena_pb2.Answer(table=1, decision=number, option=0)]) == 0.0


def test_refused_answers_are_paced_like_envelopes() -> None:
    house = House(ServerLimits(envelopes_per_second=10, envelopes_at_once=20))
    peer = house.dial().welcomed()
    answers = [arena_pb2.Answer(table=9, decision=1, option=0)] * 50
    request = arena_pb2.PlayRequest(answers=answers).SerializeToString()
    assert peer.link.receive(request, house.now) >= 3.0  # fifty of them, twenty at once, ten a second


def test_a_ladder_named_a_thousand_times_is_kept_once(house: House) -> None:
    wanted = [arena_pb2.GameWanted(game="greed", ladders=["greed-fast", "greed"] * 1_000)]
    assert house.dial(games=wanted).session.introduction.wanted == {"greed": ("greed-fast", "greed")}


def test_a_fault_at_the_door_leaves_no_session_that_nobody_can_end(house: House) -> None:
    def breaks(session: ServerSession) -> None:
        raise RuntimeError("the lobby broke")

    house.lobby.changed = breaks  # type: ignore[method-assign]
    hello = arena_pb2.Hello(protocol_major=1, bot="ann")
    with pytest.raises(RuntimeError):
        house.sessions.admit(arena_pb2.PlayRequest(hello=hello, max_tables=1), lambda: None, house.now)
    assert house.sessions.connected == 0
    house.sessions.tick(house.now + 60.0)
    assert len(house.sessions) == 0


def test_who_acknowledges_nothing_is_silent_in_the_end(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    assert peer.link.next_event_at() == house.now + 30.0
    house.now += 29.9
    peer.say(received=0)  # talk alone does not help
    peer.link.tick(house.now)
    assert peer.link.closed is None
    house.now += 0.1
    peer.link.tick(house.now)
    assert peer.ended() == ("UNAVAILABLE", "SILENT")
    assert not seat.is_connected
    assert peer.session.free_tables == 0


def test_who_acknowledges_another_envelope_than_came_is_told_so_when_the_stream_ends(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    peer.say(received=9)  # a problem that cannot be told: it waits for the next envelope
    house.now += 30.0
    peer.link.tick(house.now)
    assert peer.ended() == ("UNAVAILABLE", "SILENT")
    assert peer.link.closed.text == (  # type: ignore[union-attr]
        "envelope 3 was not acknowledged for 30 s; before that: "
        "PlayRequest.received is 9, but 3 was the last envelope sent on this stream"
    )


def test_who_acknowledges_what_the_stream_has_not_taken_is_silent_as_well(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    assert peer.link.next_envelope(house.now) is not None
    peer.say(received=3)  # by guess: the write hangs, as nobody reads
    assert peer.link.next_event_at() == house.now + 30.0
    house.now += 30.0
    peer.link.tick(house.now)
    assert peer.ended() == ("UNAVAILABLE", "SILENT")
    assert peer.link.closed.text == "envelope 3 was not read for 30 s"  # type: ignore[union-attr]


def test_a_stall_of_the_server_is_no_silence_of_the_bot(house: House) -> None:
    peer = house.dial().welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    house.now += 40.0
    house.sessions.credit(40.0)
    peer.link.tick(house.now)
    assert peer.link.closed is None
    assert peer.link.next_event_at() == house.now + 30.0
    peer.say()
    assert peer.link.next_event_at() == house.now - 25.0  # the bot waits for a heartbeat all the same
    peer.link.tick(house.now)
    peer.expect("heartbeat")
    house.now += 30.0  # what was credited to one envelope is not to the next
    peer.link.tick(house.now)
    assert peer.ended() == ("UNAVAILABLE", "SILENT")
