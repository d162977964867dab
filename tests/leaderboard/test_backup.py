"""A backup is the leaderboard of one moment, made while results come in; put back, it is the leaderboard again."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from cutpurse.leaderboard import backup as module
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.backup import back_up, restore
from cutpurse.leaderboard.errors import InUse, InvalidEntry, NewerSchema, NoSuchEntry, StoreError
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.schema import newest_revision
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import LADDER, prepare, random_result, result
from tests.leaderboard.test_schema import schema_22, set_revision
from tests.roots import CHECKOUT


def made(path: Path, matches: int) -> Path:
    with Store(path) as store:
        versions = prepare(store)
        for future in [store.submit(random_result(number, versions)) for number in range(matches)]:
            future.result()
    return path


def everything(path: Path) -> list[str]:
    """All that is in a database, as SQL."""
    file = sqlite3.connect(path)
    lines = list(file.iterdump())
    file.close()
    return lines


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# -- backup
def test_a_backup_is_the_same_in_one_file(tmp_path: Path) -> None:
    path = made(tmp_path / "ladder.db", 30)
    path.chmod(0o640)
    (tmp_path / "kept").mkdir()
    copied = back_up(path, tmp_path / "kept" / "monday.db")
    assert copied.path == tmp_path / "kept" / "monday.db"
    assert (copied.size, copied.revision) == (copied.path.stat().st_size, newest_revision())
    assert names(tmp_path / "kept") == ["monday.db"]
    assert stat.S_IMODE(copied.path.stat().st_mode) == 0o640
    assert everything(copied.path) == everything(path)
    with LeaderboardReader(copied.path) as reader:
        assert recompute(reader)[0].equal


def test_a_backup_is_never_for_everybody(tmp_path: Path) -> None:
    path = made(tmp_path / "ladder.db", 1)
    path.chmod(0o644)
    copied = back_up(path, tmp_path / "monday.db")
    assert stat.S_IMODE(copied.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(restore(copied.path, path, replaces=True).path.stat().st_mode) == 0o644


def test_a_backup_made_while_results_come_in_is_of_one_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STEP", 1)  # a word after each page, so that results come in between
    path = tmp_path / "ladder.db"
    with Store(path) as store:
        versions = prepare(store)
        numbers = iter(range(10_000))
        for _ in range(40):
            store.submit(random_result(next(numbers), versions)).result()
        acknowledged = len(store.run(queries.matches, limit=1000))
        words: list[tuple[int, int]] = []

        def meanwhile(done: int, total: int) -> None:
            words.append((done, total))
            if len(words) <= 30:
                store.submit(random_result(next(numbers), versions)).result()

        back_up(path, tmp_path / "copy.db", meanwhile)
        assert len(store.run(queries.matches, limit=1000)) == acknowledged + 30
    done = [word[0] for word in words]
    assert done == sorted(done)  # it never began again
    assert words[-1][0] == words[-1][1] > 30
    with LeaderboardReader(tmp_path / "copy.db") as copy:
        assert len(copy.run(queries.matches, limit=1000)) == acknowledged
        assert recompute(copy)[0].equal


def test_a_backup_is_made_beside_a_server_under_load(tmp_path: Path) -> None:
    """From another process, while this one writes."""
    path = tmp_path / "ladder.db"
    with Store(path) as store:
        versions = prepare(store)
        enough = threading.Event()

        def play() -> None:
            number = 0
            while not enough.is_set():
                store.submit(random_result(number, versions)).result()
                number += 1

        player = threading.Thread(target=play)
        player.start()
        runs = [
            subprocess.run(
                [sys.executable, "-m", "cutpurse.cli", "db", "backup", str(path), str(tmp_path / f"{n}.db")],
                capture_output=True,
                text=True,
                check=False,
                cwd=CHECKOUT,
            )
            for n in range(3)
        ]
        enough.set()
        player.join()
        assert [run.returncode for run in runs] == [0, 0, 0], [run.stderr for run in runs]
        sizes = []
        for n in range(3):
            with LeaderboardReader(tmp_path / f"{n}.db") as copy:
                sizes.append(len(copy.run(queries.matches, limit=100_000)))
                assert recompute(copy)[0].equal
        assert sizes == sorted(sizes)
        assert sizes[0] < sizes[2] <= len(store.run(queries.matches, limit=100_000))


@pytest.mark.parametrize("revision", ["22", "7"], ids=["upgraded", "too old"])
def test_an_older_database_is_backed_up_and_restored_as_it_is(tmp_path: Path, revision: str) -> None:
    path = schema_22(tmp_path / "ladder.db")
    set_revision(path, revision)
    copied = back_up(path, tmp_path / "before.db")
    assert copied.revision == revision == restore(copied.path, tmp_path / "again.db").revision
    assert everything(copied.path) == everything(path) == everything(tmp_path / "again.db")


@pytest.mark.parametrize("what", ["file", "folder", "link", "dangling link"])
def test_a_backup_replaces_nothing(tmp_path: Path, what: str) -> None:
    path = made(tmp_path / "ladder.db", 3)
    to = tmp_path / "copy.db"
    if what == "file":
        to.write_text("mine", encoding="utf-8")
    elif what == "folder":
        to.mkdir()
    else:
        to.symlink_to(path if what == "link" else tmp_path / "nowhere")
    before = names(tmp_path)
    with pytest.raises(InvalidEntry, match=r"copy\.db already exists, and a backup replaces nothing"):
        back_up(path, to)
    assert names(tmp_path) == before
    assert what != "file" or to.read_text(encoding="utf-8") == "mine"


def test_two_backups_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    path = made(tmp_path / "ladder.db", 3)
    to = tmp_path / "copy.db"

    def meanwhile(done: int, total: int) -> None:
        if not to.exists():
            back_up(path, to)

    with pytest.raises(InvalidEntry, match="already exists"):
        back_up(path, to, meanwhile)
    assert [name for name in names(tmp_path) if "copy" in name] == ["copy.db"]
    with LeaderboardReader(to) as reader:
        assert recompute(reader)[0].equal


def test_what_a_killed_backup_left_goes_with_the_next_one_and_what_is_being_made_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "ladder.db", 5)
    kept = tmp_path / "kept"
    kept.mkdir()
    script = (
        "import os, sys; from pathlib import Path; from cutpurse.leaderboard.backup import back_up;"
        "back_up(Path(sys.argv[1]), Path(sys.argv[2]), lambda done, total: os.kill(os.getpid(), 15))"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(path), str(kept / "monday.db")], check=False)
    assert ended.returncode == -15
    (left,) = [name for name in names(kept) if name.endswith(".part")]
    other = kept / ".copy-x.part.txt"  # somebody else's
    other.touch()
    meanwhile: list[list[str]] = []

    def second(_done: int, _total: int) -> None:
        if not meanwhile:
            meanwhile.append(names(kept))
            back_up(path, kept / "wednesday.db")

    back_up(path, kept / "tuesday.db", second)
    assert left not in meanwhile[0]
    assert names(kept) == [other.name, "tuesday.db", "wednesday.db"]
    assert everything(kept / "tuesday.db") == everything(kept / "wednesday.db") == everything(path)


@pytest.mark.parametrize("left", [0.3, 0.9])
def test_a_damaged_database_gives_no_backup(tmp_path: Path, left: float) -> None:
    path = made(tmp_path / "ladder.db", 50)
    os.truncate(path, int(path.stat().st_size * left))
    with pytest.raises(StoreError, match=r"damaged, and no copy was kept|malformed; restore it from a backup"):
        back_up(path, tmp_path / "copy.db")
    assert "copy.db" not in names(tmp_path)
    assert not [name for name in names(tmp_path) if name.startswith(".copy")]


def test_what_is_no_leaderboard_gives_no_backup(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("to do: write a bot\n" * 100, encoding="utf-8")
    with pytest.raises(StoreError, match="file is not a database"):
        back_up(tmp_path / "notes.txt", tmp_path / "copy.db")
    with sqlite3.connect(tmp_path / "other.db") as file:
        file.execute("CREATE TABLE books (title TEXT)")
    file.close()
    with pytest.raises(StoreError, match=r"other\.db is a database, but no leaderboard"):
        back_up(tmp_path / "other.db", tmp_path / "copy.db")
    with pytest.raises(NoSuchEntry, match=r"there is no leaderboard .*none\.db"):
        back_up(tmp_path / "none.db", tmp_path / "copy.db")
    with pytest.raises(NoSuchEntry, match="there is no folder"):
        back_up(made(tmp_path / "ladder.db", 1), tmp_path / "nowhere" / "copy.db")
    assert names(tmp_path) == ["ladder.db", "ladder.db.lock", "notes.txt", "other.db"]


def test_a_newer_database_gives_no_backup_that_nobody_can_check(tmp_path: Path) -> None:
    path = made(tmp_path / "ladder.db", 1)
    with sqlite3.connect(path) as file:
        file.execute("UPDATE alembic_version SET version_num = '99'")
    file.close()
    with pytest.raises(NewerSchema, match="has schema 99"):
        back_up(path, tmp_path / "copy.db")


@pytest.mark.parametrize("word", ["backup", "restore"])
def test_a_disk_without_room_for_the_copy_is_named_and_not_that_of_the_leaderboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    path = made(tmp_path / "ladder.db", 1)
    (tmp_path / "other").mkdir()

    def full(*_: object) -> str:
        with closing(sqlite3.connect(":memory:")) as small:
            small.execute("PRAGMA max_page_count=1")
            small.execute("CREATE TABLE too_much (a)")  # SQLite's own error
        raise AssertionError

    monkeypatch.setattr(module, "_copy", full)
    said = f"the disk of {tmp_path / 'other'} is full: no room for a copy of {path}; free some space there"
    with pytest.raises(StoreError) as problem:
        (back_up if word == "backup" else restore)(path, tmp_path / "other" / "to.db")
    assert str(problem.value) == said
    assert not [name for name in names(tmp_path / "other") if not name.endswith(".lock")]


# -- restore
def test_what_is_put_back_goes_on_where_the_backup_was_made(tmp_path: Path) -> None:
    path = made(tmp_path / "ladder.db", 20)
    back_up(path, tmp_path / "copy.db")
    with Store(path) as store:
        versions = prepare(store)
        for number in range(20, 40):
            store.submit(random_result(number, versions)).result()
        later = store.run(queries.rankings, LADDER)
    with pytest.raises(InvalidEntry, match=r"ladder\.db already exists; use --force to replace it"):
        restore(tmp_path / "copy.db", path)
    path.chmod(0o600)
    copied = restore(tmp_path / "copy.db", path, replaces=True)
    assert (copied.path, copied.revision) == (path, newest_revision())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert everything(path) == everything(tmp_path / "copy.db")
    assert names(tmp_path) == ["copy.db", "ladder.db", "ladder.db.lock"]
    with Store(path) as store:
        assert len(store.run(queries.matches, limit=100)) == 20
        for number in range(20, 40):
            store.submit(random_result(number, versions)).result()
        assert store.run(queries.rankings, LADDER) == later
        assert recompute(store)[0].equal


def test_what_a_killed_server_left_beside_the_database_does_not_get_into_what_is_put_back(tmp_path: Path) -> None:
    path = made(tmp_path / "ladder.db", 20)
    back_up(path, tmp_path / "copy.db")
    killed = """
