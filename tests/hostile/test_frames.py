"""Frames that no client should send, too many of them, or none at all."""

from __future__ import annotations

from random import Random

import pytest

from cutpurse.v1 import arena_pb2
from tests.hostile import frames
from tests.hostile.arena import Harmed
from tests.hostile.conftest import Attack
from tests.hostile.frames import call, frame, headers_of, message, request, settings
from tests.hostile.peer import Peer

HELLO = arena_pb2.PlayRequest(hello=arena_pb2.Hello(protocol_major=1, bot="cut", max_tables=1))
SPOKEN = (  # a conversation's beginning, byte for byte
    frames.PREFACE
    + settings((3, 100), (4, 65_535))
    + frame(frames.WINDOW_UPDATE, 0, 0, (1 << 20).to_bytes(4))
    + request(1, call())
    + frame(frames.DATA, 0, 1, message(HELLO.SerializeToString()))
    + frame(frames.DATA, 0, 1, message(arena_pb2.PlayRequest(received=1).SerializeToString()))
    + frame(frames.PING, 0, 0, b"12345678")
)
OPEN_CALL = request(1, call())
STRAY = {
    "data without a call": frame(frames.DATA, 0, 1, message(b"")),
    "data on stream 0": frame(frames.DATA, 0, 0, b"x"),
    "headers on stream 0": request(0, call()),
    "headers on an even stream": request(2, call()),
    "streams that go back": request(5, call()) + request(3, call()),
    "a call opened twice": OPEN_CALL + OPEN_CALL,
    "continuation of nothing": frame(frames.CONTINUATION, frames.END_HEADERS, 1, headers_of(call())),
    "a frame between headers and continuation": request(1, call(), flags=0) + frame(frames.PING, 0, 0, b"12345678"),
    "a promise": frame(frames.PUSH_PROMISE, frames.END_HEADERS, 1, (2).to_bytes(4) + headers_of(call())),
    "a reset of nothing": frame(frames.RST_STREAM, 0, 7, (8).to_bytes(4)),
    "a short reset": OPEN_CALL + frame(frames.RST_STREAM, 0, 1, b"\x00"),
    "a short ping": frame(frames.PING, 0, 0, b"\x00"),
    "a ping of a stream": OPEN_CALL + frame(frames.PING, 0, 1, b"12345678"),
    "settings of a stream": frame(frames.SETTINGS, 0, 1),
    "settings of five bytes": frame(frames.SETTINGS, 0, 0, b"12345"),
    "settings no one asked for, acknowledged": frame(frames.SETTINGS, frames.ACK) * 9,
    "acknowledged settings with a payload": frame(frames.SETTINGS, frames.ACK, 0, b"123456"),
    "a window beyond all bounds": settings((4, 0xFFFFFFFF)),
    "a frame size beyond all bounds": settings((5, 0xFFFFFFFF)),
    "a frame size of nothing": settings((5, 0)),
    "an enormous table": settings((1, 0xFFFFFFFF)),
    "settings nobody knows": settings(*((name, 0xFFFFFFFF) for name in range(0x0A, 0xF0))),
    "an increment of nothing": frame(frames.WINDOW_UPDATE, 0, 0, bytes(4)),
    "increments beyond all bounds": frame(frames.WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff") * 3,
    "a frame that is longer than allowed": frame(frames.DATA, 0, 1, b"x" * 70_000),
    "a frame that is longer than what follows": b"\xff\xff\xff" + frame(frames.DATA, 0, 1)[3:],
    "frames nobody knows": b"".join(frame(kind, 0xFF, 1, b"?" * 50) for kind in range(10, 255)),
    "a stream that depends on itself": OPEN_CALL + frame(frames.PRIORITY, 0, 1, (1).to_bytes(4) + b"\x00"),
    "padding longer than the frame": OPEN_CALL + frame(frames.DATA, 0x8, 1, b"\xff"),
    "headers padded to nothing": frame(frames.HEADERS, 0xC, 1, b"\xff"),
    "an index into no table": frame(frames.HEADERS, frames.END_HEADERS, 1, b"\xff\xff\xff\xff\x0f"),
    "index nought": frame(frames.HEADERS, frames.END_HEADERS, 1, b"\x80"),
    "a table made larger than allowed": frame(frames.HEADERS, frames.END_HEADERS, 1, b"\x3f\xff\xff\xff\x7f"),
    "a string longer than its block": frame(frames.HEADERS, frames.END_HEADERS, 1, b"\x00\x7f\xff\xff\x7fx"),
    "Huffman's code, broken": frame(frames.HEADERS, frames.END_HEADERS, 1, b"\x00\x85\xff\xff\xff\xff\xff\x01x"),
    "goodbye at once": frame(frames.GOAWAY, 0, 0, bytes(8)),
    "goodbye in many words": frame(frames.GOAWAY, 0, 0, b"\x7f" + b"\xff" * 7 + b"words" * 3_000) * 9,
    "HTTP/1.1": b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "TLS": bytes.fromhex("16030100a5010000a10303") + bytes(154),
}


def test_frames_out_of_place(arena: Attack) -> None:
    for name, stray in STRAY.items():
        for before in (b"", OPEN_CALL):
            peer = arena.connect(handbook=name not in ("HTTP/1.1", "TLS"))
            peer.send(before + stray)
            assert peer.listen(0.01) or peer.is_closed, name
        arena.on.welcome_s()


@pytest.mark.parametrize("name", ["a short ping", "data on stream 0", "HTTP/1.1", "settings of five bytes"])
def test_what_breaks_the_protocol_ends_its_connection(arena: Attack, name: str) -> None:
    peer = arena.connect(handbook=name != "HTTP/1.1")
    peer.send(STRAY[name])
    assert peer.hangs_up()


def test_a_conversation_cut_off_at_every_byte(arena: Attack) -> None:
    for end in range(len(SPOKEN)):
        peer = arena.connect(handbook=False)
        peer.send(SPOKEN[:end])
        peer.close()


def test_a_conversation_with_bytes_changed(arena: Attack) -> None:
    random = Random(1)
    for number in range(800):
        spoken = bytearray(SPOKEN)
        for _ in range(random.choice((1, 1, 2, 8))):
            spoken[random.randrange(24 if number % 8 else 0, len(spoken))] = random.randrange(256)
        peer = arena.connect(handbook=False)
        peer.send(bytes(spoken))
        if number % 4:
            peer.listen(0.0005)
        peer.close()


def test_who_connects_and_says_nothing_is_hung_up_on(arena: Attack) -> None:
    silent = [arena.connect(handbook=False) for _ in range(500)]
    arena.on.welcome_s()
    assert all(peer.hangs_up() for peer in silent)


def test_who_says_the_preface_and_no_more_is_hung_up_on(arena: Attack) -> None:
    idle = [arena.connect() for _ in range(200)]
    arena.on.welcome_s()
    assert all(peer.hangs_up() for peer in idle)


def test_who_begins_a_byte_at_a_time_is_hung_up_on(arena: Attack) -> None:
    peer = arena.connect(handbook=False)
    for sign in SPOKEN:
        if not (peer.send(bytes([sign])) and peer.listen(0.1)):
            break
    assert peer.hangs_up()


def test_a_flood_of_pings_is_cut_off(arena: Attack) -> None:
    peer = arena.connect()
    for _ in range(100):
        if not (peer.send(frame(frames.PING, 0, 0, b"flooding")) and peer.listen(0.02)):
            break
    assert peer.hangs_up()
    assert b"too_many_pings" in peer.received
    flood = arena.connect()
    for _ in range(100):
        if not flood.send(frame(frames.PING, 0, 0, b"flooding") * 200):
            break
    assert flood.hangs_up()


@pytest.mark.parametrize(
    "flood",
    [
        settings((4, 65_535)),
        frame(frames.PRIORITY, 0, 3, bytes(5)),
        frame(frames.WINDOW_UPDATE, 0, 0, bytes(3) + b"\x01"),
    ],
    ids=["settings", "priorities", "increments"],
)
def test_a_flood_of_small_frames_by_who_never_reads(arena: Attack, flood: bytes) -> None:
    peers = [arena.connect() for _ in range(4)]
    for _ in range(20):
        for peer in peers:
            peer.send(flood * 1_000)
        arena.on.welcome_s()
    peak = arena.on.status()["peak_kib"]
    assert peak < arena.before.status["rss_kib"] + 16 * 1024


@pytest.mark.parametrize("pairs", [[("x", "y")] * 1_000, [("x-more", "y" * 8_000)], []], ids=["many", "large", "empty"])
def test_headers_that_never_end(arena: Attack, pairs: list[tuple[str, str]]) -> None:
    peer = arena.connect()
    peer.acknowledge()
    peer.send(frame(frames.HEADERS, 0, 1, headers_of(call())))
    for _ in range(400):
        if not peer.send(frame(frames.CONTINUATION, 0, 1, headers_of(pairs))):
            break
    assert arena.on.status()["peak_kib"] < arena.before.status["rss_kib"] + 16 * 1024


def test_headers_that_never_end_by_who_acknowledges_no_settings(arena: Attack) -> None:
    """Limits of gRPC for headers hold once its settings are acknowledged; who does not is hung up on."""
    peer = arena.connect()
    peer.send(frame(frames.HEADERS, 0, 1, headers_of(call())))
    small = frame(frames.CONTINUATION, 0, 1, headers_of([("x", "y")] * 1_000))
    for _ in range(60):
        if not (peer.send(small) and peer.listen(0.05)):
            break
    assert peer.hangs_up()


def test_calls_opened_and_reset_at_once(arena: Attack) -> None:
    """Rapid reset, 20,000 times on one connection: what is started is bounded by the streams of a connection."""
    peer = arena.connect()
    reset = (8).to_bytes(4)
    for first in range(1, 40_000, 400):
        calls = range(first, first + 400, 2)
        burst = [request(stream, call()) + frame(frames.RST_STREAM, 0, stream, reset) for stream in calls]
        if not peer.send(b"".join(burst)):
            break
    after = arena.on.unharmed(arena.before)
    assert after["peak_kib"] < arena.before.status["rss_kib"] + 16 * 1024


def test_a_thousand_calls_on_one_connection(arena: Attack) -> None:
    peer = arena.connect()
    peer.send(b"".join(request(stream, call()) for stream in range(1, 2_001, 2)))
    assert arena.on.status()["streams"] - arena.before.status["streams"] <= 16
    arena.on.welcome_s()


def test_a_thousand_calls_on_many_connections_that_never_say_hello(arena: Attack) -> None:
    for _ in range(64):
        arena.connect().send(b"".join(request(stream, call()) for stream in range(1, 33, 2)))
    arena.on.welcome_s()
    arena.on.settle({**arena.before.status, "fds": 400, "tasks": arena.before.status["tasks"] + 3})


def test_who_answers_no_ping_is_given_up(arena: Attack) -> None:
    """A peer that is gone without a word: its connection is there, and nothing comes any more."""
    callers = [arena.call() for _ in range(8)]
    for number, caller in enumerate(callers):
        caller.hello(f"half_open_{number}")
    arena.on.settle({**arena.before.status, "sessions": 100, "tasks": arena.before.status["tasks"] + 3})


def test_a_window_of_nothing(arena: Attack) -> None:
    """The arena may not send a byte of an envelope: its write hangs, and nobody waits for it."""
    callers = [arena.call((4, 0)) for _ in range(8)]
    for number, caller in enumerate(callers):
        caller.hello(f"no_window_{number}")
        assert caller.next(0.05) is None
    arena.on.honest(arena.before.decisions + 40)
    assert all(caller.envelopes(0.01) == [] for caller in callers)


def test_three_thousand_connections_one_after_another(arena: Attack) -> None:
    for number in range(3_000):
        with Peer(arena.address, handbook=bool(number % 3)) as peer:
            if number % 3 == 2:
                peer.send(OPEN_CALL)


def test_the_check_itself_finds_harm(arena: Attack) -> None:
    """What is still held is found: or else all these tests would prove nothing."""
    arena.bot("lingerer")
    with pytest.raises(Harmed, match="not back"):
        arena.on.settle({**arena.before.status}, within_s=0.1)
