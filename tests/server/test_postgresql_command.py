"""A league in PostgreSQL, as its host runs it: moved there and back, served, asked, and refused in one line."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cutpurse.leaderboard.schema import newest_revision
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import prepare, random_result
from tests.postgresql_server import PostgresqlServer
from tests.typed import typed

CUTPURSE = (sys.executable, "-m", "cutpurse.cli")
PASSWORD = "s3cret"


@pytest.fixture
def address(postgresql: PostgresqlServer) -> str:
    """An empty database; the server asks for no password, so any is right."""
    return postgresql.create().replace("league@", f"league:{PASSWORD}@")


@pytest.fixture
def processes() -> Iterator[ExitStack]:
    """Processes that are killed at the end if they still run."""
    with ExitStack() as stack:
        yield stack


def shown(address: str) -> str:
    return address.replace(f":{PASSWORD}", "")


def run(*words: object, folder: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = typed(*words, folder=folder)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    return done


def test_a_league_is_moved_there_and_back(tmp_path: Path, address: str) -> None:
    with Store(tmp_path / "league.db") as store:
        versions = prepare(store)
        for number in range(12):
            store.submit(random_result(number, versions)).result()
    (tmp_path / "league.db.bots").mkdir()
    moved = run("db", "copy", "league.db", address, folder=tmp_path)
    first, second = moved.stderr.splitlines()
    assert re.fullmatch(
        rf"{shown(address)} is a checked copy of league\.db: schema {newest_revision()}, \d+ rows", first
    )
    assert second.startswith("copy the archives of submitted bots, too: ")
    assert second.endswith(f"/{address.rpartition('/')[2]}.bots")
    told = json.loads(run("db", "verify", address, "--json", folder=tmp_path).stdout)
    assert [(row["ladder"], row["differences"]) for row in told] == [("greed-main", 0)]
    ladders = json.loads(run("ladder", "list", "--db", address, "--json", folder=tmp_path).stdout)
    assert [ladder["ladder"] for ladder in ladders] == ["greed-main"]
    back = run("db", "copy", address, "again.db", folder=tmp_path)
    assert back.stderr.startswith(f"again.db is a checked copy of {shown(address)}: ")
    for words in (("rankings", "greed-main"), ("history", "greed-main", "owner 0/bot 0")):
        there = run("ladder", *words, "--db", address, "--json", folder=tmp_path)
        assert there.stdout == run("ladder", *words, "--db", "again.db", "--json", folder=tmp_path).stdout
    assert run("db", "estimate", address, folder=tmp_path).stdout.split()[-3] == "greed-main"
    again = run("db", "copy", "league.db", address, folder=tmp_path, code=2)
    assert "has a league already, and a copy replaces nothing: name an empty database" in again.stderr


def test_a_backup_is_left_to_its_own_program(tmp_path: Path, address: str) -> None:
    refused = run("db", "backup", address, "monday.dump", folder=tmp_path, code=2)
    assert refused.stderr == (
        "cutpurse: a PostgreSQL database is backed up by its own program: "
        f"pg_dump --format=custom --file=monday.dump {shown(address)}\n"
    )
    refused = run("db", "restore", "monday.dump", address, folder=tmp_path, code=2)
    assert "pg_restore" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_tokens_are_made_there_and_what_is_not_there_is_said(tmp_path: Path, address: str) -> None:
    made = run("token", "create", "ann", "--db", address, folder=tmp_path)
    assert f"database {shown(address)} was not there, and is made" in made.stderr
    assert "ann" in run("token", "list", "--db", address, folder=tmp_path).stdout
    nowhere = f"{address}_not"
    asked: list[tuple[str, ...]] = [("token", "list"), ("ladder", "list"), ("db", "verify")]
    for words in asked:
        lost = run(*words, "--db", nowhere, folder=tmp_path, code=1)
        assert "does not exist; create it first: createdb" in lost.stderr
        assert len(lost.stderr.splitlines()) == 1
    for words in [("serve",), *asked]:
        bad = run(*words, "--db", f"postgresql://ann:{PASSWORD}%zz@host/x", folder=tmp_path, code=1)
        assert "this PostgreSQL address cannot be read; write postgresql://USER@HOST:PORT/DATABASE" in bad.stderr


def test_a_server_plays_there_and_a_second_one_is_refused(tmp_path: Path, address: str, processes: ExitStack) -> None:
    def start() -> subprocess.Popen[str]:
        command = [*CUTPURSE, "serve", "--address", "127.0.0.1:0", "--db", address, "--game", "greed"]
        process = processes.enter_context(subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path))
        processes.callback(process.kill)
        return process

    server = start()
    assert server.stderr is not None
    line = next(line for line in server.stderr if line.startswith("bots dial in at "))
    at, place = re.fullmatch(r"bots dial in at (\S+); results in (\S+)\n", line).groups()  # type: ignore[union-attr]
    assert place == shown(address)
    _, refused = (second := start()).communicate(timeout=240)
    assert second.returncode == 1
    who = rf"{shown(address)} is being written by process {server.pid} on \S+; only one can at a time: end that first"
    assert re.search(who, refused.splitlines()[-1])
    busy = run("token", "create", "ann", "--db", address, folder=tmp_path, code=1)
    assert f"a server (process {server.pid} on " in busy.stderr
    bots = [
        subprocess.Popen(
            [*CUTPURSE, "bot", "run", "random", "--name", f"random_{number}", "--server", at, "--matches", "1"],
            stderr=subprocess.DEVNULL,
        )
        for number in range(4)
    ]
    assert [bot.wait(timeout=240) for bot in bots] == [0, 0, 0, 0]
    server.send_signal(signal.SIGTERM)
    _, said = server.communicate(timeout=240)
    assert server.returncode == 0, said
    assert PASSWORD not in said
    played = json.loads(run("match", "list", "--db", address, "--json", folder=tmp_path).stdout)
    assert len(played["matches"]) >= 1
    run("match", "verify", played["matches"][0]["match"], "--db", address, folder=tmp_path)
