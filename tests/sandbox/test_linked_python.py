"""Environments made by an interpreter that was called through links of elsewhere, as uv lays them into ~/.local/bin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.server.runners.port import ProgramSpec
from tests.sandbox.trying import runner_or_skip

ASKED = "from cutpurse.server.runners.runtimes import python_runtime; print(*python_runtime(), sep='\\n')"


def made_through(program: Path, folder: Path) -> Path:
    """The environment that this interpreter makes."""
    subprocess.run([program, "-m", "venv", "--without-pip", folder], check=True, timeout=240)
    return folder


def runtimes_of(environment: Path) -> tuple[Path, ...]:
    """What a server would show that runs there."""
    told = subprocess.run(
        [environment / "bin" / "python", "-c", ASKED],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    return tuple(map(Path, told.stdout.split()))


@pytest.mark.parametrize("way", ["a program", "a program in a linked folder", "relative"])
def test_a_bot_runs_in_an_environment_whose_interpreter_is_found_by_links(way: str, tmp_path: Path) -> None:
    runner = runner_or_skip("bubblewrap")
    real = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]  # which venv itself asks
    target = real
    if way == "a program in a linked folder":
        (tmp_path / "newest").symlink_to(real.parent.parent)
        target = tmp_path / "newest" / "bin" / real.name
    elif way == "relative":
        (tmp_path / "real").symlink_to(real)
        target = Path("../real")
    link = tmp_path / "programs" / real.name
    link.parent.mkdir()
    link.symlink_to(target)
    environment = made_through(link, tmp_path / "environment")
    runtimes = runtimes_of(environment)
    (folder := tmp_path / "bot").mkdir()
    command = ("python", "-c", "import sys; print(sys.prefix)")
    talk = tmp_path / "talk"
    ended = runner.start(ProgramSpec(name="bot", folder=folder, command=command, talk=talk, runtimes=runtimes)).wait(
        240
    )
    assert ended is not None
    assert (ended.cause, ended.code) == ("exited", 0), talk.read_text()
    assert talk.read_text().strip() == str(environment)


def test_no_link_is_shown_where_the_folders_hold_all(tmp_path: Path) -> None:
    environment = made_through(Path(sys._base_executable).resolve(), tmp_path)  # type: ignore[attr-defined]
    assert all(runtime.is_dir() and not runtime.is_symlink() for runtime in runtimes_of(environment))
