"""The stream service on real sockets: bots that send garbage, say nothing, never read, flood or are too many."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from cutpurse.server.limits import ServerLimits
from cutpurse.v1 import arena_pb2
from tests.server.dialling import Bot, Ended, House, house
from tests.server.toys import ToyLobby


async def test_what_is_wrong_with_a_hello_comes_as_status_and_reason() -> None:
    async with house() as server:
        bot = server.dial()
        await bot.say_hello(protocol_major=2)
        with pytest.raises(Ended) as ended:
            await bot.read()
        assert (ended.value.code, ended.value.reason) == ("FAILED_PRECONDITION", "PROTOCOL_VERSION")
        assert "version 1.1 of the protocol, the bot 2.0" in ended.value.text
        assert ended.value.retry_s is None


async def test_garbage_in_place_of_hello_ends_the_stream() -> None:
    async with house() as server:
        bot = server.dial()
        await bot.send(b"\xff\x00garbage")
        with pytest.raises(Ended, match="INVALID_ARGUMENT BAD_MESSAGE: the first envelope is not a PlayRequest"):
            await bot.read()


async def test_garbage_later_on_costs_strikes() -> None:
    async with house() as server:
        bot = await server.welcomed()
        await bot.send(b"\xff\x00garbage")
        (problem,) = (await bot.read()).problems
        assert (problem.reason, problem.strikes_left) == (arena_pb2.ERROR_REASON_BAD_MESSAGE, 2)
        await bot.send(b"\xff")
        await bot.send(b"\xff")
        with pytest.raises(Ended, match="INVALID_ARGUMENT BAD_MESSAGE: an envelope is not a PlayRequest"):
            await bot.read()


async def test_an_envelope_may_have_64_kib_and_unknown_fields_are_ignored() -> None:
    async with house() as server:
        bot = await server.welcomed()
        filling = b"\xa2\x3f" + b"\xf8\xff\x03" + b"x" * 65_528  # field 1012, of a later version
        assert len(filling) < 65_536
        await bot.send(filling)
        await bot.say(max_tables=0)
        await server.until(lambda: server.lobby.told[-1] == "changed ann 0")
        await bot.send(filling + b"\xa0\x3f" + b"\x01" * 8)
        with pytest.raises(Ended, match="RESOURCE_EXHAUSTED"):
            await bot.read()
        assert await server.health() == "SERVING"


async def test_compressed_envelopes_are_refused() -> None:
    async with house() as server:
        bot = Bot(server.channel, grpc.Compression.Gzip)
        await bot.send(b"\x00" * 10_000)
        # The first is what the server says; where a write of the client meets the end, its core says the second.
        assert (await bot.ended()).code in ("UNIMPLEMENTED", "INTERNAL")
        await server.dial().say_hello()


async def test_who_says_no_hello_is_sent_away() -> None:
    async with house(limits=ServerLimits(hello_s=0.05)) as server:
        with pytest.raises(Ended, match=r"UNAVAILABLE SILENT: no Hello came within 0\.05 s"):
            await server.dial().read()


async def test_who_acknowledges_nothing_is_sent_away() -> None:
    async with house(limits=ServerLimits(heartbeat_ms=25)) as server:
        bot = server.dial()
        await bot.say_hello()
        assert (await bot.read()).HasField("welcome")
        with pytest.raises(Ended) as ended:
            await bot.read()
        assert (ended.value.code, ended.value.reason, ended.value.retry_s) == ("UNAVAILABLE", "SILENT", 0.0)


async def test_who_never_reads_holds_up_nobody_and_is_counted_until_he_is_gone() -> None:
    lobby = ToyLobby(length=1_000, size=200_000)
    async with house(lobby, ServerLimits(heartbeat_ms=1_500, usual_tables=1)) as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            deaf = server.dial(channel)
            await deaf.say_hello("deaf")
            await _sits_down(server, deaf)
            question = 0
            while server.arena.sessions.connected or not question:
                question += 1  # answers blindly, and claims to have received what it cannot know of
                await deaf.send(
                    arena_pb2.PlayRequest(
                        received=min(question, _sent(server)),
                        answers=[arena_pb2.Answer(table=1, decision=question, option=0)],
                    )
                )
                await server.health()
            assert server.arena.streams == 1  # the write hangs, and the end cannot be told
            lobby.size = 0
            bob = server.dial()
            await bob.say_hello("bob")
            for question in range(1, 10):
                response = await bob.read_until("decisions")
                assert [one.decision for one in response.decisions] == [question]
                await bob.answer_all(response)
            bob.call.cancel()
            await server.until(lambda: server.arena.streams == 1)
        await server.until(lambda: server.arena.streams == 0)


@pytest.mark.full
async def test_age_frees_a_stream_that_nobody_reads() -> None:
    limits = ServerLimits(connection_age_s=15.0, connection_age_grace_s=0.2, heartbeat_ms=1_500, usual_tables=1)
    async with (
        house(ToyLobby(length=1_000, size=200_000), limits) as server,
        grpc.aio.insecure_channel(server.address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel,
    ):
        deaf = server.dial(channel)
        await deaf.say_hello("deaf")
        await _sits_down(server, deaf)
        for question in range(1, 40):
            answer = arena_pb2.Answer(table=1, decision=question, option=0)
            await deaf.send(arena_pb2.PlayRequest(received=min(question, _sent(server)), answers=[answer]))
            await server.health()
        assert server.arena.streams == 1
        await server.until(lambda: server.arena.streams == 0)


def _sent(server: House) -> int:
    """The number of the last envelope to the only bot."""
    links = [session.link for session in server.lobby.there if session.link is not None]
    return links[0]._sent if links else 0


async def _sits_down(server: House, deaf: Bot) -> None:
    """Acknowledge a Welcome that was not read, until there is a match."""
    while not server.lobby.seats:
        await deaf.send(arena_pb2.PlayRequest(received=_sent(server)))
        await server.health()


async def test_a_connection_carries_sixteen_streams() -> None:
    async with house() as server:
        bots = [await server.welcomed(f"bot{number}") for number in range(16)]
        late = server.dial()
        waiting = asyncio.ensure_future(late.say_hello("late"))
        async with grpc.aio.insecure_channel(server.address, options=[("grpc.use_local_subchannel_pool", 1)]) as other:
            mine = server.dial(other)
            await mine.say_hello("mine")
            assert (await mine.read()).HasField("welcome")
            mine.call.cancel()
        assert not waiting.done()
        bots[0].call.cancel()
        await waiting
        assert (await late.read()).welcome.bot == "late"
        for bot in (*bots, late):
            bot.call.cancel()


async def test_more_streams_than_there_may_be_are_turned_away() -> None:
    async with house(limits=ServerLimits(most_streams=2)) as server:
        bots = [await server.welcomed(name) for name in ("ann", "bob")]
        with pytest.raises(Ended) as ended:
            await server.dial().read()
        assert (ended.value.code, ended.value.reason) == ("RESOURCE_EXHAUSTED", "STREAMS")
        assert ended.value.retry_s == 5.0
        bots[0].call.cancel()
        await server.until(lambda: server.arena.streams == 1)
        await server.welcomed("cid")


async def test_a_flood_is_slowed_and_others_are_not() -> None:
    limits = ServerLimits(envelopes_per_second=2, envelopes_at_once=5)
    async with house(ToyLobby(length=30, tables=1), limits) as server:
        bob = await server.welcomed("bob")
        await server.until(lambda: bool(server.lobby.seats))
        ann = await server.welcomed("ann", max_tables=1)
        before = asyncio.get_running_loop().time()

        async def flood() -> float:
            for _ in range(9):
                await ann.say()
            await ann.say(max_tables=7)
            await server.until(lambda: "changed ann 7" in server.lobby.told)
            return asyncio.get_running_loop().time() - before

        flooding = asyncio.ensure_future(flood())
        seen = await bob.plays(1)
        assert (seen["decisions"], seen["OK"]) == (30, 1)  # far more than 2 a second, as each was asked for
        assert not flooding.done()
        assert await flooding >= 2.4  # 5 more than at once, and 2 a second
        ann.call.cancel()
