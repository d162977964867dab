"""Honest bots in their own process, which play while the arena is attacked.

    python -m tests.hostile.witness ADDRESS

A line on stdin is a number of decisions. Once the bots have made that many, a line of JSON answers with their counts
since the start. The process ends when stdin closes.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections import Counter

from cutpurse.v1 import arena_pb2
from tests.server.raw_bot import RawBot

__all__ = ["NAMES"]

NAMES = ("steady_ann", "steady_bob")
TABLES = 2
THINKS_S = 0.02  # per decision, so that honest bots use little CPU time


class Witness:
    """The observations of the honest bots."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.longest_s = 0.0  # longest time between two envelopes of a bot, since the last question
        self._moved = asyncio.Event()

    async def plays(self, address: str, name: str) -> None:
        """Play without end, and count everything unexpected."""
        async with RawBot(address) as bot:
            steady = arena_pb2.GameWanted(game="greed", ladders=["steady"])
            hello = arena_pb2.Hello(protocol_major=1, bot=name, games=[steady], max_tables=TABLES)
            await bot.send(hello=hello)
            loop = asyncio.get_running_loop()
            read_at = loop.time()
            while True:
                envelope = await bot.read()
                now = loop.time()
                self.longest_s, read_at = max(self.longest_s, now - read_at), now
                for asked in envelope.decisions:
                    await asyncio.sleep(THINKS_S)
                    await bot.answer(asked)
                self._note(envelope)

    def _note(self, envelope: arena_pb2.PlayResponse) -> None:
        self.count["decisions"] += len(envelope.decisions)
        self.count["refusals"] += len(envelope.refusals)
        self.count["problems"] += len(envelope.problems)
        for end in envelope.ends:
            self.count["matches"] += 1
            normal = [seat.end_cause == arena_pb2.END_CAUSE_NORMAL for seat in end.seats]
            self.count["not normal"] += not all(normal) or not end.rated
        self._moved.set()

    async def told(self, decisions: int) -> str:
        """Wait for `decisions` decisions, and return the counts as a line."""
        while self.count["decisions"] < decisions:
            self._moved.clear()
            await self._moved.wait()
        longest, self.longest_s = self.longest_s, 0.0
        return json.dumps({**self.count, "longest_ms": round(longest * 1_000)})


async def run(address: str) -> None:
    """Play until stdin ends, or the stream of a bot ends."""
    witness = Witness()
    bots = [asyncio.create_task(witness.plays(address, name)) for name in NAMES]
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)

    async def answers() -> None:
        while line := await lines.readline():
            print(await witness.told(json.loads(line)["decisions"]), flush=True)

    answering = asyncio.create_task(answers())
    await asyncio.wait((*bots, answering), return_when=asyncio.FIRST_COMPLETED)
    for task in (answering, *bots):
        task.cancel()
    for problem in await asyncio.gather(*bots, return_exceptions=True):
        if isinstance(problem, Exception):
            print(json.dumps({"broke": repr(problem)}), flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(run(sys.argv[1]))
