"""The page on the first bot: its bots are played as they stand there, and its commands are tried."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.roots import CHECKOUT
from tests.sdk.test_command_line import run

TEXT = (CHECKOUT / "docs" / "tutorial" / "first_bot.md").read_text(encoding="utf-8")
BOTS = re.findall(r"^```python\n# my_bot\.py[^\n]*\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^\$ cutpurse (.*)$", TEXT, re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where both bots lie, as somebody would have them who reads the page."""
    (tmp_path / "my_bot.py").write_text(BOTS[1], encoding="utf-8")
    (tmp_path / "other.py").write_text(BOTS[1].replace(">= 3", ">= 4"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("which", "least", "most"), [(0, 1.7, 2.4), (1, 1.0, 1.5)])
def test_the_bots_do_as_the_page_says(which: int, least: float, most: float, tmp_path: Path) -> None:
    path = tmp_path / "my_bot.py"
    path.write_text(BOTS[which], encoding="utf-8")
    shown = run("play", "greed", path, "random", "random", "random", "--matches", 60, "--seed", 1, "--json")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert least <= json.loads(shown.stdout)["seats"][0]["mean_place"] <= most


def test_the_second_wins_eight_in_ten(folder: Path) -> None:
    shown = run("play", "greed", "my_bot.py", "random", "random", "random", "--matches", 100, "--seed", 1, "--json")
    assert json.loads(shown.stdout)["seats"][0]["first_places"] > 75


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.startswith(("play", "rules", "match replay"))])
def test_what_can_be_typed_without_a_server_works(command: str, folder: Path) -> None:
    if "--human" in command:
        pytest.skip("a person plays")
    if "replay" in command:
        run("play", "greed", "my_bot.py", "random", "random", "random", "--record", "games.jsonl")
    shown = run(*shlex.split(command))
    assert shown.exit_code == 0, shown.stderr
