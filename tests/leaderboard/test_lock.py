"""One process writes a leaderboard; who comes second is told, and reads; who is killed leaves no lock behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InUse, StoreError
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import LADDER, prepare
from tests.roots import CHECKOUT

HOLDS = """
import sys
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import prepare
store = Store(sys.argv[1])
prepare(store)
print("open", flush=True)
sys.stdin.read()
store.close()
"""


def test_a_second_writer_is_told_who_is_the_first_and_may_read(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    first = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=CHECKOUT
    )
    assert first.stdout is not None
    assert first.stdin is not None
    assert first.stdout.readline() == b"open\n"
    with pytest.raises(InUse, match=rf"ladder\.db is being written by process {first.pid}; only one can") as told:
        Store(path)
    assert told.value.holder == f"process {first.pid}"
    with LeaderboardReader(path) as reader:
        assert [ladder.name for ladder in reader.run(queries.ladders)] == [LADDER]
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    first.stdin.close()
    first.stdout.close()
    with Store(path) as store:  # nothing has to be tidied up
        assert [ladder.name for ladder in store.run(queries.ladders)] == [LADDER]


def test_the_lock_is_let_go_when_a_store_is_closed_or_never_opened(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    with Store(path) as store:
        prepare(store)
        with pytest.raises(InUse, match=f"by process {os.getpid()}"):
            Store(path)
        store.close()
        with Store(path):  # and the second close of the first takes nothing away from it
            store.close()
            with pytest.raises(InUse):
                Store(path)
    (tmp_path / "notes.txt").write_text("to do: write a bot\n" * 100, encoding="utf-8")
    for _ in range(2):
        with pytest.raises(StoreError, match="file is not a database"):
            Store(tmp_path / "notes.txt")


def test_a_file_is_the_same_by_whatever_name(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "ladder.db")
    with Store(tmp_path / "ladder.db"), pytest.raises(InUse):
        Store(tmp_path / "link.db")
