"""A server as a process: it listens, drains at a signal, and stops at once at the second."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import pytest_asyncio

from cutpurse.server.hosting.arena import serve
from cutpurse.v1 import arena_pb2
from tests.roots import CHECKOUT
from tests.server.dialling import Bot

PROGRAM = """
import asyncio, sys
from cutpurse.server.hosting.arena import Arena, Listening, serve
from cutpurse.server.logs import logger, capture_library_logs
from tests.server.toys import ToyLobby

log = logger(sys.stderr)
capture_library_logs(log)
arena = Arena(Listening("127.0.0.1:0"), ToyLobby(length=3, tables=1), log)
asyncio.run(serve(arena, 60.0, lambda address: print(address, flush=True)))
print("closed", flush=True)
"""


class Program:
    """The process, and the address that it told."""

    def __init__(self, process: asyncio.subprocess.Process, address: str) -> None:
        self.process = process
        self.address = address

    async def rest(self) -> tuple[int, str, str]:
        """How it ended: exit code, and what else it printed on stdout and stderr."""
        out, err = await self.process.communicate()
        return await self.process.wait(), out.decode(), err.decode()


@pytest_asyncio.fixture
async def program(request: pytest.FixtureRequest) -> AsyncIterator[Program]:
    """What is asked for as its parameter stands before its command."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # else it hears of none where these tests run under nohup
    process = await asyncio.create_subprocess_exec(
        *getattr(request, "param", ()),
        sys.executable,
        "-W",
        "error",
        "-c",
        PROGRAM,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=CHECKOUT,
    )
    signal.signal(signal.SIGHUP, before)
    assert process.stdout is not None
    yield Program(process, (await process.stdout.readline()).decode().strip())
    if process.returncode is None:
        process.kill()
        await process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])  # the second as when its terminal is closed
async def test_an_idle_server_stops_at_a_signal(program: Program, number: signal.Signals) -> None:
    program.process.send_signal(number)
    code, out, err = await program.rest()
    assert (code, out) == (0, "closed\n"), err
    assert '"event": "stopped"' in err


NOHUP = ("sh", "-c", "trap '' HUP; exec \"$@\"", "sh")


@pytest.mark.parametrize("program", [NOHUP], indirect=True)
async def test_a_server_that_is_not_to_mind_its_terminal_goes_on_without_it(program: Program) -> None:
    program.process.send_signal(signal.SIGHUP)
    async with grpc.aio.insecure_channel(program.address) as channel:
        bot = Bot(channel)
        await bot.say_hello()
        assert (await bot.read()).HasField("welcome")
        bot.call.cancel()
    program.process.send_signal(signal.SIGTERM)
    code, out, err = await program.rest()
    assert (code, out) == (0, "closed\n"), err


async def plays_to_the_end(bot: Bot, asked: arena_pb2.PlayResponse) -> None:
    """The match of which `asked` is the first question; the server lets go of the bot after it."""
    await bot.answer_all(asked)
    for _ in range(2):
        await bot.answer_all(await bot.read_until("decisions"))
    (ended,) = (await bot.read_until("ends")).ends
    assert ended.table == 1
    await bot.say()
    assert (await bot.ended()).reason == "DRAINING"


async def test_open_matches_go_on_after_the_first_signal(program: Program) -> None:
    async with grpc.aio.insecure_channel(program.address) as channel:
        bot = Bot(channel)
        await bot.say_hello()
        asked = await bot.read_until("decisions")
        program.process.send_signal(signal.SIGTERM)
        await bot.say()
        drained = await bot.read()
        assert drained.drain.time_left_ms > 50_000
        await plays_to_the_end(bot, asked)
    code, out, err = await program.rest()
    assert (code, out) == (0, "closed\n"), err


async def test_the_second_signal_does_not_wait_for_matches(program: Program) -> None:
    async with grpc.aio.insecure_channel(program.address) as channel:
        bot = Bot(channel)
        await bot.say_hello()
        await bot.read_until("decisions")
        program.process.send_signal(signal.SIGTERM)
        await bot.say()
        assert (await bot.read()).HasField("drain")
        program.process.send_signal(signal.SIGTERM)
        await bot.send(arena_pb2.PlayRequest(received=bot.received))
        assert [ended.table for ended in (await bot.read_until("ends")).ends] == [1]
    code, out, err = await program.rest()
    assert (code, out) == (0, "closed\n"), err


class Stopping:
    """An arena as far as it is told to stop."""

    stage = "open"

    def __init__(self) -> None:
        self.told = asyncio.Event()
        self.hurried = asyncio.Event()

    async def start(self) -> str:
        return "here"

    async def stop(self, drain_s: float) -> None:
        self.told.set()
        await self.hurried.wait()

    def hurry(self) -> None:
        self.hurried.set()


async def test_a_terminal_that_is_closed_may_be_told_of_twice() -> None:
    """By its shell, and by the system."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    arena: Any = Stopping()
    try:
        serving = asyncio.create_task(serve(arena, 60.0, lambda address: signal.raise_signal(signal.SIGHUP)))
        await arena.told.wait()
        signal.raise_signal(signal.SIGHUP)
        for _ in range(10):
            await asyncio.sleep(0)  # the loop hears of it, and whoever waits for that has a turn
        assert not arena.hurried.is_set()
        signal.raise_signal(signal.SIGTERM)
        await serving
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_matches_go_on_though_nobody_reads_the_log_any_more(program: Program) -> None:
    process = program.process
    assert process.stderr is not None
    process.stderr._transport.close()  # type: ignore[attr-defined]  # as where it goes through a program that has ended
    async with grpc.aio.insecure_channel(program.address) as channel:
        bot = Bot(channel)
        await bot.say_hello()
        asked = await bot.read_until("decisions")
        process.send_signal(signal.SIGTERM)
        await bot.say()
        assert (await bot.read()).HasField("drain")
        await plays_to_the_end(bot, asked)
    assert process.stdout is not None
    assert await process.stdout.read() == b"closed\n"
    assert await process.wait() == 0
