"""Estimates from all results at once: what they find where it can be computed otherwise, and what they promise."""

import math
from collections import Counter
from collections.abc import Sequence
from random import Random
from statistics import NormalDist, fmean

import numpy as np
import pytest

from cutpurse.leaderboard.estimates.estimated import Estimated, Field
from cutpurse.leaderboard.estimates.likelihood import Comparisons, draw_probability, score_and_information
from cutpurse.leaderboard.estimates.linear_system import LinearSystem
from cutpurse.leaderboard.estimates.skill_fit import estimate
from cutpurse.leaderboard.placing import is_placed
from cutpurse.leaderboard.ratings import TrueSkill

SETTINGS = TrueSkill(draw_probability=0.02)
NORMAL = NormalDist()


def played(skills: Sequence[float], results: int, seed: str, seats: int = 4, luck: float = 3.0) -> list[Field]:
    """Results of players of these skills, who meet at random."""
    chance = Random(seed)
    fields: list[Field] = []
    for _ in range(results):
        who = tuple(chance.sample(range(len(skills)), seats))
        shown = [chance.gauss(skills[player], luck) for player in who]
        fields.append((who, tuple(1 + sum(other > mine for other in shown) for mine in shown)))
    return fields


def skills_of(count: int, seed: str) -> list[float]:
    chance = Random(seed)
    return [chance.gauss(0.0, 1.0) for _ in range(count)]


def held(found: dict[int, Estimated], skills: Sequence[float], luck: float = 3.0) -> float:
    """How many of the true skills are within their intervals; everybody played about as often."""
    mean = fmean(skills)
    right = [SETTINGS.mu + SETTINGS.beta / luck * (skill - mean) for skill in skills]
    return fmean(found[player].low <= its <= found[player].high for player, its in enumerate(right))


# -- what it finds
def test_two_who_met_a_thousand_times_are_as_far_apart_as_their_results_say() -> None:
    ahead = 690
    results = [((1, 2), (1, 2))] * ahead + [((2, 1), (1, 2))] * (1000 - ahead)
    Random("mixed").shuffle(results)  # or somebody would have changed
    found = estimate([*results], SETTINGS)
    apart = math.sqrt(2) * SETTINGS.beta * NORMAL.inv_cdf(ahead / 1000)
    assert found[1].mu - found[2].mu == pytest.approx(apart, rel=0.01)
    assert (found[1].mu + found[2].mu) / 2 == pytest.approx(SETTINGS.mu)
    # a share p of n has the variance p (1 - p) / n; and a skill less the mean of both is half their difference
    slope = math.sqrt(2) * SETTINGS.beta / NORMAL.pdf(NORMAL.inv_cdf(ahead / 1000))
    half = 1.96 * slope * math.sqrt(ahead / 1000 * (1 - ahead / 1000) / 1000) / 2
    assert found[1].high - found[1].mu == pytest.approx(half, rel=0.05)
    assert (found[1].best, found[1].worst, found[2].best, found[2].worst) == (1, 1, 2, 2)


def test_three_are_where_the_likelihood_is_greatest() -> None:
    """Against a search that knows nothing of forces and webs; with so many results what is supposed is nothing."""
    pairs = {(0, 1): (620, 40, 340), (0, 2): (700, 30, 270), (1, 2): (560, 50, 390)}
    results: list[Field] = []
    for (one, other), (ahead, level, behind) in pairs.items():
        results += [((one, other), (1, 2))] * ahead + [((one, other), (1, 1))] * level
        results += [((one, other), (2, 1))] * behind
    Random("mixed").shuffle(results)
    found = estimate(results, SETTINGS)

    def loss(one: float, other: float, margin: float) -> float:
        skills = (one, other, -one - other)
        total = 0.0
        for (first, second), (ahead, level, behind) in pairs.items():
            apart = skills[first] - skills[second]
            total -= ahead * math.log(NORMAL.cdf(apart - margin)) + behind * math.log(NORMAL.cdf(-apart - margin))
            total -= level * math.log(NORMAL.cdf(margin - apart) - NORMAL.cdf(-margin - apart))
        return total

    at, width = (0.0, 0.0, 0.1), 0.5
    while width > 1e-4:
        tries = [
            (at[0] + one * width, at[1] + other * width, max(1e-3, at[2] + third * width / 4))
            for one in (-1, 0, 1)
            for other in (-1, 0, 1)
            for third in (-1, 0, 1)
        ]
        best = min(tries, key=lambda point: loss(*point))
        at, width = (best, width) if loss(*best) < loss(*at) else (at, width / 2)
    scale = math.sqrt(2) * SETTINGS.beta
    wanted = [SETTINGS.mu + scale * skill for skill in (at[0], at[1], -at[0] - at[1])]
    assert [found[player].mu for player in range(3)] == pytest.approx(wanted, abs=0.05)


