"""What is fitted to play of known luck, ties and change is near to what it was played with."""

import math
import random
from dataclasses import replace

import pytest

from cutpurse.leaderboard.parameter_fit import RankedMatch, fit, log_loss
from cutpurse.leaderboard.ratings import TrueSkill

LIBRARY = TrueSkill(draw_probability=0.10)


def play(
    beta: float, draws: float, matches: int, *, bots: int = 12, drift: float = 0.0, seed: str = "play"
) -> list[RankedMatch]:
    """Duels of bots whose skills are as those of newcomers are believed to be; whoever is within the margin ties."""
    rng = random.Random(seed)
    skills = [rng.gauss(LIBRARY.mu, LIBRARY.sigma) for _ in range(bots)]
    margin = draws * beta * math.sqrt(math.pi)  # near enough for few draws
    outcomes = []
    for _ in range(matches):
        pair = tuple(rng.sample(range(bots), 2))
        ahead = skills[pair[0]] - skills[pair[1]] + rng.gauss(0.0, beta * math.sqrt(2))
        outcomes.append(RankedMatch(pair, (1, 1) if abs(ahead) < margin else (1, 2) if ahead > 0 else (2, 1)))
        for bot in pair:
            skills[bot] += rng.gauss(0.0, drift)
    return outcomes


def test_two_newcomers_are_as_likely_to_win_and_a_draw_is_as_likely_as_the_settings_say() -> None:
    settings = TrueSkill(draw_probability=0.2)
    spread = math.sqrt(2 * settings.beta**2 + 2 * settings.sigma**2 + 2 * settings.tau**2)
    margin = settings.beta * math.sqrt(2) * 0.2533471  # of the standard normal distribution 0.2 are within
    tied = math.erf(margin / spread / math.sqrt(2))
    assert log_loss([RankedMatch((1, 2), (1, 1))], settings) == pytest.approx(-math.log(tied))
    assert log_loss([RankedMatch((1, 2), (2, 1))], settings) == pytest.approx(-math.log((1 - tied) / 2))


def test_a_match_is_foretold_from_those_before_it_alone() -> None:
    one, two = RankedMatch((1, 2), (1, 2)), RankedMatch((2, 1), (2, 1))
    first = log_loss([one], LIBRARY)
    assert log_loss([one, two, two], LIBRARY) < first  # the same wins again, and was expected to
    assert log_loss([one, RankedMatch((1, 2), (2, 1))], LIBRARY, after=1) > first
    assert log_loss([one, two, RankedMatch((3, 4), (2, 1))], LIBRARY, after=2) == pytest.approx(first)


def test_each_two_of_a_free_for_all_count_and_seats_do_not_matter() -> None:
    places = {"a": 1, "b": 2, "c": 2, "d": 4}
    before = [RankedMatch(("a", "b"), (1, 2)), RankedMatch(("c", "d"), (1, 2))]
    losses = {
        round(log_loss([*before, RankedMatch(order, tuple(places[one] for one in order))], LIBRARY, after=2), 12)
        for order in (("a", "b", "c", "d"), ("d", "b", "a", "c"), ("c", "a", "d", "b"))
    }
    assert len(losses) == 1


@pytest.mark.parametrize("beta", [LIBRARY.beta, 3 * LIBRARY.sigma])
def test_the_luck_of_generated_play_is_recovered_and_foretells_other_play_better(beta: float) -> None:
    found = fit(play(beta, 0.05, 800))
    assert found.beta == pytest.approx(beta, rel=0.35)
    assert found.draw_probability == pytest.approx(0.05, abs=0.02)
    assert (found.mu, found.sigma, found.widening) == (LIBRARY.mu, LIBRARY.sigma, LIBRARY.widening)
    other = play(beta, 0.05, 800, seed="other")
    wrong = replace(found, beta=found.beta * (4 if beta == LIBRARY.beta else 1 / 6))
    assert log_loss(other, found) < log_loss(other, wrong)


def test_bots_that_change_are_found_to_change_and_others_are_not() -> None:
    steady = fit(play(LIBRARY.beta, 0.02, 500, bots=5))
    drifting = fit(play(LIBRARY.beta, 0.02, 500, bots=5, drift=LIBRARY.sigma / 5))
    assert steady.tau <= 0.01 * LIBRARY.sigma
    assert drifting.tau >= 0.1 * drifting.sigma


def test_play_without_ties_still_has_a_draw_probability() -> None:
    found = fit(play(LIBRARY.beta, 0.0, 300))
    assert 0 < found.draw_probability < 0.02
    assert 0 < fit([RankedMatch((1, 2), (1, 1))] * 10).draw_probability < 1


def test_the_same_results_give_the_same_bits() -> None:
    results = play(LIBRARY.beta, 0.05, 50)
    assert fit(results) == fit(list(results), LIBRARY)


def test_it_is_known_before_how_many_settings_are_tried() -> None:
    told: list[tuple[int, int]] = []
    fit(play(LIBRARY.beta, 0.05, 40), progress=lambda done, of: told.append((done, of)))
    assert told == [(number, len(told)) for number in range(1, len(told) + 1)]


def test_what_is_not_fitted_comes_from_the_start() -> None:
    start = TrueSkill(draw_probability=0.1, mu=0.0, sigma=1.0, beta=0.5, tau=0.01, widening=0.25)
    results = play(LIBRARY.beta, 0.05, 300)
    found, plain = fit(results, start), fit(results)
    assert (found.mu, found.sigma, found.widening) == (0.0, 1.0, 0.25)
    assert found.beta * LIBRARY.sigma == pytest.approx(plain.beta, rel=0.05)  # the same luck on another scale


def test_of_nothing_nothing_is_judged() -> None:
    with pytest.raises(ValueError, match="no results"):
        fit([])
    with pytest.raises(ValueError, match="2 matches, of which the first 2"):
        log_loss(play(1.0, 0.0, 2), LIBRARY, after=2)
