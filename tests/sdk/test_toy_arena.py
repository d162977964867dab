"""The small server of tests keeps what the protocol says of whoever leaves, where no client of ours tries it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio

from cutpurse.v1 import arena_pb2, arena_pb2_grpc
from tests.sdk.arena import arena


async def played(
    channel: grpc.aio.Channel, hello: arena_pb2.PlayRequest, envelopes: int | None = None
) -> AsyncIterator[arena_pb2.PlayResponse]:
    """What is told on a stream on which the first option is always taken; it is broken off after so many envelopes."""
    call: Any = arena_pb2_grpc.ArenaServiceStub(channel).Play()
    await call.write(hello)
    count = 0
    while (told := await call.read()) is not grpc.aio.EOF:
        yield told
        count += 1
        if count == envelopes:
            call.cancel()
            return
        answers = [arena_pb2.Answer(table=one.table, decision=one.decision, option=0) for one in told.decisions]
        await call.write(arena_pb2.PlayRequest(received=told.envelope, answers=answers))
    assert await call.code() is grpc.StatusCode.OK


def hello(leaving: bool, resume: bool = False) -> arena_pb2.PlayRequest:
    request = arena_pb2.PlayRequest(leaving=leaving)
    request.hello.bot, request.hello.version, request.hello.max_tables = "sneak", "1", 1
    request.hello.games.add(game="greed")
    if resume:
        request.hello.resume.session, request.hello.resume.secret = "session 0", b"secret"
    return request


async def test_who_leaves_with_his_hello_is_welcomed_and_gets_no_match() -> None:
    async with arena(matches=1) as server, grpc.aio.insecure_channel(server.address) as channel:
        told = [one async for one in played(channel, hello(leaving=True))]
        assert [one.HasField("welcome") for one in told] == [True]
        assert not server.sessions["session 0"].tables


async def test_who_leaves_as_he_resumes_plays_his_match_to_the_end_and_gets_no_other() -> None:
    async with arena(matches=2) as server, grpc.aio.insecure_channel(server.address) as channel:
        told = [one async for one in played(channel, hello(leaving=False), envelopes=2)]
        assert [start.table for one in told for start in one.starts] == [1]
        told = [one async for one in played(channel, hello(leaving=True, resume=True))]
        assert told[0].welcome.resumed
        assert [ended.table for one in told for ended in one.ends] == [1]
        assert set(server.sessions["session 0"].tables) == {1}
