"""What the arena does in a second, beside bare messages that go to and fro: real processes over loopback, in one run.

    python -m benchmarks.arena [--seconds S] [--rounds R] [--tables N,...]

The arena is a server process without a store, and four bots that take the first option, each a process of its own;
they play Greed without a floor for windows. The bare exchange is a server and a client of gRPC that send each
other one message at a time on one stream, as large as a decision and its answer are, with nothing behind. Rounds
alternate; the median counts. Decisions are those of matches that ended, and so a little too few.
"""

import argparse
import asyncio
import json
import os
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any

import grpc
import grpc.aio

from benchmarks.protocol import ROOT

__all__ = ["main"]

BOTS = 4
QUESTION_BYTES, ANSWER_BYTES = 400, 10
METHOD = "/bench.Echo/Play"
STARTED_S = 2.0  # from the first match to the begin of the measurement


# -- the processes
async def echo_server() -> None:
    """Asks and waits for the answer, again and again."""

    async def play(_: object, context: Any) -> None:
        question = bytes(QUESTION_BYTES)
        while True:
            await context.write(question)
            if await context.read() is grpc.aio.EOF:
                return

    handler: Any = grpc.stream_stream_rpc_method_handler(play)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench.Echo", {"Play": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await server.wait_for_termination()


async def echo_client(address: str, seconds: float) -> None:
    """Answers for so long, and says how often."""
    async with grpc.aio.insecure_channel(address) as channel:
        call: grpc.aio.StreamStreamCall[bytes, bytes] = channel.stream_stream(METHOD)()
        answer = bytes(ANSWER_BYTES)
        for _ in range(200):
            await call.read()
            await call.write(answer)
        count, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            await call.read()
            await call.write(answer)
            count += 1
        print(json.dumps({"decisions": count, "seconds": time.perf_counter() - began}), flush=True)


async def arena_server(tables: int, seconds: float) -> None:
    """An arena for so many tables a bot; it says its address, then what was decided in so many seconds."""
    from cutpurse.engine.clocks import TimeControl
    from cutpurse.server.host import Arena
    from cutpurse.server.ladders import Ladder
    from cutpurse.server.limits import Limits
    from cutpurse.server.lobby import Lobby
    from cutpurse.server.logs import logger
    from cutpurse.server.results import FinishedMatch

    decisions = 0

    class Counted:
        """In place of a store."""

        def submit(self, result: FinishedMatch) -> Future[None]:
            nonlocal decisions
            decisions += result.decisions
            done: Future[None] = Future()
            done.set_result(None)
            return done

    log = logger(sys.stderr, "error")
    ladder = Ladder("greed", "greed", BOTS, {}, TimeControl(poll_floor_ms=0))
    lobby = Lobby([ladder], Counted(), entropy=secrets.token_bytes, utc=lambda: datetime.now(UTC), log=log)
    arena = Arena("127.0.0.1:0", lobby, log, limits=Limits(most_tables=tables))
    print(await arena.start(), flush=True)
    while lobby.tables < tables:
        await asyncio.sleep(0.05)
    await asyncio.sleep(STARTED_S)
    before, cpu, began = decisions, time.process_time(), time.perf_counter()
    await asyncio.sleep(seconds)
    told = {
        "decisions": decisions - before,
        "seconds": time.perf_counter() - began,
        "cpu_s": time.process_time() - cpu,
    }
    print(json.dumps(told), flush=True)
    await arena.stop()


# -- the measurement
def start(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.arena", *map(str, words)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line:
        raise RuntimeError("a process of the bench ended early")
    return line


def bare(seconds: float) -> dict[str, float]:
    """One round of the bare exchange."""
    with start("--role", "echo-server") as server:
        try:
            with start("--role", "echo-client", f"127.0.0.1:{line_of(server)}", seconds) as client:
                sample: dict[str, float] = json.loads(line_of(client))
                return sample
        finally:
            server.kill()


def arena(tables: int, seconds: float) -> dict[str, float]:
    """One round of the arena."""
    bots: list[subprocess.Popen[bytes]] = []
    with start("--role", "arena", tables, seconds) as server:
        try:
            environment = {**os.environ, "CUTPURSE_SERVER": line_of(server)}
            command = [sys.executable, "-m", "cutpurse.sdk.cli", "bot", "run", "first_option", "--quiet", "--name"]
            bots = [
                subprocess.Popen([*command, f"bot_{number}"], env=environment, stderr=subprocess.DEVNULL)
                for number in range(BOTS)
            ]
            sample: dict[str, float] = json.loads(line_of(server))
            return sample
        finally:
            for bot in bots:
                bot.kill()
                bot.wait()
            server.kill()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tables", default="1,8,64,256", help="a bot, a row each")
    parser.add_argument("--role", nargs="+", help=argparse.SUPPRESS)
    told = parser.parse_args(arguments)
    match told.role:
        case ["echo-server"]:
            asyncio.run(echo_server())
        case ["echo-client", address, seconds]:
            asyncio.run(echo_client(address, float(seconds)))
        case ["arena", tables, seconds]:
            asyncio.run(arena_server(int(tables), float(seconds)))
        case _:
            report([int(word) for word in told.tables.split(",")], told.rounds, told.seconds)


def report(tables: Sequence[int], rounds: int, seconds: float) -> None:
    """Measure all rows in turn, and print them."""
    rates: dict[int, list[float]] = {0: [], **{count: [] for count in tables}}
    cpu: dict[int, list[float]] = {count: [] for count in tables}
    for _ in range(rounds):
        for count, row in rates.items():
            sample = arena(count, seconds) if count else bare(seconds)
            row.append(sample["decisions"] / sample["seconds"])
            if count:
                cpu[count].append(1e6 * sample["cpu_s"] / max(1.0, sample["decisions"]))
    base = statistics.median(rates[0])
    print(f"{'':12}{'decisions/s':>12}{'to bare':>9}{'server CPU us':>15}")
    print(f"{'bare':12}{base:12,.0f}{1:9.2f}")
    for count in tables:
        rate = statistics.median(rates[count])
        print(f"{f'{count} tables':12}{rate:12,.0f}{rate / base:9.2f}{statistics.median(cpu[count]):15.0f}")


if __name__ == "__main__":
    main()
