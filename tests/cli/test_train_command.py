"""What `cutpurse train` refuses, in one line each. No torch is needed for that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.cli.commands import train as command
from cutpurse.learn.rewards import REWARDS
from tests.typed import run


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("whist --out net", 2, "no game is called 'whist'; there are: "),
        ("greed --out net --seats 9", 2, "Greed is for 2 to 5 players, not 9"),
        ("greed --out net --minutes 0", 2, "--minutes is 0; it must be more than 0"),
        ("greed --out net --minutes nan", 2, "--minutes is nan; it must be more than 0"),
        ("greed --out net --lead -1", 2, "--lead is -1; it must be 0 or more"),
        ("greed --out net --entropy nan", 2, "--entropy is nan; it must be 0 or more"),
        ("greed --out net --set colour=red", 2, "no setting is called 'colour'; there are: "),
        ("greed --out net --set rounds", 2, "--set rounds: a setting is given as NAME=VALUE"),
        ("greed --out net --reward fame", 2, "no reward is called 'fame'; there are: first, place, first+place, score"),
        ("greed --out net --teacher nobody", 2, "no bot is called 'nobody'; there are: "),
        ("greed --out net --teacher none.py", 4, "no bot file none.py: it does not exist"),
        ("greed --out net --others random,nobody", 2, "no bot is called 'nobody'; there are: "),
        ("greed --out net --start none.npz", 4, "there is no net none.npz"),
        ("greed --out net --start FILE", 2, "FILE is no net, or is damaged ("),
        ("greed --out FILE", 2, "--out is FILE, which is a file; give a folder"),
    ],
)
def test_each_mistake_is_a_line_and_nothing_is_written(
    given: str,
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").touch()
    done = run("train", *given.split())
    (line,) = done.stderr.splitlines()
    assert (done.exit_code, line[: len(said) + 10]) == (code, f"cutpurse: {said}")
    assert (done.stdout, list(tmp_path.iterdir())) == ("", [tmp_path / "FILE"])


@pytest.mark.parametrize("package", ["torch", "numpy"])
def test_without_its_packages_it_says_what_to_install(package: str, tmp_path: Path) -> None:
    source = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from cutpurse.cli.main import main\n"
        f"sys.argv = ['cutpurse', 'train', 'greed', '--out', {str(tmp_path / 'net')!r}]\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"cutpurse: {package} is not installed; in a checkout of Cutpurse, this does it: pip install '.[train]'\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_the_first_help_names_it() -> None:
    assert "train " in run("--help").stdout


def test_every_reward_can_be_chosen() -> None:
    assert set(command.REWARDS) == set(REWARDS)
