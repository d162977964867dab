"""A free-for-all in plain floats is what the package makes of it, to the bit; where one gives up, so does the other."""

import random
from collections.abc import Callable
from itertools import pairwise

import pytest
import trueskill  # type: ignore[import-untyped]

from cutpurse.leaderboard.free_for_all import Numbers, rate_in_order
from cutpurse.leaderboard.ratings import Skill, TrueSkill, draw_margin, rate
from tests.leaderboard.test_ratings import by_exact_package

Field = tuple[TrueSkill, list[int], list[Skill]]


def likely(rng: random.Random) -> Field:
    """Settings and skills as ladders have them, with upsets and ties that nobody expected."""
    settings = TrueSkill(draw_probability=rng.uniform(0.01, 0.3), beta=rng.uniform(2, 9), tau=rng.uniform(0, 0.2))
    skills = [Skill(rng.uniform(0, 50), rng.uniform(0.5, 8.4)) for _ in range(rng.randint(2, 8))]
    return settings, places(rng, len(skills)), skills


def wild(rng: random.Random) -> Field:
    """Any size of anything: much of it is beyond what floats can do."""
    settings = TrueSkill(
        draw_probability=rng.choice([rng.random(), 10 ** rng.uniform(-9, 0)]),
        beta=10 ** rng.uniform(-9, 3),
        tau=rng.choice([0, 10 ** rng.uniform(-9, 2)]),
    )
    spread = 10 ** rng.uniform(-3, 4)
    skills = [
        Skill(rng.choice([0.0, -0.0, rng.uniform(-spread, spread)]), 10 ** rng.uniform(-9, 4))
        for _ in range(rng.randint(2, 8))
    ]
    return settings, places(rng, len(skills)), skills


def tiny(rng: random.Random) -> Field:
    """Precisions at the end of what a float can hold, and beyond it."""
    size = rng.uniform(-155, -140)
    settings = TrueSkill(draw_probability=10 ** rng.uniform(-15, -0.1), beta=10 ** (size + rng.uniform(-3, 3)), tau=0.0)
    skills = [
        Skill(rng.uniform(-1, 1) * 10 ** (size + rng.uniform(-3, 3)), 10 ** (size + rng.uniform(-3, 3)))
        for _ in range(rng.randint(2, 5))
    ]
    return settings, places(rng, len(skills)), skills


def places(rng: random.Random, seats: int) -> list[int]:
    scores = [rng.randint(0, seats) for _ in range(seats)]
    return [1 + sum(other > score for other in scores) for score in scores]


def by_package(settings: TrueSkill, places: list[int], skills: list[Skill]) -> list[tuple[float, float]]:
    model = trueskill.TrueSkill(settings.mu, settings.sigma, settings.beta, settings.tau, settings.draw_probability)
    return [(new.mu, new.sigma) for (new,) in model.rate([(trueskill.Rating(*skill),) for skill in skills], places)]


def by_us(settings: TrueSkill, places: list[int], skills: list[Skill]) -> list[tuple[float, float]]:
    """Rate as `rate` does, but with floats only; the margin is that of `draw_margin`."""
    order = sorted(range(len(skills)), key=places.__getitem__)
    ties = [places[one] == places[following] for one, following in pairwise(order)]
    numbers = Numbers(settings.tau**2, settings.beta**2, draw_margin(settings))
    rated = rate_in_order([skills[player] for player in order], ties, numbers)
    return [rated[order.index(player)] for player in range(len(skills))]


def bits(rated: Callable[..., list[tuple[float, float]]], field: Field) -> list[str] | None:
    """None where floats do not do."""
    try:
        return [number.hex() for skill in rated(*field) for number in skill]
    except (ArithmeticError, ValueError):
        return None


@pytest.mark.parametrize("draw", [likely, wild, tiny])
def test_any_field_is_rated_as_by_the_package_to_the_bit(draw: Callable[[random.Random], Field], soak: bool) -> None:
    rng = random.Random(1)
    count = 100_000 if soak else 400
    beyond = 0
    for _ in range(count):
        field = draw(rng)
        ours = bits(by_us, field)
        assert ours == bits(by_package, field), field
        beyond += ours is None
    assert beyond < count // 100 if draw is likely else count // 10 < beyond < count * 9 // 10


def test_beyond_floats_a_field_is_rated_as_by_the_package_with_as_many_digits() -> None:
    rng = random.Random(2)
    beyond = [field for field in (wild(rng) for _ in range(40)) if bits(by_us, field) is None]
    assert len(beyond) > 5
    for settings, places, skills in beyond:
        try:
            expected = by_exact_package(settings, places, skills)
        except (ArithmeticError, ValueError):
            with pytest.raises((ArithmeticError, ValueError)):
                rate(places, skills, settings)
        else:
            assert rate(places, skills, settings) == expected


@pytest.mark.parametrize("share", [0.5, 0.1, 0.9, 1e-9, 1e-17, 1 - 2**-53])
def test_the_draw_margin_is_that_of_the_package_to_the_bit(share: float) -> None:
    settings = TrueSkill(draw_probability=share, beta=3.7)
    model = trueskill.TrueSkill(settings.mu, settings.sigma, settings.beta, settings.tau, settings.draw_probability)
    assert draw_margin(settings).hex() == trueskill.calc_draw_margin(share, 2, model).hex()


@pytest.mark.parametrize("mus", [(30.0, 0.0), (40.0, 20.0, 0.0), (20.0, 0.0, 0.0), (20.0, 20.0, 0.0)])
def test_a_result_that_everybody_expected_tells_nothing_and_breaks_nothing(mus: tuple[float, ...]) -> None:
    """Its message has a precision of 0, which must not be divided by."""
    skills = [Skill(mu, 0.1) for mu in mus]
    field = (TrueSkill(draw_probability=0.1, beta=1.0, tau=0.0), [1, 2, 3][: len(mus)], skills)
    assert bits(by_us, field) == bits(by_package, field)
    alone = [player for player, mu in enumerate(mus) if mus.count(mu) == 1]
    assert [by_us(*field)[player] for player in alone] == [pytest.approx(skills[player], rel=1e-12) for player in alone]


def test_skills_and_ties_must_fit() -> None:
    with pytest.raises(ValueError, match="shorter"):
        rate_in_order([Skill(25.0, 8.0)] * 3, [False], Numbers(0.0, 1.0, 0.1))
