"""The ratings that versions had, for charts: one point for each estimate, thinned out, gone with another beta."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import NoSuchEntry
from cutpurse.leaderboard.estimates import history
from cutpurse.leaderboard.estimates.history import rating_points
from cutpurse.leaderboard.estimates.result_matrix import LadderEstimates, ladder_results, put_estimates
from cutpurse.leaderboard.ladders import NewLadder, delete_ladder, ensure_ladder, open_epoch
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import LADDER, RATING, add_version, prepare, result

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def estimate_now(store: Store) -> LadderEstimates:
    found = store.run(ladder_results, LADDER).estimates()
    store.write(put_estimates, found, NOW)
    return found


def test_each_estimate_is_a_point_of_the_versions_that_have_played_since(store: Store) -> None:
    versions = prepare(store)
    found = []
    for number in range(4):
        seated = versions[:4] if number != 2 else versions[1:5]
        store.submit(result(f"m{number}", seated)).result()
        found.append(estimate_now(store))
    points = store.run(rating_points, LADDER, "owner 1", "bot 1")
    assert [point.sequence for point in points] == [4, 3, 2, 1]
    assert [point[2:] for point in points] == [one.found[2][:3] for one in reversed(found)]
    assert [point.sequence for point in store.run(rating_points, LADDER, "owner 0", "bot 0")] == [4, 2, 1]
    newest = store.run(rating_points, LADDER, "owner 4", "bot 4")
    assert [point.sequence for point in newest] == [4, 3]  # the last is what its rating is now
    assert newest[0].rating == next(row.rating for row in store.run(queries.rankings, LADDER) if row.bot == "bot 4")
    assert store.run(rating_points, LADDER, "owner 1", "bot 1", limit=2) == points[:2]
    assert store.run(rating_points, LADDER, "owner 0", "bot 5") == []
    with pytest.raises(NoSuchEntry):
        store.run(rating_points, LADDER, "owner 1", "nobody")
    assert all(check.equal for check in recompute(store))


def test_versions_of_a_bot_are_told_together_or_alone(store: Store) -> None:
    versions = prepare(store)
    store.submit(result("m0", versions[:4])).result()
    estimate_now(store)
    newer = add_version(store, "owner 0", "bot 0", "2.0")
    store.submit(result("m1", [newer, *versions[1:4]])).result()
    estimate_now(store)
    both = store.run(rating_points, LADDER, "owner 0", "bot 0")
    assert [(point.sequence, point.version) for point in both] == [(2, "2.0"), (2, "1.0"), (1, "1.0")]
    assert store.run(rating_points, LADDER, "owner 0", "bot 0", "2.0") == both[:1]


def test_old_points_are_thinned_out_and_the_newest_stays(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_POINTS", 8)
    versions = prepare(store)
    for number in range(1, 30):
        store.submit(result(f"m{number}", versions[:4])).result()
        estimate_now(store)
        points = [point.sequence for point in store.run(rating_points, LADDER, "owner 1", "bot 1")]
        assert len(points) <= 8
        assert points[0] == number
        assert points == sorted(set(points), reverse=True)
    assert min(points) < 10


def test_points_go_with_another_beta_and_with_the_ladder(store: Store) -> None:
    versions = prepare(store)
    store.submit(result("m0", versions[:4])).result()
    estimate_now(store)
    store.write(open_epoch, LADDER, replace(RATING, tau=2 * RATING.tau))
    assert len(store.run(rating_points, LADDER, "owner 0", "bot 0")) == 1
    store.write(open_epoch, LADDER, replace(RATING, beta=2 * RATING.beta))
    assert store.run(rating_points, LADDER, "owner 0", "bot 0") == []
    store.write(ensure_ladder, NewLadder("unused", "greed", 4, RATING))
    store.write(delete_ladder, "unused")
    assert "unused" not in [ladder.name for ladder in store.run(queries.ladders)]
