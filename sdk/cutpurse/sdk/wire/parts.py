"""The parts that protobuf messages are made of, as bytes, without an object for each message.

A message is its fields, one after the other. Numbers are varints; text, messages and packed lists are a tag, a length
and a body. A field that holds nothing is left out, as protobuf does. Source: protobuf.dev/programming-guides/encoding.
This module knows no message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

__all__ = [
    "field",
    "framed",
    "present_uint_field",
    "sint_field",
    "sints",
    "text_field",
    "uint_field",
    "uints",
    "uints_field",
    "varint",
]

_ONE: Final = tuple([bytes([n]) for n in range(128)])  # the varints of one byte
_TAGS: Final = range(16)  # the field numbers whose tag is one byte
_BODY: Final = tuple([_ONE[number << 3 | 2] for number in _TAGS])  # tags of what has a length
_UINT: Final = tuple([tuple([_ONE[number << 3] + value for value in _ONE]) for number in _TAGS])  # by field, by value

# Zigzag of -64..63, so that a list index does: -1 is the last of it.
_ZIGZAG: Final = tuple([bytes([2 * n if n < 64 else 2 * (128 - n) - 1]) for n in range(128)])


def varint(n: int) -> bytes:
    """A number, seven bits a byte, the lowest first.  Raises ValueError if it is negative."""
    if 0 <= n < 128:
        return _ONE[n]
    if n < 0:
        raise ValueError(f"{n} is negative; a number of things cannot be")
    found = bytearray()
    while n > 127:
        found.append(n & 127 | 128)
        n >>= 7
    found.append(n)
    return bytes(found)


def _sint(n: int) -> bytes:
    """A number of either sign (sint32).  Raises ValueError if 32 bits do not hold it."""
    if -64 <= n < 64:
        return _ZIGZAG[n]
    if not -(1 << 31) <= n < 1 << 31:
        raise ValueError(f"{n} is not a number of 32 bits, so it cannot be sent")
    return varint(n * 2 if n >= 0 else -n * 2 - 1)


def sints(values: Iterable[int]) -> bytes:
    """The body of a packed list of numbers of either sign."""
    return b"".join([_sint(n) for n in values])


def uints(values: Sequence[int]) -> bytes:
    """The body of a packed list of numbers from 0."""
    if not values or max(values) < 128:
        return bytes(values)
    return b"".join([varint(n) for n in values])


def framed(body: bytes) -> bytes:
    """A body with its length before it: what follows the tag of a field."""
    size = len(body)
    return (_ONE[size] if size < 128 else varint(size)) + body


def field(number: int, body: bytes) -> bytes:
    """A field with a body, also an empty one: text, a message, a packed list."""
    return (_BODY[number] if number < 16 else varint(number << 3 | 2)) + framed(body)


def text_field(number: int, text: str) -> bytes:
    """A field of text; nothing if it is empty."""
    return field(number, text.encode()) if text else b""


def uint_field(number: int, value: int) -> bytes:
    """A field that counts or numbers; nothing if it is 0.  True is 1.  Raises ValueError if it is negative."""
    return present_uint_field(number, value) if value else b""


def present_uint_field(number: int, value: int | None) -> bytes:
    """An `optional` field, there even if it is 0; nothing if it is None."""
    if value is None:
        return b""
    if number < 16 and 0 <= value < 128:
        return _UINT[number][value]
    return varint(number << 3) + varint(value)


def sint_field(number: int, value: int) -> bytes:
    """A field that may be negative; nothing if it is 0."""
    return varint(number << 3) + _sint(value) if value else b""


def uints_field(number: int, values: Sequence[int]) -> bytes:
    """A field with a packed list of numbers from 0; nothing if it is empty."""
    return field(number, uints(values)) if values else b""
