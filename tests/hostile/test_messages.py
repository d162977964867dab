"""Messages that are too long, cut short, compressed, nested without end, or full of what nobody asked for."""

from __future__ import annotations

import gzip
import time
from random import Random
from typing import Any

from cutpurse.v1 import arena_pb2, game_pb2
from tests.hostile import frames
from tests.hostile.conftest import Attack
from tests.hostile.frames import call, frame, message, request
from tests.hostile.peer import PATIENCE_S

MOST_BYTES = 65_536
UNKNOWN = arena_pb2.PlayRequest(answers=[arena_pb2.Answer(table=9_999, decision=1, option=0)] * 1_000)


def filled(size: int) -> bytes:
    """An envelope of this size that says nothing: field 1012, of a later version."""
    left = size - 5
    body = b"\xa2\x3f" + bytes([left & 0x7F | 0x80, left >> 7 & 0x7F | 0x80, left >> 14]) + bytes(left)
    assert len(body) == size
    return body


def test_the_longest_envelope_is_taken_and_one_byte_more_is_not(arena: Attack) -> None:
    bot = arena.bot("long_winded")
    for start in range(0, MOST_BYTES + 5, 16_384):
        bot.send(frame(frames.DATA, 0, 1, message(filled(MOST_BYTES))[start : start + 16_384]))
    bot.say(arena_pb2.PlayRequest(answers=[arena_pb2.Answer(table=77, decision=1, option=0)]))
    taken = bot.next()
    assert taken is not None
    assert [refusal.table for refusal in taken.refusals] == [77]
    for start in range(0, MOST_BYTES + 6, 16_384):
        bot.send(frame(frames.DATA, 0, 1, message(filled(MOST_BYTES + 1))[start : start + 16_384]))
    assert "larger than max" in bot.ends()


def test_lengths_that_lie(arena: Attack) -> None:
    for size, body in ((0xFFFFFFFF, b"short"), (MOST_BYTES, b""), (1, b"much too long"), (0, b"\x00" * 5_000)):
        for end in (0, frames.END_STREAM):
            peer = arena.connect()
            peer.send(request(1, call()) + frame(frames.DATA, end, 1, message(body, size=size)))
            peer.listen(0.01)


def test_a_message_that_comes_a_byte_at_a_time(arena: Attack) -> None:
    """The Hello is not whole in time."""
    caller = arena.call()
    hello = message(arena_pb2.PlayRequest(hello=arena_pb2.Hello(protocol_major=1, bot="drip" * 8)).SerializeToString())
    for sign in hello:
        caller.send(frame(frames.DATA, 0, 1, bytes([sign])))
        caller.envelopes(0.05)
        if caller.ended is not None:
            break
    assert "no Hello came within" in (caller.ended or "")


def test_compressed_messages_are_refused_and_a_bomb_costs_no_memory(arena: Attack) -> None:
    bomb = gzip.compress(bytes(48 << 20), 9)
    assert len(bomb) < MOST_BYTES
    for encoding in ("gzip", "deflate", "identity", "br"):
        for compressed in (1, 2, 255):
            peer = arena.connect()
            peer.acknowledge()
            peer.send(request(1, call(more=[("grpc-encoding", encoding)])))
            whole = message(bomb, compressed)
            for start in range(0, len(whole), 16_384):
                peer.send(frame(frames.DATA, 0, 1, whole[start : start + 16_384]))
            assert peer.await_frame(frames.HEADERS, 1) is not None
            peer.close()
    assert arena.on.status()["peak_kib"] < arena.before.status["rss_kib"] + 16 * 1024


def test_protobuf_cut_changed_and_nested(arena: Attack) -> None:
    random = Random(2)
    hello = arena_pb2.PlayRequest(
        hello=arena_pb2.Hello(protocol_major=1, bot="cut", games=[arena_pb2.GameWanted(game="greed")])
    ).SerializeToString()
    bodies = [hello[:end] for end in range(0, len(hello), 2)]
    for _ in range(100):
        changed = bytearray(hello)
        changed[random.randrange(len(changed))] = random.randrange(256)
        bodies.append(bytes(changed))
    bodies += [b"\xa3\x06" * 30_000, b"\x12\x80" * 100, b"\x0a" * 60_000, b"\x1a\x00" * 30_000, b"\xff" * 60_000]
    for body in bodies:
        caller = arena.call()
        for start in range(0, len(body) + 5, 16_384):
            caller.send(frame(frames.DATA, 0, 1, message(body)[start : start + 16_384]))
        caller.listen(0.002)
        caller.close()


