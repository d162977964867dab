"""The bots of the documentation are played as they stand there."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.roots import CHECKOUT
from tests.sdk.bot_files import bot_file
from tests.typed import run


@pytest.mark.parametrize(("page", "mean_place"), [("docs/how-to/write_a_bot.md", 1.5), ("README.md", 2.5)])
def test_the_bot_of_a_page_plays(page: str, mean_place: float, tmp_path: Path) -> None:
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    source = re.findall(r"^```python\n# my_bot\.py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0]
    path = bot_file(tmp_path, source)
    shown = run("play", "greed", path, "random", "random", "random", "--matches", 40, "--seed", 7, "--json")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert json.loads(shown.stdout)["seats"][0]["mean_place"] < mean_place


def test_the_bot_that_thinks_ahead_plays_as_it_stands_there(tmp_path: Path) -> None:
    text = (CHECKOUT / "docs/how-to/search_bot.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n# thinker\.py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    path = bot_file(tmp_path, source.replace("range(10)", "range(3)"))
    shown = run("play", "greed", path, "random", "--matches", 4, "--seed", 1, "--json")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert json.loads(shown.stdout)["seats"][0]["first_places"] >= 3


def test_the_bot_of_the_tutorial_that_beats_greedy_plays_as_it_stands_there(tmp_path: Path) -> None:
    text = (CHECKOUT / "docs/tutorial/beat_greedy.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n# searcher\.py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    path = bot_file(tmp_path, source.replace("WORLDS = 8", "WORLDS = 2"))
    shown = run("play", "szmal", path, "greedy", "greedy", "greedy", "--matches", 2, "--seed", 1, "--json")
    assert (shown.exit_code, shown.stderr) == (0, "")
    told = json.loads(shown.stdout)["seats"]
    assert told[0]["mean_score"] > max(seat["mean_score"] for seat in told[1:])


def test_records_become_rows_as_it_stands_there(tmp_path: Path) -> None:
    text = (CHECKOUT / "docs/how-to/watch_and_replay.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n# rows\.py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    records, rows, out = (tmp_path / name for name in ("run.jsonl", "rows.py", "out.csv"))
    rows.write_text(source, encoding="utf-8")
    played = run("play", "szmal", "random", "random", "--matches", 2, "--record", str(records), "--out", str(out))
    assert (played.exit_code, played.stderr.count("error")) == (0, 0)
    shown = subprocess.run([sys.executable, rows, records], capture_output=True, text=True, check=True).stdout
    table = list(csv.DictReader(shown.splitlines()))
    choices = [len(json.loads(line)["choices"]) for line in records.read_text(encoding="utf-8").splitlines()]
    assert [sum(row["match"] == str(match) for row in table) for match in range(2)] == choices
    assert {row["ask"] for row in table} >= {"pick_a_card"}
    page = (CHECKOUT / "docs/how-to/play_local_matches.md").read_text(encoding="utf-8")
    (columns,) = re.findall(r"^A row of `--out` has (.*)\.$", page, re.MULTILINE)
    assert re.findall(r"`(\w+)`", columns) == out.read_text(encoding="utf-8").splitlines()[0].split(",")


def test_the_bot_with_types_is_one_that_mypy_checks_and_plays(tmp_path: Path) -> None:
    text = (CHECKOUT / "docs/how-to/write_a_bot.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n# typed_bot\.py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert source == (CHECKOUT / "tests/sdk/typed_bot.py").read_text(encoding="utf-8")  # in the folders of `make check`
    shown = run("play", "greed", bot_file(tmp_path, source), "random", "--matches", 2, "--seed", 1)
    assert (shown.exit_code, shown.stderr) == (0, "")
