"""Circles of bots, and the rankings that circles don't break."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import combinations
from types import ModuleType

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binomtest

from cutpurse.leaderboard.statistics.circles import Encounter, edges_of, sure_circles
from cutpurse.leaderboard.statistics.circular_rankings import all_met, alpha_rank, nash_average, share_matrix

ROCK = [[0.5, 0.75, 0.25], [0.25, 0.5, 0.75], [0.75, 0.25, 0.5]]  # each beats the next one
LINE = [[0.5, 0.75, 0.75], [0.25, 0.5, 0.75], [0.25, 0.25, 0.5]]


def played(matches: int, shares: Sequence[Sequence[float]] = ROCK) -> list[Encounter]:
    """Return results in which each share is what it is."""
    pairs = combinations(range(len(shares)), 2)
    return [Encounter(a, b, matches, round(matches * shares[a][b]), 0) for a, b in pairs]


def copies(bots: Sequence[int]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the shares of these bots of ROCK, some of them more than once."""
    return np.array(ROCK)[np.ix_(bots, bots)]


def test_three_that_beat_each_other_in_turn_are_a_circle() -> None:
    (circle,) = sure_circles(edges_of(played(100)))
    assert circle.bots == (0, 1, 2)
    assert [(edge.bot, edge.other, edge.share, edge.matches) for edge in circle.edges] == [
        (0, 1, 0.75, 100),
        (1, 2, 0.75, 100),
        (2, 0, 0.75, 100),
    ]
    assert 0.5 < circle.strength < 0.75


def test_a_line_and_few_matches_have_no_circle() -> None:
    edges = edges_of(played(100, LINE))
    assert [edge.is_sure for edge in edges] == [True] * 3
    assert sure_circles(edges) == []
    edges = edges_of(played(8))
    assert [edge.share for edge in edges] == [0.75] * 3
    assert sure_circles(edges) == []
    assert edges_of([]) == []
    assert edges_of([Encounter(0, 1, 0, 0, 0)]) == []


def test_one_pair_that_is_not_sure_breaks_the_circle() -> None:
    edges = edges_of([*played(100)[:2], Encounter(1, 2, 100, 52, 0)])
    assert [edge.is_sure for edge in edges] == [True, True, False]
    assert sure_circles(edges) == []


