"""The table of rungs: who is counted as better, and how shared first places count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.rungs import GAMES, HOLDS_ABOVE, Rung, count_ends, main, split_first_places
from cutpurse.sdk.local import LocalMatch


def a_match(*places: int) -> LocalMatch:
    return LocalMatch(0, places, (0,) * len(places), ("normal",) * len(places), tuple(range(len(places))), 10)


def test_a_shared_first_place_is_a_part_of_one() -> None:
    assert split_first_places([a_match(1, 2, 3, 4), a_match(1, 1, 3, 4), a_match(2, 1, 3, 4)]) == 1.5


def test_a_rung_holds_only_above_the_whole_interval() -> None:
    rung = Rung("greed", "greedy", "random", 1_000, 0.38, HOLDS_ABOVE + 0.001, 0.41, 0)
    assert rung.holds
    assert not Rung("greed", "greedy", "random", 1_000, 0.38, HOLDS_ABOVE, 0.41, 0).holds


def test_greedy_is_a_rung_above_random(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--rungs", "random,greedy", "--games", "greed", "--matches", "120", "--json"]) == 0
    (rung,) = json.loads(capsys.readouterr().out)["rungs"]
    assert rung["holds"]
    assert rung["low"] < rung["first_places"] < rung["high"]
    assert rung["faults"] == 0


def test_equal_bots_are_no_rungs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--rungs", "random,random", "--games", "bag_o_loot-advanced", "--matches", "40"]) == 0
    assert "does not hold" in capsys.readouterr().out


def test_rounds_that_end_by_stalemate_are_counted_and_greedy_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert count_ends("bag_o_loot", 1, "first_option") == (4, 0), "it lays down what it can"
    assert main(["--ends", "--games", "bag_o_loot", "--matches", "1"]) == 0
    assert "bag_o_loot                 4       0          0.0%" in capsys.readouterr().out


def test_rounds_of_bots_that_only_wait_end_by_stalemate_or_by_the_limit(tmp_path: Path) -> None:
    waits = tmp_path / "waits.py"
    waits.write_text(
        "class Bot:\n    def choose(self, view, decision):\n        return decision.safe\n", encoding="utf-8"
    )
    assert count_ends("bag_o_loot", 1, str(waits)) == (4, 4)
    assert count_ends("stolen_treasure", 1, str(waits)) == (1, 1)


def test_a_run_that_was_stopped_goes_on_with_what_its_file_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--rungs", "random,greedy", "--games", "greed", "--json"]
    assert main([*words, "--matches", "120"]) == 0
    straight = json.loads(capsys.readouterr().out)["rungs"]
    file = tmp_path / "rungs.jsonl"
    words += ["--into", str(file)]
    assert main([*words, "--matches", "40"]) == 0
    first = file.read_text(encoding="utf-8")
    assert main([*words, "--matches", "120"]) == 0
    capsys.readouterr()
    assert file.read_text(encoding="utf-8").startswith(first)
    assert [json.loads(line)["matches"] for line in file.read_text(encoding="utf-8").splitlines()] == [40, 40, 40]
    monkeypatch.delattr("benchmarks.rungs.play")  # nothing is left to play
    assert main([*words, "--matches", "120"]) == 0
    assert json.loads(capsys.readouterr().out)["rungs"] == straight
    monkeypatch.setenv("CUTPURSE_PLAYOUTS", "7")  # another rung
    with pytest.raises(NameError):
        main([*words, "--matches", "40"])


@pytest.mark.parametrize("text", ["no JSON", "[]", "{}", '{"game": "greed"}'])
def test_a_file_of_something_else_is_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text(f"{text}\n", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["--rungs", "random,greedy", "--games", "greed", "--matches", "1", "--into", str(file)])
    assert ended.value.code == 2
    assert f"{file}, line 1, is no part of a rung: give another file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--games", "chess"], "unknown game 'chess'"),
        (["--rungs", "random"], "at least two rungs"),
        (["--matches", "0"], "0 matches cannot be played"),
        (["--rungs", "random,nobody", "--games", "greed"], "nobody"),
    ],
)
def test_what_cannot_be_measured_is_a_line(words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert line in capsys.readouterr().err
    assert len(GAMES) == 6
