"""Many bots in one process, each on a connection of its own, that cost next to nothing: no part of the SDK plays.

They speak the protocol by hand, acknowledge at once, think for a while without doing anything, and take the first
option. Every moment is one of the system's monotonic clock, which all processes share. Those of the bare exchange
answer after as long. One that lost its server comes back as the SDK does, with its options and its waits
(`python -m benchmarks.arena.raw_bots`).
"""

import asyncio
import random
import time
from contextlib import suppress
from typing import Any, Final

import grpc
import grpc.aio

from benchmarks.arena.bare_grpc import METHOD
from benchmarks.arena.child import Does, serve
from cutpurse.sdk.online.client import BACKOFF_S, FINAL, OPTIONS, PLAY
from cutpurse.v1 import arena_pb2

__all__ = ["prepare"]

DIALLING: Final = 16  # at once
THINKS_S: Final = (0.5, 1.5)  # one second on average; spread, so that they do not all answer at once
TABLES: Final = 4  # so that a bot has one decision a second: at a table of four, each has every fourth


class Log:
    """What was seen: at which match, or stream of the bare exchange, and when."""

    def __init__(self) -> None:
        self.answered: list[tuple[str, float]] = []  # an answer was about to be written
        self.asked: list[tuple[str, float]] = []  # a question had come
        self.welcomed: list[float] = []
        self.ended = 0  # bots that were refused for good


class RawBot:
    """One bot of the arena."""

    def __init__(self, name: str, address: str, log: Log) -> None:
        self.name = name
        self.welcomed = asyncio.Event()
        self._address = address
        self._log = log
        self._tables = 0
        self._resume: arena_pb2.Resume | None = None
        self._out: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self._matches: dict[int, str] = {}  # by table
        self._task = asyncio.create_task(self._run())

    def play(self) -> None:
        """Sit down, from now on."""
        self._tables = TABLES
        self._out.put_nowait(("", arena_pb2.PlayRequest(received=self._received, max_tables=TABLES)))

    async def _run(self) -> None:
        attempts = 0
        while True:
            code = await self._stream()
            if code is grpc.StatusCode.NOT_FOUND and self._resume is not None:
                self._resume = None
                continue
            if code in FINAL:
                self._log.ended += 1
                return
            if self.welcomed.is_set():
                self.welcomed.clear()
                attempts = 0
            first, longest = BACKOFF_S
            await asyncio.sleep(min(longest, first * 2.0**attempts) * random.uniform(0.5, 1.0))
            attempts += 1

    async def _stream(self) -> grpc.StatusCode:
        """One stream to its end, and how it ended."""
        self._out = asyncio.Queue()
        self._matches.clear()
        self._received = 0
        hello = arena_pb2.Hello(protocol_major=1, bot=self.name, resume=self._resume)
        self._out.put_nowait(("", arena_pb2.PlayRequest(hello=hello, max_tables=self._tables)))
        async with grpc.aio.insecure_channel(self._address, options=OPTIONS) as channel:
            call: Any = channel.stream_stream(PLAY)()
            writer = asyncio.create_task(self._write(call))
            with suppress(grpc.aio.AioRpcError):
                while (data := await call.read()) is not grpc.aio.EOF:
                    self._take(arena_pb2.PlayResponse.FromString(data), time.monotonic())
            code: grpc.StatusCode = await call.code()
            writer.cancel()
            await asyncio.wait([writer])
            return code

    def _take(self, response: arena_pb2.PlayResponse, now: float) -> None:
        self._received = response.envelope
        self._out.put_nowait(("", arena_pb2.PlayRequest(received=response.envelope)))
        if response.HasField("welcome"):
            self._resume = arena_pb2.Resume(session=response.welcome.session, secret=response.welcome.resume_secret)
            self._log.welcomed.append(now)
            self.welcomed.set()
        for start in response.starts:
            self._matches[start.table] = start.match
        for asked in response.decisions:
            self._log.asked.append((self._matches[asked.table], now))
            loop = asyncio.get_running_loop()
            loop.call_later(random.uniform(*THINKS_S), self._answer, self._out, asked.table, asked.decision)
        for ended in response.ends:
            del self._matches[ended.table]

    def _answer(self, out: asyncio.Queue[tuple[str, Any]], table: int, decision: int) -> None:
        if out is self._out:  # else it was asked on a stream that is lost
            answer = arena_pb2.Answer(table=table, decision=decision, option=0)
            request = arena_pb2.PlayRequest(received=self._received, answers=[answer])
            out.put_nowait((self._matches.get(table, ""), request))

    async def _write(self, call: Any) -> None:
        out = self._out
        with suppress(grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError):
            while True:
                match, request = await out.get()
                if match:
                    self._log.answered.append((match, time.monotonic()))
                await call.write(request.SerializeToString())