def test_the_circle_with_the_surest_weakest_pair_comes_first() -> None:
    weak = [Encounter(3 + its.bot, 3 + its.other, 90, its.ahead * 9 // 10, 0) for its in played(100)]
    strong = [Encounter(0, 1, 100, 70, 0), Encounter(1, 2, 100, 95, 0), Encounter(0, 2, 100, 5, 0)]
    bots = [circle.bots for circle in sure_circles(edges_of([*strong, *weak]))]
    assert bots == [(3, 4, 5), (0, 1, 2)]


def test_the_interval_is_wilsons_corrected_for_the_number_of_pairs() -> None:
    for pairs in (1, 3, 45):
        (edge, *_) = edges_of([Encounter(0, 1, 40, 26, 0)] * pairs)
        expected = binomtest(26, 40).proportion_ci(1 - 0.05 / pairs, method="wilson")
        assert (edge.low, edge.high) == pytest.approx((expected.low, expected.high))


def test_shared_places_count_half_each_way() -> None:
    (edge,) = edges_of([Encounter(0, 1, 10, 2, 4)])
    assert (edge.bot, edge.other, edge.share) == (1, 0, 0.6)


def test_equal_bots_have_a_sure_pair_in_few_leagues() -> None:
    """Sixteen equal bots, 120 pairs: the 95 % hold for all pairs of a league at once."""
    random = np.random.default_rng(7)
    leagues = 400
    wrong = 0
    for _ in range(leagues):
        ahead = random.binomial(60, 0.5, 120)
        pairs = combinations(range(16), 2)
        met = [Encounter(a, b, 60, int(count), 0) for (a, b), count in zip(pairs, ahead, strict=True)]
        wrong += any(edge.is_sure for edge in edges_of(met))
    assert 0 < wrong <= 0.05 * leagues + 2 * (0.05 * 0.95 * leagues) ** 0.5


def test_rock_paper_scissors_is_uniform_and_a_line_has_one_best_bot() -> None:
    assert nash_average(np.array(ROCK)) == pytest.approx([1 / 3] * 3)
    assert alpha_rank(np.array(ROCK)) == pytest.approx([1 / 3] * 3)
    assert nash_average(np.array(LINE)) == pytest.approx([1, 0, 0])
    assert alpha_rank(np.array(LINE)) == pytest.approx([1, 0, 0])


def test_a_copy_of_a_bot_changes_nothing_for_the_others() -> None:
    weights = nash_average(copies([0, 1, 2, 2]))
    assert weights == pytest.approx([1 / 3, 1 / 3, 1 / 6, 1 / 6], abs=1e-5)
    assert nash_average(copies([0, 0, 0])) == pytest.approx([1 / 3] * 3)


def test_a_bot_that_the_mixture_beats_has_no_weight() -> None:
    """The example of OpenSpiel's own test, in which the last bot beats all others, and one outside a circle."""
    lead = np.array([[0, 234, 34, -270], [-234, 0, -38, -464], [-34, 38, 0, -270], [270, 464, 270, 0]]) / 1000
    assert nash_average(lead + 0.5) == pytest.approx([0, 0, 0, 1])
    shares = np.array([[*row, 0.55] for row in ROCK] + [[0.45, 0.45, 0.45, 0.5]])
    weights = nash_average(shares)
    assert weights == pytest.approx([1 / 3] * 3 + [0])
    assert shares @ weights == pytest.approx([0.5, 0.5, 0.5, 0.45])


def test_no_bot_is_ahead_of_the_mixture_and_no_other_such_mixture_is_more_even() -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        noise = np.round(random.random((8, 8)) * 4) / 4  # with equal shares, which leave a choice of mixtures
        shares = 0.5 + (noise - noise.T) / 2
        weights = nash_average(shares)
        assert weights.sum() == pytest.approx(1)
        assert (shares @ weights).max() <= 0.5 + 1e-9
        gain = np.where(weights > 0, -np.log(np.maximum(weights, 1e-12)), 100)  # of evenness, towards each bot
        best = linprog(-gain, A_ub=shares - 0.5, b_ub=np.zeros(8), A_eq=np.ones((1, 8)), b_eq=[1.0]).x
        assert gain @ (best - weights) < 1e-4


@pytest.mark.filterwarnings("ignore:overflow")
def test_alpha_rank_is_that_of_open_spiel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its module loads one that draws with matplotlib and networkx, which nothing here needs."""
    pytest.importorskip("pyspiel")
    drawing = "open_spiel.python.egt.alpharank_visualizer"
    monkeypatch.setitem(sys.modules, drawing, ModuleType(drawing))
    from open_spiel.python.egt import alpharank

    random = np.random.default_rng(1)
    for bots in (2, 3, 5, 16):
        for width in (1.0, 0.05):
            noise = random.random((bots, bots))
            shares = 0.5 + width * (noise - noise.T) / 2
            assert alpha_rank(shares) == pytest.approx(alpharank.compute([shares])[2], abs=1e-9)


def test_who_did_not_meet_all_above_is_left_out() -> None:
    met = [Encounter(0, 1, 5, 5, 0), Encounter(0, 3, 5, 5, 0), Encounter(3, 1, 2, 0, 1), Encounter(2, 1, 5, 5, 0)]
    bots = all_met(4, met)
    assert bots == [0, 1, 3]
    assert share_matrix(bots, met) == pytest.approx(
        np.array([[0.5, 6 / 7, 6 / 7], [1 / 7, 0.5, 5 / 8], [1 / 7, 3 / 8, 0.5]])
    )
    assert alpha_rank(share_matrix([0], [])) == pytest.approx([1])
    assert nash_average(share_matrix([0], [])) == pytest.approx([1])
