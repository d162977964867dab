"""The kill loops share out their kills over leagues, sum what they have counted, and go on where they were ended."""

import json
from pathlib import Path

import pytest

from tests.kill_loops import (
    IN_SOAK,
    IN_TESTS,
    LOOPS,
    SHARES,
    KillLoop,
    OutcomeFile,
    format_outcomes,
    format_sums,
    kills_of,
    leagues_of,
    part_of,
)
from tests.roots import CHECKOUT


@pytest.mark.parametrize("total", [IN_TESTS, IN_SOAK, 5, 61, 333])
def test_the_loops_have_all_kills_together(total: int) -> None:
    assert sum(kills_of(part, total) for part in SHARES) == total


def test_each_loop_kills_in_the_tests_and_more_often_in_a_soak() -> None:
    assert [kills_of(part, IN_TESTS) for part in SHARES] == [18, 12, 18, 6, 6]
    assert [kills_of(part, IN_SOAK) for part in SHARES] == [600, 400, 600, 200, 200]


def test_each_loop_is_a_test() -> None:
    assert list(LOOPS) == list(SHARES)
    for test in LOOPS.values():
        file, _, name = test.partition("::")
        assert f"def {name}(" in (CHECKOUT / "tests" / file).read_text(encoding="utf-8")


def test_a_league_has_a_few_kills_and_moments_of_its_own() -> None:
    assert {part: leagues_of(part, IN_TESTS) for part in SHARES} == {
        "writer": [18],
        "database": [12],
        "arena": [18],
        "place": [6],
        "worker": [6],
    }
    assert leagues_of("writer", 170) == [25, 25, 1]
    moments = {
        KillLoop(part, league, seed=seed).rng.random() for part in SHARES for league in (0, 1) for seed in (3, 4)
    }
    assert len(moments) == 20


def test_a_test_is_the_loop_of_its_part() -> None:
    assert [part_of(f"tests/{LOOPS[part]}[0]") for part in SHARES] == list(SHARES)


def test_sums_name_each_victim_and_what_else_was_counted() -> None:
    first, second = KillLoop("writer"), KillLoop("database")
    first.killed("writer")
    first.killed("writer")
    first.count(acknowledged_results=1_200)
    second.killed("database")
    second.count(acknowledged_results=34)
    told = "killed: 3 (writer 2, database 1); acknowledged results: 1,234"
    assert format_sums([first.counts, second.counts]) == told
    assert format_sums([]) == ""


LOOP = """
import pytest

@pytest.mark.parametrize("kill_loop", {loops}, ids=range(2), indirect=True)
def test_loop(kill_loop):
    kill_loop.killed("writer")
    assert kill_loop.league != {broken}
"""
CONFTEST = """
import pytest
from tests.kill_loops import KillLoop

@pytest.fixture
def kill_loop(request):
    return request.param
"""


def test_outcomes_are_written_by_league_and_what_has_passed_is_not_played_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\naddopts = -p no:cacheprovider\nasyncio_default_fixture_loop_scope = function\n"
    )

    def run(seed: int, broken: int) -> OutcomeFile:
        """Play two leagues, and one of them fails."""
        loops = [("writer", league, 1, seed) for league in range(2)]
        source = LOOP.format(loops=f"[KillLoop(*loop) for loop in {loops}]", broken=broken)
        file = tmp_path / f"test_{seed}_{broken % 9}.py"
        file.write_text(source.replace("import pytest", "import pytest\nfrom tests.kill_loops import KillLoop"))
        plugin = OutcomeFile(tmp_path / "outcomes.jsonl", seed)
        pytest.main(["-q", "--rootdir", str(tmp_path), "-c", str(tmp_path / "pytest.ini"), str(file)], plugins=[plugin])
        return plugin

    run(1, broken=1)
    run(1, broken=-1)
    last = run(2, broken=-1)
    lines = [json.loads(line) for line in last.file.read_text().splitlines()]
    assert [(line["seed"], line["league"], line["outcome"]) for line in lines] == [
        *((1, 0, "passed"), (1, 1, "failed"), (1, 1, "passed")),
        *((2, 0, "passed"), (2, 1, "passed")),
    ]
    assert all(line["counts"] == {"kills of writer": 1} for line in lines)
    assert "writer league 0: 1 kills, passed, 0 s; left: 1 kills, 0 min" in capsys.readouterr().out
    first, second = format_outcomes(last.outcomes).splitlines()
    assert first == "writer: 4 kills in 4 leagues passed, 0.0 s a kill; killed: 4 (writer 4)"
    assert second.startswith("failed: writer league 1 of seed 1, at 20")
