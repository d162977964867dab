"""Ratings: the figures of the literature, the library's own, and what must hold of any match."""

import math
import os
import random
import subprocess
import sys
from itertools import pairwise

import pytest
import trueskill  # type: ignore[import-untyped]
from mpmath import MPContext  # type: ignore[import-untyped]

from cutpurse.leaderboard.ratings import DIGITS, Skill, TrueSkill, rate, win_probability

DEFAULT = TrueSkill(draw_probability=0.10)


def random_match(rng: random.Random, seats: int) -> tuple[list[int], list[Skill]]:
    scores = [rng.randint(0, seats) for _ in range(seats)]
    places = [1 + sum(other > score for other in scores) for score in scores]
    return places, [Skill(rng.uniform(10, 40), rng.uniform(0.8, 8.4)) for _ in range(seats)]


def by_exact_package(settings: TrueSkill, places: list[int], skills: list[Skill]) -> list[Skill]:
    exact = MPContext()
    exact.dps = DIGITS
    backend = (exact.ncdf, exact.npdf, lambda share: exact.sqrt(2) * exact.erfinv(2 * share - 1))
    model = trueskill.TrueSkill(25, 25 / 3, settings.beta, settings.tau, settings.draw_probability, backend)
    rated = model.rate([(trueskill.Rating(*skill),) for skill in skills], ranks=places)
    return [Skill(float(new.mu), float(new.sigma)) for (new,) in rated]


# The figures of Jeff Moser's "Computing Your Skill" and of the manual of the library, to a thousandth.
@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([1, 2], [(29.396, 7.171), (20.604, 7.171)]),
        ([1, 1], [(25.000, 6.458), (25.000, 6.458)]),
        ([1, 2, 3], [(31.675, 6.656), (25.000, 6.208), (18.325, 6.656)]),
        ([1, 2, 3, 4], [(33.207, 6.348), (27.401, 5.787), (22.599, 5.787), (16.793, 6.348)]),
        (
            [1, 2, 3, 4, 5, 6, 7, 8],
            [
                (36.771, 5.749),
                (32.242, 5.133),
                (29.074, 4.943),
                (26.322, 4.874),
                (23.678, 4.874),
                (20.926, 4.943),
                (17.758, 5.133),
                (13.229, 5.749),
            ],
        ),
    ],
    ids=["one beats one", "two tie", "three", "four", "eight"],
)
def test_newcomers_are_rated_as_published(places: list[int], expected: list[tuple[float, float]]) -> None:
    rated = rate(places, [DEFAULT.newcomer] * len(places), DEFAULT)
    assert [number for skill in rated for number in skill] == pytest.approx(sum(expected, ()), abs=1e-3)


@pytest.mark.parametrize("seats", range(2, 9))
def test_every_number_of_seats_is_rated_as_the_library_does(seats: int) -> None:
    rng = random.Random(seats)
    for _ in range(20):
        places, skills = random_match(rng, seats)
        settings = TrueSkill(draw_probability=rng.uniform(0.01, 0.3), beta=rng.uniform(2, 9), tau=rng.uniform(0, 0.2))
        model = trueskill.TrueSkill(25, 25 / 3, settings.beta, settings.tau, settings.draw_probability)
        expected = model.rate([(trueskill.Rating(*skill),) for skill in skills], ranks=places)
        assert rate(places, skills, settings) == [(new.mu, new.sigma) for (new,) in expected]


@pytest.mark.parametrize("seats", range(2, 9))
def test_equals_come_out_in_the_order_of_their_places(seats: int) -> None:
    rng = random.Random(seats)
    for _ in range(10):
        places, _ = random_match(rng, seats)
        rated = rate(places, [DEFAULT.newcomer] * seats, DEFAULT)
        for (place, skill), (next_place, next_skill) in pairwise(sorted(zip(places, rated, strict=True))):
            if place == next_place:
                assert skill.mu == pytest.approx(next_skill.mu, abs=1)  # two chains of ties need not meet exactly
            else:
                assert skill.mu > next_skill.mu
        assert all(skill.sigma < DEFAULT.sigma for skill in rated)


def test_only_the_order_of_places_counts_and_the_seat_does_not() -> None:
    places, skills = random_match(random.Random(1), 5)
    rated = rate(places, skills, DEFAULT)
    assert rate([10 * place for place in places], skills, DEFAULT) == rated
    assert len(set(rate([1, 2, 3], [skills[0]] * 3, DEFAULT))) == 3
    assert rate([3, 1, 2], [skills[0]] * 3, DEFAULT) == [
        rate([1, 2, 3], [skills[0]] * 3, DEFAULT)[i] for i in (2, 0, 1)
    ]


@pytest.mark.parametrize(
    ("places", "skills"),
    [
        ([2, 1], [Skill(1000.0, 1e-3), Skill(0.0, 1e-3)]),
        ([1, 1], [Skill(1000.0, 1e-3), Skill(0.0, 1e-3)]),
        ([2, 1, 3], [Skill(9000.0, 1e-6), Skill(-9000.0, 1e-6), Skill(0.0, 5.0)]),
    ],
    ids=["upset", "tie", "three"],
)
def test_an_absurd_upset_is_rated_where_floats_do_not_do(places: list[int], skills: list[Skill]) -> None:
    settings = TrueSkill(draw_probability=0.1, tau=0.0)
    with pytest.raises(FloatingPointError):
        trueskill.TrueSkill(tau=0.0).rate([(trueskill.Rating(*skill),) for skill in skills], ranks=places)
    rated = rate(places, skills, settings)
    assert rated == by_exact_package(settings, places, skills)
    assert all(math.isfinite(skill.mu) and skill.sigma > 0 for skill in rated)
    assert rated[0].mu < skills[0].mu
    assert rated[1].mu > skills[1].mu


