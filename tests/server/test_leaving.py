"""How a bot leaves, as `docs/reference/protocol.md` says: on a real server, with nothing but gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.server.ladder_config import Ladder
from cutpurse.v1 import arena_pb2
from tests.server.arenas import running_arena
from tests.server.dialling import Bot, Ended

PATIENT = TimeControl(base_ms=60_000, bank_ms=60_000, handover_ms=60_000)


@pytest.fixture
async def channel(tmp_path: Path) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to a server whose ladder seats two bots."""
    ladders = [Ladder("duel", "greed", 2, control=PATIENT)]
    async with running_arena(tmp_path, ladders) as arena, grpc.aio.insecure_channel(arena.address) as channel:
        yield channel


async def begun(channel: grpc.aio.Channel) -> tuple[Bot, arena_pb2.Welcome, arena_pb2.PlayResponse, Bot]:
    """A match of two bots: the one that is asked, its Welcome, the envelope that asks it, and the other one."""
    bots = [Bot(channel), Bot(channel)]
    welcomes = []
    for bot, name in zip(bots, ("ann", "bob"), strict=True):
        await bot.say_hello(name, max_tables=1)
        welcomes.append((await bot.read()).welcome)
    for bot in bots:
        await bot.say()
    envelopes = [await bot.read_until("starts") for bot in bots]
    asked = next(at for at, envelope in enumerate(envelopes) if envelope.decisions)
    await bots[1 - asked].say()
    return bots[asked], welcomes[asked], envelopes[asked], bots[1 - asked]


async def plays_on(bot: Bot) -> None:
    """Play to the end of the match."""
    while not (response := await bot.read()).ends:
        await bot.answer_all(response)
    await bot.say()


async def test_a_bot_that_leaves_is_asked_on_and_gets_ok_without_a_half_close(channel: grpc.aio.Channel) -> None:
    bot, _, envelope, other = await begun(channel)
    await bot.answer_all(envelope, leaving=True)
    playing = asyncio.create_task(plays_on(other))
    await plays_on(bot)
    await playing
    with pytest.raises(Ended) as ended:
        await bot.read()
    assert (ended.value.code, ended.value.reason) == ("OK", "")


@pytest.mark.parametrize("leaving", [False, True])
async def test_an_early_half_close_counts_as_a_lost_stream(channel: grpc.aio.Channel, leaving: bool) -> None:
    bot, welcome, envelope, _ = await begun(channel)
    await bot.say(leaving=leaving)
    await bot.call.done_writing()
    with pytest.raises(Ended) as ended:
        await bot.read()
    assert ended.value.code == "OK"
    again = Bot(channel)
    name = welcome.bot
    await again.say_hello(
        name, max_tables=1, resume=arena_pb2.Resume(session=welcome.session, secret=welcome.resume_secret)
    )
    response = await again.read()
    assert response.welcome.resumed
    assert [start.table for start in response.starts] == [start.table for start in envelope.starts]
    assert [asked.decision for asked in response.decisions] == [1]


async def test_who_leaves_with_hello_gets_ok_without_a_welcome(channel: grpc.aio.Channel) -> None:
    bot = Bot(channel)
    hello = arena_pb2.Hello(protocol_major=1, bot="ann")
    await bot.send(arena_pb2.PlayRequest(hello=hello, leaving=True))
    with pytest.raises(Ended) as ended:
        await bot.read()
    assert ended.value.code == "OK"
