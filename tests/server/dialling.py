"""A server with toy matches on a real socket, and bots that use only gRPC and raw bytes."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc

from cutpurse.server.hosting.arena import Arena, Listening
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import logger
from cutpurse.v1 import arena_pb2
from tests.server.toys import ToyLobby

__all__ = ["Bot", "Ended", "House", "house", "how_it_ended"]

PLAY = "/cutpurse.v1.ArenaService/Play"


class House:
    """A running server."""

    def __init__(self, arena: Arena, address: str, lobby: ToyLobby, channel: grpc.aio.Channel) -> None:
        self.arena = arena
        self.address = address
        self.lobby = lobby
        self.channel = channel

    def dial(self, channel: grpc.aio.Channel | None = None) -> Bot:
        """Open a stream without sending anything."""
        return Bot(channel or self.channel)

    async def welcomed(self, name: str = "ann", **hello: object) -> Bot:
        """Connect a bot, and acknowledge its Welcome."""
        bot = self.dial()
        await bot.say_hello(name, **hello)
        welcome = await bot.read()
        assert welcome.HasField("welcome")
        assert not welcome.starts, "whoever is given a match at once reads his first envelope himself"
        await bot.say()
        return bot

    async def health(self, service: str = "") -> str:
        """Return the health status of a service."""
        stub = health_pb2_grpc.HealthStub(self.channel)
        while True:
            try:
                answer = await stub.Check(health_pb2.HealthCheckRequest(service=service))
            except grpc.aio.AioRpcError as problem:
                if problem.details() != "max connection age":  # else the next call uses a new connection
                    raise
            else:
                return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Call the health service until `is_so` returns True."""
        while not is_so():
            await self.health()


class Ended(AssertionError):
    """The error for reading from a call that has ended, with its status."""

    def __init__(self, code: str, text: str, reason: str, retry_s: float | None) -> None:
        super().__init__(f"{code} {reason}: {text}")
        self.code, self.text, self.reason, self.retry_s = code, text, reason, retry_s


class Bot:
    """One stream of raw bytes."""

    def __init__(self, channel: grpc.aio.Channel, compression: grpc.Compression | None = None) -> None:
        method: Any = channel.stream_stream(PLAY)
        self.call: Any = method(compression=compression)
        self.received = 0

    async def say_hello(self, name: str = "ann", **hello: object) -> None:
        """Send Hello."""
        fields: dict[str, Any] = {"protocol_major": 1, "bot": name, **hello}
        await self.send(arena_pb2.PlayRequest(hello=arena_pb2.Hello(**fields)))

    async def send(self, envelope: Message | bytes) -> None:
        """Send any bytes or message; if the call has ended, only `read` raises the error."""
        with contextlib.suppress(grpc.aio.AioRpcError):
            await self.call.write(envelope if isinstance(envelope, bytes) else envelope.SerializeToString())

    async def say(self, **fields: Any) -> None:
        """Send an envelope that acknowledges what was read."""
        await self.send(arena_pb2.PlayRequest(**{"received": self.received, **fields}))

    async def read(self) -> arena_pb2.PlayResponse:
        """Return the next envelope.  Raises Ended if the call has ended."""
        try:
            envelope = await self.call.read()
        except grpc.aio.AioRpcError:
            raise await self.ended() from None
        if envelope is grpc.aio.EOF:
            raise await self.ended()
        response = arena_pb2.PlayResponse.FromString(envelope)
        assert response.envelope == self.received + 1
        self.received = response.envelope
        return response

    async def read_until(self, field: str) -> arena_pb2.PlayResponse:
        """Read and acknowledge envelopes up to one with this field, which is not acknowledged yet."""
        while not len(getattr((response := await self.read()), field)):
            await self.say()
        return response

    async def answer_all(self, response: arena_pb2.PlayResponse, **fields: Any) -> None:
        """Take the first option of every decision."""
        answers = [arena_pb2.Answer(table=one.table, decision=one.decision, option=0) for one in response.decisions]
        await self.say(answers=answers, **fields)

    async def plays(self, matches: int) -> Counter[str]:
        """Play `matches` matches and leave; count the received items until the end of the call, and its status."""
        seen: Counter[str] = Counter()
        try:
            while True:
                response = await self.read()
                for field, value in response.ListFields():
                    seen[field.name] += len(value) if field.is_repeated else 1
                await self.answer_all(response, leaving=seen["ends"] >= matches)
        except Ended as ended:
            seen[ended.code] += 1
        return seen

    async def ended(self) -> Ended:
        """Wait for the end of the call, and return its status."""
        return await how_it_ended(self.call)


async def how_it_ended(call: Any) -> Ended:
    """Return the status of a call, with its details."""
    code = await call.code()
    reason, retry_s = "", None
    for key, value in await call.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
                if detail.Unpack(info):
                    assert info.domain == "cutpurse"
                    reason = info.reason
                elif detail.Unpack(retry):
                    retry_s = retry.retry_delay.ToMilliseconds() / 1_000
    return Ended(code.name, await call.details() or "", reason, retry_s)


@contextlib.asynccontextmanager
async def house(
    lobby: ToyLobby | None = None, limits: ServerLimits | None = None, address: str = "127.0.0.1:0"
) -> AsyncIterator[House]:
    """Run a server for the length of the block, with one channel to it."""
    lobby = lobby or ToyLobby()
    arena = Arena(Listening(address), lobby, logger(sys.stderr, "debug"), limits=limits)
    bound = await arena.start()
    try:
        async with grpc.aio.insecure_channel(bound) as channel:
            yield House(arena, bound, lobby, channel)
    finally:
        await arena.stop()
