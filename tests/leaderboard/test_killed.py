"""A process that writes results is killed at any moment: what it acknowledged is there, and each result counts once."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from tests.forked import ForkedProcess
from tests.kill_loops import KillLoop
from tests.leaderboard.kept_ledger import check_ledger
from tests.leaderboard.sample_results import DAWN
from tests.leaderboard.writers import write
from tests.roots import CHECKOUT

AGAIN = 60  # results that the next process hands in once more, before the new ones


def write_until_killed(path: Path, start: int, acknowledgements: int) -> list[str]:
    """The matches that were acknowledged, by a process that is killed after so many at least, wherever it then is."""
    writer = ForkedProcess(write, str(path), start)
    told = [line for _, line in zip(range(acknowledgements), writer.said, strict=False)]
    writer.kill()
    return [line.decode().strip() for line in [*told, *writer.unread()]]


def test_no_acknowledged_result_is_lost_and_none_is_rated_twice(tmp_path: Path, kill_loop: KillLoop) -> None:
    path = tmp_path / "ladder.db"
    rng, kills = kill_loop.rng, kill_loop.kills
    acknowledged: set[str] = set()
    start = 0
    for kill in kills:
        kill_loop.killed("writer")
        told = write_until_killed(path, max(0, start - AGAIN), rng.randint(0, 150) if kill else 0)
        acknowledged.update(told)
        start = max([start, *(int(match[1:]) + 1 for match in told)])
        file = sqlite3.connect(path)
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        file.close()
    assert len(acknowledged) > len(kills) * 5
    kill_loop.count(acknowledged_results=len(acknowledged))

    check_ledger(path, acknowledged)


# Announces each match before it hands in its result, and tells of both as soon as they are acknowledged.
ANNOUNCER = """
import os, sys
from datetime import timedelta
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import DAWN, prepare, random_result
from tests.leaderboard.test_announced import announcement

store = Store(sys.argv[1])
versions = prepare(store)
for match in store.void_unfinished(DAWN + timedelta(days=1)):
    os.write(1, f"void {match}\\n".encode())
number = int(sys.argv[2])
while True:
    for n in range(number, number + 9):
        store.announce(announcement(random_result(n, versions))).result()
        os.write(1, f"begins m{n}\\n".encode())
    for n in range(number, number + 5):
        store.submit(random_result(n, versions)).result()
        os.write(1, f"ends m{n}\\n".encode())
    number += 9
"""


def test_no_promise_is_forgotten_and_what_is_cut_off_is_void(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    rng = random.Random(21)
    told: dict[str, set[str]] = {"begins": set(), "ends": set(), "void": set()}
    start = 0
    for _ in range(4):
        writer = subprocess.Popen(
            [sys.executable, "-c", ANNOUNCER, str(path), str(start)], stdout=subprocess.PIPE, cwd=CHECKOUT
        )
        assert writer.stdout is not None
        lines = [line for _, line in zip(range(rng.randint(10, 60)), writer.stdout, strict=False)]
        os.kill(writer.pid, signal.SIGKILL)
        lines += writer.stdout.readlines()
        writer.stdout.close()
        assert writer.wait() == -signal.SIGKILL
        for line in lines:
            if line.endswith(b"\n"):
                what, match = line.decode().split()
                told[what].add(match)
        start = 9 + max([0, *(int(match[1:]) for match in told["begins"])])
    with Store(path) as store:
        told["void"].update(store.void_unfinished(datetime(2026, 12, 1, tzinfo=UTC)))
        stored = {match.match: match for match in store.run(queries.matches, limit=10**6)}
        (check,) = recompute(store)
        with store.reading() as connection:
            boards = connection.exec_driver_sql("SELECT count(*) FROM boards").scalar_one()
    assert check.equal, check.differences
    assert (told["begins"] | told["ends"]) - stored.keys() == set()  # each promise has its match, played or void
    assert boards == len(stored)
    assert all(stored[match].finished == DAWN + timedelta(seconds=3) for match in told["ends"])  # none was voided
    cut = {name for name, match in stored.items() if match.finished != DAWN + timedelta(seconds=3)}
    assert told["void"] <= cut
    assert all(stored[name].void_cause == "void_server" for name in cut)
    assert len(told["ends"]) > 15
    assert len(cut) > 6
