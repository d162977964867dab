"""The server stands still, in its own loop or with its whole process, and no bot pays for it."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.store import Store
from cutpurse.server.limits import ServerLimits
from cutpurse.v1 import arena_pb2
from tests.roots import CHECKOUT
from tests.server.dialling import house
from tests.server.raw_bot import RawBot
from tests.server.toys import ToySeat

# Clocks that all together give a decision less than the server is stopped for.
PROGRAM = """
import asyncio, sys
from pathlib import Path
from cutpurse.server.hosting.arena import serve
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger, capture_library_logs
from cutpurse.server.hosting.open_arena import open_arena
from tests.server.arenas import QUICK

log = logger(sys.stderr)
capture_library_logs(log)
ladders = [Ladder("greed", "greed", 2, control=QUICK, matches_wanted=1)]
with open_arena("127.0.0.1:0", Path(sys.argv[1]), ladders, log) as opened:
    asyncio.run(serve(opened.arena, 0.0, lambda address: print(address, flush=True)))
"""
STOPPED_S = 6.0


def stand_still(seconds: float) -> None:
    """Hold the loop up, and with it the server that runs on it."""
    time.sleep(seconds)


async def stopped(process: asyncio.subprocess.Process, seconds: float) -> None:
    """Stop a process for so long."""
    process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(seconds)
    process.send_signal(signal.SIGCONT)


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-W", "error", "-c", PROGRAM, str(tmp_path / "test.db")),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=CHECKOUT,
    )
    yield process
    if process.returncode is None:
        process.kill()
        await process.communicate()


async def test_a_process_that_is_stopped_for_seconds_makes_nobody_late(
    server: asyncio.subprocess.Process, tmp_path: Path
) -> None:
    assert server.stdout is not None
    address = (await server.stdout.readline()).decode().strip()
    async with RawBot(address) as ann, RawBot(address) as bob:
        for name, bot in (("ann", ann), ("bob", bob)):
            await bot.hello(name)
        left = ["meanwhile", "afterwards"]  # when the bot answers, at the first two decisions of the match

        async def plays(bot: RawBot) -> arena_pb2.MatchEnded:
            for _ in range(2):
                asked = await bot.decision()
                when = left.pop(0) if left else ""
                stop = asyncio.create_task(stopped(server, STOPPED_S if when else 0.0))
                await asyncio.sleep(STOPPED_S / 2 if when == "meanwhile" else 0.0)
                if when == "afterwards":
                    await stop
                await bot.answer(asked)
                await stop
            return await bot.play_on()

        ends = await asyncio.gather(plays(ann), plays(bob))
    assert not any(end.voided for end in ends)
    server.send_signal(signal.SIGTERM)
    _, said = await server.communicate()
    assert server.returncode == 0
    with Store(tmp_path / "test.db") as store:
        (match,) = store.run(queries.matches)
    assert [(seat.end_cause, seat.faults) for seat in match.seats] == [("normal", 0)] * 2
    stalls = [line["seconds"] for line in map(json.loads, said.splitlines()) if line["event"] == "stood still"]
    assert len([seconds for seconds in stalls if seconds > STOPPED_S - 0.1]) == 2


async def test_a_hello_that_came_while_the_server_stood_still_is_not_late() -> None:
    async with house(limits=ServerLimits(hello_s=2.0)) as server:
        bot = server.dial()
        await server.until(lambda: server.arena.streams == 1)
        stand_still(2.5)
        await bot.say_hello()
        assert (await bot.read()).HasField("welcome")


async def test_a_hello_that_never_comes_is_late_in_the_end() -> None:
    async with house(limits=ServerLimits(hello_s=0.2)) as server:
        bot = server.dial()
        await server.until(lambda: server.arena.streams == 1)
        stand_still(0.4)
        assert (await bot.ended()).reason == "SILENT"


async def test_an_acknowledgement_that_came_while_the_server_stood_still_is_not_late() -> None:
    async with house(limits=ServerLimits(heartbeat_ms=1_000)) as server:
        began = time.monotonic()
        bot = server.dial()
        await bot.say_hello()
        assert (await bot.read()).HasField("welcome")
        stand_still(2.5)
        await bot.say()
        assert (await bot.read()).envelope == 2
        assert 2.4 < server.lobby.credited <= time.monotonic() - began  # also stalls of a busy machine


async def test_a_stall_is_credited_before_the_next_envelope_is_made() -> None:
    async with house() as server:
        bot = await server.welcomed()
        (session,) = server.lobby.there
        seat = ToySeat(session, asks_itself=True)
        credited: list[float] = []  # by when the decision was handed over
        hand_over = seat.decision

        def decision(now: float) -> bytes | None:
            credited.append(server.lobby.credited)
            return hand_over(now)

        seat.decision = decision  # type: ignore[method-assign]
        asyncio.get_running_loop().call_soon(stand_still, 0.3)  # in the turn in which the envelope will be made
        seat.sit()
        await bot.read_until("decisions")
        assert credited[0] >= 0.3


async def test_streams_outlive_a_stall_that_is_longer_than_a_heartbeat() -> None:
    async with house(limits=ServerLimits(heartbeat_ms=500)) as server:
        bot = server.dial()
        await bot.say_hello()
        for _ in range(3):
            await bot.read()
            stand_still(1.2)
            await bot.say()
        assert (await bot.read()).envelope == 4
