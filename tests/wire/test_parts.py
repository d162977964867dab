"""The parts of messages are what protobuf makes of the same numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutpurse.v1 import arena_pb2, game_pb2
from cutpurse.wire.wire_format import (
    LOW,
    field,
    frame,
    framed,
    frames,
    present_uint_field,
    sint_field,
    sints,
    uint_field,
    uint_fields,
    uints,
    uints_field,
    varint,
)

EDGES = [0, 1, 63, 64, 127, 128, 129, 16_383, 16_384, 2**31 - 1, 2**31, 2**32 - 1]
SIGNED = [0, 1, -1, 63, -64, 64, -65, 8191, -8192, 2**31 - 1, -(2**31)]
uint32 = st.one_of(st.sampled_from(EDGES), st.integers(0, 2**32 - 1))
sint32 = st.one_of(st.sampled_from(SIGNED), st.integers(-(2**31), 2**31 - 1))


@given(uint32)
def test_a_number(n: int) -> None:
    assert uint_field(3, n) == game_pb2.Zone(size=n).SerializeToString()
    assert framed(bytes(n % 1000)) == varint(n % 1000) + bytes(n % 1000)


@given(st.lists(uint32, max_size=200))
def test_a_list_of_numbers(numbers: list[int]) -> None:
    assert uints_field(4, numbers) == game_pb2.Zone(cards=numbers).SerializeToString()
    assert uints(tuple(numbers)) == b"".join(varint(n) for n in numbers)


@given(st.lists(sint32, max_size=200))
def test_a_list_of_numbers_of_either_sign(numbers: list[int]) -> None:
    packed = field(7, sints(numbers)) if numbers else b""
    assert packed == game_pb2.Zone(counters=numbers).SerializeToString()


@given(sint32)
def test_a_number_of_either_sign(n: int) -> None:
    assert sint_field(7, n) == game_pb2.Act(number=n).SerializeToString()


@given(st.one_of(st.none(), uint32))
def test_a_number_that_may_be_missing(n: int | None) -> None:
    message = game_pb2.Act() if n is None else game_pb2.Act(seat=n)
    assert present_uint_field(3, n) == message.SerializeToString()


@given(st.text(min_size=1, max_size=300))
def test_text(text: str) -> None:
    assert field(1, text.encode()) == game_pb2.Setting(name=text).SerializeToString()


def test_an_envelope_is_put_together_by_its_fields() -> None:
    decision = arena_pb2.Decision(table=2, decision=300)
    ended = arena_pb2.MatchEnded(table=1)
    envelope = arena_pb2.PlayResponse(envelope=129, accepted=[1, 200], decisions=[decision, decision], ends=[ended])
    assert envelope.SerializeToString() == b"".join(
        [
            uint_field(1, 129),
            uints_field(3, [1, 200]),
            field(6, decision.SerializeToString()),
            field(6, decision.SerializeToString()),
            field(7, ended.SerializeToString()),
        ]
    )


@pytest.mark.parametrize("number", [1, 15, 16])
def test_tables_hold_what_the_functions_make(number: int) -> None:
    assert list(uint_fields(number)) == [uint_field(number, value) for value in range(LOW)]
    assert [frame + bytes(length) for length, frame in enumerate(frames(number))] == [
        field(number, bytes(length)) for length in range(LOW)
    ]
    assert frame(number, LOW) + bytes(LOW) == field(number, bytes(LOW))


def test_a_field_of_a_high_number_has_a_longer_tag() -> None:
    for number in (1, 15, 16, 2047, 2048):
        assert field(number, b"") == varint(number << 3 | 2) + b"\0"
        assert uint_field(number, 5) == varint(number << 3) + b"\5"


def test_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(ValueError, match="-1 is negative"):
        varint(-1)
    with pytest.raises(ValueError, match="-5 is negative"):
        uint_field(2, -5)
    for n in (2**31, -(2**31) - 1):
        with pytest.raises(ValueError, match=f"{n} is not a number of 32 bits"):
            sints([n])