import os, sys
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import prepare, random_result
store = Store(sys.argv[1])
versions = prepare(store)
for number in range(20, 30):
    store.submit(random_result(number, versions)).result()
os.kill(os.getpid(), 9)
"""
    run = subprocess.run([sys.executable, "-c", killed, str(path)], check=False, cwd=CHECKOUT)
    assert run.returncode == -9
    assert path.with_name("ladder.db-wal").stat().st_size > 0
    restore(tmp_path / "copy.db", path, replaces=True)
    assert names(tmp_path) == ["copy.db", "ladder.db", "ladder.db.lock"]
    assert everything(path) == everything(tmp_path / "copy.db")


def test_nothing_is_put_back_while_a_server_has_it_open(tmp_path: Path) -> None:
    path = made(tmp_path / "ladder.db", 5)
    back_up(path, tmp_path / "copy.db")
    with Store(path) as store:
        with pytest.raises(InUse, match=f"is being written by process {os.getpid()}"):
            restore(tmp_path / "copy.db", path, replaces=True)
        assert store.submit(result("later", prepare(store)[:4])).result().sequence is not None
    with Store(path) as store:
        assert store.run(queries.match, "later").match == "later"


def test_a_bad_backup_is_not_put_in_place(tmp_path: Path) -> None:
    path = made(tmp_path / "ladder.db", 50)
    before = everything(path)
    damaged, newer, other = (tmp_path / name for name in ("damaged.db", "newer.db", "other.db"))
    for copy in (damaged, newer):
        back_up(path, copy)
    os.truncate(damaged, damaged.stat().st_size // 2)
    with sqlite3.connect(newer) as file:
        file.execute("UPDATE alembic_version SET version_num = '99'")
    file.close()
    other.write_bytes(b"")
    here = names(tmp_path)
    for copy, kind in (
        (damaged, StoreError),
        (newer, NewerSchema),
        (other, StoreError),
        (tmp_path / "no", NoSuchEntry),
    ):
        with pytest.raises(kind):
            restore(copy, path, replaces=True)
    with pytest.raises(InvalidEntry, match="is the leaderboard itself"):
        restore(path, path, replaces=True)
    with pytest.raises(InvalidEntry, match="is a folder"):
        restore(path, tmp_path)
    with pytest.raises(NoSuchEntry, match="there is no folder"):
        restore(path, tmp_path / "nowhere" / "ladder.db")
    assert names(tmp_path) == here
    assert everything(path) == before


def test_a_damaged_database_is_replaced(tmp_path: Path) -> None:
    path = made(tmp_path / "ladder.db", 20)
    back_up(path, tmp_path / "copy.db")
    path.write_bytes(b"rubbish" * 1000)
    restore(tmp_path / "copy.db", path, replaces=True)
    assert everything(path) == everything(tmp_path / "copy.db")


def test_an_old_backup_is_put_in_a_new_place_and_upgraded_by_whoever_opens_it(tmp_path: Path) -> None:
    schema_22(tmp_path / "copy.db")
    assert restore(tmp_path / "copy.db", tmp_path / "ladder.db").revision == "22"
    with Store(tmp_path / "ladder.db") as store:
        assert store.found == "22"
        assert len(store.run(queries.matches, limit=100)) == 9


def test_a_linked_database_is_replaced_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    real = made(tmp_path / "disk" / "real.db", 3)
    back_up(real, tmp_path / "copy.db")
    (tmp_path / "ladder.db").symlink_to(real)
    restore(tmp_path / "copy.db", tmp_path / "ladder.db", replaces=True)
    assert (tmp_path / "ladder.db").is_symlink()
    assert everything(real) == everything(tmp_path / "copy.db")
