"""Who pings as `docs/reference/protocol.md` allows is never cut off: the least time between pings, on a real server."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter

import grpc
import pytest

from cutpurse.server.limits import ServerLimits
from tests.hostile import frames
from tests.server.dialling import Bot, house
from tests.server.test_protocol_page import page

SAFE = (
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),  # any number, as in Go and Java; here it would be two
)
QUIET_MS = 45_000  # without a heartbeat, as all that the server sends makes it forget the pings before


class Relay:
    """Passes bytes on between a client and a server, and counts the pings of the client."""

    def __init__(self, server: str) -> None:
        self._host, _, self._port = server.rpartition(":")
        self._ways: list[asyncio.Task[None]] = []
        self.pings = 0
        self.over = asyncio.Event()

    async def meet(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Serve the client."""
        there, to_server = await asyncio.open_connection(self._host, int(self._port))
        ways = self._pass_on(reader, to_server, counts=True), self._pass_on(there, writer, counts=False)
        self._ways = [asyncio.create_task(way) for way in ways]
        await asyncio.wait(self._ways)
        for end in (writer, to_server):
            end.close()
        self.over.set()

    async def close(self) -> None:
        """Hang up on both."""
        for way in self._ways:
            way.cancel()
        await self.over.wait()

    async def _pass_on(self, reader: StreamReader, writer: StreamWriter, counts: bool) -> None:
        if counts:
            writer.write(await reader.readexactly(len(frames.PREFACE)))
        while True:
            head = await reader.readexactly(9)
            self.pings += counts and head[3] == frames.PING and not head[4] & frames.ACK
            writer.write(head + await reader.readexactly(int.from_bytes(head[:3])))


@pytest.mark.soak
async def test_a_ping_every_ten_seconds_of_an_open_call_is_safe() -> None:
    assert "never less than 10 s" in page()
    async with house(limits=ServerLimits(heartbeat_ms=QUIET_MS)) as server:
        relay = Relay(server.address)
        async with await asyncio.start_server(relay.meet, "127.0.0.1", 0) as between:
            host, port = between.sockets[0].getsockname()
            async with grpc.aio.insecure_channel(f"{host}:{port}", options=SAFE) as channel:
                bot = Bot(channel)
                await bot.say_hello()
                assert (await bot.read()).HasField("welcome")
                await bot.say()
                before = relay.pings
                heartbeat = await bot.read()
                assert heartbeat.ListFields() == [(heartbeat.DESCRIPTOR.fields_by_name["envelope"], 2)]
                assert relay.pings - before >= 3
                await relay.close()
