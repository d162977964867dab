"""Bots that were submitted play from other machines: real places in processes of their own, over real gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from cutpurse.leaderboard import queries
from cutpurse.server.hosting.metrics import Metrics
from cutpurse.server.parts.hosts import places as places_module
from tests.looking import until_so
from tests.parts.hosts.real_place import RealPlace
from tests.parts.submissions.desks import FIRST, author_of, bot_folder, handed_in, running_desk
from tests.server.arenas import RunningArena


@contextmanager
def places_at(
    folder: Path, arena: RunningArena, *names: str, runner: str = "process", cores: str = "2", **environment: str
) -> Iterator[list[RealPlace]]:
    """Start places, by default of two cores each."""
    flags = ("--runner", runner, "--cores", cores, "--log-level", "info")
    made = [RealPlace(folder, arena.address, name, *flags, **environment) for name in names]
    try:
        for place in made:
            place.spawn()
        yield made
    finally:
        for place in made:
            place.stop()


@asynccontextmanager
async def two_bots(
    short: Path, *names: str, runner: str = "process", source: str = FIRST, **more: Any
) -> AsyncIterator[tuple[RunningArena, list[RealPlace]]]:
    """Two bots that play each other at these places."""
    async with running_desk(short, runner=runner, has_places=True, **more) as arena:
        with places_at(short, arena, *names, runner=runner) as made:
            try:
                author = author_of(arena)
                for name in ("sneak", "other"):
                    await handed_in(author, bot_folder(short, source, name=name), "duel")
                await until_so(lambda: played(arena) > 0 or bool(arena.opened.lobby.open_matches()))
                yield arena, made
            except BaseException as problem:
                for place in made:
                    problem.add_note(place.said())
                raise


def played(arena: RunningArena) -> int:
    return len(arena.opened.store.run(queries.matches, limit=500))


def faults(arena: RunningArena) -> int:
    return sum(seat.faults for match in arena.opened.store.run(queries.matches, limit=500) for seat in match.seats)


@pytest.mark.parametrize("runner", ["process", "bubblewrap"])
async def test_bots_play_at_a_place_and_tell_output_and_usage(
    short: Path, runner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places_module, "LOST_S", 300.0)  # however busy this machine is
    async with two_bots(short, "lab1", runner=runner) as (arena, _):
        author = author_of(arena)
        await until_so(lambda: played(arena) > 3)
        match = arena.opened.store.run(queries.matches, limit=1)[0]
        assert [seat.faults for seat in match.seats] == [0, 0]
        assert all(seat.peak_bytes for seat in match.seats)
        assert '"place": "lab1"' in arena.log
        metrics = Metrics(arena.opened)
        metrics.take()
        lines = metrics.text().decode().splitlines()
        assert {"cutpurse_places 1.0", 'cutpurse_place_cores{state="used"} 1.0'} <= {*lines}
        log = (await author.ask(lambda calls: calls.log("sneak"))).talk
        assert "hello from" in log
        assert str(short) not in log
        await author.ask(lambda calls: calls.retire("sneak"))
        await until_so(lambda: "resident stopped" in arena.log)
