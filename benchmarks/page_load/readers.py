"""Readers of the page: some watch a live match, the others open a page every ten seconds.

Run by the benchmark as `python -m benchmarks.page_load.readers`, with the lowest priority, because real readers have
machines of their own.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from contextlib import suppress
from typing import Final

from benchmarks.arena.child import Does, serve
from benchmarks.page_load.http_connection import HttpConnection, server_events

__all__ = ["prepare"]

WATCHES: Final = 0.6  # share of readers who watch a live match
READS_S: Final = (5.0, 15.0)  # between two pages of a reader
ARRIVAL_S: Final = 0.02
AGAIN_S: Final = 1.0
LOWEST: Final = 19


class Reading:
    """What all readers of this process observed."""

    def __init__(self) -> None:
        self.streams = 0  # open now
        self.events = 0
        self.took_s: list[float] = []  # from a request for a page to its last byte
        self.errors: list[str] = []


class Readers:
    """All readers of this process."""

    def __init__(self) -> None:
        os.nice(LOWEST)
        self._seen = Reading()
        self._tasks: list[asyncio.Task[None]] = []

    async def arrive(
        self, page: str, ladder: str, addresses: list[str], count: int, patience_s: float
    ) -> dict[str, object]:
        """Let `count` readers arrive, and wait until all live matches are open; return their number."""
        watchers = round(WATCHES * count)
        for number in range(count):
            reader = self._watch(page, ladder) if number < watchers else self._read(page, addresses)
            self._tasks.append(asyncio.create_task(reader))
            await asyncio.sleep(ARRIVAL_S)
        until = time.monotonic() + patience_s
        while self._seen.streams < watchers and time.monotonic() < until:
            await asyncio.sleep(0.1)
        return {"streams": self._seen.streams, "errors": self._seen.errors[-3:]}

    async def listen(self, seconds: float) -> dict[str, object]:
        """Collect observations for `seconds`."""
        seen = self._seen
        seen.took_s.clear()
        seen.errors.clear()
        seen.events = 0
        await asyncio.sleep(seconds)
        for task in self._tasks:
            if task.done():
                task.result()  # raises the error that ended it
        return {"took_s": seen.took_s, "errors": seen.errors, "events": seen.events, "streams": seen.streams}

    async def _watch(self, page: str, ladder: str) -> None:
        while True:
            is_open = False
            try:
                async for _ in server_events(page, f"/events/live?ladder={ladder}", {}):
                    self._seen.streams += not is_open
                    is_open = True
                    self._seen.events += 1
            except (OSError, EOFError) as problem:
                self._seen.errors.append(f"{type(problem).__name__} {problem}"[:200])
            self._seen.streams -= is_open
            await asyncio.sleep(AGAIN_S)

    async def _read(self, page: str, addresses: list[str]) -> None:
        http = HttpConnection(page)
        await asyncio.sleep(random.uniform(0, READS_S[1]))
        while True:
            began = time.monotonic()
            with suppress(asyncio.CancelledError):
                try:
                    answer = await http.send(address := random.choice(addresses), {"Accept-Encoding": "gzip"})
                    self._seen.took_s.append(time.monotonic() - began)
                    if answer.status != 200:
                        self._seen.errors.append(f"{address}: status {answer.status}")
                except OSError as problem:
                    self._seen.errors.append(str(problem)[:200])
            await asyncio.sleep(random.uniform(*READS_S))


def prepare() -> Does:
    """Return the commands of this process, by name."""
    readers = Readers()
    return {"arrive": readers.arrive, "listen": readers.listen}


if __name__ == "__main__":
    serve(prepare)
