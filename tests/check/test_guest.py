"""What the host of a check knows of the bot that came."""

from __future__ import annotations

from typing import Any

import grpc
from google.rpc import status_pb2

from cutpurse.check.guest import Guest, GuestStream, StreamStatus
from cutpurse.check.local_arena import Host
from cutpurse.v1 import arena_pb2
from tests.server.dialling import Bot


def test_it_is_in_once_it_has_acknowledged_an_envelope_of_the_stream_that_it_has() -> None:
    nothing: Any = None
    guest = Guest(arena_pb2.Hello(bot="ann"), lambda: 0.0)
    seen = [guest.is_in]
    for _ in range(2):  # a stream after another: each has a welcome of its own
        stream = GuestStream(nothing)
        guest.connect(stream, arena_pb2.Welcome())
        stream.sent = 1
        guest.hear(stream, arena_pb2.PlayRequest(max_tables=2))
        seen.append(guest.is_in)
        guest.hear(stream, arena_pb2.PlayRequest(received=1))
        seen.append(guest.is_in)
        guest.disconnect(stream)
        seen.append(guest.is_in)
    assert seen == [False, *[False, True, False] * 2]


async def test_one_that_is_forgotten_is_not_taken_for_the_next_though_its_stream_has_not_ended_yet() -> None:
    nothing: Any = None
    host = Host()
    host.guest = Guest(arena_pb2.Hello(bot="ann"), lambda: 0.0)
    host.guest.connect(GuestStream(nothing), arena_pb2.Welcome())
    assert await host.bot(0.0) is host.guest
    host.forget()
    assert await host.bot(0.0) is None


async def test_a_stream_that_is_lost_ends_without_a_reason_as_on_a_server() -> None:
    async with Host() as host, grpc.aio.insecure_channel(host.address) as channel:
        bot = Bot(channel)
        await bot.say_hello("ann")
        assert (await bot.read()).HasField("welcome")
        assert host.guest is not None
        host.guest.end_stream(StreamStatus(grpc.StatusCode.UNAVAILABLE, "lost on purpose"))
        metadata = dict(await bot.call.trailing_metadata())
    status = status_pb2.Status.FromString(metadata["grpc-status-details-bin"])
    assert (status.message, list(status.details)) == ("lost on purpose", [])
