"""The way from a bot that the server runs to the server: what goes through, and what a bot beyond the bounds meets."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import socket
import time
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import grpc
import pytest

from cutpurse.server.logs import logger
from cutpurse.server.parts.submissions.relays import (
    AT_ONCE_BYTES,
    BYTES_PER_S,
    CALL_BYTES,
    CONNECTIONS_AT_ONCE,
    MAX_CONNECTIONS,
    CallCount,
    Relay,
)
from cutpurse.v1 import ladder_pb2, ladder_pb2_grpc
from tests.hostile import frames
from tests.hostile.frames import call, frame, message, request
from tests.looking import until_so

LIST_LADDERS = "/cutpurse.v1.LadderService/ListLadders"


def a_call(stream: int) -> bytes:
    """A whole call without a token."""
    return request(stream, call(LIST_LADDERS)) + frame(frames.DATA, frames.END_STREAM, stream, message(b""))


class Way:
    """A relay to a server that counts what reaches it, and echoes it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "bot.sock"
        self.log = io.StringIO()
        self.connections = self.most = 0
        self.calls = 0

    async def echo(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.most = max(self.most, self.connections)
        counted = CallCount()
        try:
            while data := await reader.read(4_096):
                self.calls += counted.count(data)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            self.connections -= 1
            writer.close()

    async def dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(self.path)

    def bounds_met(self) -> list[str]:
        lines = map(json.loads, self.log.getvalue().splitlines())
        return [line["bound"] for line in lines if line["event"] == "resident held back"]


@asynccontextmanager
async def way_to_an_echo(folder: Path) -> AsyncIterator[Way]:
    way = Way(folder)
    server = await asyncio.start_unix_server(way.echo, folder / "server.sock")
    loop = asyncio.get_running_loop()
    relay = Relay(way.path, folder / "server.sock", loop, logger(way.log), bot="ann/sneak:1")
    try:
        yield way
    finally:
        relay.close()
        await until_so(lambda: way.connections == 0)
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize("size", [1, 2, 8, 9, 10, 33, 1_000])
def test_calls_are_counted_however_bytes_are_cut(size: int) -> None:
    said = frames.PREFACE + frames.settings() + b"".join(a_call(stream) for stream in range(1, 41, 2))
    counted = CallCount()
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    assert sum(map(counted.count, pieces)) == 20


def test_bytes_of_a_message_are_never_taken_for_a_call() -> None:
    counted = CallCount()
    body = frame(frames.DATA, 0, 1, a_call(3) * 100)
    assert counted.count(frames.PREFACE + request(1, call(LIST_LADDERS)) + body + a_call(3)) == 2


async def test_a_connection_too_many_is_told_so_and_the_others_go_on(short: Path) -> None:
    async with way_to_an_echo(short) as way:
        held = [await way.dial() for _ in range(MAX_CONNECTIONS)]
        for reader, writer in held:
            writer.write(b"here")
            assert await reader.readexactly(4) == b"here"
        reader, writer = await way.dial()
        told = await reader.read()
        writer.close()
        assert told.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
        assert b"has 4 connections at a time" in told
        assert way.bounds_met() == ["connections at once"]
        reader, writer = held.pop()
        writer.close()
        await until_so(lambda: way.connections == MAX_CONNECTIONS - 1)
        held.append(await way.dial())
        for reader, writer in held:
            writer.write(b"still here")
            assert await reader.readexactly(10) == b"still here"
            writer.close()
        assert way.most == MAX_CONNECTIONS


async def test_a_refused_bot_can_still_send_what_it_began_with(short: Path) -> None:
    async with way_to_an_echo(short) as way:
        held = [await way.dial() for _ in range(MAX_CONNECTIONS)]
        await until_so(lambda: way.connections == MAX_CONNECTIONS)
        with socket.socket(socket.AF_UNIX) as bot:
            bot.connect(str(way.path))
            bot.setblocking(False)
            loop = asyncio.get_running_loop()
            while await loop.sock_recv(bot, 4_096):
                pass
            assert bot.send(frames.PREFACE) == len(frames.PREFACE)
        for _, writer in held:
            writer.close()


async def test_grpc_tells_a_bot_why_its_connection_is_refused(short: Path) -> None:
    async with way_to_an_echo(short) as way:
        held = [await way.dial() for _ in range(MAX_CONNECTIONS)]
        await until_so(lambda: way.connections == MAX_CONNECTIONS)
        async with grpc.aio.insecure_channel(f"unix:{way.path}") as channel:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await ladder_pb2_grpc.LadderServiceStub(channel).ListLadders(ladder_pb2.ListLaddersRequest())
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        assert "HTTP status 429" in (refused.value.details() or "")
        for _, writer in held:
            writer.close()


async def test_calls_beyond_the_rate_wait_and_cost_the_server_nothing(short: Path) -> None:
    async with way_to_an_echo(short) as way:
        began = time.monotonic()
        reader, writer = await way.dial()
        writer.write(frames.PREFACE + frames.settings() + b"".join(a_call(stream) for stream in range(1, 3_401, 2)))
        await until_so(lambda: "bytes and calls a second" in way.bounds_met())
        at_once = (AT_ONCE_BYTES + BYTES_PER_S * (time.monotonic() - began)) / CALL_BYTES
        assert way.calls <= at_once
        assert reader.at_eof() is False
        writer.close()


async def test_connections_in_a_loop_are_taken_at_a_steady_rate(short: Path) -> None:
    async with way_to_an_echo(short) as way:
        for _ in range(CONNECTIONS_AT_ONCE + 1):
            _, writer = await way.dial()
            writer.close()
        await until_so(lambda: "connections a second" in way.bounds_met())
        assert way.most <= MAX_CONNECTIONS


async def test_a_bot_whose_server_is_gone_is_hung_up_on(short: Path) -> None:
    loop = asyncio.get_running_loop()
    relay = Relay(short / "bot.sock", short / "server.sock", loop, logger(io.StringIO()), bot="ann/sneak:1")
    reader, writer = await asyncio.open_unix_connection(short / "bot.sock")
    assert await reader.read() == b""
    writer.close()
    relay.close()
    await until_so(lambda: relay._listening.fileno() == -1)


def test_a_relay_may_be_closed_after_its_loop(short: Path) -> None:
    loop = asyncio.new_event_loop()
    relay = Relay(short / "bot.sock", short / "server.sock", loop, logger(io.StringIO()), bot="ann/sneak:1")
    loop.close()
    relay.close()
    assert relay._listening.fileno() == -1


async def test_a_relay_that_is_closed_before_it_began_leaves_no_socket_open(short: Path) -> None:
    loop = asyncio.get_running_loop()
    relay = Relay(short / "bot.sock", short / "server.sock", loop, logger(io.StringIO()), bot="ann/sneak:1")
    relay.close()  # as when no place has room for its bot
    await until_so(lambda: relay._listening.fileno() == -1)


def test_a_relay_that_is_closed_on_a_loop_that_stops_before_it_began_leaves_no_socket_open(short: Path) -> None:
    loop = asyncio.new_event_loop()
    relay = Relay(short / "bot.sock", short / "server.sock", loop, logger(io.StringIO()), bot="ann/sneak:1")
    relay.close()  # the loop runs no more, and is not closed yet
    assert relay._listening.fileno() == -1
    loop.close()


@pytest.mark.parametrize("turns", range(6))
async def test_a_relay_that_is_closed_as_a_bot_dials_leaves_no_socket_open(short: Path, turns: int) -> None:
    with (
        warnings.catch_warnings(record=True) as seen,
        socket.socket(socket.AF_UNIX) as server,
        socket.socket(socket.AF_UNIX) as bot,
    ):
        warnings.simplefilter("always")
        server.bind(str(short / "server.sock"))
        server.listen()
        loop = asyncio.get_running_loop()
        relay = Relay(short / "bot.sock", short / "server.sock", loop, logger(io.StringIO()), bot="ann/sneak:1")
        for _ in range(3):  # until it waits for a connection
            await asyncio.sleep(0)
        bot.connect(str(short / "bot.sock"))
        for _ in range(turns):
            await asyncio.sleep(0)
        relay.close()
        await until_so(lambda: relay._listening.fileno() == -1)
        gc.collect()
        bot.settimeout(1.0)
        with suppress(ConnectionError):
            assert bot.recv(1) == b""
    assert [str(one.message) for one in seen] == []
