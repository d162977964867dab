"""Which bots have a place, and in which order a ranking lists those that have none yet."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from random import Random

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates
from cutpurse.leaderboard.estimates.skill_fit import estimate
from cutpurse.leaderboard.placing import ENOUGH_BOARDS, MAX_WIDTH, MIN_BOARDS, is_placed, is_provisional
from cutpurse.leaderboard.queries import Ranking
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import LADDER, RATING, add_version, prepare, result

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def play(
    store: Store, seated: list[Identity], matches: int, numbers: Iterator[int], is_best: Identity | None = None
) -> None:
    """Play matches of four of these versions in random order; `is_best` wins each in which it sits."""
    for number in [next(numbers) for _ in range(matches)]:
        order = Random(number).sample(seated, 4)
        if is_best is not None and is_best in order:
            order.remove(is_best)
            order.insert(0, is_best)
        store.submit(result(f"match {number}", order)).result()


def estimate_now(store: Store) -> None:
    store.write(put_estimates, store.run(ladder_results, LADDER).estimates(), NOW)


def test_a_newcomer_after_three_won_matches_stands_below_the_placed_bots(store: Store) -> None:
    versions, numbers = prepare(store), count()
    play(store, versions[:4], 40, numbers)
    newcomer = add_version(store, "owner 9", "newcomer", "1.0")
    play(store, [newcomer, *versions[:3]], 3, numbers, is_best=newcomer)
    estimate_now(store)
    for every_version in (False, True):
        rows = store.run(queries.rankings, LADDER, every_version)
        *placed, last = rows
        assert [row.place for row in placed] == [1, 2, 3, 4]
        assert (last.bot, last.place, last.best, last.worst, last.estimated) == ("newcomer", 0, 0, 0, 43)
        assert last.is_provisional
        assert last.rating is not None
        assert last.rating > max(row.rating or 0.0 for row in placed)  # by its provisional rating it would lead
        assert last.low < last.rating < last.high
    play(store, [newcomer, *versions[:3]], 30, numbers, is_best=newcomer)
    estimate_now(store)
    first = store.run(queries.rankings, LADDER)[0]
    assert (first.bot, first.place, first.best) == ("newcomer", 1, 1)


def test_ranges_of_places_count_the_placed_bots_alone(store: Store) -> None:
    versions, numbers = prepare(store), count()
    play(store, versions[:4], 40, numbers)
    for name in ("new a", "new b", "new c"):
        newcomer = add_version(store, "owner 9", name, "1.0")
        play(store, [newcomer, *versions[:3]], 3, numbers, is_best=newcomer)
    estimate_now(store)
    rows = store.run(queries.rankings, LADDER)
    assert [row.place for row in rows] == [1, 2, 3, 4, 0, 0, 0]
    assert all(row.best <= row.place <= row.worst <= 4 for row in rows)


def test_a_ranking_is_sorted_by_what_it_shows(store: Store) -> None:
    versions, numbers = prepare(store), count()
    play(store, versions[:6], 60, numbers)
    for name in ("new a", "new b"):
        newcomer = add_version(store, "owner 9", name, "1.0")
        play(store, [newcomer, *versions[:3]], 2, numbers)
    estimate_now(store)
    play(store, versions[8:12], 2, numbers)
    play(store, versions[7:11], 1, numbers)
    rows = store.run(queries.rankings, LADDER)
    groups = [[row for row in rows if _group(row) == group] for group in range(3)]
    assert [len(group) for group in groups] == [6, 2, 5]
    assert rows == [row for group in groups for row in group]
    for group in groups[:2]:
        assert [row.rating for row in group] == sorted((row.rating or 0.0 for row in group), reverse=True)
    assert [row.matches for row in groups[2]] == [3, 3, 3, 2, 1]


def _group(row: Ranking) -> int:
    return 0 if row.is_placed else 1 if row.rating is not None else 2


def test_a_placed_bot_stays_placed_while_only_others_play(store: Store) -> None:
    versions, numbers = prepare(store), count()
    student = versions[4]
    play(store, versions[:4], 20, numbers)
    play(store, [student, *versions[:3]], 12, numbers, is_best=student)
    for boards in (0, 100):
        play(store, versions[:4], boards, numbers)
        estimate_now(store)
        row = store.run(queries.rankings, LADDER)[0]
        assert (Identity(row.owner, row.bot, row.version), row.matches) == (student, 12)
        assert row.high - row.low > MAX_WIDTH * RATING.beta  # which once cost it its place
        assert (row.place, row.best, row.is_provisional) == (1, 1, True)
    assert [other.is_provisional for other in store.run(queries.rankings, LADDER)[1:]] == [False] * 4


@pytest.mark.parametrize(
    ("width", "boards", "provisional"),
    [
        (0.1, MIN_BOARDS, False),
        (MAX_WIDTH, MIN_BOARDS, False),
        (MAX_WIDTH + 0.01, MIN_BOARDS, True),
        (9.0, ENOUGH_BOARDS - 1, True),
        (9.0, ENOUGH_BOARDS, False),
    ],
)
def test_a_place_takes_boards_and_is_provisional_while_the_interval_is_wide(
    width: float, boards: int, provisional: bool
) -> None:
    assert (is_placed(MIN_BOARDS - 1), is_placed(boards)) == (False, True)
    for beta in (1.0, 4.0, 16.0):
        assert is_provisional(20.0, 20.0 + width * beta, beta, boards) == provisional


def test_a_bot_that_always_wins_is_placed_though_its_interval_stays_wide() -> None:
    chance = Random("always")
    results = [((9, *chance.sample(range(3), 3)), (1, 2, 3, 4)) for _ in range(200)]
    found = estimate(results, TrueSkill(draw_probability=0.02))
    champion = found[9]
    assert champion.high - champion.low > MAX_WIDTH * RATING.beta
    assert (champion.best, champion.worst) == (1, 1)
