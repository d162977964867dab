"""The cost of spectators: the server's CPU time per decision, and its memory per watch call.

    python -m benchmarks.watching [--rounds 7] [--seconds 1.0] [--calls 200]

The first part is a lobby with one match of four bots and its spectators, in one process and without a network. Every
decision is encoded for its bot and answered at once. The rows are measured in turn, round after round. A ratio is the
median of the ratios within each round. The match has 100 decisions per second of simulated time. Spectators get at most
ten updates per second, so there is one update per ten decisions.

The second part is a server with such a match in its own process. Its resident memory is read before and after
`--calls` calls of WatchMatch follow the match over gRPC.
"""

import argparse
import asyncio
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, Final

import grpc

from benchmarks.arena.server import Taken
from benchmarks.note_cost import Nothing
from cutpurse.engine.clocks import TimeControl
from cutpurse.games import GAMES
from cutpurse.leaderboard.results import Identity
from cutpurse.server.hosting.open_arena import open_arena
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.server_match import SeatAt
from cutpurse.server.watching.broadcast import Visitor, Watching, WatchSubscriber
from cutpurse.v1 import arena_pb2, ladder_pb2, ladder_pb2_grpc

__all__ = ["main"]

SEATS: Final = 4
TICK_S: Final = 0.01  # simulated time between two decisions
DELAY_S: Final = 1.0
SETTLES_S: Final = 5.0  # wait after calls were opened, for updates of a match or two
LIMITS: Final = ServerLimits(most_watchers=10_000, watchers_per_address=10_000)
QUICK: Final = TimeControl(poll_floor_ms=0)


@dataclass(frozen=True)
class Row:
    """The spectators of a row."""

    name: str
    spectators: int = 0
    own_seat: bool = False


ROWS: Final = (
    Row("nobody watches"),
    Row("a spectator", 1),
    Row("100 spectators", 100),
    Row("an owner watches their seat", 0, True),
)


class Bot:
    """A session whose bot answers at once."""

    wants_events = False
    wants_agenda = True
    sends_usage = False
    sends_nonces = False
    forgets = False

    def __init__(self, name: str) -> None:
        self.identity = Identity("local", name, "1")
        self.seats: dict[SeatAt, None] = {}
        self.to_do: dict[SeatAt, None] = {}
        self.random = Random(name)
        self.decisions = 0

    @property
    def max_tables(self) -> int:
        return 1

    @property
    def declines_requests(self) -> bool:
        return False

    @property
    def is_for_tests(self) -> bool:
        return False

    @property
    def free_tables(self) -> int:
        return 1 - len(self.seats)

    def plays(self, game: str, ladder: str) -> bool:
        return True

    def sit(self, seat: SeatAt) -> None:
        seat.number = 1
        self.seats[seat] = None

    def begin(self, seat: SeatAt) -> None:
        self.to_do[seat] = None

    def rise(self, seat: SeatAt) -> None:
        del self.seats[seat]

    def ready(self, seat: SeatAt) -> None:
        self.to_do[seat] = None

    def opened(self, seat: SeatAt, body: bytes) -> None:
        """Do nothing: the bot never plays on a board of several matches."""

    def tell(self, reason: str, text: str) -> None:
        raise AssertionError(text)

    def turn(self, lobby: Lobby, now: float) -> bool:
        """Answer one decision, and leave finished matches; return whether there was a decision."""
        while self.to_do:
            seat = next(iter(self.to_do))
            del self.to_do[seat]
            if seat.has_decision() and (body := seat.decision(now)) is not None:
                asked = arena_pb2.Decision.FromString(body)
                self.decisions += 1
                seat.answer(asked.decision - 1, self.random.randrange(len(asked.options)), now)
                seat.go_on()
                return True
            if seat.ended() is not None:
                del self.seats[seat]
                lobby.changed(self)
        return False


class Hall:
    """A lobby with one match after the other, and its spectators."""

    def __init__(self, game: str, row: Row) -> None:
        self.now = 0.0
        self.told = 0
        log: Any = Nothing()
        ladder = Ladder("it", game, SEATS, {}, QUICK)
        self.lobby = Lobby([ladder], Taken(), entropy=secrets.token_bytes, utc=lambda: datetime.now(UTC), log=log)
        self.watching = Watching(self.lobby, log, delay_s=DELAY_S, limits=LIMITS)
        self.watching.begin(clock=lambda: self.now, due=lambda: None, incident_number=lambda: "1")
        self.bots = [Bot(f"bot{seat}") for seat in range(SEATS)]
        self.watchers = [self._watch(ladder="it") for _ in range(row.spectators)]
        self.own: list[WatchSubscriber] = []
        if row.own_seat:
            self.lobby.on_started.append(lambda match: self._own(match.name))
        for bot in self.bots:
            self.lobby.enter(bot)

    def _own(self, match: str) -> None:
        for watcher in self.own:
            self.watching.leave(watcher)
        self.own = [self._watch(match=match, seat=0)]

    def _watch(self, **asked: Any) -> WatchSubscriber:
        visitor = Visitor("local", "here", lambda ladder: True)
        return self.watching.watch(ladder_pb2.WatchMatchRequest(**asked), visitor, lambda: None)

    @property
    def decisions(self) -> int:
        return sum(bot.decisions for bot in self.bots)

    def go_on(self, is_over: Callable[[], bool]) -> None:
        while not is_over():
            for _ in range(64):
                self.now += TICK_S
                self.lobby.tick(self.now)
                any(bot.turn(self.lobby, self.now) for bot in self.bots)  # only the first bot with a decision
                at = self.watching.next_event_at()
                if at is not None and at <= self.now:
                    self.watching.tick(self.now)
                    for watcher in (*self.watchers, *self.own):
                        while watcher.take() is not None:
                            self.told += 1


