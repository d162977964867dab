"""The simulation of the luck-adjusted interval: it has the interval of `compare`, and its rates are those planted."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from benchmarks import luck_interval
from benchmarks.luck_interval import Laws, gain_looked_for, intervals, simulate
from cutpurse.experiments.adjusted_gain import AdjustedGain


def test_the_limits_are_those_of_the_comparison() -> None:
    differences = np.random.default_rng(2).normal(0.1, 0.4, size=(1, 60))
    low, high = intervals(differences)
    for boards in (2, 20, 60):
        found = reduce(AdjustedGain.after, differences[0, :boards].tolist(), AdjustedGain())
        assert (low[0, boards - 2], high[0, boards - 2]) == pytest.approx(found.interval)


def test_few_honest_runs_alarm_and_a_large_gain_is_always_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(luck_interval, "LAST_LOOK", 600)
    law = np.random.default_rng(3).normal(0.3, 0.4, size=500)
    figures = simulate(law, 0.2, 0.0, 200)
    assert figures.false_alarms < 0.1
    assert (figures.misses, figures.boards < 150) == (0, True)
    assert simulate(law, 0.0, 0.0, 100).misses > 0.9


def test_the_gain_looked_for_follows_the_spread_of_all_boards() -> None:
    raw = np.array([-0.5, 0.5])
    assert gain_looked_for(raw, 0.0) == pytest.approx(0.05)
    assert gain_looked_for(raw, 0.75) == pytest.approx(0.025)
    assert gain_looked_for(raw, 0.999) == 0.01


def test_the_program_prints_a_line_for_each_part_of_alike_boards(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    laws = Laws(np.array([-0.5, 0.0, 0.5]), np.array([-0.2, 0.0, 0.2]))
    monkeypatch.setattr(luck_interval, "boards_of", lambda *asked: laws)
    monkeypatch.setattr(luck_interval, "LAST_LOOK", 100)
    assert luck_interval.main(["--games", "greed", "--runs", "2"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3 + len(luck_interval.ALIKE)


def test_boards_are_played_with_and_without_luck() -> None:
    laws = luck_interval.boards_of("greed", 1)
    assert laws.raw.shape == laws.adjusted.shape == (1,)
    assert laws.adjusted[0] != 0


@pytest.mark.parametrize(
    ("words", "said"), [(["--games", "whist"], "unknown game 'whist'"), (["--boards", "1"], "at least 2 boards")]
)
def test_what_cannot_be_simulated_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        luck_interval.main(words)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
