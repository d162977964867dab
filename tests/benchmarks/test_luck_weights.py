"""The fit of the value functions' weights: it finds what was planted, and prints the lines of the module."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import luck_weights
from cutpurse.lab.position_weights import WEIGHTS


def test_planted_weights_are_found_and_what_has_no_luck_gets_none() -> None:
    chance = np.random.default_rng(1)
    luck = chance.normal(size=(4_000, 3)) * [1.0, 0.1, 0.0]
    points = luck @ [0.5, -2.0, 7.0] + chance.normal(size=4_000) * 0.05
    assert luck_weights.fit(luck, points) == pytest.approx([0.5, -2.0, 0.0], abs=0.05)


def test_the_program_prints_the_lines_of_the_module(capsys: pytest.CaptureFixture[str]) -> None:
    assert luck_weights.main(["--matches", "2", "--games", "greed"]) == 0
    _, head, *lines, end = capsys.readouterr().out.splitlines()
    assert (head, end) == ('    "greed": (', "    ),")
    assert [line.split('"')[1] for line in lines] == [name for name, _, _ in WEIGHTS["greed"]]


@pytest.mark.parametrize(
    ("words", "said"), [(["--games", "whist"], "unknown game 'whist'"), (["--matches", "1"], "at least 2 matches")]
)
def test_what_cannot_be_fitted_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        luck_weights.main(words)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