def test_the_same_results_give_the_same_numbers() -> None:
    results = played(skills_of(12, "twice"), 300, "twice")
    assert estimate(results, SETTINGS) == estimate(list(results), SETTINGS)


def test_the_numbers_are_those_from_before_scipy() -> None:
    """Computed by the plain Python of version 0.1.0, with a version's parent, ties, and a player that improves."""
    chance = Random("before scipy")
    results: list[Field] = []
    for match in range(150):
        who = tuple(chance.sample(range(6), 3))
        shown = [player + chance.gauss(0.0, 4.0) + (match / 20 if player == 2 else 0.0) for player in who]
        results.append((who, tuple(1 + sum(other > mine + 0.3 for other in shown) for mine in shown)))
    found = estimate(results, SETTINGS, parents={5: 4}, ranked=[0, 1, 2, 3, 5])
    assert {player: tuple(its) for player, its in found.items()} == {
        player: pytest.approx(its, abs=1e-9)
        for player, its in {
            0: (22.781824016125427, 20.338987690979963, 25.22466034127089, 3, 5),
            1: (21.954091875205386, 19.483691778413487, 24.424491971997284, 3, 5),
            2: (28.90178179117386, 26.308372726630747, 31.495190855716974, 1, 2),
            3: (24.239989066097042, 21.851543765528334, 26.62843436666575, 2, 5),
            4: (27.640561994446013, 25.125928884003542, 30.155195104888485, 0, 0),
            5: (27.38234610278315, 25.04455534235819, 29.720136863208108, 1, 3),
        }.items()
    }


def test_names_do_not_matter() -> None:
    results = played(skills_of(12, "names"), 300, "names")
    other = [(tuple(1000 - player for player in who), places) for who, places in results]
    found, again = estimate(results, SETTINGS), estimate(other, SETTINGS)
    assert {1000 - player: its for player, its in again.items()} == found


def test_without_results_there_is_nothing_to_tell() -> None:
    assert estimate([], SETTINGS) == {}


@pytest.mark.parametrize(
    "results",
    [
        [((1, 2), (1, 2))],
        [((1, 2), (1, 1))],
        [((1, 2, 3, 4), (1, 1, 1, 1))] * 50,
        [((1, 2, 3), (1, 2, 3))] * 500,
        [((1, 2), (1, 2)), ((3, 4), (2, 1))] * 30,  # who never met each other
        [(tuple(range(8)), tuple(range(1, 9)))],
    ],
    ids=["one", "a tie", "always ties", "always the same", "two rooms", "one of eight"],
)
def test_odd_ladders_have_numbers_too(results: list[Field]) -> None:
    found = estimate(results, SETTINGS)
    for its in found.values():
        assert math.isfinite(its.low)
        assert its.low < its.mu < its.high
    boards = Counter(player for who, _ in results for player in who)
    placed = {player for player in found if is_placed(boards[player])}
    assert {player for player, its in found.items() if its.worst} == placed
    assert all(1 <= found[player].best <= found[player].worst <= len(placed) for player in placed)
    by_mu = sorted([found[player] for player in placed], key=lambda its: -its.mu)
    assert all(its.best <= place <= its.worst for place, its in enumerate(by_mu, 1))


def test_a_beta_of_any_size_means_only_another_unit() -> None:
    results = played(skills_of(10, "unit"), 400, "unit")
    wide = TrueSkill(draw_probability=0.02, beta=10 * SETTINGS.beta)
    found, other = estimate(results, SETTINGS), estimate(results, wide)
    assert [(its.mu - 25) * 10 for its in found.values()] == pytest.approx(
        [its.mu - 25 for its in other.values()], rel=0.02, abs=0.1
    )


