"""The simulated ladder piece by piece: the bots and their luck, the measures, boards."""

import math
import random
from itertools import combinations
from statistics import fmean, pstdev

import pytest

from benchmarks.ladder.accuracy import covered, kendall, reached, top_found
from benchmarks.ladder.season import board_results, points_of
from benchmarks.ladder.synthetic_bots import Nature, World, places_of
from cutpurse.leaderboard.ratings import Skill


def plain_tau(true: list[float], believed: list[float]) -> float:
    pairs = list(combinations(zip(true, believed, strict=True), 2))
    signs = [(one[0] - two[0]) * (one[1] - two[1]) for one, two in pairs]
    return sum((sign > 0) - (sign < 0) for sign in signs) / len(pairs)


def test_tau_is_that_of_a_plain_count_with_and_without_equals() -> None:
    rng = random.Random(5)
    for size in range(2, 30):
        for values in (4, 10_000):
            true = [float(rng.randrange(values)) for _ in range(size)]
            believed = [float(rng.randrange(values)) for _ in range(size)]
            assert kendall(true, believed) == pytest.approx(plain_tau(true, believed))
    assert (kendall([1, 2, 3], [7, 8, 9]), kendall([1, 2, 3], [9, 8, 7])) == (1.0, -1.0)
    with pytest.raises(ValueError, match="1 and 1 numbers"):
        kendall([1.0], [1.0])


def test_intervals_are_counted_on_the_scale_that_fits_whatever_its_unit_and_zero() -> None:
    true = [-2.0, -1.0, 0.0, 1.0, 2.0]
    on_the_line = [Skill(25 + 3 * one, 0.01) for one in true]
    assert covered(true, on_the_line) == 1.0
    # The best line through these is flat, so that three are just right and the two at 5 from it are 5 sigmas away.
    mus = [5.0, -5.0, 0.0, -5.0, 5.0]
    assert covered(true, [Skill(mu, 1.0) for mu in mus]) == 0.2
    assert covered(true, [Skill(mu, 3.0) for mu in mus]) == 1.0


def test_of_the_best_the_share_that_is_on_top_is_found() -> None:
    assert top_found([1, 2, 3, 4, 5, 6], [6, 5, 1, 4, 3, 7], 3) == pytest.approx(1 / 3)
    assert top_found([1, 2, 3, 4], [10, 20, 30, 40], 2) == 1.0


def test_the_order_is_right_once_it_stays_right() -> None:
    games = [20.0, 40, 60, 80, 100, 120]
    assert reached(games, [0.5, 0.9, 0.8, 0.85, 0.9, 0.86], 0.85) == 80
    assert reached(games, [0.5, 0.9, 0.8, 0.85, 0.9, 0.84], 0.85) is None
    assert reached(games[:2], [0.9, 0.9], 0.85) is None


def test_places_are_shared_within_the_margin_and_in_a_chain() -> None:
    assert places_of([1.0, 4.0, 2.0, 3.0], 0.0) == [4, 1, 3, 2]
    assert places_of([1.0, 4.0, 0.8, 3.9], 0.15) == [3, 1, 4, 1]
    assert places_of([1.0, 1.2, 1.4, 9.0], 0.3) == [2, 2, 2, 1]
    assert places_of([2.0, 1.0, 2.0], 0.0) == [1, 3, 1]


def test_equal_bots_tie_as_often_as_is_wanted() -> None:
    world = World(Nature(bots=2, seats=2, luck=2.0, ties=0.2), "ties")
    world.skills = [0.0, 0.0]
    tied = fmean(world.play((0, 1), world.deal()) == [1, 1] for _ in range(4_000))
    assert tied == pytest.approx(0.2, abs=0.02)


def test_without_drift_bots_stay_as_they_are_and_with_it_those_who_play_change() -> None:
    for drift in (0.0, 0.1):
        world = World(Nature(bots=5, seats=2, drift=drift), "drift")
        before = list(world.skills)
        for _ in range(50):
            world.play((0, 1), world.deal())
        changed = [one != other for one, other in zip(before, world.skills, strict=True)]
        assert changed == [drift > 0, drift > 0, False, False, False]


def test_drift_is_a_random_walk_of_the_given_step() -> None:
    ends = []
    for number in range(300):
        world = World(Nature(bots=2, seats=2, drift=0.1), f"walk {number}")
        before = world.skills[0]
        for _ in range(25):
            world.play((0, 1), (0.0, 0.0))
        ends.append(world.skills[0] - before)
    assert pstdev(ends) == pytest.approx(0.1 * math.sqrt(25), rel=0.12)


def test_cards_have_their_share_of_the_luck() -> None:
    nature = Nature(bots=4, luck=3.0, cards=0.6)
    world = World(nature, "cards")
    cards = [one for _ in range(2_000) for one in world.deal()]
    assert pstdev(cards) ** 2 == pytest.approx(0.6 * 9, rel=0.06)


def test_worlds_of_one_seed_are_the_same_and_of_two_are_not() -> None:
    def told(seed: str) -> list[object]:
        world = World(Nature(bots=8), seed)
        return [world.skills, *(world.play((0, 1, 2, 3), world.deal()) for _ in range(20))]

    assert told("a") == told("a")
    assert told("a") != told("b")


@pytest.mark.parametrize(
    "wrong",
    [{"seats": 1}, {"bots": 3}, {"luck": 0.0}, {"luck": math.nan}, {"cards": 1.5}, {"ties": 1.0}, {"drift": -1.0}],
    ids=str,
)
def test_natures_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"seats|luck|shares"):
        Nature(**wrong)  # type: ignore[arg-type]


def test_place_points_are_those_beaten_and_half_of_those_level() -> None:
    assert points_of([1, 2, 3, 4]) == [3, 2, 1, 0]
    assert points_of([1, 1, 3, 3]) == [2.5, 2.5, 0.5, 0.5]


def test_a_rotation_takes_the_cards_out_and_plain_boards_do_not() -> None:
    # Nearly all luck is in the cards, and bot 3 is better than the others by far less than a good hand is worth.
    right = {"plain": 0, "rotation": 0}
    for kind in right:
        world = World(Nature(bots=4, luck=5.0, cards=0.9999, ties=0.0), kind)
        world.skills = [0.0, 0.3, 0.6, 0.9]
        for _ in range(100):
            ((bots, places),) = board_results(world, kind, [(2, 0, 3, 1)])
            assert sorted(bots) == [0, 1, 2, 3]
            right[kind] += places[bots.index(3)] <= places[bots.index(0)]
    assert right["rotation"] > right["plain"] + 15


def test_a_duplicate_board_rates_those_who_held_the_same_seat() -> None:
    world = World(Nature(bots=4, seats=2, luck=0.001), "duplicate")
    world.skills = [10.0, 0.0, 1.0, 5.0]
    results = board_results(world, "duplicate", [(0, 1), (2, 3)])
    assert results == [((0, 2), [1, 2]), ((1, 3), [2, 1])]
