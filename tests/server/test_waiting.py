"""Bots on ladders that have too few of them for a match: they are told so, once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.tokens import new_token
from cutpurse.sdk import run
from cutpurse.sdk.online import client
from cutpurse.server.ladder_config import Ladder
from tests.server.arenas import RunningArena, running_arena
from tests.server.tokens import tokens_in


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[str]:
    """What bots say, who do not wait before they ask why no match comes."""
    lines: asyncio.Queue[str] = asyncio.Queue()
    monkeypatch.setattr(client, "ALONE_S", 0.0)
    monkeypatch.setattr(run, "print_message", lines.put_nowait)
    return lines


@asynccontextmanager
async def waits(arena: RunningArena, name: str, **wishes: Any) -> AsyncIterator[None]:
    """A bot that has been let in, for the length of a block."""
    before = len(arena.opened.arena.sessions)
    playing = asyncio.create_task(run.connect("random", server=arena.address, name=name, **wishes))
    try:
        while len(arena.opened.arena.sessions) == before:
            await asyncio.sleep(0)
        yield
    finally:
        playing.cancel()
        await asyncio.wait([playing])


async def why(said: asyncio.Queue[str]) -> str:
    while not (line := await said.get()).startswith("no match for 0 s: "):
        pass
    return line.removeprefix("no match for 0 s: ")


@pytest.mark.parametrize(
    ("house", "told"),
    [((), "and no house bots"), (("random", "greedy"), "and its house bots (random, greedy) are not run")],
)
async def test_how_many_of_how_many_are_there(
    tmp_path: Path, said: asyncio.Queue[str], house: tuple[str, ...], told: str
) -> None:
    terms = LadderTerms(house=house)
    ladders = [Ladder("open", "greed", 4, terms=terms), Ladder("empty", "greed", 3)]
    async with running_arena(tmp_path, ladders) as arena, waits(arena, "ann", ladders="open"):
        line = await why(said)
    assert line == f"ladder open has 1 of the 4 bots that a match takes, {told}; it begins when 3 more come"


async def test_a_quiet_bot_says_nothing_and_the_ladder_that_needs_the_fewest_is_told_of(
    tmp_path: Path, said: asyncio.Queue[str]
) -> None:
    ladders = [Ladder("far", "greed", 4), Ladder("near", "greed", 3), Ladder("other", "szmal", 2)]
    async with (
        running_arena(tmp_path, ladders) as arena,
        waits(arena, "ann", games="greed", quiet=True),
        waits(arena, "bob", games="greed"),
    ):
        line = await why(said)
    assert line.startswith("ladder near has 2 of the 3 bots that a match takes")
    assert line.endswith("it begins when 1 more comes")
    assert not any("no match" in said.get_nowait() for _ in range(said.qsize()))


async def test_bots_of_one_owner_are_counted_once(
    tmp_path: Path, said: asyncio.Queue[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTPURSE_TOKEN", tokens_in(tmp_path / "test.db", "ann")["ann"])
    ladders = [Ladder("open", "greed", 2)]
    async with running_arena(tmp_path, ladders) as arena, waits(arena, "one", quiet=True), waits(arena, "two"):
        line = await why(said)
    assert line == (
        "ladder open has bots of 1 of the 2 owners that a match takes, and no house bots; it begins when 1 more comes"
    )


async def test_house_bots_that_are_there_are_counted_and_those_that_would_fill_a_match_are_no_reason_to_wait(
    tmp_path: Path, said: asyncio.Queue[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = new_token()
    terms = LadderTerms(house=("random", "greedy"))
    ladders = [Ladder("open", "greed", 4, terms=terms), Ladder("duel", "greed", 2, terms=terms)]
    async with running_arena(tmp_path, ladders, house=token) as arena:
        monkeypatch.setenv("CUTPURSE_TOKEN", token.reveal())
        async with waits(arena, "random", quiet=True):
            monkeypatch.delenv("CUTPURSE_TOKEN")
            async with waits(arena, "ann", ladders="open"):
                line = await why(said)
            assert line == (
                "ladder open has 1 of the 4 bots that a match takes, and 1 house bot (random); "
                "it begins when 2 more come"
            )
            await run.connect("random", server=arena.address, name="bob", ladders="duel", matches=1)
    assert not any("no match" in said.get_nowait() for _ in range(said.qsize()))
