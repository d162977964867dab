"""The parts that protobuf messages are made of, as bytes, without an object for each message.

A message is its fields, one after the other. Numbers are varints; text, messages and packed lists are a tag, a length
and a body. A field that holds nothing is left out, as protobuf does. Source: protobuf.dev/programming-guides/encoding.
This module knows no message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

__all__ = [
    "LOW",
    "field",
    "frame",
    "framed",
    "frames",
    "present_uint_field",
    "sint_field",
    "sints",
    "tag",
    "uint_field",
    "uint_fields",
    "uints",
    "uints_field",
    "varint",
]

_ONE: Final = tuple([bytes([n]) for n in range(128)])  # the varints of one byte
_TAGS: Final = range(16)  # the field numbers whose tag is one byte
_BODY: Final = tuple([_ONE[number << 3 | 2] for number in _TAGS])  # tags of what has a length
_UINT: Final = tuple([tuple([_ONE[number << 3] + value for value in _ONE]) for number in _TAGS])  # by field, by value

LOW: Final = 1_024  # smaller values have tables where every decision sends them; larger ones are rare
_KEPT: Final = 16_384  # values below, those of one or two bytes, are kept once they were wanted

# Zigzag of -64..63, so that a list index does: -1 is the last of it.
_ZIGZAG: Final = tuple([bytes([2 * n if n < 64 else 2 * (128 - n) - 1]) for n in range(128)])


class _Varints(dict[int, bytes]):
    """Varints by number; lengths, table numbers and times come again and again, so small ones are kept."""

    def __missing__(self, n: int) -> bytes:
        if n < 0:
            raise ValueError(f"{n} is negative; a number of things cannot be")
        made, rest = bytearray(), n
        while rest > 127:
            made.append(rest & 127 | 128)
            rest >>= 7
        made.append(rest)
        encoded = bytes(made)
        if n < _KEPT:
            self[n] = encoded
        return encoded


_varints: Final = _Varints(enumerate(_ONE))


def varint(n: int) -> bytes:
    """Encode a number, seven bits a byte, the lowest first.  Raises ValueError if it is negative."""
    return _varints[n]


@cache
def uint_fields(number: int) -> tuple[bytes, ...]:
    """Return `uint_field` of one number, by value below LOW: an index takes a tenth of the time of the call."""
    return tuple([uint_field(number, value) for value in range(LOW)])


@cache
def frames(number: int) -> tuple[bytes, ...]:
    """Return `frame` of one number, by the length of the body below LOW."""
    return tuple([frame(number, length) for length in range(LOW)])


def tag(number: int) -> bytes:
    """Encode what stands before the length of a field: `tag(3) + framed(x)` is `field(3, x)`."""
    return _BODY[number] if number < 16 else varint(number << 3 | 2)


def frame(number: int, length: int) -> bytes:
    """Encode what stands before the body of a field: `frame(3, len(x)) + x` is `field(3, x)`."""
    return tag(number) + varint(length)


def _sint(n: int) -> bytes:
    """Encode a number of either sign (sint32).  Raises ValueError if 32 bits do not hold it."""
    if -64 <= n < 64:
        return _ZIGZAG[n]
    if not -(1 << 31) <= n < 1 << 31:
        raise ValueError(f"{n} is not a number of 32 bits, so it cannot be sent")
    return varint(n * 2 if n >= 0 else -n * 2 - 1)


def sints(values: Iterable[int]) -> bytes:
    """Encode the body of a packed list of numbers of either sign."""
    return b"".join([_sint(n) for n in values])


def uints(values: Sequence[int]) -> bytes:
    """Encode the body of a packed list of numbers from 0."""
    try:
        encoded = bytes(values)
    except ValueError:  # one is beyond a byte
        pass
    else:
        if encoded.isascii():  # each is below 128, and its own varint
            return encoded
    return b"".join([varint(n) for n in values])


def framed(body: bytes) -> bytes:
    """Encode a body with its length before it: what follows the tag of a field."""
    return _varints[len(body)] + body


def field(number: int, body: bytes) -> bytes:
    """Encode a field with a body, also an empty one: text, a message, a packed list."""
    return tag(number) + _varints[len(body)] + body


def uint_field(number: int, value: int) -> bytes:
    """Encode a field that counts or numbers; nothing if it is 0.  True is 1.  Raises ValueError if it is negative."""
    return present_uint_field(number, value) if value else b""


def present_uint_field(number: int, value: int | None) -> bytes:
    """Encode an `optional` field, there even if it is 0; nothing if it is None."""
    if value is None:
        return b""
    if number < 16 and 0 <= value < 128:
        return _UINT[number][value]
    return varint(number << 3) + varint(value)


def sint_field(number: int, value: int) -> bytes:
    """Encode a field that may be negative; nothing if it is 0."""
    return varint(number << 3) + _sint(value) if value else b""


def uints_field(number: int, values: Sequence[int]) -> bytes:
    """Encode a field with a packed list of numbers from 0; nothing if it is empty."""
    return field(number, uints(values)) if values else b""
