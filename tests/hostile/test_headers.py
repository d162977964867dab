"""Headers and metadata that no gRPC client sends: missing, twice, huge, binary, many, or for another service."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.hostile import frames
from tests.hostile.conftest import Attack
from tests.hostile.frames import Header, call, frame, message, request

CALL = call()
ODD: dict[str, Sequence[Header]] = {
    "no header at all": [],
    **{f"without {name!s}": [pair for pair in CALL if pair[0] != name] for name, _ in CALL},
    **{f"{name!s} twice": [*CALL, (name, value)] for name, value in CALL},
    **{f"{name!s} twice and first": [(name, value), *CALL] for name, value in CALL},
    **{f"{name!s} empty": [(one, b"" if one == name else value) for one, value in CALL] for name, _ in CALL},
    **{f"{name!s} binary": [(one, b"\xff\x00" if one == name else value) for one, value in CALL] for name, _ in CALL},
    **{f"{name!s} of 3 kB": [(one, b"x" * 3_000 if one == name else value) for one, value in CALL] for name, _ in CALL},
    "pseudo-headers last": [*CALL[4:], *CALL[:4]],
    "a pseudo-header of its own": [*CALL, (":status", "200")],
    "an unknown pseudo-header": [*CALL, (":colour", "red")],
    "no name": [*CALL, ("", "nobody")],
    "a name in capitals": [*CALL, ("X-Name", "Ann")],
    "a name of control characters": [*CALL, (b"x-\x00\r\n\x7f", "ann")],
    "a name that is no text": [*CALL, (b"\xff\xfe\x80", "ann")],
    "a value of two lines": [*CALL, ("x-name", b"ann\r\nx-other: bob")],
    "a path that is no text": call(b"/cutpurse.v1.\xff\xfe/Play".decode("latin-1")),
    "a path with dots": call("/cutpurse.v1.ArenaService/../Play"),
    "a path with a line break": call(frames.PLAY + "\r\n"),
    "a path of another service": call("/grpc.channelz.v1.Channelz/GetTopChannels"),
    "a method of another name": call("/cutpurse.v1.ArenaService/Cheat"),
    "GET": [(":method", "GET"), *CALL[1:]],
    "CONNECT": [(":method", "CONNECT"), *CALL[1:]],
    "JSON": [(name, "application/json" if name == "content-type" else value) for name, value in CALL],
    "hop-by-hop headers": [*CALL, ("connection", "close"), ("transfer-encoding", "chunked"), ("upgrade", "h2c")],
    "a host as well": [*CALL, ("host", "elsewhere")],
    "half of base64": [*CALL, ("x-bin", "=====")],
    "binary without a word": [*CALL, ("x-bin", b"\x00\xff")],
    "details of a status": [*CALL, ("grpc-status", "0"), ("grpc-message", "%ff%"), ("grpc-status-details-bin", "////")],
    "statistics of gRPC's own": [
        *CALL,
        ("grpc-tags-bin", "AAAA"),
        ("grpc-trace-bin", "AAAA"),
        ("grpc-previous-rpc-attempts", "-1"),
    ],
    "an encoding nobody knows": [*CALL, ("grpc-encoding", "snappiest")],
    "an encoding twice": [*CALL, ("grpc-encoding", "gzip"), ("grpc-encoding", "identity")],
    "a length that is wrong": [*CALL, ("content-length", "1")],
    "a length that is none": [*CALL, ("content-length", "-99999999999999999999")],
    "many headers": [*CALL, *((f"x-{number}", "1") for number in range(100))],
    "one header a hundred times": [*CALL, *(("x-same", "1") for _ in range(100))],
    "a timeout of nothing": [*CALL, ("grpc-timeout", "")],
    "a timeout of a nanosecond": [*CALL, ("grpc-timeout", "1n")],
    "a timeout of ages": [*CALL, ("grpc-timeout", "99999999H")],
    "a timeout too long to be one": [*CALL, ("grpc-timeout", "9" * 40 + "S")],
    "a timeout before it began": [*CALL, ("grpc-timeout", "-1S")],
}


def test_odd_headers(arena: Attack) -> None:
    for pairs in ODD.values():
        peer = arena.connect()
        peer.send(request(1, pairs) + frame(frames.DATA, frames.END_STREAM, 1, message(b"")))
        peer.listen(0.02)


IMPOSSIBLE = ("a method of another name", "a path of another service", "JSON", "a timeout of a nanosecond")


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_a_call_that_cannot_be_is_ended(arena: Attack, name: str) -> None:
    peer = arena.connect()
    peer.send(request(1, ODD[name]) + frame(frames.DATA, frames.END_STREAM, 1, message(b"")))
    assert peer.await_frame(frames.HEADERS, 1) is not None or peer.is_closed


def test_headers_of_calls_that_stay_open(arena: Attack) -> None:
    """The same without an end, for whatever is started by them must end by itself."""
    for pairs in ODD.values():
        arena.connect().send(request(1, pairs))
    arena.on.settle({**arena.before.status, "tasks": arena.before.status["tasks"] + 3, "fds": 400})


@pytest.mark.parametrize(("size", "code"), [(3_500, b"INVALID"), (9_000, b"EXHAUSTED")], ids=["3.5 kB", "9 kB"])
def test_metadata_is_taken_or_refused_always_alike(arena: Attack, size: int, code: bytes) -> None:
    """Below the lower limit, and beyond the upper one; between them gRPC draws lots."""
    for _ in range(25):
        caller = arena.connect()
        caller.acknowledge()
        caller.send(request(1, call(more=[("x-filling", "x" * size)])) + frame(frames.DATA, 0, 1, message(b"\xff")))
        assert caller.await_frame(frames.HEADERS, 1) is not None
        said = {b"INVALID": b"not a PlayRequest", b"EXHAUSTED": b"received metadata size exceeds hard limit"}
        assert said[code] in caller.received
        caller.close()
