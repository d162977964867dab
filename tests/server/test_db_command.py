"""`cutpurse db` as a user runs it: what it says of databases of all sorts, and its exit codes."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cutpurse.cli.main import app
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.schema import newest_revision
from cutpurse.leaderboard.store import Store
from tests.cli.terminals import on_terminal
from tests.leaderboard.sample_results import prepare, random_result
from tests.leaderboard.test_schema import schema_22, set_revision
from tests.roots import CHECKOUT
from tests.typed import typed

CUTPURSE = (sys.executable, "-m", "cutpurse.cli", "db")


def db(*words: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    run = typed("db", *words, folder=folder)
    assert "Traceback" not in run.stderr
    return run


def other_process(*words: object) -> subprocess.CompletedProcess[str]:
    """The same by a process of its own."""
    run = subprocess.run([*CUTPURSE, *map(str, words)], capture_output=True, text=True, check=False)
    assert "Traceback" not in run.stderr
    return run


@pytest.fixture
def league(tmp_path: Path) -> Path:
    path = tmp_path / "league.db"
    with Store(path) as store:
        versions = prepare(store)
        for number in range(12):
            store.submit(random_result(number, versions)).result()
    return path


def matches(path: Path) -> int:
    with LeaderboardReader(path) as reader:
        return len(reader.run(queries.matches, limit=1000))


def test_a_backup_is_made_and_put_back(tmp_path: Path, league: Path) -> None:
    run = db("backup", "league.db", "monday.db", folder=tmp_path)
    assert (run.returncode, run.stdout) == (0, "")
    size = (tmp_path / "monday.db").stat().st_size
    assert (
        run.stderr == f"monday.db is a checked copy of league.db: schema {newest_revision()}, {size:,} bytes\n"
    )  # no progress here
    with Store(league) as store:
        store.submit(random_result(99, prepare(store))).result()
    run = db("restore", "monday.db", "league.db", folder=tmp_path)
    assert run.returncode == 2
    assert "league.db already exists; use --force to replace it (the current file is lost)" in run.stderr
    assert matches(league) == 13
    run = db("restore", "monday.db", "league.db", "--force", folder=tmp_path)
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr == f"league.db is what monday.db holds: schema {newest_revision()}, {size:,} bytes\n"
    assert matches(league) == 12
    run = db("restore", "monday.db", "other.db", folder=tmp_path)
    assert run.returncode == 0
    assert matches(tmp_path / "other.db") == 12
    told = json.loads(db("verify", "other.db", "--json", folder=tmp_path).stdout)
    assert [(row["ladder"], row["differences"]) for row in told] == [("greed-main", 0)]
    assert json.loads(db("verify", "--db", "other.db", "--json", folder=tmp_path).stdout) == told
    for both in ((), ("other.db", "--db", "other.db")):
        run = db("verify", *both, folder=tmp_path)
        assert (run.returncode, run.stderr) == (2, "cutpurse: name one database: cutpurse db verify league.db\n")


def test_a_copy_into_itself_or_over_something_else_is_refused_at_once(tmp_path: Path, league: Path) -> None:
    (tmp_path / "link.db").symlink_to("league.db")
    (tmp_path / "hard.db").hardlink_to(league)
    (tmp_path / "class.csv").write_text("owner,label\nann,Ann Archer\n", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    with Store(league):  # as a server has it open
        for to in ("league.db", "./league.db", league, "sqlite:///league.db", "link.db", "hard.db"):
            run = db("copy", "league.db", to, folder=tmp_path)
            line = "cutpurse: FROM and TO are the same, league.db: name an empty database as TO, or a new file\n"
            assert (run.returncode, run.stdout, run.stderr) == (2, "", line), to
        run = db("copy", "league.db", "class.csv", folder=tmp_path)
        line = "TO is there already, and class.csv is no database: name an empty database, or a new file\n"
        assert (run.returncode, run.stdout, run.stderr) == (2, "", f"cutpurse: {line}")
    assert {path for path in tmp_path.iterdir() if path.name.startswith(("class", "link", "hard"))} <= {*before}


@pytest.mark.parametrize(
    ("words", "bar"),
    [
        (("backup", "league.db", "copy.db"), "pages copied: "),
        (("verify", "league.db"), "boards: "),
        (("upgrade", "league.db"), "upgrading league.db"),
        (("estimate", "league.db"), "estimating greed-main"),
    ],
)
def test_progress_is_on_a_terminal_only(words: tuple[str, ...], bar: str, tmp_path: Path, league: Path) -> None:
    code, received = on_terminal("db", *words, folder=tmp_path)
    assert (code, bar in received) == (0, True)
    (tmp_path / "copy.db").unlink(missing_ok=True)
    assert bar not in db(*words, folder=tmp_path).stderr


def test_what_is_there_is_not_replaced_by_a_backup(tmp_path: Path, league: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    run = db("backup", league, tmp_path / "mine.txt")
    assert run.returncode == 2
    assert "mine.txt already exists, and a backup replaces nothing: name another file" in run.stderr
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_an_upgrade_says_from_where_to_where(tmp_path: Path) -> None:
    schema_22(tmp_path / "old.db")
    (tmp_path / "empty.db").touch()
    for word, arguments in (("verify", ("old.db",)), ("verify", ("empty.db",))):
        run = db(word, *arguments, folder=tmp_path)
        assert run.returncode == 1
        assert f"this does it: cutpurse db upgrade {arguments[0]}" in run.stderr
    assert db("backup", "old.db", "before.db", folder=tmp_path).returncode == 0
    for name, said in (
        ("old.db", f"old.db had schema 22 and has schema {newest_revision()} now\n"),
        ("old.db", f"old.db has schema {newest_revision()} already, the newest\n"),
        ("empty.db", f"empty.db was empty and has schema {newest_revision()} now\n"),
    ):
        run = db("upgrade", name, folder=tmp_path)
        assert (run.returncode, run.stderr) == (0, said)
    assert matches(tmp_path / "old.db") == 9
    with sqlite3.connect(tmp_path / "before.db") as file:
        assert file.execute("SELECT version_num FROM alembic_version").fetchall() == [("22",)]
    file.close()


def test_a_database_that_only_an_older_version_upgrades_is_refused_and_copied(tmp_path: Path, league: Path) -> None:
    set_revision(league, "11")
    for word in ("upgrade", "verify"):
        run = db(word, league, folder=tmp_path)
        assert run.returncode == 1, word
        text = "has schema 11, and this version upgrades 22 and newer: keep a copy, then upgrade it with commit"
        assert f"{league} {text}" in run.stderr
        assert run.stderr.count("\n") == 1
    assert db("backup", league, "copy.db", folder=tmp_path).returncode == 0


def test_a_newer_database_is_refused_by_all(tmp_path: Path, league: Path) -> None:
    set_revision(league, "99")
    for words in (("upgrade", league), ("verify", league), ("backup", league, "c.db"), ("restore", league, "d.db")):
        run = db(*words, folder=tmp_path)
        assert run.returncode == 1, words
        known = ", ".join(str(schema) for schema in range(22, int(newest_revision()) + 1))
        assert f"has schema 99; this version knows {known}. Install the version that wrote it" in run.stderr
    assert not (tmp_path / "c.db").exists()
    assert not (tmp_path / "d.db").exists()


@pytest.mark.parametrize(
    ("kind", "code", "said"),
    [
        ("missing", 4, "it does not exist"),
        ("folder", 2, "is no file, so it is no database"),
        ("text", 1, "file is not a database; name another file, or restore it from a backup"),
        ("truncated", 1, "malformed; restore it from a backup"),
    ],
)
@pytest.mark.parametrize("word", ["upgrade", "verify", "backup", "restore"])
def test_what_is_no_sound_database_is_said_in_one_line(
    tmp_path: Path, league: Path, word: str, kind: str, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.db"
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("to do: write a bot\n" * 100, encoding="utf-8")
    elif kind == "truncated":
        league.rename(path)
        os.truncate(path, path.stat().st_size // 3)
    words = [word, str(path), *([] if word in ("upgrade", "verify") else [str(tmp_path / "to.db")])]
    with pytest.raises(SystemExit) as ended:
        app(["db", *words], prog_name="cutpurse")  # in this process, since there are many
    told = capsys.readouterr().err
    assert ended.value.code == code, told
    assert said in told
    assert told.count("\n") == 1
    assert "bad.db" in told
    assert not (tmp_path / "to.db").exists()


def test_nothing_is_upgraded_or_put_back_under_a_server_and_a_backup_is_made(tmp_path: Path, league: Path) -> None:
    assert db("backup", league, tmp_path / "copy.db").returncode == 0
    with Store(league):
        for words in (("upgrade", league), ("restore", tmp_path / "copy.db", league, "--force")):
            run = other_process(*words)
            assert run.returncode == 1
            assert f"is being written by process {os.getpid()}; only one can at a time: end that first" in run.stderr
        assert db("backup", league, tmp_path / "another.db").returncode == 0
    assert matches(tmp_path / "another.db") == 12


def test_a_locked_database_is_said(tmp_path: Path) -> None:
    path = schema_22(tmp_path / "old.db")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for words in (("upgrade", path), ("backup", path, tmp_path / "copy.db")):
        run = db(*words)
        assert run.returncode == 1
        assert "old.db: database is locked; another process is writing to it" in run.stderr
    other.execute("ROLLBACK")
    other.close()
    assert db("upgrade", path).returncode == 0


# Lets files grow to so many bytes, then is `cutpurse db ...`.
FULL_DISK = """
import resource, runpy, signal, sys
import alembic.ddl.sqlite, cutpurse.leaderboard.store, cutpurse.server.commands.db
most = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
sys.argv[0] = "cutpurse"
runpy.run_module("cutpurse.cli", run_name="__main__")
"""


@pytest.mark.parametrize("word", ["backup", "restore"])
def test_a_full_disk_leaves_nothing_half_done(tmp_path: Path, league: Path, word: str) -> None:
    assert db("backup", league, tmp_path / "copy.db").returncode == 0
    before = league.read_bytes()
    words = [tmp_path / "copy.db", *([tmp_path / "to.db"] if word == "backup" else [league, "--force"])]
    run = subprocess.run(
        [sys.executable, "-c", FULL_DISK, "20000", "db", word, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=CHECKOUT,
    )
    assert run.returncode == 1, run.stderr
    assert "full" in run.stderr or "disk I/O error" in run.stderr
    assert run.stderr.count("\n") == 1
    assert not (tmp_path / "to.db").exists()
    assert not list(tmp_path.glob(".copy*"))
    assert league.read_bytes() == before
    assert matches(league) == 12


READ_ONLY = """
import os, sys
import alembic.ddl.sqlite, cutpurse.leaderboard.store, cutpurse.leaderboard.recompute, cutpurse.leaderboard.backup
import cutpurse.server.commands.db, sqlalchemy.dialects.sqlite
from cutpurse.leaderboard.schema import newest_revision
from cutpurse.cli.main import main
from cutpurse.leaderboard.store import Store
from cutpurse.server.installed_parts import hooks_of_parts
Store(sys.argv.pop(1), hooks=hooks_of_parts()).close()  # while root's files can still be read
if os.geteuid() == 0:
    os.seteuid(65534)
