"""A bot that computes in processes of its own is handed in, and plays as it does at home."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cutpurse.leaderboard import queries
from tests.looking import until_so
from tests.parts.submissions.desks import author_of, bot_folder, handed_in, running_desk
from tests.sdk.programs import wait_until_gone

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are found in /proc"),
]

HELPER = "def square(x):\n    return x * x\n"
WORKERS = """
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

from cutpurse.sdk.run import run

METHODS = ("fork", "spawn", "forkserver")


def work(method):
    from helper import square

    print(f"{method} worker {os.getpid()}", flush=True)
    return square(3)


class Bot:
    pools = {}

    def start(self, match):
        for method in METHODS:
            if method not in Bot.pools:
                Bot.pools[method] = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method))
            assert Bot.pools[method].submit(work, method).result() == 9

    def choose(self, view, decision):
        return decision.safe


if __name__ == "__main__":
    raise SystemExit(run(Bot, "greed"))
"""


@pytest.mark.parametrize("runner", ["process", "bubblewrap"])
async def test_workers_run_where_the_server_runs_the_bot_and_end_with_it(runner: str, short: Path) -> None:
    async with running_desk(short, runner=runner) as arena:
        author = author_of(arena)
        await handed_in(author, bot_folder(short, WORKERS, files={"helper.py": HELPER}), "duel")
        await handed_in(author, bot_folder(short, name="other"), "duel")
        await until_so(lambda: len(arena.opened.store.run(queries.matches, limit=1)) == 1)
        log = await author.ask(lambda calls: calls.log("sneak"))
        assert "leaving: passed" in log.check
        workers = dict(re.findall(r"(\w+) worker (\d+)", log.talk))
        assert workers.keys() == {"fork", "spawn", "forkserver"}
        (match,) = arena.opened.store.run(queries.matches, limit=1)
        assert [seat.faults for seat in match.seats] == [0, 0]
        await author.ask(lambda calls: calls.retire("sneak"))
        await until_so(lambda: "resident stopped" in arena.log)
        if runner == "process":  # in the sandbox processes have numbers of its own
            wait_until_gone(map(int, workers.values()))
