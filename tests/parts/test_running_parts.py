"""What a part that is on may do wrong, and how the core goes on."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from cutpurse.leaderboard.errors import StoreError
from cutpurse.server.hosting.part import Part
from cutpurse.server.hosting.running_parts import RunningParts
from cutpurse.server.logs import logger
from cutpurse.v1 import status_pb2


class Toy(Part):
    """A part whose runs are given, one after the other."""

    def __init__(self, *runs: Callable[[], Awaitable[None]]) -> None:
        self.runs = [*runs]
        self.happened: list[str] = []

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self.happened.append("begin")

    async def run(self) -> None:
        self.happened.append("run")
        try:
            await self.runs.pop(0)()
        except asyncio.CancelledError:
            self.happened.append("cancelled")
            raise

    def drain(self) -> None:
        raise ValueError("a card")


async def breaks() -> None:
    raise ValueError("a card")


async def loses_the_store() -> None:
    raise StoreError("disk full")


async def ends() -> None:
    pass


async def goes_on() -> None:
    await asyncio.Event().wait()


def running(**parts: Part) -> tuple[RunningParts, Callable[[], list[dict[str, Any]]]]:
    """Return running parts, and what their log has."""
    said = io.StringIO()
    log = logger(said, "debug")

    def broke(event: str, problem: Exception, **facts: str) -> None:
        log.error(event, **facts, error=type(problem).__name__)

    def lines() -> list[dict[str, Any]]:
        return [json.loads(line) for line in said.getvalue().splitlines()]

    return RunningParts(parts, log, broke, again_s=0.0), lines


async def test_a_part_that_breaks_runs_again_and_disturbs_no_other() -> None:
    bad, good = Toy(breaks, loses_the_store, goes_on), Toy(ends)
    parts, lines = running(bad=bad, good=good)
    await parts.begin()
    while bad.runs:
        await asyncio.sleep(0)
    parts.drain()
    await parts.end()
    assert bad.happened == ["begin", "run", "run", "run", "cancelled"]
    assert good.happened == ["begin", "run"], "a run that ends is not begun again"
    assert [(line["level"], line["event"], line["part"], line.get("error")) for line in lines()] == [
        ("error", "part broke", "bad", "ValueError"),
        ("warning", "part waits", "bad", None),
        ("error", "part broke", "bad", "ValueError"),
        ("error", "part broke", "good", "ValueError"),
    ]
    assert not any("a card" in str(line) for line in lines())


async def test_where_a_part_cannot_begin_none_runs() -> None:
    class Broken(Part):
        def begin(self, loop: asyncio.AbstractEventLoop) -> None:
            raise StoreError("disk full")

    first = Toy(goes_on)
    parts, _ = running(first=first, broken=Broken())
    with pytest.raises(StoreError, match="disk full"):
        await parts.begin()
    await parts.end()
    assert first.happened == ["begin"]


async def test_a_part_does_nothing_unless_it_says_so() -> None:
    part = Part()
    part.begin(asyncio.get_running_loop())
    part.report(status := status_pb2.GetStatusResponse())
    await part.run()
    part.drain()
    part.close()
    assert [*part.services(), *part.addresses(), *part.figures(), *part.status(), *part.greeting()] == []
    assert status == status_pb2.GetStatusResponse()
