"""What the host of a check knows of the bot that came."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from google.rpc import status_pb2

from cutpurse.check.findings import Failed
from cutpurse.check.guest import Guest, GuestStream, StreamStatus
from cutpurse.check.local_arena import Host
from cutpurse.check.scenarios import MOST_HELLOS, Visit
from cutpurse.process.own_time import OwnTime
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


def visit_at(host: Host) -> Visit:
    """A check whose program, which is not there, runs."""
    running: Any = SimpleNamespace(code=None)
    return Visit(host, ("greed",), lambda: running, OwnTime(), child=running)


async def test_a_bot_whose_stream_is_lost_before_it_knows_its_welcome_is_met_on_the_next() -> None:
    async with Host() as host, grpc.aio.insecure_channel(host.address) as channel:
        met = asyncio.create_task(visit_at(host).guest())
        first, second = Bot(channel), Bot(channel)
        await first.say_hello("ann")
        lost = await host.bot(10.0)
        first.call.cancel()
        await second.say_hello("ann")
        await second.read()
        assert not met.done()
        await second.say()
        guest = await met
        assert (guest is host.guest, guest is lost, guest.is_in) == (True, False, True)


async def test_a_bot_that_says_hello_without_end_is_not_waited_for_without_end() -> None:
    async with Host() as host, grpc.aio.insecure_channel(host.address) as channel:
        met = asyncio.create_task(visit_at(host).guest())
        while not met.done():
            bot = Bot(channel)
            await bot.say_hello("ann")
            await bot.read()
        with pytest.raises(Failed, match=f"it said Hello {MOST_HELLOS} times"):
            await met
