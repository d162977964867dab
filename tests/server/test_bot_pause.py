"""A bot that keeps failing is paused; once it has passed its check it plays again. All of it on a real server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from cutpurse.check import check_run
from cutpurse.check.scenarios import SCENARIOS
from cutpurse.leaderboard import queries
from cutpurse.sdk.run import connect
from cutpurse.server.ladder_config import Ladder
from cutpurse.wire.errors import ServerRefused
from tests.sdk.bot_files import CRASHES, FIRST, bot_file
from tests.server.arenas import RunningArena, running_arena
from tests.typed import run

MATCHES = 3  # in which the bot is taken over
NEVER_ANSWERS = CRASHES.replace('decision.ask == "play_a_card"', "True")


def _paused(arena: RunningArena) -> list[str]:
    return [f"{one.bot}:{one.version}" for one in arena.opened.store.run(queries.bots) if one.paused is not None]


async def test_a_bot_is_paused_and_comes_back_by_its_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_run, "SCENARIOS", SCENARIOS[:1])  # and a match; the others are tried in test_bot_check
    bot = bot_file(tmp_path, NEVER_ANSWERS)
    async with running_arena(tmp_path, [Ladder("duel", "greed", 2)]) as arena:

        async def play(matches: int, **more: Any) -> None:
            await connect(bot, "greed", server=arena.address, matches=matches, max_tables=1, quiet=True, **more)

        async def check(*words: str, of: str = bot) -> Result:
            command = ("bot", "check", of, "--game", "greed", "--unpause", "--server", arena.address, *words)
            return await asyncio.to_thread(run, *command)

        other = asyncio.create_task(
            connect("random", "greed", server=arena.address, matches=MATCHES + 2, max_tables=1, quiet=True)
        )
        await play(MATCHES)
        assert _paused(arena) == ["my_bot:1"]
        with pytest.raises(ServerRefused, match=r"my_bot:1 is paused: .*cutpurse bot check BOT --unpause"):
            await play(1)
        failed = await check()
        assert (failed.exit_code, "the bot stays paused" in failed.stderr) == (3, True), failed.output
        assert _paused(arena) == ["my_bot:1"]
        await play(1, version="2")  # what an older one did is not held against it
        bot_file(tmp_path, FIRST)
        elsewhere = await check("--name", "nobody")
        assert (elsewhere.exit_code, "--name NAME" in elsewhere.stderr) == (4, False), elsewhere.output
        same = bot_file(tmp_path, FIRST, "another_file.py")
        unnamed = await check(of=same)
        assert (unnamed.exit_code, "--name NAME" in unnamed.stderr) == (4, True), unnamed.output
        passed = await check()
        assert passed.exit_code == 0, passed.output
        assert passed.stdout.splitlines()[-1] == "my_bot:1 is no longer paused"
        assert _paused(arena) == []
        await play(1)
        await other
        (ranking,) = [
            one
            for one in arena.opened.store.run(queries.rankings, "duel", every_version=True)
            if one.version == "1" and one.bot == "my_bot"
        ]
        assert (ranking.matches, ranking.faulted, ranking.is_paused) == (MATCHES + 1, MATCHES, False)


async def test_a_bot_that_cannot_start_comes_last_on_a_server(tmp_path: Path) -> None:
    class Unable:
        def start(self, match: Any) -> None:
            raise OSError("no model")

        def choose(self, view: Any, decision: Any) -> int:
            raise AssertionError

    async with running_arena(tmp_path, [Ladder("duel", "greed", 2)]) as arena:
        random = asyncio.create_task(connect("random", "greed", server=arena.address, matches=1, quiet=True))
        stay = await connect(Unable, "greed", name="unable", server=arena.address, matches=1, quiet=True)
        await random
        (match,) = arena.opened.store.run(queries.matches)
    assert (stay.faults, stay.taken_over, stay.has_failed) == (1, 1, True)
    assert {seat.bot: (seat.place, seat.end_cause, seat.faults) for seat in match.seats} == {
        "random": (1, "normal", 0),
        "unable": (2, "crashed", 1),
    }
