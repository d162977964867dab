"""The cases of the fuzzer, generated from a seed, with three levels.

A case is a list of byte strings. Level `frames` is bytes for a connection, of valid, invalid and changed frames. Level
`calls` is envelopes of a bot in an otherwise valid call. Level `links` is the same envelopes for the server's own
`Link`. The same level, seed and number give the same case. This module knows no socket and no server.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from cutpurse.v1 import arena_pb2
from tests.hostile import frames
from tests.hostile.frames import call, frame, headers_of, message, request, settings

__all__ = ["LEVELS", "case", "envelopes_of", "frames_of"]

NUMBERS: Final = (0, 1, 1, 1, 2, 3, 16, 127, 128, 255, 65_535, 2**31 - 1, 2**31, 2**32 - 1)
NAMES: Final = ("ann", "bob", "fuzz", "a" * 32, "a" * 33, "", "Ann", "é", "\x00", "x.y-z_0", "..", "steady_ann ")
HEADERS: Final = (
    ("content-type", "text/html"),
    ("grpc-encoding", "gzip"),
    ("grpc-timeout", "1n"),
    ("grpc-timeout", "1S"),
    ("te", "gzip"),
    (":path", "/"),
    ("x-bin", "AAA="),
    (b"x-\xff", b"\xfe\x00"),
    ("x-long", "y" * 500),
    ("host", "elsewhere"),
)


def changed(random: Random, data: bytes, most: int = 4) -> bytes:
    """Return the data with some bytes changed, removed, doubled or swapped."""
    bytes_ = bytearray(data)
    for _ in range(random.randint(1, most)):
        at = random.randrange(len(bytes_) + 1)
        match random.randrange(6):
            case 0:
                bytes_[at:at] = random.randbytes(random.choice((1, 2, 9)))
            case 1:
                del bytes_[at : at + random.choice((1, 1, 3, 20))]
            case 2:
                bytes_[at:at] = bytes_[at : at + random.randint(1, 30)]
            case 3 if bytes_:
                bytes_[at % len(bytes_)] ^= 1 << random.randrange(8)
            case 4 if bytes_:
                bytes_[at % len(bytes_)] = random.choice((0, 1, 0x7F, 0x80, 0xFF))
            case _:
                del bytes_[at:]
    return bytes(bytes_)


# -- envelopes
def _answer(random: Random) -> arena_pb2.Answer:
    answer = arena_pb2.Answer(table=random.choice(NUMBERS), decision=random.choice(NUMBERS))
    if random.random() < 0.8:
        answer.option = random.choice(NUMBERS)
    return answer


def _hello(random: Random) -> arena_pb2.Hello:
    hello = arena_pb2.Hello(
        protocol_major=1 if random.random() < 0.8 else random.choice(NUMBERS),
        protocol_minor=random.choice(NUMBERS),
        bot=f"fuzz_{random.randrange(4)}" if random.random() < 0.8 else random.choice(NAMES),
        version=random.choice(("", "1", "2", *NAMES)) if random.random() < 0.3 else "",
        max_tables=random.choice(NUMBERS),
        events=random.random() < 0.5,
        games=[arena_pb2.GameWanted(game="greed", ladders=["rough"])],
    )
    if random.random() < 0.2:
        hello.features.extend(
            random.choice(("agenda", "nonces", "notes", "telepathy", "")) for _ in range(random.randrange(4))
        )
    if random.random() < 0.1:
        hello.games.add(game=random.choice(("greed", "szmal", "chess", "")), ladders=[random.choice(("rough", ""))])
    if random.random() < 0.1:
        hello.resume.session = random.randbytes(16).hex() if random.random() < 0.5 else random.choice(NAMES[:6])
        hello.resume.secret = random.randbytes(random.choice((0, 31, 32, 33)))
    return hello


def _envelope(random: Random, had: int) -> bytes:
    """Generate an envelope of a possibly confused bot that has read `had` envelopes."""
    request = arena_pb2.PlayRequest(received=had if random.random() < 0.9 else random.choice(NUMBERS))
    if random.random() < 0.7:
        request.answers.extend(_answer(random) for _ in range(random.choice((1, 1, 2, 40))))
    if random.random() < 0.15:
        give_up = request.give_ups.add(table=random.choice(NUMBERS), decision=random.choice(NUMBERS))
        give_up.reason = random.choice(("KeyError", "\x1b[2J" * 99, "é" * 300))
    if random.random() < 0.15:
        for _ in range(random.choice((1, 1, 3, 400))):
            note = request.notes.add(table=random.choice(NUMBERS), decision=random.choice(NUMBERS))
            note.text = random.choice(("", "x", "\x00\x1b[2J", "é" * 3_000))[: 99 if len(request.notes) > 3 else None]
    if random.random() < 0.15:
        for _ in range(random.choice((1, 1, 2, 400))):
            request.nonces.add(table=random.choice(NUMBERS), nonce=random.randbytes(random.choice((32, 32, 31, 0))))
    if random.random() < 0.1:
        request.max_tables = random.choice(NUMBERS)
    if random.random() < 0.03:
        request.leaving = True
    if random.random() < 0.03:
        request.hello.CopyFrom(_hello(random))
    body = request.SerializeToString()
    return changed(random, body) if random.random() < 0.15 else body


def envelopes_of(random: Random) -> list[bytes]:
    """Generate a bot's side of a conversation; the first envelope is nearly always a Hello."""
    hello = arena_pb2.PlayRequest(hello=_hello(random)).SerializeToString()
    first = hello if random.random() < 0.9 else changed(random, hello)
    return [first, *(_envelope(random, had) for had in range(1, random.randint(2, 20)))]


