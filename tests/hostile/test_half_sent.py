"""Calls whose message never comes whole: they are cut off, and hold memory for a few seconds at most."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from cutpurse.server.limited_log import LINES
from tests.hostile import frames
from tests.hostile.arena import Besieged
from tests.hostile.frames import DATA, call, frame, message, request
from tests.hostile.peer import PATIENCE_S, Peer

HALF = message(b"x" * 20_000, size=60_000)[:16_000]
METHODS = (
    "/cutpurse.v1.GameService/GetGame",
    "/cutpurse.v1.LadderService/ListLadders",
    "/cutpurse.v1.LadderService/WatchMatch",
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/Watch",
)


@pytest.fixture(scope="module")
def short_lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Besieged]:
    """An arena that waits 0.2 s for a message."""
    arena = Besieged(tmp_path_factory.mktemp("short"), honest=False, message_s=0.2)
    yield arena
    arena.close()


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Besieged]:
    """An arena that waits for the messages of three calls, and for hours."""
    arena = Besieged(tmp_path_factory.mktemp("patient"), honest=False, message_s=3_600.0, most_unsent=3)
    yield arena
    arena.close()


def half_call(peer: Peer, stream: int, method: str) -> None:
    peer.send(request(stream, call(method)) + frame(DATA, 0, stream, HALF))


def ending_of(peer: Peer, stream: int | None) -> bytes:
    found = peer.await_frame(frames.HEADERS, stream)
    assert found is not None, "the call was not ended"
    return found.payload


@pytest.mark.parametrize("method", METHODS)
def test_a_half_sent_call_is_cut_off(short_lived: Besieged, method: str) -> None:
    with Peer(short_lived.address) as peer:
        half_call(peer, 1, method)
        assert b"did not come within 0.2 s" in ending_of(peer, 1)


def test_a_call_without_a_message_is_refused(short_lived: Besieged) -> None:
    with Peer(short_lived.address) as peer:
        peer.send(request(1, call(METHODS[1]), frames.END_HEADERS | frames.END_STREAM))
        assert b"the call has no message" in ending_of(peer, 1)


def test_of_many_half_sent_calls_the_oldest_goes(patient: Besieged) -> None:
    with Peer(patient.address) as peer:
        for number in range(5):
            half_call(peer, 2 * number + 1, METHODS[1])
            if number >= 3:
                assert b"too many calls wait" in ending_of(peer, None)
        peer.send(request(11, call(METHODS[1])) + frame(DATA, frames.END_STREAM, 11, message(b"")))
        assert peer.await_frame(DATA, 11) is not None  # a whole call is answered beside them


def test_a_flood_of_them_is_a_few_lines_of_the_log(patient: Besieged) -> None:
    with Peer(patient.address) as peer:
        for stream in range(1, 33, 2):
            peer.send(request(stream, call(METHODS[1])) + frame(DATA, 0, stream, HALF[:20]))
        assert hears_endings(peer, 13)  # of all but the last three
    refused = [line for line in patient.log() if "stream refused" in line and "STREAMS" in line]
    assert 0 < len(refused) <= LINES


def hears_endings(peer: Peer, count: int) -> bool:
    ended: set[int] = set()
    until = time.monotonic() + PATIENCE_S
    while len(ended) < count and peer.listen(0.01) and time.monotonic() < until:
        ended |= {one.stream for one in peer.frames() if one.kind == frames.HEADERS}
    return len(ended) >= count