class BareBot:
    """One stream of the bare exchange."""

    def __init__(self, name: str, address: str, log: Log, answer: bytes) -> None:
        self.welcomed = asyncio.Event()  # the first question has come
        self._name = name
        self._log = log
        self._may_answer = asyncio.Event()
        self._task = asyncio.create_task(self._run(address, answer))

    def play(self) -> None:
        """Answer, from now on."""
        self._may_answer.set()

    async def _run(self, address: str, answer: bytes) -> None:
        async with grpc.aio.insecure_channel(address, options=OPTIONS) as channel:
            call: Any = channel.stream_stream(METHOD)()
            while await call.read() is not grpc.aio.EOF:
                self._log.asked.append((self._name, time.monotonic()))
                self.welcomed.set()
                await self._may_answer.wait()
                await asyncio.sleep(random.uniform(*THINKS_S))
                self._log.answered.append((self._name, time.monotonic()))
                await call.write(answer)


class RawBots:
    """All bots of this process."""

    def __init__(self) -> None:
        self._log = Log()
        self._bots: list[RawBot | BareBot] = []

    async def dial(self, first: int, count: int, address: str, answer_bytes: int = 0) -> dict[str, object]:
        """Connect so many, numbered from `first`, and wait until all are welcomed; bare ones if answers have a size.

        Tells when the first began and the last was there.
        """
        began = time.monotonic()
        places = asyncio.Semaphore(DIALLING)

        async def one(number: int) -> None:
            async with places:
                name = f"bot_{number}"
                bot: RawBot | BareBot
                if answer_bytes:
                    bot = BareBot(name, address, self._log, bytes(answer_bytes))
                else:
                    bot = RawBot(name, address, self._log)
                self._bots.append(bot)
                await bot.welcomed.wait()

        await asyncio.gather(*[one(first + number) for number in range(count)])
        return {"began": began, "ended": time.monotonic()}

    async def play(self) -> dict[str, object]:
        """Let all of them play, from now on."""
        for bot in self._bots:
            bot.play()
        return {}

    async def listen(self, seconds: float) -> dict[str, object]:
        """What is seen in so long."""
        self._log.answered.clear()
        self._log.asked.clear()
        await asyncio.sleep(seconds)
        return {"answered": self._log.answered, "asked": self._log.asked}

    async def back(self, since: float, patience_s: float) -> dict[str, object]:
        """When those were welcomed that were since that moment; waits for all, or so long."""

        def back() -> list[float]:
            return [at for at in self._log.welcomed if at >= since]

        until = time.monotonic() + patience_s
        while len(back()) + self._log.ended < len(self._bots) and time.monotonic() < until:
            await asyncio.sleep(0.05)
        return {"welcomed": back(), "gave_up": self._log.ended}


def prepare() -> Does:
    """What this process does."""
    bots = RawBots()
    return {"dial": bots.dial, "play": bots.play, "listen": bots.listen, "back": bots.back}


if __name__ == "__main__":
    serve(prepare)
