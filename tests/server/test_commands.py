"""`cutpurse demo`, `serve` and `db` as a user runs them: processes, a database file, signals, exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import pytest

from cutpurse.engine.record import verify
from cutpurse.games import GAMES
from tests.builds import is_compiled
from tests.looking import until
from tests.roots import CHECKOUT
from tests.typed import typed

CUTPURSE = (sys.executable, "-m", "cutpurse.cli")


def cutpurse(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*CUTPURSE, *map(str, words)], capture_output=True, text=True, check=False)


def dialled_in(address: str) -> list[int]:
    """The processes that were started to play at this address."""
    wanted = f"CUTPURSE_SERVER={address}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def lines_of(process: subprocess.Popen[str]) -> Iterator[str]:
    """What it says on stderr, which stays open."""
    assert process.stderr is not None
    return iter(process.stderr.readline, "")


# -- demo
@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A short demo: its folder and what it said."""
    folder = tmp_path_factory.mktemp("demo") / "run"
    return folder, cutpurse("demo", "--matches", 3, "--folder", folder, "--json")


def test_the_demo_plays_and_rates_every_game(demo: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, run = demo
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert set(told) == {"seconds", "games", "faults"}
    assert list(told["games"]) == list(GAMES)
    bots = set()
    for name, game in told["games"].items():
        assert game["matches"] >= 3
        assert game["decisions"] > 50
        assert sum(row["matches"] for row in game["rankings"]) == GAMES[name].usual_seats * game["matches"]
        assert all(row["low"] < row["rating"] < row["high"] for row in game["rankings"])
        assert {row["place"] for row in game["rankings"]} == {None}  # three matches are too few for a place
        bots |= {row["bot"] for row in game["rankings"]}
    assert {"first_option", "greedy", "random", "search"} <= bots
    assert len(bots) >= 5
    assert str(folder / "demo.db") in run.stderr
    assert ("CUTPURSE_COMPILED=1 pip install ." in run.stderr) is not is_compiled


def test_its_records_are_in_the_folder_and_hold(demo: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, _ = demo
    for name, rules in GAMES.items():
        lines = (folder / "records" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        assert len(lines) >= 3
        assert all(verify(line, rules) for line in lines)


def test_its_ratings_are_computed_again_to_the_bit(
    demo: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    folder, _ = demo
    run = typed("db", "verify", folder / "demo.db", "--json")
    assert run.returncode == 0, run.stderr
    assert {row["ladder"]: row["differences"] for row in json.loads(run.stdout)} == dict.fromkeys(sorted(GAMES), 0)
    altered = tmp_path / "altered.db"
    altered.write_bytes((folder / "demo.db").read_bytes())
    with sqlite3.connect(altered) as connection:
        connection.execute("UPDATE ratings SET mu = mu + 1e-12 WHERE rowid = 1")
    connection.close()
    run = typed("db", "verify", altered)
    assert run.returncode == 1
    assert "Traceback" not in run.stderr


def test_no_process_of_the_demo_is_left(demo: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, _ = demo
    log = (folder / "server.log").read_text(encoding="utf-8")
    (address,) = re.findall(r'"address": "(127\.0\.0\.1:\d+)"', log)
    assert dialled_in(address) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_demo_ends_with_all_its_processes_when_it_is_told_to(number: signal.Signals, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # else it hears of none where these tests run under nohup
    process = subprocess.Popen(
        [*CUTPURSE, "demo", "--folder", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    signal.signal(signal.SIGHUP, before)
    next(lines_of(process))  # the bots are about to be started
    log = folder / "server.log"
    until(lambda: log.exists() and "match started" in log.read_text(encoding="utf-8"), "a match is played")
    assert process.poll() is None
    (address,) = re.findall(r'"address": "(127\.0\.0\.1:\d+)"', log.read_text(encoding="utf-8"))
    assert len(dialled_in(address)) >= 5
    process.send_signal(number)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 130, err
    assert (out, "Traceback" in err) == ("", False)
    assert dialled_in(address) == []


# -- serve
def test_serve_says_where_bots_dial_in_and_stops_at_a_signal(tmp_path: Path) -> None:
    database = tmp_path / "league.db"
    process = subprocess.Popen(
        [*CUTPURSE, "serve", "--address", "127.0.0.1:0", "--db", str(database), "--game", "greed"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    address = next(found[1] for line in lines_of(process) if (found := re.match(r"bots dial in at (\S+);", line)))
    bots = [
        subprocess.Popen(
            [*CUTPURSE, "bot", "run", "random", "--name", f"random_{number}", "--server", address, "--matches", "1"],
            stderr=subprocess.DEVNULL,
        )
        for number in range(4)
    ]
    assert [bot.wait(timeout=240) for bot in bots] == [0, 0, 0, 0]
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM matches WHERE void_cause IS NULL").fetchone()[0] >= 1
    connection.close()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["serve", "--address", "0.0.0.0:7777"], 2, "0.0.0.0"),
        (["serve", "--address", "nonsense"], 2, "nonsense"),
        (["serve", "--address", "127.0.0.1:99999"], 2, "99999"),
        (["serve", "--game", "chess"], 2, "chess"),
        (["serve", "--drain", "-1"], 2, "--drain"),
        (["serve", "--log-level", "loud"], 2, "debug, info, warning, error"),
        (["serve", "--db", "no/such/folder/x.db"], 1, "x.db"),
        (["db", "verify", "missing.db"], 4, "missing.db"),
        (["db", "upgrade", "missing.db"], 4, "missing.db"),
        (["demo", "--matches", "0"], 2, "--matches 0"),
        (["demo", "--folder", "."], 2, "--folder ."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_told_in_one_line(words: Sequence[str], code: int, said: str, tmp_path: Path) -> None:
    run = typed(*words, folder=tmp_path)
    assert (run.returncode, run.stdout) == (code, ""), run.stderr
    (line,) = run.stderr.splitlines()
    assert said in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("setting", ["--address", "--metrics", "--web"])
def test_an_address_that_is_taken_is_told_in_one_line_before_anything_is_written(setting: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        rest = () if setting == "--address" else ("--address", "127.0.0.1:0")
        run = typed("serve", setting, address, *rest, "--db", tmp_path / "x.db")
    line = f"cutpurse: cannot listen on {address}: another program does; stop it, or choose another address\n"
    assert (run.returncode, run.stdout, run.stderr) == (1, "", line)
    assert [*tmp_path.iterdir()] == []


def test_a_file_that_is_no_database_is_told_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "notes.db"
    file.write_text("no database, just some notes\n" * 100, encoding="utf-8")
    for run in (typed("db", "verify", file), cutpurse("serve", "--address", "127.0.0.1:0", "--db", file)):
        assert run.returncode == 1, run.stderr
        (line,) = run.stderr.splitlines()
        assert "notes.db" in line


def test_the_bot_of_the_readme_plays_on_a_server(tmp_path: Path) -> None:
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n(# my_bot\.py\n.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len([line for line in source.splitlines() if line.strip()]) <= 15
    (tmp_path / "my_bot.py").write_text(source, encoding="utf-8")
    with ExitStack() as processes:

        def start(*command: str, **environment: str) -> subprocess.Popen[str]:
            process = processes.enter_context(
                subprocess.Popen(
                    command, cwd=tmp_path, env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True
                )
            )
            processes.callback(process.kill)
            return process

        server = start(*CUTPURSE, "serve", "--address", "127.0.0.1:0", "--db", "x.db")
        address = next(found[1] for line in lines_of(server) if (found := re.match(r"bots dial in at (\S+);", line)))
        bot = start(sys.executable, "my_bot.py", CUTPURSE_SERVER=address)
        for name in ("ann", "bob", "cid"):
            start(*CUTPURSE, "bot", "run", "random", "--name", name, "--tables", "2", CUTPURSE_SERVER=address)
        lines = list(islice((line for line in lines_of(bot) if ": place " in line), 3))
        told = re.compile(r"match \w+ \w+ seat [0-3]: place [1-4] of 4, score -?[\d,]+\n")
        assert [line for line in lines if not told.fullmatch(line)] == []
        assert len(lines) == 3
        bot.send_signal(signal.SIGINT)
        assert bot.wait(timeout=240) == 0  # it plays what is open to its end, and leaves