@dataclass
class Measured:
    """The result of one round of a row."""

    us: float  # CPU microseconds per decision
    told: float  # messages to all spectators together, per decision


def play(game: str, row: Row, seconds: float) -> Measured:
    """Play with the spectators of `row` for `seconds` CPU seconds."""
    hall = Hall(game, row)
    hall.go_on(lambda: hall.now > DELAY_S + 1)  # until the first messages were sent
    had, told, began = hall.decisions, hall.told, time.process_time()
    hall.go_on(lambda: time.process_time() - began > seconds)
    spent = time.process_time() - began
    decisions = hall.decisions - had
    return Measured(spent / decisions * 1e6, (hall.told - told) / decisions)


# -- over gRPC
async def serve() -> None:
    """Run a server with a match of four bots; print its address, and stop when stdin closes."""
    loop = asyncio.get_running_loop()
    log: Any = logger(sys.stderr, "error")
    with tempfile.TemporaryDirectory() as folder:
        ladder = Ladder("it", "greed", SEATS, {}, QUICK)
        with open_arena("127.0.0.1:0", Path(folder, "it.db"), [ladder], log, LIMITS, watch_delay_s=1.0) as opened:
            sys.stdout.write(await opened.arena.start() + "\n")
            sys.stdout.flush()
            bots = [Bot(f"bot{seat}") for seat in range(SEATS)]
            for bot in bots:
                opened.lobby.enter(bot)
            until = loop.run_in_executor(None, sys.stdin.read)
            while not until.done():
                for bot in bots:
                    bot.turn(opened.lobby, loop.time())
                await asyncio.sleep(0.005)
            await opened.arena.stop()


def _resident(process: int) -> int:
    """Return the resident bytes of a process."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Calls:
    """Calls of WatchMatch, each on its own connection, that read all messages."""

    def __init__(self, address: str, stack: AsyncExitStack) -> None:
        self.address = address
        self.stack = stack
        self.told: Counter[int] = Counter()  # by call
        self.tasks: list[asyncio.Task[None]] = []

    async def open(self, count: int) -> None:
        """Open `count` more calls, and wait until each has received a message."""
        for _ in range(count):
            options = (("grpc.use_local_subchannel_pool", 1),)
            channel = await self.stack.enter_async_context(grpc.aio.insecure_channel(self.address, options=options))
            call: Any = ladder_pb2_grpc.LadderServiceStub(channel).WatchMatch(ladder_pb2.WatchMatchRequest(ladder="it"))
            self.tasks.append(asyncio.create_task(self._read(call, len(self.tasks))))
            await asyncio.sleep(0.005)
        while len(self.told) < len(self.tasks):
            await asyncio.sleep(0.1)

    async def _read(self, call: Any, number: int) -> None:
        async for _ in call:
            self.told[number] += 1


async def calls(count: int) -> list[str]:
    """Measure a server with `count` calls of WatchMatch, and return lines about it."""
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.watching", "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert server.stdin is not None
    assert server.stdout is not None
    address = server.stdout.readline().decode().strip()
    try:
        async with AsyncExitStack() as stack:
            watching = Calls(address, stack)
            await watching.open(16)  # so that costs of only the first calls are not counted
            await asyncio.sleep(SETTLES_S)
            before = _resident(server.pid)
            await watching.open(count)
            await asyncio.sleep(SETTLES_S)
            after = _resident(server.pid)
            for task in watching.tasks:
                task.cancel()
    finally:
        server.stdin.close()
        server.wait()
    return [
        f"{count} more calls over gRPC that follow a table: {(after - before) / count / 1_024:.0f} KiB resident each"
    ]


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.watching", description="what watching costs")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds a row and round")
    parser.add_argument("--calls", type=int, default=200, help="over gRPC; 0: none")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.serve:
        asyncio.run(serve())
        return 0
    lines = [f"{'CPU us a decision':<44}{'':>8}{'to the first':>14}{'messages':>10}"]
    for game in GAMES if given.rounds else ():
        rounds = [[play(game, row, given.seconds) for row in ROWS] for _ in range(given.rounds)]
        for index, row in enumerate(ROWS):
            us = median(one[index].us for one in rounds)
            ratio = median(one[index].us / one[0].us for one in rounds)
            told = median(one[index].told for one in rounds)
            lines.append(f"{game + ': ' + row.name:<44}{us:>8.1f}{ratio:>14.3f}{told:>10.3f}")
    if given.calls:
        lines += asyncio.run(calls(given.calls))
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