# -- whose places count
def test_old_versions_have_a_skill_and_no_place() -> None:
    results = played(skills_of(6, "old"), 200, "old")
    found = estimate(results, SETTINGS, parents={5: 4}, ranked=[0, 1, 2, 3, 5])
    assert (found[4].best, found[4].worst) == (0, 0)
    assert {its.worst for player, its in found.items() if player != 4} <= set(range(1, 6))


def test_a_new_version_lies_about_the_one_before_it_until_it_has_played() -> None:
    results = played([3.0, *skills_of(9, "heir")], 800, "heir")
    results += [((10, 1, 2, 3), (2, 1, 3, 4))]
    heir, stranger = estimate(results, SETTINGS, parents={10: 0}), estimate(results, SETTINGS)
    assert heir[10].mu > stranger[10].mu + 1
    assert heir[10].high - heir[10].low < stranger[10].high - stranger[10].low


def test_the_middle_is_where_it_is_asked_to_be_each_counted_by_his_results() -> None:
    results = played(skills_of(5, "middle"), 100, "middle")
    found = estimate(results, SETTINGS, middle=31.5)
    counts = {player: sum(player in who for who, _ in results) for player in found}
    mean = sum(counts[player] * its.mu for player, its in found.items()) / sum(counts.values())
    assert mean == pytest.approx(31.5)


# -- what it promises
def test_intervals_and_places_hold_the_truth() -> None:
    held_skills, held_places = [], []
    for run in range(6):
        skills = skills_of(24, f"truth {run}")
        found = estimate(played(skills, 600, f"truth {run}"), SETTINGS)
        held_skills.append(held(found, skills))
        order = sorted(range(24), key=lambda player: -skills[player])
        held_places.append(fmean(found[who].best <= at <= found[who].worst for at, who in enumerate(order, 1)))
    assert 0.90 <= fmean(held_skills) <= 0.99
    assert fmean(held_places) >= 0.90


def test_intervals_of_tables_of_eight_hold_no_less_than_those_of_two() -> None:
    """Pairs of one result are not as many results of two: counted so, these would hold six in ten."""
    shares = []
    for run in range(6):
        skills = skills_of(24, f"eight {run}")
        shares.append(held(estimate(played(skills, 300, f"eight {run}", seats=8), SETTINGS), skills))
    assert fmean(shares) >= 0.89


def test_more_results_make_intervals_narrower() -> None:
    results = played(skills_of(16, "narrow"), 1600, "narrow")
    few, many = estimate(results[:400], SETTINGS), estimate(results, SETTINGS)
    ratio = fmean((many[who].high - many[who].low) / (few[who].high - few[who].low) for who in few)
    assert ratio == pytest.approx(0.5, abs=0.1)


def test_whoever_changed_is_told_by_what_he_is_now() -> None:
    """The last and the first change places half-way: their last results say so, all of them together would not."""
    skills = [2.0, *[0.0] * 10, -2.0]
    before = played(skills, 600, "before", luck=1.5)
    after = played(skills[::-1], 600, "after", luck=1.5)
    found = estimate(before + after, SETTINGS)
    assert found[11].mu - found[0].mu > 4
    steady = estimate(played(skills, 1200, "steady", luck=1.5), SETTINGS)
    assert steady[0].low > steady[11].high


# -- the pieces
@pytest.mark.parametrize("apart", [-3.0, -0.4, 0.0, 0.7, 2.5])
def test_pull_and_hold_are_derivatives(apart: float) -> None:
    def log_likely(at: float) -> float:
        return (
            3 * math.log(NORMAL.cdf(at - 0.2))
            + 2 * math.log(NORMAL.cdf(0.2 - at) - NORMAL.cdf(-0.2 - at))
            + math.log(NORMAL.cdf(-at - 0.2))
        )

    step = 1e-4
    (score,), (information,) = score_and_information(np.array([apart]), 0.2, *np.array([[3.0], [2.0], [1.0]]))
    assert score == pytest.approx((log_likely(apart + step) - log_likely(apart - step)) / (2 * step), rel=1e-5)
    bend = (log_likely(apart + step) - 2 * log_likely(apart) + log_likely(apart - step)) / step**2
    assert information == pytest.approx(-bend, rel=1e-3)


