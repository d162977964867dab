"""What a database cannot do is said on the future; nothing is half stored, and afterwards it goes on."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import OperationalError

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import LedgerCorrupt, StoreError, Unsure
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.sqlite_database import explained
from cutpurse.leaderboard.store import Store
from tests.leaderboard.databases import change_by_hand
from tests.leaderboard.sample_results import LADDER, add_version, prepare, result
from tests.roots import CHECKOUT

# Lets files grow to a megabyte only, and hands in results until one fails; then lifts the limit and hands in the rest.
FULL_DISK = """
import json, random, resource, sys
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from tests.leaderboard.databases import change_by_hand
from tests.leaderboard.sample_results import LADDER, prepare, result

rng = random.Random(1)
with Store(sys.argv[1]) as store:
    versions = prepare(store)
    results = [result(f"m{n}", versions[:4], record=rng.randbytes(20_000).hex()) for n in range(80)]
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    told = {}
    for one in results:
        error = store.submit(one).exception()
        if error is not None:
            told[one.match] = [type(error).__name__, str(error)]
    readable = len(store.run(queries.matches, limit=1000))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    again = [store.submit(one).result().sequence for one in results]
    checks = recompute(store)
print(json.dumps({"told": told, "readable": readable, "again": again, "equal": [check.equal for check in checks]}))
"""

# Opens a leaderboard that this user may only read.
READ_ONLY = """
import os, sys
from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.store import Store
import alembic.ddl.sqlite, sqlalchemy.dialects.sqlite  # while root's files can still be read
path, warm = sys.argv[1:]
Store(warm).close()
if os.geteuid() == 0:
    os.seteuid(65534)
try:
    store = Store(path)
    add_version(store, "ann", "sneak", "1.0")
except StoreError as error:
    print(error)
