"""Places that are killed, stand still or stop, and servers that are killed: matches are void, and nobody is faulted."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from cutpurse.engine.match import EndCause
from cutpurse.leaderboard import queries
from cutpurse.server.limits import ServerLimits
from cutpurse.server.parts.hosts import places as places_module
from cutpurse.server.parts.hosts.part import HostsPart
from tests.looking import until_so
from tests.parts.hosts.test_playing_at_places import faults, places_at, played, two_bots
from tests.parts.open_parts import part_of
from tests.server.arenas import RunningArena


def is_lost(arena: RunningArena, name: str) -> bool:
    return any('"event": "place lost"' in line and f'"{name}"' in line for line in arena.log.splitlines())


def bots_sent_to(arena: RunningArena, name: str) -> int:
    return sum('"bot sent to a place"' in line and f'"{name}"' in line for line in arena.log.splitlines())


# Slow in matches with each other, and quick in the check before.
SLOW = """
import time

from cutpurse.sdk.run import run

class Bot:
    def start(self, match):
        self.thinks_s = 0.2 if {"sneak", "other"} == set(match.seats) else 0.0

    def choose(self, view, decision):
        time.sleep(self.thinks_s)
        return decision.options[0]

if __name__ == "__main__":
    raise SystemExit(run(Bot, "greed"))
"""
ENDLESS = SLOW.replace("0.2", "15.0")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=lambda number: number.name)
async def test_when_a_place_is_lost_its_bots_play_elsewhere_and_nobody_is_faulted(
    short: Path, number: signal.Signals
) -> None:
    async with two_bots(short, "lab1", source=SLOW) as (arena, (place,)):
        with places_at(short, arena, "lab2"):
            await until_so(lambda: arena.log.count('"place attends"') >= 2)
            lobby = arena.opened.lobby
            await until_so(lambda: len(lobby.open_matches()) > 1)
            place.send(number)
            begun = {match.name: match for match in lobby.open_matches()}
            await until_so(lambda: is_lost(arena, "lab1"))
            await until_so(lambda: bots_sent_to(arena, "lab2") >= 2)
            await until_so(lambda: any(match.name not in begun for match in lobby.open_matches()))
            stored = {one.match: one.void_cause for one in arena.opened.store.run(queries.matches, limit=500)}
            assert EndCause.VOID_SERVER.value in {stored[name] for name in begun}
            assert {stored[name] for name in begun} <= {EndCause.VOID_SERVER.value, None}
            assert [match.table.match.faults for match in begun.values()] == [[]] * len(begun)
            assert faults(arena) == 0
            assert "resident taken off" not in arena.log


async def test_a_place_that_is_terminated_lets_matches_end_and_its_bots_move(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places_module, "LOST_S", 300.0)
    async with two_bots(short, "lab1", source=SLOW) as (arena, (place,)):
        part_of(arena.opened, HostsPart).places.on_delay = lambda bots, seconds: (
            None
        )  # a busy machine voids nothing here
        with places_at(short, arena, "lab2"):
            await until_so(lambda: arena.log.count('"place attends"') >= 2)
            lobby = arena.opened.lobby
            await until_so(lambda: bool(lobby.open_matches()))
            begun = {match.name for match in lobby.open_matches()}
            place.send(signal.SIGTERM)
            assert await asyncio.to_thread(place.wait) == 0
            assert "2 bots move to other places, each after its open matches" in place.said()
            await until_so(lambda: bots_sent_to(arena, "lab2") >= 2)
            await until_so(lambda: any(match.name not in begun for match in lobby.open_matches()))
            stored = {one.match: one.void_cause for one in arena.opened.store.run(queries.matches, limit=500)}
            assert begun
            assert {stored[name] for name in begun} == {None}
            assert set(stored.values()) == {None}
            assert faults(arena) == 0
            assert bots_sent_to(arena, "lab1") == 2


async def test_a_second_signal_ends_a_place_at_once(short: Path) -> None:
    async with two_bots(short, "lab1", source=ENDLESS) as (arena, (place,)):
        await until_so(lambda: bool(arena.opened.lobby.open_matches()))
        place.send(signal.SIGTERM)
        await until_so(lambda: "another signal ends at once" in place.said())
        place.send(signal.SIGTERM)
        assert await asyncio.to_thread(place.wait) == 0
        await until_so(lambda: played(arena) > 0)
        assert arena.opened.store.run(queries.matches, limit=1)[0].void_cause == EndCause.VOID_SERVER.value
        assert faults(arena) == 0


async def test_a_place_that_stood_still_comes_back_without_its_bots(short: Path) -> None:
    async with two_bots(short, "lab1") as (arena, (place,)):
        place.send(signal.SIGSTOP)
        await until_so(lambda: is_lost(arena, "lab1"))
        place.send(signal.SIGCONT)
        await until_so(lambda: arena.log.count('"place attends"') >= 2)
        await until_so(lambda: bots_sent_to(arena, "lab1") >= 4)
        before = played(arena)
        await until_so(lambda: played(arena) > before)
        assert faults(arena) == 0


async def test_no_bot_is_left_when_its_place_is_killed(short: Path) -> None:
    async with two_bots(short, "lab1", source=SLOW) as (arena, (place,)):
        mark = f"CUTPURSE_SERVER=unix:{place.folder}".encode()  # the socket of a bot
        await until_so(lambda: sum(mark in environment for environment in environments()) >= 2)
        place.kill()
        await until_so(lambda: not any(mark in environment for environment in environments()))
        assert faults(arena) == 0


def environments() -> Iterator[bytes]:
    """The environment of every process there is."""
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            yield (process / "environ").read_bytes()


@pytest.mark.soak
async def test_when_the_servers_limits_end_a_stream_the_bots_play_on(short: Path) -> None:
    limits = ServerLimits(connection_age_s=3.0, connection_age_grace_s=0.5)
    async with two_bots(short, "lab1", source=SLOW, limits=limits) as (arena, _):
        await until_so(lambda: arena.log.count('"place is back"') >= 2)
        await until_so(lambda: played(arena) > 0)
        assert bots_sent_to(arena, "lab1") == 2
        assert not is_lost(arena, "lab1")
        assert faults(arena) == 0
