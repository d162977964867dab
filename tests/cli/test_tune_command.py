"""What `cutpurse tune` prints, and what it refuses, in one line each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.lab.test_tuning import PLANTED
from tests.typed import run


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("planted.py").write_text(PLANTED)
    Path("text.py").write_text("a poem, and no bot\n")
    Path("shy.py").write_text(PLANTED.replace("3 * abs", "1 / (nerve - 1) * abs"))


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("whist planted.py --param nerve=0..1", 2, "no game is called 'whist'; there are: "),
        ("greed planted.py", 2, "name a parameter of the bot with --param, as NAME=1..8, "),
        ("greed planted.py --param depth=1..8", 2, "bot planted.py has no parameter 'depth'; it has: nerve, colour"),
        ("greed planted.py --param nerve=1..0", 2, "--param 'nerve=1..0': the range is empty, since 0 is not more "),
        ("greed planted.py --param nerve=0..1 --against nobody", 2, "no bot is called 'nobody'; there are: "),
        ("greed planted.py --param nerve=0..1 --budget 9", 2, "a budget of 9 boards is too small: the first "),
        ("greed planted.py --param nerve=0..1 --budget soon", 2, "--budget 'soon': give a time such as 90s, "),
        ("greed planted.py --param nerve=0..1 --budget 0m", 2, "--budget '0m': give a time such as 90s, "),
        ("greed planted.py --param nerve=0..1 --seats 9", 2, "Greed is for 2 to 5 players, not 9"),
        ("greed planted.py --param nerve=0..1 --jobs 0", 2, "0 jobs"),
        ("greed planted.py --param nerve=0..1 --plot p.png", 2, "--plot p.png: name a file that ends with .svg"),
        ("greed none.py --param nerve=0..1", 4, "no bot file none.py: it does not exist"),
        ("greed text.py --param nerve=0..1", 3, "bot text.py does not import: FOLDER/text.py:1: SyntaxError"),
        ("greed text.txt --param nerve=0..1", 2, "no bot is called 'text.txt'; there are: "),
        ("greed exec:./bot --param nerve=0..1", 3, "bot exec:./bot"),
    ],
)
def test_each_mistake_is_a_line(given: str, code: int, said: str) -> None:
    done = run("tune", *given.split())
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"cutpurse: {said.replace('FOLDER', str(Path.cwd()))}")
    assert (done.exit_code, done.stdout) == (code, "")


def test_a_missing_optuna_is_a_line_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    done = run("tune", "greed", "planted.py", "--param", "nerve=0..1")
    assert done.exit_code == 2
    assert "optuna is not installed; " in done.stderr
    assert "[tune]'" in done.stderr


def test_the_document_names_what_does_nothing_and_failures_end_with_3() -> None:
    params = ["--param", "nerve=0.0..1.0", "--param", "colour=a|b"]
    done = run("tune", "greed", "shy.py", *params, *["--seats", "2", "--budget", "110", "--plot", "p.svg", "--json"])
    document = json.loads(done.stdout)
    assert document["idle"] == ["colour"]
    assert (document["start"], done.exit_code) == ({"nerve": 0.9, "colour": "red"}, 3)
    assert document["failures"]
    assert all("ZeroDivisionError" in failure for failure in document["failures"])
    assert done.stderr.splitlines()[-1].startswith("with nerve=1.0, colour=")
    assert document["best"]["nerve"] != 1.0
    assert {candidate["boards"] for candidate in document["candidates"]} >= {8}
    assert Path("p.svg").read_text().startswith("<svg ")


@pytest.mark.full
def test_one_that_was_killed_goes_on_to_what_an_uninterrupted_one_prints() -> None:
    params = ["--param", "nerve=0.0..1.0", "--seats", "2", "--budget", "80"]
    words = ["tune", "greed", "planted.py", *params]
    journal, nothing = Path("planted.tuning"), threading.Event()
    with subprocess.Popen([sys.executable, "-m", "cutpurse.cli", *words], start_new_session=True) as child:
        while child.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < 9):
            nothing.wait(0.005)
        os.killpg(child.pid, signal.SIGKILL)
    resumed = run(*words, "--jobs", "2")
    whole = run(*words, "--journal", "other")
    assert resumed.exit_code == 0
    assert resumed.stdout == whole.stdout
    assert "against nerve=0.9: " in resumed.stdout
