"""Is the verdict of `compare` right?  Points and differences by hand, exact martingales on small trees, error rates.

The error rates are counted in simulations of A/A runs (gain 0) and A/B runs (exactly the gain looked for), with random
numbers of a fixed seed, for differences as boards give them: few values, heavy ties, skew.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import pytest

from cutpurse.leaderboard.statistics.place_points import board_difference, place_points
from cutpurse.leaderboard.statistics.sprt import Design, Sprt, State, Verdict


def played(differences: Iterable[float], state: State | None = None) -> Sprt:
    """A test that has counted these boards, or as many as it wanted."""
    test = Sprt(state)
    for difference in differences:
        if test.update(difference) is not None:
            break
    return test


# Place points and the difference of a board.


@pytest.mark.parametrize(
    ("places", "points"),
    [
        ([1, 2], [1, 0]),
        ([1, 1], [0.5, 0.5]),
        ([3, 1, 2], [0, 1, 0.5]),
        ([1, 1, 3], [0.75, 0.75, 0]),
        ([2, 1, 2, 4], [0.5, 1, 0.5, 0]),
        ([1, 1, 1, 1, 1], [0.5] * 5),
        ([5, 1, 3, 1, 3], [0, 0.875, 0.375, 0.875, 0.375]),
    ],
)
def test_place_points_are_averaged_over_a_tie(places: list[int], points: list[float]) -> None:
    assert place_points(places) == points


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_the_points_of_a_match_always_add_up_to_half_the_seats(seats: int) -> None:
    for scores in itertools.product(range(seats), repeat=seats):
        places = [1 + sum(other > score for other in scores) for score in scores]
        assert math.fsum(place_points(places)) == pytest.approx(seats / 2, abs=1e-12)


@pytest.mark.parametrize("places", [[], [1], [0, 1], [1, 1, 2], [1, 3, 3], [2, 2], [1, 2, 2, 3]])
def test_places_that_no_match_can_end_with_are_refused(places: list[int]) -> None:
    with pytest.raises(ValueError, match=r"^places \["):
        place_points(places)


def test_a_board_is_the_mean_over_the_seats() -> None:
    assert board_difference([1, 0.5, 0, 1], [0, 0.5, 0.5, 1]) == 0.125
    assert board_difference([0, 0], [1, 1]) == -1


def test_equal_points_differ_by_exactly_nothing_in_any_order() -> None:
    thirds = {0: 0, 1 / 3: 1, 1 - 2 / 3: 1, 2 / 3: 2, 1: 3}  # as floats, two of them one third: in thirds
    for new in itertools.product(thirds, repeat=3):
        for old in itertools.product(thirds, repeat=3):
            difference = board_difference(new, old)
            exact = sum(thirds[x] for x in new) - sum(thirds[x] for x in old)
            assert difference == pytest.approx(exact / 9, abs=1e-12)
            assert (difference == 0) is (exact == 0)
            assert str(difference) != "-0.0"


@pytest.mark.parametrize(
    ("new", "old"), [([], []), ([1], [1, 0]), ([1.5], [0]), ([0], [-0.1]), ([math.nan], [0]), ([0], [math.inf])]
)
def test_points_that_are_none_are_refused(new: list[float], old: list[float]) -> None:
    with pytest.raises(ValueError, match="points"):
        board_difference(new, old)


# The evidence: martingales, exactly, over every course that a few boards can take.


@pytest.mark.parametrize(
    "chances",
    [
        {-1.0: 0.5, 1.0: 0.5},
        {-1.0: 0.05, 0.0: 0.9, 1.0: 0.05},
        {-0.75: 0.1, 1 / 12: 0.9},
        {-1 / 12: 0.9, 0.75: 0.1},
        {0.0: 1.0},
    ],
)
def test_without_a_gain_the_bet_on_a_gain_is_fair(chances: dict[float, float]) -> None:
    assert sum(probability * x for x, probability in chances.items()) == pytest.approx(0, abs=1e-15)
    assert expected_capital(chances, "evidence_for", Design()) == pytest.approx(1, abs=1e-12)


def test_with_a_loss_the_bet_on_a_gain_loses() -> None:
    assert expected_capital({-1.0: 0.6, 1.0: 0.4}, "evidence_for", Design()) < 0.9


@pytest.mark.parametrize("chances", [{-1.0: 0.4, 1.0: 0.6}, {-0.25: 0.1, 0.25: 0.9}, {0.0: 0.8, 1.0: 0.2}, {0.2: 1.0}])
def test_with_just_the_smallest_gain_the_bet_against_it_is_fair(chances: dict[float, float]) -> None:
    assert sum(probability * x for x, probability in chances.items()) == pytest.approx(0.2)
    design = Design(effect=1e-9, smallest_gain=0.2)
    assert expected_capital(chances, "evidence_against", design) == pytest.approx(1, abs=1e-12)


def expected_capital(chances: dict[float, float], evidence: str, design: Design) -> float:
    """The mean of exp(evidence) after 7 boards, over every course they can take."""
    total = 0.0
    for course in itertools.product(chances, repeat=7):
        state = State(design)
        for difference in course:
            state = state.after(difference)
        total += math.prod(chances[x] for x in course) * math.exp(getattr(state, evidence))
    return total


# Verdicts at the edges.


def test_two_versions_that_always_fare_alike_end_as_not_better() -> None:
    result = played(itertools.repeat(0.0)).result()
    assert result.verdict is Verdict.NOT_BETTER
    assert 300 < result.boards < 600
    assert (result.differing, result.gain) == (0, 0)
    assert result.interval[0] < 0 < result.interval[1] < 0.02
    assert "fared alike on every board" in result.reason


@pytest.mark.parametrize(("difference", "verdict"), [(1.0, Verdict.BETTER), (-1.0, Verdict.NOT_BETTER)])
def test_the_plainest_difference_still_waits_for_the_least_number_of_boards(
    difference: float, verdict: Verdict
) -> None:
    result = played(itertools.repeat(difference), State(Design(effect=0.5))).result()
    assert (result.verdict, result.boards, result.gain) == (verdict, 20, difference)


def test_a_version_that_always_loses_is_not_better() -> None:
    result = played(itertools.repeat(-0.5)).result()
    assert result.verdict is Verdict.NOT_BETTER
    assert result.boards < 40
    assert result.reason.startswith("not better, or by less than this test looks for: gain -0.500, between -1.000 and ")


def test_a_single_board_gets_no_verdict_but_undecided() -> None:
    test = Sprt(State(Design(min_boards=1, max_boards=1)))
    assert test.update(0.5) is Verdict.UNDECIDED
    assert "after 1 board," in test.result().reason


def test_a_reason_begins_with_its_verdict() -> None:
    begin = {verdict: verdict.value for verdict in Verdict}
    seen = {}
    for differences in ([1.0] * 100, [-1.0] * 100, [1.0, -1.0]):
        result = played(differences).result()
        seen[result.verdict] = result.reason.split(":")[0].split(",")[0]
    assert seen == begin


def test_no_board_says_nothing() -> None:
    result = Sprt().result()
    assert (result.verdict, result.gain, result.interval) == (Verdict.UNDECIDED, 0, (-1, 1))
    assert result.reason == "undecided: no board was played"


def test_one_lost_board_after_many_ties_does_not_ruin_a_version_that_then_always_wins() -> None:
    assert played([*[0.0] * 100, -1.0, *[1.0] * 50]).result().verdict is Verdict.BETTER


def test_after_the_verdict_no_board_counts() -> None:
    test = played(itertools.repeat(1.0))
    with pytest.raises(ValueError, match=r"^the test ended with 'better' after \d+ boards, no more count$"):
        test.update(0.0)


@pytest.mark.parametrize("difference", [1.001, -1.001, math.nan, math.inf])
def test_a_difference_out_of_range_is_refused_and_not_counted(difference: float) -> None:
    test = Sprt()
    with pytest.raises(ValueError, match=r"^board 0: the difference is"):
        test.update(difference)
    assert test.state == State()


def test_an_undecided_test_goes_on_with_more_boards() -> None:
    coin = random.Random(3)
    differences = [coin.choice((-0.5, 0.0, 0.5)) for _ in range(5000)]
    stopped = played(differences, State(Design(max_boards=50)))
    assert stopped.result().verdict is Verdict.UNDECIDED
    longer = replace(stopped.state, design=Design())
    assert played(differences[50:], longer).result() == played(differences).result()


def test_the_interval_and_the_verdict_agree_at_every_board() -> None:
    coin = random.Random(4)
    for _ in range(20):
        state = State()
        for _ in range(300):
            state = state.after(coin.choice((-0.25, 0.0, 0.25, 0.5)))
            low, high = state.interval
            assert -1 <= low < high <= 1
            assert (low >= 0) is (state.evidence_for >= state.design.bound_for)


@pytest.mark.parametrize(
    ("name", "value"),
    [("effect", 0), ("effect", math.nan), ("smallest_gain", 1.5), ("alpha", 0.6), ("beta", -1)],
)
def test_a_design_outside_its_range_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{name} is "):
        Design(**{name: value})  # type: ignore[arg-type]  # mypy takes the value for any field


def test_the_first_board_is_the_first_to_decide_and_the_last_not_before_it() -> None:
    with pytest.raises(ValueError, match=r"^min_boards is 0, it must be at least 1$"):
        Design(min_boards=0)
    with pytest.raises(ValueError, match=r"^max_boards is 10, it must be at least 20$"):
        Design(max_boards=10)


# Saving and loading.


def test_a_saved_and_loaded_test_ends_as_if_it_had_never_stopped() -> None:
    coin = random.Random(5)
    differences = [coin.choice((-1, -0.5, 0, 0.5, 1)) / 3 for _ in range(5000)]
    test = Sprt()
    for difference in differences:
        test = Sprt(State.from_json(json.loads(json.dumps(test.state.to_json()))))
        if test.update(difference) is not None:
            break
    assert test.state.boards > 100
    assert test.result() == played(differences).result()


GOOD = played([0.25, -0.5, 0.0, 1.0] * 3).state.to_json()


@pytest.mark.parametrize("junk", [None, True, "3", [], {}, 1e300, 10**400, math.nan, math.inf])
@pytest.mark.parametrize("name", GOOD)
def test_a_state_with_a_spoilt_number_is_refused_in_one_line(name: str, junk: object) -> None:
    with pytest.raises(ValueError, match=r"^state: [^\n]+$"):
        State.from_json({**GOOD, name: junk})


@pytest.mark.parametrize("name", ["effect", "smallest_gain", "alpha", "beta", "min_boards", "max_boards"])
def test_a_state_with_a_spoilt_design_is_refused_in_one_line(name: str) -> None:
    design = GOOD["design"]
    assert isinstance(design, dict)
    for junk in (None, True, "3", -1.5, 10**400, math.nan):
        with pytest.raises(ValueError, match=rf"^state: {name} is [^\n]+$"):
            State.from_json({**GOOD, "design": {**design, name: junk}})


@pytest.mark.parametrize("content", [None, [], "state", 3, {}, {"format": 1}, {"a\nb": 1}])
def test_what_is_no_state_is_refused_in_one_line(content: object) -> None:
    with pytest.raises(ValueError, match=r"^state: [^\n]+$"):
        State.from_json(content)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("boards", 2),
        ("differing", 13),
        ("differing", 0),
        ("total", 9.0),
        ("squares", 10.0),
        ("stakes", 0.0),
        ("winnings", 5.0),
        ("penalty", 20.0),
    ],
)
def test_sums_that_no_boards_can_give_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=r"^state: \w+ is .* boards"):
        State.from_json({**GOOD, name: value})


def test_a_state_of_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^state: format is 2, this version reads 1$"):
        State.from_json({**State().to_json(), "format": 2})


# Error rates.

Draw = Callable[[random.Random], float]


class Boards(NamedTuple):
    """A kind of board difference: the values, and their chances when the gain is 0."""

    values: tuple[float, ...]
    chances: tuple[float, ...]

    @property
    def gain_looked_for(self) -> float:
        """Exactly the gain of the default design, with the spread of the boards that have that gain."""
        gain = 0.0
        for _ in range(50):  # the mean square moves with the gain, but much less than it: this converges at once
            gain = Design().gain(sum(p * x * x for x, p in zip(self.values, self.with_gain(gain), strict=True)))
        return gain

    def with_gain(self, gain: float) -> list[float]:
        """The chances when the mean is `gain`, by exponential tilting: every kind stays as lumpy as it was."""
        low, high = 0.0, 500.0
        for _ in range(200):
            tilt = (low + high) / 2
            weights = [p * math.exp(tilt * (x - 1)) for x, p in zip(self.values, self.chances, strict=True)]
            mean = sum(w * x for w, x in zip(weights, self.values, strict=True)) / sum(weights)
            low, high = (tilt, high) if mean < gain else (low, tilt)
        return [weight / sum(weights) for weight in weights]


def rounded_normal(spread: float, steps: int) -> Boards:
    """A normal curve on the multiples of 1 / steps, as a mean over seats gives."""
    values = [step / steps for step in range(-steps, steps + 1)]
    weights = [math.exp(-((x / spread) ** 2) / 2) for x in values]
    return Boards(tuple(values), tuple(weight / sum(weights) for weight in weights))


def three_valued(differing: float) -> Boards:
    return Boards((-1, 0, 1), (differing / 2, 1 - differing, differing / 2))


KINDS = {
    "four seats, broad": rounded_normal(0.25, 24),
    "four seats, narrow": rounded_normal(0.1, 24),
    "a duel": rounded_normal(0.5, 2),
    "all or nothing, 40 % differ": three_valued(0.4),
    "all or nothing, 10 % differ": three_valued(0.1),
    "all or nothing, 2 % differ": three_valued(0.02),
    "many small gains, rare large losses": Boards((-0.75, 1 / 12), (0.1, 0.9)),
    "many small losses, rare large gains": Boards((-1 / 12, 0.75), (0.9, 0.1)),
    "hardly ever different": Boards((-0.25, 0, 0.25), (0.03, 0.94, 0.03)),
}


class Rates(NamedTuple):
    """Counts over many runs at one true gain."""

    better: int
    undecided: int
    gain_outside_interval: int
    mean_boards: float


def simulate(kind: Boards, gain: float, runs: int, seed: int) -> Rates:
    draw = random.Random(seed)
    cumulated = list(itertools.accumulate(kind.with_gain(gain) if gain else kind.chances))
    better = undecided = outside = boards = 0
    for _ in range(runs):
        result = played(x for _ in itertools.count() for x in draw.choices(kind.values, cum_weights=cumulated, k=100))
        final = result.result()
        better += final.verdict is Verdict.BETTER
        undecided += final.verdict is Verdict.UNDECIDED
        outside += not final.interval[0] <= gain <= final.interval[1]
        boards += final.boards
    return Rates(better, undecided, outside, boards / runs)


def most_of(runs: int, chance: float, doubt: float = 1e-4) -> int:
    """The count that `runs` trials of this chance exceed with a probability of at most `doubt`."""
    tail, count = 1.0, -1
    while tail > doubt:
        count += 1
        tail -= math.comb(runs, count) * chance**count * (1 - chance) ** (runs - count)
    return count


@pytest.mark.full
@pytest.mark.parametrize("name", ["four seats, broad", "all or nothing, 10 % differ", "hardly ever different"])
def test_error_rates_in_a_few_runs(name: str) -> None:
    kind, runs = KINDS[name], 200
    # The design promises 0.025 on either side; a count above this has a chance of 1 in 10,000 if it keeps to it.
    most = most_of(runs, 0.025)
    assert most <= 15
    same = simulate(kind, 0, runs, seed=11)
    assert same.better <= most
    gained = simulate(kind, kind.gain_looked_for, runs, seed=12)
    assert runs - gained.better <= most
    assert max(same.gain_outside_interval, gained.gain_outside_interval) <= most_of(runs, 0.05)
    # Wald 1945: about 2 ln(40) / 0.1^2 boards, the bound divided by the drift a board.
    assert max(same.mean_boards, gained.mean_boards) < 1.3 * 738


def test_a_greater_gain_than_looked_for_takes_fewer_boards() -> None:
    kind = KINDS["four seats, broad"]
    looked_for, triple = (simulate(kind, times * kind.gain_looked_for, 30, seed=13) for times in (1, 3))
    assert triple.better == 30
    assert triple.mean_boards < looked_for.mean_boards / 3


@pytest.mark.soak
@pytest.mark.parametrize("name", KINDS)
def test_error_rates_in_a_thousand_runs(name: str) -> None:
    kind, runs = KINDS[name], 1000
    same = simulate(kind, 0, runs, seed=21)
    gained = simulate(kind, kind.gain_looked_for, runs, seed=22)
    assert same.better <= 50
    assert runs - gained.better <= 50  # an undecided run is a miss too
    assert same.gain_outside_interval <= 50
    assert gained.gain_outside_interval <= 50
