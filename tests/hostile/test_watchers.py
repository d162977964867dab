"""Watchers that read nothing, are many, leave and come back in a loop, or ask for nonsense."""

from __future__ import annotations

from random import Random

from cutpurse.server.limits import ServerLimits
from cutpurse.v1 import ladder_pb2
from tests.hostile import frames
from tests.hostile.conftest import Attack
from tests.hostile.frames import call, frame, message, request, settings
from tests.hostile.peer import Peer

PATH = "/cutpurse.v1.LadderService/WatchMatch"
STREAMS = range(1, 33, 2)  # as many as a connection may have
WINDOW = 4  # the setting of HTTP/2: how much may be sent on a new stream unasked


def watch(stream: int, asked: bytes) -> bytes:
    """A call of WatchMatch."""
    return request(stream, call(PATH)) + frame(frames.DATA, frames.END_STREAM, stream, message(asked))


def deaf(arena: Attack) -> Peer:
    """A connection to which nothing may be sent but headers."""
    peer = arena.connect()
    peer.send(settings((WINDOW, 0)))
    return peer


def test_watchers_that_never_read_cost_honest_bots_nothing(arena: Attack) -> None:
    asked = ladder_pb2.WatchMatchRequest(ladder="steady").SerializeToString()
    peers = [deaf(arena) for _ in range(6)]
    for peer in peers:
        for stream in STREAMS:
            peer.send(watch(stream, asked))
    arena.on.honest(arena.before.decisions + 500)  # several matches
    for peer in peers:
        peer.listen(0.0)
    refused = sum(bytes(peer.received).count(b"from this address are watching already") for peer in peers)
    assert refused == len(peers) * len(STREAMS) - ServerLimits().watchers_per_address


def test_watchers_that_leave_and_come_back_in_a_loop(arena: Attack) -> None:
    asked = ladder_pb2.WatchMatchRequest(ladder="steady").SerializeToString()
    for _ in range(20):
        peer = deaf(arena)
        for stream in range(1, 201, 2):
            peer.send(watch(stream, asked) + frame(frames.RST_STREAM, 0, stream, b"\0\0\0\x08"))
        peer.listen(0.01)
    arena.on.honest(arena.before.decisions + 20)


def test_what_is_no_request_to_watch(arena: Attack) -> None:
    random = Random(1)
    for _ in range(20):
        peer = deaf(arena)
        for stream in STREAMS:
            asked = ladder_pb2.WatchMatchRequest(
                match=random.choice(["", "0" * 32, "x" * 20_000, "\x1b[2J"]),
                ladder=random.choice(["", "steady", "\0" * 9_000]),
                seat=random.choice([None, 0, 2**32 - 1]),
            ).SerializeToString()
            cut = asked[: random.randrange(len(asked) + 1)] + random.randbytes(random.randrange(4))
            peer.send(watch(stream, random.choice([cut, random.randbytes(200)])))
        peer.listen(0.02)
    arena.on.honest(arena.before.decisions + 20)