"""


def run(program: str, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=CHECKOUT,
    ).stdout


def integrity(path: Path) -> list[str]:
    file = sqlite3.connect(path)
    said = [line for (line,) in file.execute("PRAGMA integrity_check")]
    file.close()
    return said


def test_a_disk_that_is_full_loses_nothing_and_when_it_heals_all_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    told = json.loads(run(FULL_DISK, str(path)))
    failed = told["told"]
    assert 0 < len(failed) < 80
    assert {kind for kind, _ in failed.values()} == {"StoreError"}
    assert all(f"the leaderboard {path}: " in said and "\n" not in said for _, said in failed.values())
    assert told["readable"] == 80 - len(failed)
    assert sorted(told["again"]) == list(range(1, 81))
    assert told["equal"] == [True]
    assert integrity(path) == ["ok"]


def test_a_locked_database_is_said_and_goes_on_when_it_is_let_go(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    with Store(path, busy_timeout_s=0.05) as store:
        versions = prepare(store)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        futures = [store.submit(result(f"m{n}", versions[:4])) for n in range(10)]
        for future in futures:
            with pytest.raises(StoreError, match=r"ladder\.db: database is locked; another process is writing to it"):
                future.result()
        with pytest.raises(StoreError, match="database is locked"):
            add_version(store, "ann", "sneak", "1.0")
        assert store.run(queries.rankings, LADDER) == []
        other.execute("ROLLBACK")
        other.close()
        assert [store.submit(result(f"m{n}", versions[:4])).result().sequence for n in range(10)] == list(range(1, 11))
        assert recompute(store)[0].equal


def test_a_database_that_is_moved_away_is_said_and_goes_on_when_it_is_back(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    away = tmp_path / "away"
    away.mkdir()
    with Store(path) as store:
        versions = prepare(store)
        store.submit(result("m1", versions[:4])).result()
        for file in tmp_path.glob("ladder.db*"):
            file.rename(away / file.name)
        for _ in range(2):
            with pytest.raises(StoreError, match=r"ladder\.db was moved or replaced; put it back, or open it anew"):
                store.submit(result("m2", versions[:4])).result()
        assert not path.exists()
        path.write_bytes((away / "ladder.db").read_bytes())  # another file of this name is another leaderboard
        with pytest.raises(StoreError, match="was moved or replaced"):
            store.submit(result("m2", versions[:4])).result()
        for file in away.iterdir():
            file.rename(tmp_path / file.name)
        assert store.submit(result("m2", versions[:4])).result().sequence == 2
        assert recompute(store)[0].equal
    assert integrity(path) == ["ok"]


def test_a_database_that_may_only_be_read_is_said() -> None:
    with tempfile.TemporaryDirectory() as folder:  # where others than its owner may look, unlike tmp_path
        path = Path(folder) / "ladder.db"
        with Store(path) as store:
            prepare(store)
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        said = run(READ_ONLY, str(path), str(Path(tempfile.mkdtemp()) / "warm.db"))
        Path(folder).chmod(0o755)
    assert said.startswith(f"the leaderboard {path}: ")
    assert "the right to write the file and its folder" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("left", [0.3, 0.9])
def test_a_truncated_database_is_not_taken_for_a_whole_one(tmp_path: Path, left: float) -> None:
    path = tmp_path / "ladder.db"
    with Store(path) as store:
        versions = prepare(store)
        for n in range(50):
            store.submit(result(f"m{n}", versions[:4])).result()
    os.truncate(path, int(path.stat().st_size * left))
    with pytest.raises(StoreError, match=r"ladder\.db: database disk image is malformed; restore it from a backup"):
        Store(path)


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("to do: write a bot\n" * 100, encoding="utf-8")
    with pytest.raises(StoreError, match="file is not a database; name another file"):
        Store(path)
    assert path.read_text(encoding="utf-8") == "to do: write a bot\n" * 100


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="unable to open database file; its folder must exist and be writable"):
        Store(tmp_path / "nowhere" / "ladder.db")


@pytest.mark.parametrize("happened", [True, False])
def test_after_a_commit_that_failed_it_is_looked_up_whether_it_happened(tmp_path: Path, happened: bool) -> None:
    with Store(tmp_path / "ladder.db") as store:
        one = result("m1", prepare(store)[:4])

        @event.listens_for(store._access.engine, "commit", once=True)
        def fail(connection: Connection) -> None:
            driver = connection.connection.dbapi_connection
            assert driver is not None
            if happened:
                driver.commit()
            raise OperationalError("COMMIT", {}, sqlite3.OperationalError("disk I/O error"))

        told = store.submit(one)
        if happened:
            assert told.result().sequence == 1
        else:
            error = told.exception()
            assert isinstance(error, StoreError)
            assert not isinstance(error, Unsure)
        assert store.submit(one).result().sequence == 1
        assert [check.equal for check in recompute(store)] == [True]


def test_where_it_cannot_be_looked_up_either_nothing_is_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path / "ladder.db") as store:
        one = result("m1", prepare(store)[:4])

        @event.listens_for(store._access.engine, "commit", once=True)
        def fail(connection: Connection) -> None:
            raise OperationalError("COMMIT", {}, sqlite3.OperationalError("disk I/O error"))

        with monkeypatch.context() as patch:
            patch.setattr(store, "_reading", create_engine("sqlite:////nowhere/at/all"))
            assert isinstance(store.submit(one).exception(), Unsure)
        assert store.submit(one).result().sequence == 1


@pytest.mark.parametrize(
    ("harm", "undo"),
    [
        ("UPDATE boards SET sequence = 9 WHERE sequence = 3", "UPDATE boards SET sequence = 3 WHERE sequence = 9"),
        (
            "UPDATE boards SET sequence = NULL WHERE sequence = 2",
            "UPDATE boards SET sequence = 2 WHERE sequence IS NULL",
        ),
    ],
)
def test_a_ledger_with_a_gap_takes_no_result_before_it_is_mended(database: str, harm: str, undo: str) -> None:
    with Store(database) as store:
        versions = prepare(store)
        for number in range(3):
            assert store.submit(result(f"m{number}", versions[:4])).result(240).sequence == number + 1
    change_by_hand(database, harm)
    with Store(database) as store:
        for match in ("m3", "m4"):
            problem = store.submit(result(match, versions[:4])).exception(240)
            assert isinstance(problem, LedgerCorrupt)
            assert "'cutpurse db verify'" in str(problem)
        assert add_version(store, "zoe", "sneak", "1") not in versions  # what is no result goes on
        assert len(store.run(queries.matches)) == 3
    change_by_hand(database, undo)
    with Store(database) as store:
        assert store.submit(result("m3", versions[:4])).result(240).sequence == 4


@pytest.mark.parametrize(
    ("free", "advice"),
    [(0, "its disk is full: free some space; "), (1_000_000, "look at the disk; ")],
)
def test_an_error_of_the_disk_says_so_where_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, advice: str
) -> None:
    """Where the file beside a leaderboard cannot be made that WAL needs, SQLite knows of an I/O error only."""
    disk = SimpleNamespace(f_bavail=free, f_frsize=1)
    monkeypatch.setattr(os, "statvfs", lambda folder: disk if Path(folder) == tmp_path else None)
    problem = explained(sqlite3.OperationalError("disk I/O error"), tmp_path / "test.db")
    said = f"the leaderboard {tmp_path / 'test.db'}: disk I/O error; {advice}you can retry the same write"
    assert str(problem) == said