def test_the_exact_way_agrees_with_the_usual_one_where_both_can() -> None:
    exact = trueskill.TrueSkill(backend="mpmath", draw_probability=0.1)
    for seed in range(5):
        places, skills = random_match(random.Random(seed), 4)
        expected = exact.rate([(trueskill.Rating(*skill),) for skill in skills], ranks=places)
        for ours, (theirs,) in zip(rate(places, skills, DEFAULT), expected, strict=True):
            assert ours.mu == pytest.approx(float(theirs.mu), abs=1e-4)
            assert ours.sigma == pytest.approx(float(theirs.sigma), abs=1e-4)


def test_the_same_goes_in_and_the_same_bits_come_out_in_another_process() -> None:
    program = """
import random
from cutpurse.leaderboard.ratings import Skill, TrueSkill, rate
rng, settings = random.Random(7), TrueSkill(draw_probability=0.05)
skills = [settings.newcomer] * 6
for _ in range(40):
    skills = rate([rng.randint(1, 6) for _ in skills], skills, settings)
skills = rate([2, 1], [Skill(1000.0, 1e-3), Skill(0.0, 1e-3)], settings) + skills
print(*(number.hex() for skill in skills for number in skill))
"""
    runs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert len(runs[0].split()) == 16


def test_the_exposed_rating_is_three_deviations_down() -> None:
    assert Skill(30.0, 2.0).exposed == 24.0
    assert DEFAULT.newcomer.exposed == pytest.approx(0, abs=1e-9)


def test_settings_come_back_to_the_bit() -> None:
    settings = TrueSkill(draw_probability=0.1 + 0.2, mu=1 / 3, sigma=2 / 7, beta=1e-9, tau=5e-324)
    assert TrueSkill.from_json(settings.to_json()) == settings


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"draw_probability": 0.0}, "draw_probability is 0.0; it must be above 0 and below 1"),
        ({"draw_probability": 1.0}, "draw_probability is 1.0"),
        ({"draw_probability": 0.1, "sigma": 0.0}, "sigma 0.0 and beta"),
        ({"draw_probability": 0.1, "tau": -1.0}, "tau -1.0 and widening 0.5 not below"),
        ({"draw_probability": 0.1, "widening": -0.1}, "widening -0.1 not below"),
        ({"draw_probability": 0.1, "mu": float("nan")}, "mu is nan, not a finite number"),
        ({"draw_probability": "much"}, "draw_probability is 'much', not a finite number"),
    ],
)
def test_settings_that_make_no_sense_are_refused(numbers: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        TrueSkill(**numbers)


def test_a_match_of_one_or_of_other_places_is_refused() -> None:
    with pytest.raises(ValueError, match="1 places for 1 skills"):
        rate([1], [DEFAULT.newcomer], DEFAULT)
    with pytest.raises(ValueError, match="3 places for 2 skills"):
        rate([1, 2, 3], [DEFAULT.newcomer] * 2, DEFAULT)


def test_an_heir_has_the_mu_of_its_parent_and_a_wider_sigma() -> None:
    settings = TrueSkill(draw_probability=0.1, mu=25.0, sigma=8.0, widening=0.5)
    assert settings.prior_for_new_version(Skill(31.5, 3.0)) == Skill(31.5, 5.0)  # 3-4-5
    assert settings.prior_for_new_version(Skill(18.0, 7.9)) == Skill(18.0, 8.0)  # never wider than that of a newcomer
    assert TrueSkill(draw_probability=0.1, widening=0.0).prior_for_new_version(Skill(31.5, 3.0)) == Skill(31.5, 3.0)
    wide = TrueSkill(draw_probability=0.1, widening=9.0)
    assert wide.prior_for_new_version(Skill(31.5, 3.0)) == Skill(31.5, wide.newcomer.sigma)


def test_the_model_does_not_know_of_widening() -> None:
    skills = [Skill(25.0, 8.0), Skill(30.0, 4.0)]
    one, other = (TrueSkill(draw_probability=0.1, widening=share) for share in (0.0, 2.0))
    assert rate([1, 2], skills, one) == rate([1, 2], skills, other)


def test_who_is_as_good_is_ahead_half_of_the_time_and_ties_count_half() -> None:
    one, other = Skill(25.0, 3.0), Skill(25.0, 1.0)
    likely = win_probability(DEFAULT)
    assert likely(one, other) == pytest.approx(0.5)
    for apart in (0.3, 2.0, 11.0):
        better = Skill(25.0 + apart, 3.0)
        assert 0.5 < likely(better, other) < 1
        assert likely(better, other) + likely(other, better) == pytest.approx(1)


def test_a_skill_may_have_changed_by_tau_until_the_next_meeting() -> None:
    """Luck of both, drift of both, and what is not known of either, are spread as independent sums are."""
    changing = TrueSkill(draw_probability=1e-9, beta=3.0, tau=4.0)
    spread = math.sqrt(2 * 3.0**2 + 2 * 4.0**2 + 5.0**2 + 1.0**2)
    likely = win_probability(changing)(Skill(spread, 5.0), Skill(0.0, 1.0))
    assert likely == pytest.approx(0.8413447, abs=1e-6)  # of a normal distribution, what is less than a deviation above


def test_beta_is_how_far_apart_the_better_one_wins_76_times_in_100() -> None:
    sure = TrueSkill(draw_probability=1e-9, tau=0.0)
    assert win_probability(sure)(Skill(sure.beta, 1e-9), Skill(0.0, 1e-9)) == pytest.approx(0.7602, abs=1e-4)
