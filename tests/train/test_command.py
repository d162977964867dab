"""What `cutpurse-train` refuses, in one line each. No torch is needed for that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.learn.rewards import REWARDS
from cutpurse.train import command
from cutpurse.train.command import main


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("--out net", 2, "the following arguments are required: --game; `cutpurse-train --help` lists the options"),
        ("--game greed", 2, "the following arguments are required: --out; `cutpurse-train --help` lists the options"),
        (
            "--game greed --out net --fast",
            2,
            "unrecognized arguments: --fast; `cutpurse-train --help` lists the options",
        ),
        ("--game whist --out net", 2, "no game is called 'whist'; there are: "),
        ("--game greed --out net --seats 9", 2, "Greed is for 2 to 5 players, not 9"),
        ("--game greed --out net --seats two", 2, "argument --seats: invalid int value: 'two'; "),
        ("--game greed --out net --seed -1", 2, "--seed is -1; the minimum is 0"),
        ("--game greed --out net --minutes 0", 2, "--minutes is 0; it must be more than 0"),
        ("--game greed --out net --minutes nan", 2, "--minutes is nan; it must be more than 0"),
        ("--game greed --out net --minutes soon", 2, "argument --minutes: invalid float value: 'soon'; "),
        ("--game greed --out net --rounds 0", 2, "--rounds is 0; the minimum is 1"),
        ("--game greed --out net --round-decisions 0", 2, "--round-decisions is 0; the minimum is 1"),
        ("--game greed --out net --watch-rounds 0", 2, "--watch-rounds is 0; the minimum is 1"),
        ("--game greed --out net --lead -1", 2, "--lead is -1; it must be 0 or more"),
        ("--game greed --out net --entropy nan", 2, "--entropy is nan; it must be 0 or more"),
        ("--game greed --out net --set colour=red", 2, "no setting is called 'colour'; there are: "),
        ("--game greed --out net --set rounds", 2, "--set rounds: a setting is given as NAME=VALUE"),
        ("--game greed --out net --reward fame", 2, "argument --reward: invalid choice: 'fame' (choose from "),
        ("--game greed --out net --teacher nobody", 2, "no bot is called 'nobody'; there are: "),
        ("--game greed --out net --teacher none.py", 4, "no bot file none.py: it does not exist"),
        ("--game greed --out net --others random nobody", 2, "no bot is called 'nobody'; there are: "),
        ("--game greed --out net --start none.npz", 4, "there is no net none.npz"),
        ("--game greed --out net --start FILE", 2, "FILE is no net, or is damaged ("),
        ("--game greed --out FILE", 2, "--out is FILE, which is a file; give a folder"),
    ],
)
def test_each_mistake_is_a_line_and_nothing_is_written(
    given: str,
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").touch()
    assert main(given.split()) == code
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert line.startswith(f"cutpurse-train: {said}")
    assert (captured.out, list(tmp_path.iterdir())) == ("", [tmp_path / "FILE"])


@pytest.mark.parametrize("package", ["torch", "numpy"])
def test_without_its_packages_it_says_what_to_install(package: str, tmp_path: Path) -> None:
    source = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from cutpurse.train.command import main\n"
        f"sys.exit(main(['--game', 'greed', '--out', {str(tmp_path / 'net')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (f"cutpurse-train: {package} is not installed; this does it: pip install 'cutpurse[train]'\n")
    assert list(tmp_path.iterdir()) == []


def test_the_help_names_every_option_with_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    numbers = ("0", "8192", "6", "3", "0.002")
    for default in (*numbers, "the game's own", "30, or no limit with --rounds", "greedy", "first"):
        assert f"[default: {default}]" in text


def test_every_reward_can_be_chosen() -> None:
    assert set(command.REWARDS) == set(REWARDS)