sys.argv[0] = "cutpurse"
main()
"""


@pytest.mark.parametrize("word", ["upgrade", "backup", "restore"])
def test_a_folder_that_may_only_be_read_is_said(tmp_path_factory: pytest.TempPathFactory, word: str) -> None:

    with tempfile.TemporaryDirectory() as name:  # where others than its owner may look, unlike tmp_path
        folder = Path(name)
        schema_22(folder / "old.db")
        (folder / "old.db").chmod(0o444)
        folder.chmod(0o555)
        words = {
            "upgrade": ("upgrade", folder / "old.db"),
            "backup": ("backup", folder / "old.db", folder / "copy.db"),
            "restore": ("restore", folder / "old.db", folder / "new.db"),
        }[word]
        warm = tmp_path_factory.mktemp("warm") / "warm.db"
        run = subprocess.run(
            [sys.executable, "-c", READ_ONLY, warm, "db", *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=CHECKOUT,
        )
        folder.chmod(0o755)
        assert sorted(path.name for path in folder.iterdir()) == ["old.db"]
    assert run.returncode == 1, run.stderr
    assert "writ" in run.stderr
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("word", ["backup", "restore", "upgrade", "verify", "estimate"])
def test_help_has_an_example(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app(["db", word, "--help"], prog_name="cutpurse")
    assert ended.value.code == 0
    assert f"Example: cutpurse db {word}" in capsys.readouterr().out


def test_a_backup_says_what_it_does_not_hold(tmp_path: Path, league: Path) -> None:
    (tmp_path / "league.db.bots").mkdir()
    copied = db("backup", "league.db", "monday.db", folder=tmp_path)
    assert "does not contain the archives of submitted bots: copy the folder league.db.bots too" in copied.stderr
    restored = db("restore", "monday.db", "league.db", "--force", folder=tmp_path)
    assert "submitted bots run only if their archives are in league.db.bots" in restored.stderr


def test_an_archive_is_estimated_from_all_of_its_results(tmp_path: Path, league: Path) -> None:
    run = db("estimate", "league.db", "--json", folder=tmp_path)
    assert run.returncode == 0, run.stderr
    (row,) = json.loads(run.stdout)
    with LeaderboardReader(league) as reader:
        rankings = reader.run(queries.rankings, "greed-main")
    assert row == {"ladder": "greed-main", "boards": rankings[0].estimated, "versions": len(rankings)}
    assert row["boards"] > 5
    run = db("estimate", "league.db", "greed-main", folder=tmp_path)
    assert run.stdout.split() == ["ladder", "boards", "versions", "greed-main", str(row["boards"]), str(len(rankings))]
    run = db("estimate", "league.db", "nowhere", folder=tmp_path)
    assert (run.returncode, run.stdout) == (4, "")
    assert "there is no ladder 'nowhere'" in run.stderr
    with Store(league):
        assert "is being written by process" in db("estimate", "league.db", folder=tmp_path).stderr
