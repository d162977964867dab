"""A bot that implements the protocol without the SDK, so that it can send anything."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any, Self

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from cutpurse.v1 import arena_pb2, arena_pb2_grpc

__all__ = ["Ended", "RawBot", "honest", "others"]


class Ended(Exception):
    """The end of a call, with its status code, the reason of the protocol and the text."""

    def __init__(self, code: grpc.StatusCode, reason: str, text: str) -> None:
        super().__init__(f"{code.name} {reason}: {text}")
        self.code = code
        self.reason = reason
        self.text = text


class RawBot:
    """One stream; use it as `async with RawBot(address) as bot`."""

    def __init__(
        self,
        address: str,
        token: str = "",
        *,
        channel: grpc.aio.Channel | None = None,
        metadata: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Open a stream.

        Args:
            address: Address of the server.
            token: Bearer token to send, if any.
            metadata: Further metadata of the call.
            channel: Channel to use. Default: a new one without TLS.
        """
        self.channel = channel or grpc.aio.insecure_channel(address)
        authorization = (("authorization", f"Bearer {token}"),) if token else ()
        self.call: Any = arena_pb2_grpc.ArenaServiceStub(self.channel).Play(
            metadata=(*authorization, *metadata) or None
        )
        self.waiting: dict[str, deque[Any]] = {kind: deque() for kind in ("decisions", "refusals", "problems", "ends")}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.channel.close()

    async def send(self, **fields: Any) -> None:
        try:
            await self.call.write(arena_pb2.PlayRequest(**fields))
        except grpc.aio.AioRpcError as error:  # the server has ended the call meanwhile
            raise _ended(error) from None

    async def hello(self, name: str, **fields: Any) -> arena_pb2.Welcome:
        """Send Hello with one table, changed by `fields`, and return Welcome."""
        told: dict[str, Any] = {"protocol_major": 1, "bot": name, "max_tables": 1, **fields}
        await self.send(hello=arena_pb2.Hello(**told))
        return (await self._take()).welcome

    async def _take(self) -> arena_pb2.PlayResponse:
        """Read the next envelope, and queue its contents."""
        envelope = await self.read()
        for kind, items in self.waiting.items():
            items.extend(getattr(envelope, kind))
        return envelope

    async def read(self) -> arena_pb2.PlayResponse:
        """Read the next envelope, and acknowledge it.  Raises Ended."""
        try:
            envelope = await self.call.read()
        except grpc.aio.AioRpcError as error:
            raise _ended(error) from None
        if envelope is grpc.aio.EOF:
            raise Ended(await self.call.code(), "", await self.call.details() or "")
        assert isinstance(envelope, arena_pb2.PlayResponse)
        await self.send(received=envelope.envelope)
        return envelope

    async def _next(self, kind: str) -> Any:
        """Return the next item of a kind: `decisions`, `refusals`, `problems` or `ends`."""
        waiting = self.waiting[kind]
        while not waiting:
            await self._take()
        return waiting.popleft()

    async def decision(self) -> arena_pb2.Decision:
        """Return the next decision."""
        decision: arena_pb2.Decision = await self._next("decisions")
        return decision

    async def refusal(self) -> arena_pb2.Refusal:
        """Return the next refusal of an answer."""
        refusal: arena_pb2.Refusal = await self._next("refusals")
        return refusal

    async def end(self) -> arena_pb2.MatchEnded:
        """Return the end of the next finished match, ignoring decisions meanwhile."""
        end: arena_pb2.MatchEnded = await self._next("ends")
        return end

    async def answer(self, decision: arena_pb2.Decision, option: int | None = 0) -> None:
        await self.send(answers=[arena_pb2.Answer(table=decision.table, decision=decision.decision, option=option)])

    async def play_on(self) -> arena_pb2.MatchEnded:
        """Take the first option of every decision until a match is over."""
        while not self.waiting["ends"]:
            for asked in self.waiting["decisions"]:
                await self.answer(asked)
            self.waiting["decisions"].clear()
            await self._take()
        return await self.end()


def _ended(error: grpc.aio.AioRpcError) -> Ended:
    status = rpc_status.from_call(error)
    reason = ""
    for detail in status.details if status is not None else ():
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            assert info.domain == "cutpurse"
            reason = info.reason
    return Ended(error.code(), reason, error.details() or "")


async def honest(address: str, name: str, token: str = "") -> arena_pb2.MatchEnded:
    """Run a bot that answers at once, until its first match is over."""
    async with RawBot(address, token) as bot:
        await bot.hello(name)
        return await bot.play_on()


async def others(address: str, count: int = 3) -> list[asyncio.Task[arena_pb2.MatchEnded]]:
    """Start `count` honest bots."""
    return [asyncio.create_task(honest(address, f"honest_{number}")) for number in range(count)]
