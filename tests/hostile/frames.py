"""HTTP/2 frames and gRPC messages as bytes, so that a test can send what no library would.

Header blocks use no table and no Huffman coding, so that people can read and cut them. Sources: RFC 9113, RFC 7541, and
gRPC's PROTOCOL-HTTP2. This module knows no socket.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

__all__ = [
    "ACK",
    "CONTINUATION",
    "DATA",
    "END_HEADERS",
    "END_STREAM",
    "GOAWAY",
    "HEADERS",
    "PING",
    "PLAY",
    "PREFACE",
    "PRIORITY",
    "PUSH_PROMISE",
    "RST_STREAM",
    "SETTINGS",
    "WINDOW_UPDATE",
    "Frame",
    "call",
    "frame",
    "headers_of",
    "message",
    "request",
    "settings",
    "split",
]

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM = ACK = 0x1
END_HEADERS = 0x4

PLAY: Final = "/cutpurse.v1.ArenaService/Play"

_HEAD = 9  # bytes before the payload

Header = tuple[str | bytes, str | bytes]


class Frame(NamedTuple):
    """A received frame."""

    kind: int
    flags: int
    stream: int
    payload: bytes


def frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> bytes:
    """Encode a frame."""
    return len(payload).to_bytes(3) + struct.pack(">BBI", kind, flags, stream) + payload


def split(received: bytes) -> tuple[list[Frame], bytes]:
    """Split received bytes into complete frames and a rest."""
    frames, at = [], 0
    while len(received) - at >= _HEAD:
        size = int.from_bytes(received[at : at + 3])
        if len(received) - at - _HEAD < size:
            break
        kind, flags, stream = struct.unpack(">BBI", received[at + 3 : at + _HEAD])
        frames.append(Frame(kind, flags, stream & 0x7FFFFFFF, received[at + _HEAD : at + _HEAD + size]))
        at += _HEAD + size
    return frames, received[at:]


def settings(*pairs: tuple[int, int]) -> bytes:
    """Encode a SETTINGS frame of identifiers and values."""
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", name, value) for name, value in pairs))


def _text(value: str | bytes) -> bytes:
    """Encode a string literal, its length first (RFC 7541 5.1, 5.2)."""
    raw = value.encode() if isinstance(value, str) else value
    if len(raw) < 127:
        return bytes([len(raw)]) + raw
    left, size = len(raw) - 127, [127]
    while left >= 128:
        size.append(left % 128 + 128)
        left //= 128
    return bytes([*size, left]) + raw


def headers_of(pairs: Iterable[Header]) -> bytes:
    """Encode a header block of literals without indexing (RFC 7541 6.2.2)."""
    return b"".join(b"\x00" + _text(name) + _text(value) for name, value in pairs)


def call(path: str = PLAY, more: Sequence[Header] = ()) -> list[Header]:
    """Return the headers of a gRPC call."""
    return [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "127.0.0.1"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        *more,
    ]


def request(stream: int, pairs: Iterable[Header], flags: int = END_HEADERS) -> bytes:
    """Encode a HEADERS frame."""
    return frame(HEADERS, flags, stream, headers_of(pairs))


def message(body: bytes, compressed: int = 0, size: int | None = None) -> bytes:
    """Encode a gRPC message with its prefix, which may have a wrong size."""
    return bytes([compressed]) + (len(body) if size is None else size).to_bytes(4) + body