def test_a_flood_of_empty_envelopes(arena: Attack) -> None:
    """They are read more and more slowly; what waits is bounded by the window of HTTP/2."""
    floods = [arena.bot(f"flood_{number}") for number in range(4)]
    for bot in floods:
        bot.send(frame(frames.DATA, 0, 1, message(b"") * 3_000) * 10)
    arena.on.honest(arena.before.decisions + 20)
    assert arena.on.status()["peak_kib"] < arena.before.status["rss_kib"] + 16 * 1024


def test_answers_that_nobody_asked_for_are_paced_one_by_one(arena: Attack) -> None:
    """A thousand refusals an envelope, acknowledged as they come: each is paid for like an envelope."""
    floods = [arena.bot(f"liar_{number}") for number in range(4)]
    before, began = arena.on.honest()["decisions"], time.monotonic()
    refused = 0
    while not refused or arena.on.honest()["decisions"] < before + 40:
        for bot in floods:
            bot.say(UNKNOWN)
            envelope = bot.next(0.05)
            refused += len(envelope.refusals) if envelope is not None else 0
    assert 0 < refused <= 4 * (400 + 2_000 + 200 * (time.monotonic() - began))


def test_a_flood_of_notes(arena: Attack) -> None:
    """For tables of others, for one's own: the largest, the smallest, and more than are kept. Nobody is told of any."""
    cat = "\U0001f408"
    floods = [arena.bot(f"chatter_{number}", features=["notes"], max_tables=1) for number in range(4)]
    asked = floods[0].decision()
    table = asked.table if asked is not None else 1
    note = arena_pb2.Note
    kinds = [
        arena_pb2.PlayRequest(notes=[note(table=table, decision=1, text=cat * 16_000)]),
        arena_pb2.PlayRequest(notes=[note(table=table, decision=1, text="x")] * 7_000),
        arena_pb2.PlayRequest(notes=[note(table=9_999, decision=2**32 - 1, text="x")] * 3_000),
        arena_pb2.PlayRequest(notes=[note()] * 30_000),
    ]
    before = arena.on.honest()["decisions"]
    for envelope in kinds:
        whole = message(envelope.SerializeToString())
        assert len(whole) <= MOST_BYTES + 5
        for bot in floods:
            for start in range(0, len(whole), 16_384):
                bot.send(frame(frames.DATA, 0, 1, whole[start : start + 16_384]))
    arena.on.honest(before + 40)
    for bot in floods:
        for told in bot.envelopes(0.05):
            assert not told.refusals
            assert not told.problems
    assert arena.on.status()["peak_kib"] < arena.before.status["rss_kib"] + 16 * 1024


def test_bad_envelopes_end_a_stream_at_the_third(arena: Attack) -> None:
    hello = arena_pb2.PlayRequest(hello=arena_pb2.Hello()).SerializeToString()
    for number, bad in enumerate((b"\xff", arena_pb2.PlayRequest(received=9_999).SerializeToString(), hello)):
        bot = arena.bot(f"bad_{number}")
        for _ in range(3):
            bot.say(bad)
        assert "the last of 3 strikes" in bot.ends()


def test_a_hello_full_of_everything(arena: Attack) -> None:
    rough = arena_pb2.GameWanted(game="greed", ladders=["rough"] * 5_000)
    full: list[dict[str, Any]] = [
        {"features": ["telepathy"] * 4_000},
        {"games": [rough]},
        {"games": [arena_pb2.GameWanted(game=f"{count}" * 50) for count in range(500)]},
        {"sdk": "\x1b[2J" * 10_000},
        {"bot": "x" * 60_000},
        {"version": "\x00"},
        {"resume": arena_pb2.Resume(session="x" * 30_000, secret=b"x" * 30_000)},
    ]
    for number, more in enumerate(full):
        caller = arena.call()
        fields: dict[str, Any] = {"protocol_major": 1, "bot": f"full_{number}", **more}
        body = message(arena_pb2.PlayRequest(hello=arena_pb2.Hello(**fields)).SerializeToString())
        for start in range(0, len(body), 16_384):
            caller.send(frame(frames.DATA, 0, 1, body[start : start + 16_384]))
        assert caller.envelopes(PATIENCE_S) or caller.ended


def test_questions_about_games_from_many_at_once(arena: Attack) -> None:
    """To make a catalogue takes a while, on another thread: it costs honest bots no decision, and no memory."""
    path = "/cutpurse.v1.GameService/GetGame"
    for round_ in range(6):
        for number in range(8):
            peer = arena.connect()
            asked = game_pb2.GetGameRequest(game="greed", seats=2 + (number + round_) % 4)
            body = frame(frames.DATA, frames.END_STREAM, 1, message(asked.SerializeToString()))
            for stream in range(1, 33, 2):
                one = frame(frames.DATA, frames.END_STREAM, stream, message(asked.SerializeToString()))
                peer.send(request(stream, call(path)) + (body if stream == 1 else one))
    arena.on.honest(arena.before.decisions + 20)