def test_far_out_in_the_tails_there_are_numbers() -> None:
    for results in np.eye(3):
        scores, information = score_and_information(np.array([-60.0, 60.0]), 0.1, *results[:, np.newaxis])
        assert np.isfinite(scores).all()
        assert (information >= 0).all()
        assert (information <= 1.001).all()


def test_pairs_are_counted_from_the_lower_number() -> None:
    found = Comparisons([((2, 0, 1), (1, 1, 3)), ((0, 2), (2, 1)), ((1, 2), (1, 2))], 3).pairs()
    assert [row.tolist() for row in found] == [[0, 0, 1], [1, 2, 2], [1, 0, 1], [0, 1, 0], [0, 1, 1]]


def test_older_fields_fade() -> None:
    found = Comparisons([((0, 1), (1, 2)), ((0, 1), (2, 1)), ((0, 1), (2, 1))], 2).pairs(fading=0.5)
    assert found.ahead == pytest.approx([math.exp(-1)])
    assert found.behind == pytest.approx([1 + math.exp(-0.5)])


def test_pairs_that_have_faded_are_left_out() -> None:
    found = Comparisons([((1, 2), (1, 2)), *[((0, 1, 2), (1, 2, 2))] * 8], 3).pairs(fading=1.0)
    assert found.ahead == pytest.approx([1 / (1 - math.exp(-1))] * 2 + [0], rel=1e-3)
    found = Comparisons([((1, 2), (1, 2)), *[((0, 1), (1, 2)), ((0, 2), (1, 2))] * 8], 3).pairs(fading=1.0)
    assert (found.one.tolist(), found.other.tolist()) == ([0, 0], [1, 2])


def test_ties_are_foretold() -> None:
    wanted = [2 * NORMAL.cdf(0.3) - 1, NORMAL.cdf(-0.2) - NORMAL.cdf(-0.8)]
    assert draw_probability(np.array([0.0, 0.5]), 0.3) == pytest.approx(wanted)


def test_who_does_not_change_wanders_a_sixth() -> None:
    said = Comparisons(played([0.0] * 40, 4000, "steady"), 40).residual_statistics(np.zeros(40), 0.01)
    assert said.unsteady.mean() == pytest.approx(1 / 6, abs=0.05)
    assert said.played.sum() == 16_000
    # places by chance: their variance is (n + 1) / 3 of what it were if pairs were independent, of 2 / pi each
    assert said.squares / 16_000 == pytest.approx(5 / 3 * 3 * 2 / math.pi, rel=0.05)


def test_a_web_is_solved_and_inverted() -> None:
    web = LinearSystem(4, np.array([0, 0, 1, 2]), np.array([1, 2, 2, 3]))
    web.set_weights(np.array([2.0, 0.5, 1.0, 3.0]), np.array([1.0, 0.1, 0.1, 0.2]))
    matrix = np.array([[3.5, -2, -0.5, 0], [-2, 3.1, -1, 0], [-0.5, -1, 4.6, -3], [0, 0, -3, 3.2]])
    assert web.diagonal == pytest.approx(matrix.diagonal())
    rhs = np.array([1.0, -2.0, 0.5, 3.0])
    assert matrix @ web.solve(rhs) == pytest.approx(rhs)
    root = web.cholesky_of_inverse()
    assert root == pytest.approx(np.tril(root))
    inverse = root.T @ root
    assert matrix @ inverse == pytest.approx(np.eye(4), abs=1e-9)
    assert (web.approximate_inverse_diagonal() <= inverse.diagonal() + 1e-9).all()


def test_two_edges_between_two_players_add_up() -> None:
    web = LinearSystem(2, np.array([0, 1]), np.array([1, 0]))
    web.set_weights(np.array([2.0, 3.0]), np.array([1.0, 0.0]))
    assert np.array([[6, -5], [-5, 5]]) @ web.solve(np.array([1.0, 2.0])) == pytest.approx([1, 2])
