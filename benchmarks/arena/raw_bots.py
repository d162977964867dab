"""Many cheap bots in one process, each with its own connection, without the SDK.

They implement the protocol directly: they acknowledge at once, wait for a while, and take the first option. Clients of
the bare exchange wait as long. All times are of the system's monotonic clock, which all processes share. A bot that
lost its server reconnects with the SDK's options and delays (`python -m benchmarks.arena.raw_bots`).
"""

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import grpc
import grpc.aio

from benchmarks.arena.bare_grpc import METHOD
from benchmarks.arena.child import Does, serve
from cutpurse.sdk.online.client import BACKOFF_S, FINAL, OPTIONS, PLAY
from cutpurse.v1 import arena_pb2

__all__ = ["prepare"]

DIALLING: Final = 16  # maximum simultaneous connection attempts
THINKS_S: Final = (0.5, 1.5)  # one second on average; random, so that bots do not all answer at once
TABLES: Final = 4  # gives a bot one decision per second, because it has every fourth decision of a match


class Log:
    """The observed times, with the match or the stream of the bare exchange."""

    def __init__(self) -> None:
        self.answered: list[tuple[str, float]] = []  # before an answer was written
        self.asked: list[tuple[str, float]] = []  # after a question was read
        self.welcomed: list[float] = []
        self.ended = 0  # bots that were refused permanently


class RawBot:
    """One bot of the arena."""

    def __init__(self, name: str, address: str, log: Log, games: Sequence[str] = (), token: str = "") -> None:
        """Set up a bot of these games, or of all, with a token where the server asks for one."""
        self.name = name
        self.welcomed = asyncio.Event()
        self._address = address
        self._log = log
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self._games = [arena_pb2.GameWanted(game=game) for game in games]
        self._tables = 0
        self._resume: arena_pb2.Resume | None = None
        self._out: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self._matches: dict[int, str] = {}  # by table
        self._task = asyncio.create_task(self._run())

    def play(self) -> None:
        """Start to play."""
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
        """Run one stream to its end, and return its status."""
        self._out = asyncio.Queue()
        self._matches.clear()
        self._received = 0
        hello = arena_pb2.Hello(protocol_major=1, bot=self.name, resume=self._resume, games=self._games)
        self._out.put_nowait(("", arena_pb2.PlayRequest(hello=hello, max_tables=self._tables)))
        async with grpc.aio.insecure_channel(self._address, options=OPTIONS) as channel:
            call: Any = channel.stream_stream(PLAY)(metadata=self._metadata)
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
        for decision in response.decisions:
            self._log.asked.append((self._matches[decision.table], now))
            loop = asyncio.get_running_loop()
            loop.call_later(random.uniform(*THINKS_S), self._answer, self._out, decision.table, decision.decision)
        for ended in response.ends:
            del self._matches[ended.table]

    def _answer(self, out: asyncio.Queue[tuple[str, Any]], table: int, decision: int) -> None:
        if out is self._out:  # else the question came on a lost stream
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
        self.welcomed = asyncio.Event()  # set by the first question
        self._name = name
        self._log = log
        self._may_answer = asyncio.Event()
        self._task = asyncio.create_task(self._run(address, answer))

    def play(self) -> None:
        """Start to answer."""
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

    async def dial(
        self, first: int, count: int, address: str, answer_bytes: int = 0, games: Sequence[str] = (), token: str = ""
    ) -> dict[str, object]:
        """Connect `count` bots, numbered from `first`, and wait until all are welcomed.

        They play `games`, or all games if there are none. They are clients of the bare exchange if `answer_bytes` is
        not 0. Returns when the first began and the last was connected.
        """
        began = time.monotonic()
        places = asyncio.Semaphore(DIALLING)

        async def connect(number: int) -> None:
            async with places:
                name = f"bot_{number}"
                bot: RawBot | BareBot
                if answer_bytes:
                    bot = BareBot(name, address, self._log, bytes(answer_bytes))
                else:
                    bot = RawBot(name, address, self._log, games, token)
                self._bots.append(bot)
                await bot.welcomed.wait()

        await asyncio.gather(*[connect(first + number) for number in range(count)])
        return {"began": began, "ended": time.monotonic()}

    async def play(self) -> dict[str, object]:
        """Let all bots start to play."""
        for bot in self._bots:
            bot.play()
        return {}

    async def listen(self, seconds: float) -> dict[str, object]:
        """Collect observations for `seconds`."""
        self._log.answered.clear()
        self._log.asked.clear()
        await asyncio.sleep(seconds)
        return {"answered": self._log.answered, "asked": self._log.asked}

    async def back(self, since: float, patience_s: float) -> dict[str, object]:
        """Wait until all bots are welcomed after `since`, at most `patience_s`; return when each was welcomed."""

        def back() -> list[float]:
            return [at for at in self._log.welcomed if at >= since]

        until = time.monotonic() + patience_s
        while len(back()) + self._log.ended < len(self._bots) and time.monotonic() < until:
            await asyncio.sleep(0.05)
        return {"welcomed": back(), "gave_up": self._log.ended}


def prepare() -> Does:
    """Return the commands of this process, by name."""
    bots = RawBots()
    return {"dial": bots.dial, "play": bots.play, "listen": bots.listen, "back": bots.back}


if __name__ == "__main__":
    serve(prepare)
