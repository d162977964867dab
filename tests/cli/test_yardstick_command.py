"""What `cutpurse yardstick` prints, and what it refuses, in one line each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.typed import run


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.py").write_text("a poem, and no bot\n")
    Path("deaf.py").write_text("class Bot:\n    def choose(self, view, decision):\n        return view.hearing\n")
    Path("poem").write_text("roses are red\n")
    Path("none.npz").write_text("no net\n")


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("nobody", 2, "no bot is called 'nobody'; there are: "),
        ("none.py", 4, "no bot file none.py: it does not exist"),
        ("text.py", 3, "bot text.py does not import: "),
        ("other.npz", 4, "there is no net other.npz"),
        ("none.npz", 3, "none.npz is no net, or is damaged"),
        ("greedy --of hearth-0", 2, "there is no set 'hearth-0' in this installation; it has: hearth-1. "),
        ("greedy --games whist", 2, "hearth-1 has no game 'whist'; it has: greed, szmal, stolen_treasure, "),
        ("greedy --budget soon", 2, "--budget 'soon': give a time such as 90s, 30m or 2h"),
        ("greedy --jobs 0", 2, "0 jobs cannot be had; 1 to 256 can"),
        ("greedy --games szmal/2 --journal poem", 2, "poem, line 1: no journal of a yardstick: "),
        ("deaf.py --games szmal/2", 3, "deaf.py cannot play Szmal with 2 seats, so it has no score: "),
        ("verify none", 4, "the journal none cannot be opened: "),
        ("verify poem", 1, "poem"),
        ("verify poem --sample -1", 2, "--sample -1: a sample has 1 board or more; 0 means all"),
    ],
)
def test_each_mistake_is_a_line(given: str, code: int, said: str) -> None:
    done = run("yardstick", *given.split())
    (line,) = done.stderr.splitlines()
    assert line.partition(": ")[2].startswith(said)
    assert (done.exit_code, done.stdout) == (code, "")


def test_a_measurement_is_a_table_a_line_and_a_digest_and_is_verified() -> None:
    done = run("yardstick", "greedy", "--games", "szmal/2", "--journal", "greedy.yardstick")
    assert done.exit_code == 0
    head, row, empty, text, digest = done.stdout.splitlines()
    assert head.split() == ["game", "score", "95", "%", "interval"]
    assert row.startswith("Szmal")
    assert empty == ""
    assert text.startswith("greedy on hearth-1 (Cutpurse 0.3.0, ")
    verified = run("yardstick", "verify", "greedy.yardstick", "--sample", "3")
    assert verified.exit_code == 0
    assert verified.stdout.splitlines()[0] == text
    assert verified.stdout.splitlines()[1].startswith("3 of ")
    document = json.loads(run("yardstick", "verify", "greedy.yardstick", "--sample", "2", "--json").stdout)
    assert digest == f"digest {document['digest']}"
    assert (document["text"], len(document["verified"]), document["score"]) == (text, 2, None)


def test_an_agent_that_loses_decisions_ends_with_3_and_its_first_failure() -> None:
    Path("careless.py").write_text(
        "class Bot:\n    def choose(self, view, decision):\n"
        "        return 99 if decision.number == 3 else decision.options[-1]\n"
    )
    done = run("yardstick", "careless.py", "--games", "szmal/2", "--json")
    document = json.loads(done.stdout)
    assert (document["faults"], done.exit_code) == (document["boards"], 3)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"careless.py lost {document['faults']} decisions: bot careless.py answered illegally")


def test_the_command_measure_may_be_named_and_its_options_may_come_first() -> None:
    options = ["--games", "szmal/2"]
    lines = {run("yardstick", *words).stdout for words in (["random", *options], [*options, "random"])}
    assert lines == {run("yardstick", "measure", "random", *options).stdout}
