"""Twenty seconds of the chaos, and that its verdict can be a bad one."""

from __future__ import annotations

import asyncio
import io
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from cutpurse.sdk.run import connect
from cutpurse.server.ladder_config import Ladder
from tests.faults import chaos_bots
from tests.faults.chaos import Chaos, Plan, _growth, _kill, _lift_pauses, chaos
from tests.looking import until_so
from tests.sdk.bot_files import CRASHES, bot_file
from tests.server.arenas import running_arena

PLAN = Plan(minutes=0.33, bots=30, seed=3, line_every_s=0.5, stop_every_s=6.0, kill_every_s=9.0, drain_s=2.0)


async def test_twenty_seconds_of_chaos() -> None:
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:  # that of pytest is too long for a socket's name
        verdict = await chaos(PLAN, Path(folder))
    assert verdict.wrong == []
    assert sum(verdict.hurts.values()) > 10
    assert verdict.status[-1]["decisions"] > 100


async def test_a_process_that_the_chaos_kills_has_ended_afterwards() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    await _kill(process)
    assert process.returncode == -signal.SIGKILL


FAULT = {
    "at": 1_000.0,
    "match": "m",
    "bot": "bot0",
    "decision": 7,
    "cause": "timeout",
    "reason": "no answer in 1150 ms",
}


def explained(
    outages: list[tuple[float, float]], answered: float | None, kills: list[tuple[float, float]]
) -> list[str]:
    """The verdict on a decision that was closed at 1,000 s."""
    run = Chaos(Plan(bots=1), Path())
    run.outages["bot0"], run.kills["bot0"] = outages, kills
    run.faults.append(dict(FAULT))
    book = {"bot": "bot0", "match": "m", "decision": 7, "asked": 998.8, "answered": answered}
    run._explain([] if answered is None else [book])
    return run.verdict.wrong


def test_a_time_out_of_a_bot_that_had_answered_is_found() -> None:
    assert len(explained([], 998.9, [])) == 1
    assert len(explained([], None, [])) == 1, "it was never asked"
    assert len(explained([(900.0, 990.0)], 998.9, [(10.0, 11.0)])) == 1
    assert len(explained([(998.0, 998.3)], 998.9, [])) == 1, "too short to explain it"


def test_what_explains_a_time_out_is_accepted() -> None:
    assert explained([], 999.99, []) == []
    assert explained([(998.0, 999.0)], 998.9, []) == []
    assert explained([], None, [(985.0, 990.0)]) == []


async def test_a_bot_that_is_paused_waits_and_the_pause_is_lifted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chaos_bots, "PAUSED_S", 0.01)
    failing, book = bot_file(tmp_path, CRASHES), io.StringIO()
    async with running_arena(tmp_path, [Ladder("duel", "greed", 2)]) as arena, asyncio.TaskGroup() as group:
        other = group.create_task(connect("random", server=arena.address, max_tables=1, quiet=True))
        crashes = group.create_task(connect(failing, server=arena.address, name="bot0", max_tables=1, quiet=True))
        await until_so(lambda: '"event": "bot paused"' in arena.log)  # some match may end before its third fault
        crashes.cancel()
        await asyncio.wait([crashes])
        stays = group.create_task(chaos_bots.stay("bot0", arena.address, 1, chaos_bots.Book(book), (0.0, 0.0)))
        await until_so(lambda: arena.opened.lobby.counts.streams_refused["PAUSED"] >= 2)
        assert "stopped" not in book.getvalue()
        assert [await asyncio.to_thread(_lift_pauses, arena.address) for _ in range(2)] == [1, 0]
        await until_so(lambda: "ended" in book.getvalue())
        stays.cancel()
        other.cancel()


def test_what_grows_is_found() -> None:
    flat = {"rss": 100 << 20, "tasks": 300, "fds": 120, "sessions": 100, "streams": 100}
    assert _growth([flat] * 3_600) == []
    found = _growth([{**flat, "rss": flat["rss"] + second * 10_000, "tasks": 300 + second} for second in range(3_600)])
    assert len(found) == 2
    assert found[0].startswith("memory grew by ")
    assert found[1].startswith("tasks grew from ")