# -- frames
def _frame(random: Random, stream: int) -> bytes:
    body = message(_envelope(random, 1))
    right: tuple[Callable[[], bytes], ...] = (
        lambda: request(stream, call()),
        lambda: request(stream, [*call(), random.choice(HEADERS)]),
        lambda: request(stream, random.sample(call(), random.randint(0, 6))),
        lambda: frame(frames.HEADERS, random.randrange(256), stream, headers_of(call())),
        lambda: frame(frames.DATA, random.choice((0, 0, 0, 1, 8)), stream, body),
        lambda: frame(frames.DATA, 0, stream, message(b"x" * random.choice(NUMBERS[:9]), random.randrange(3), None)),
        lambda: frame(frames.DATA, 0, stream, message(b"", 0, random.choice(NUMBERS))),
        lambda: frame(frames.RST_STREAM, 0, stream, random.choice(NUMBERS).to_bytes(4)),
        lambda: frame(frames.PRIORITY, 0, stream, random.randbytes(5)),
        lambda: settings((random.randrange(10), random.choice(NUMBERS))),
        lambda: frame(frames.SETTINGS, frames.ACK),
        lambda: frame(frames.PING, random.randrange(2), 0, random.randbytes(8)),
        lambda: frame(frames.WINDOW_UPDATE, 0, random.choice((0, stream)), random.choice(NUMBERS).to_bytes(4)),
        lambda: frame(frames.CONTINUATION, random.choice((0, 4)), stream, headers_of([random.choice(HEADERS)])),
        lambda: frame(frames.GOAWAY, 0, 0, random.randbytes(8)),
        lambda: frame(random.randrange(256), random.randrange(256), random.choice(NUMBERS), random.randbytes(20)),
        lambda: random.randbytes(random.randint(1, 60)),
    )
    made = random.choice(right)()
    return changed(random, made) if random.random() < 0.25 else made


def frames_of(random: Random) -> list[bytes]:
    """Generate the bytes for one connection; most open a call."""
    pieces = [frames.PREFACE + settings()]
    if random.random() < 0.05:
        pieces = [changed(random, pieces[0])]
    if random.random() < 0.7:
        hello = arena_pb2.PlayRequest(hello=_hello(random)).SerializeToString()
        pieces += [request(1, call()), frame(frames.DATA, 0, 1, message(hello))]
    return pieces + [_frame(random, random.choice((1, 1, 1, 3, 5, 2, 0))) for _ in range(random.randint(1, 20))]


LEVELS: Final[dict[str, Callable[[Random], list[bytes]]]] = {
    "frames": frames_of,
    "calls": envelopes_of,
    "links": envelopes_of,
}


def case(level: str, seed: int, number: int) -> list[bytes]:
    """Generate one case."""
    return LEVELS[level](Random(f"{level}/{seed}/{number}"))
