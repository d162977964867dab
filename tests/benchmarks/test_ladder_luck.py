"""The measurement of a ladder without the luck of the cards: its luck has the mean 0, and its fit finds strengths."""

from __future__ import annotations

import math
from random import Random
from statistics import fmean

import pytest

from benchmarks.ladder import luck_adjusted
from benchmarks.ladder.luck_adjusted import (
    LinearFit,
    games_until,
    luck_of_deal,
    real_matches,
    season,
    simulated_matches,
)
from benchmarks.ladder.synthetic_bots import Nature


def test_the_luck_of_a_deal_adds_up_to_nothing_and_follows_the_cards() -> None:
    lucks = luck_of_deal((2.0, 0.0, 0.0, -2.0), 1.0)
    assert sum(lucks) == pytest.approx(0)
    assert lucks[0] > 0.3
    assert lucks[1] == lucks[2] == pytest.approx(0)


def test_the_fit_finds_planted_strengths_among_other_opponents() -> None:
    chance, truth = Random(4), [0.3, 0.1, -0.1, -0.3, 0.0]
    fit = LinearFit(5)
    for _ in range(200):
        bots = chance.sample(range(5), 3)
        points = [0.5 + truth[bot] - fmean(truth[other] for other in bots if other != bot) for bot in bots]
        fit.add(bots, points)
    assert fit.strengths() == pytest.approx(truth, abs=1e-3)


def test_points_without_luck_vary_less_in_a_season() -> None:
    found = season(*simulated_matches(Nature(bots=8, cards=0.7), "x"), [10, 30])
    assert found.adjusted_variance < found.variance
    assert len(found.estimated) == len(found.raw) == len(found.adjusted) == 2


def test_bots_of_a_game_are_ordered_by_how_often_they_answer_at_random() -> None:
    skills, matches = real_matches("greed", 5, "x")
    assert skills == sorted(skills, reverse=True)
    match = next(matches)
    assert len(match.bots) == len(match.places) == len(match.luck) == 4
    assert sum(match.luck) == pytest.approx(0)


def test_the_games_until_the_mark_lie_between_two_looks() -> None:
    assert games_until([10, 20, 30], [0.5, 0.8, 0.9]) == pytest.approx(25)
    assert games_until([10, 20], [0.9, 0.95]) == 10
    assert games_until([10, 20], [0.1, 0.2]) == math.inf


def test_the_program_prints_a_line_for_each_share(capsys: pytest.CaptureFixture[str]) -> None:
    assert luck_adjusted.main(["--bots", "6", "--games", "10", "--every", "5", "--runs", "1"]) == 0
    _, head, *lines = capsys.readouterr().out.splitlines()
    assert "without luck" in head
    assert len([line for line in lines if "%" in line]) == len(luck_adjusted.SHARES)
