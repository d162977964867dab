"""Estimates in the database: from a ledger into a line, from a line into rows, and what a ranking makes of them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.backup import back_up, restore
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.estimates.anchor import anchored
from cutpurse.leaderboard.estimates.estimated import Estimated
from cutpurse.leaderboard.estimates.result_matrix import LadderEstimates, grown, ladder_results, put_estimates
from cutpurse.leaderboard.estimates.skill_fit import estimate
from cutpurse.leaderboard.ladders import open_epoch
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.queries import ladder_history
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import (
    LADDER,
    PLAYERS,
    RATING,
    add_version,
    player_of,
    prepare,
    random_result,
    result,
)

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def league(database: str) -> str:
    """Sixty results, some of them void."""
    with Store(database) as store:
        versions = prepare(store)
        for future in [store.submit(random_result(number, versions)) for number in range(60)]:
            future.result()
    return database


def estimated(league: str) -> LadderEstimates:
    with LeaderboardReader(league) as reader:
        return reader.run(ladder_results, LADDER).estimates()


# -- what is found
def test_they_are_those_of_the_results_that_were_rated(league: str) -> None:
    found = estimated(league)
    with LeaderboardReader(league) as reader, reader.reading() as connection:
        results = [(step.versions, step.places) for step in ladder_history(connection, LADDER)]
        rows = reader.run(queries.rankings, LADDER)
    assert found.boards == len(results) < 60
    middle = sum(row.pairing_skill.mu * row.matches for row in rows) / sum(row.matches for row in rows)
    wanted = estimate(results, RATING, middle=middle)
    assert {version: tuple(its) for version, its in found.found.items()} == {
        version: pytest.approx(tuple(its)) for version, its in wanted.items()
    }
    assert sum(found.found[row.version_id].mu * row.matches for row in rows) == pytest.approx(
        middle * sum(row.matches for row in rows)
    )


def test_the_house_bot_greedy_has_the_rating_of_a_newcomer_in_all_its_versions(league: str) -> None:
    before = estimated(league).found
    with Store(league) as store:
        greedy = [add_version(store, "house", "greedy", version) for version in ("0.2.0", "0.3.0")]
        others = [player_of(row) for row in store.run(queries.rankings, LADDER)][:9]
        for number in range(30):
            seats = [greedy[number % 3 == 0], *others[number % 6 : number % 6 + 3]]
            store.submit(result(f"anchor {number}", seats)).result()
        ids = [store.write(ensure_version, *version) for version in greedy]
    after = estimated(league).found
    assert (20 * after[ids[0]].mu + 10 * after[ids[1]].mu) / 30 == pytest.approx(RATING.mu)
    assert before.keys() < after.keys()


def test_the_anchor_moves_every_rating_alike() -> None:
    found = {version: Estimated(mu, mu - 2, mu + 2, 1, 3) for version, mu in ((1, 20.0), (2, 31.0), (3, 28.0))}
    results = [((1, 2), (1, 2)), ((2, 3), (1, 2)), ((3, 2), (1, 2))]
    moved = anchored(found, results, {2, 3}, 25.0)
    shift = 25 - (3 * 31 + 2 * 28) / 5
    assert {version: tuple(one) for version, one in moved.items()} == {
        version: pytest.approx((one.mu + shift, one.low + shift, one.high + shift, 1, 3))
        for version, one in found.items()
    }
    assert anchored(found, results, set(), 25.0) == anchored(found, results, {9}, 25.0) == found


def test_a_new_version_is_ranked_and_the_one_before_it_is_not(league: str) -> None:
    with Store(league) as store:
        new = add_version(store, "owner 3", "bot 3", "2.0")
        others = [
            player_of(row) for row in store.run(queries.rankings, LADDER) if row.bot in ("bot 4", "bot 5", "bot 6")
        ]
        store.submit(result("new", [new, *others])).result()
        new_id = store.write(ensure_version, *new)
        old = next(
            row.version_id for row in store.run(queries.rankings, LADDER, every_version=True) if row.version == "1.0"
        )
    found = estimated(league).found
    assert (found[4].best, found[4].worst) == (0, 0)
    assert (found[new_id].best, found[new_id].worst) == (0, 0)  # it is not placed yet
    assert 1 <= found[1].best <= found[1].worst <= 11
    assert abs(found[new_id].mu - found[4].mu) < abs(found[new_id].high - found[new_id].low)
    assert old != new_id


def test_a_ladder_without_results_has_none(database: str) -> None:
    with Store(database) as store:
        prepare(store)
        assert store.run(ladder_results, LADDER).estimates() == LadderEstimates(LADDER, 0, {})
        store.write(put_estimates, store.run(ladder_results, LADDER).estimates(), NOW)
        with pytest.raises(NoSuchEntry, match="no ladder 'nowhere'"):
            store.run(ladder_results, "nowhere").estimates()


# -- as a line
def test_a_line_comes_back_to_the_bit(league: str) -> None:
    found = estimated(league)
    assert "\n" not in found.to_json()
    assert LadderEstimates.from_json(found.to_json()) == found


GOOD = {"ladder": "l", "boards": 3, "estimates": [[1, 2.0, 1.0, 3.0, 1, 2]]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Traceback (most recent call last):",
        "[" * 100_000,
        "[]",
        "{}",
        json.dumps({**GOOD, "more": 1}),
        json.dumps({**GOOD, "boards": -1}),
        json.dumps({**GOOD, "boards": True}),
        json.dumps({**GOOD, "ladder": None}),
        json.dumps({**GOOD, "estimates": {}}),
        json.dumps({**GOOD, "estimates": [[1, 2.0, 1.0, 3.0, 1]]}),
        json.dumps({**GOOD, "estimates": [[1, "2", 1.0, 3.0, 1, 2]]}),
        json.dumps({**GOOD, "estimates": [[1, float("nan"), 1.0, 3.0, 1, 2]]}),
        json.dumps({**GOOD, "estimates": [[1, 2.0, 1.0, float("inf"), 1, 2]]}),
        json.dumps({**GOOD, "estimates": [[1, 10**400, 1.0, 3.0, 1, 2]]}),
        json.dumps({**GOOD, "estimates": [[1, 9.0, 1.0, 3.0, 1, 2]]}),
        json.dumps({**GOOD, "estimates": [[1, 2.0, 1.0, 3.0, 2, 1]]}),
        json.dumps({**GOOD, "estimates": [[1, 2.0, 1.0, 3.0, 0, 1]]}),
        json.dumps({**GOOD, "estimates": [[1, 2.0, 1.0, 3.0, 1, 10**30]]}),
        json.dumps({**GOOD, "estimates": [[1.5, 2.0, 1.0, 3.0, 1, 2]]}),
        json.dumps({**GOOD, "estimates": [[1, 2.0, 1.0, 3.0, 1, 2]] * 2}),
    ],
)
def test_what_is_no_estimates_is_no_estimates(text: str) -> None:
    assert LadderEstimates.from_json(json.dumps(GOOD)).found == {1: Estimated(2.0, 1.0, 3.0, 1, 2)}
    with pytest.raises(ValueError, match=r"."):
        LadderEstimates.from_json(text)


# -- in the database
def test_a_ranking_has_them_and_its_order_is_theirs(league: str) -> None:
    found = estimated(league)
    with Store(league) as store:
        before = store.run(queries.rankings, LADDER)
        assert {(row.place, row.rating, row.low, row.high, row.best, row.worst, row.estimated) for row in before} == {
            (0, None, 0.0, 0.0, 0, 0, 0)
        }
        assert [row.matches for row in before] == sorted((row.matches for row in before), reverse=True)
        store.write(put_estimates, found, NOW)
        rows = store.run(queries.rankings, LADDER)
        every = store.run(queries.rankings, LADDER, every_version=True)
    for row in rows:
        its = found.found[row.version_id]
        assert (row.rating, row.low, row.high, row.best, row.worst) == its
        assert row.estimated == found.boards
        assert row.best <= row.place <= row.worst
    assert [row.version_id for row in rows] == sorted(found.found, key=lambda version: -found.found[version].mu)
    assert {row.pairing_skill for row in rows} == {row.pairing_skill for row in before}
    assert {(row.best, row.worst, row.estimated) for row in every} == {(0, 0, found.boards)}


def test_a_ladder_that_went_on_shows_its_last_estimate_and_newcomers_without_a_rating(league: str) -> None:
    found = estimated(league)
    with Store(league) as store:
        store.write(put_estimates, found, NOW)
        new = add_version(store, "owner 9", "stranger", "1.0")
        store.submit(result("later", [new, *PLAYERS[:3]])).result()
        rows = store.run(queries.rankings, LADDER)
        assert [(entry.ladder, entry.boards, entry.estimated) for entry in store.run(grown)] == [
            (LADDER, found.boards + 1, found.boards)
        ]
    *others, last = rows
    assert (last.bot, last.place, last.rating, last.best, last.estimated) == ("stranger", 0, None, 0, 0)
    assert {row.estimated for row in others} == {found.boards}


def test_they_are_put_all_at_once_instead_of_the_old_or_not_at_all(league: str) -> None:
    found = estimated(league)
    with Store(league) as store:
        store.write(put_estimates, found, NOW)
        more = {**found.found, 999: Estimated(25.0, 24.0, 26.0, 1, 1)}
        for wrong, why in (
            (replace(found, found=more), "version 999, which it never rated"),
            (replace(found, boards=found.boards + 1), "it has"),
            (replace(found, boards=found.boards - 1), "some from"),
        ):
            with pytest.raises(InvalidEntry, match=why):
                store.write(put_estimates, wrong, NOW)
        with pytest.raises(NoSuchEntry):
            store.write(put_estimates, replace(found, ladder="nowhere"), NOW)
        assert {row.estimated for row in store.run(queries.rankings, LADDER)} == {found.boards}
        some = dict(list(found.found.items())[:3])
        store.write(put_estimates, replace(found, found=some), NOW)
        assert sorted(row.version_id for row in store.run(queries.rankings, LADDER) if row.estimated) == sorted(some)


def test_nothing_else_hangs_on_them(league: str) -> None:
    with Store(league) as store:
        store.write(put_estimates, estimated(league), NOW)
        store.submit(result("one more", PLAYERS[:4])).result()
        assert all(check.equal for check in recompute(store))


def test_a_backup_has_them(tmp_path: Path) -> None:
    path = tmp_path / "league.db"
    with Store(path) as store:
        prepare(store)
        for number in range(20):
            store.submit(random_result(number, PLAYERS[:4])).result()
        store.write(put_estimates, estimated(str(path)), NOW)
    back_up(path, tmp_path / "copy.db")
    restore(tmp_path / "copy.db", tmp_path / "again.db")
    with LeaderboardReader(path) as one, LeaderboardReader(tmp_path / "again.db") as other:
        assert one.run(queries.rankings, LADDER) == other.run(queries.rankings, LADDER)
        assert any(row.estimated for row in other.run(queries.rankings, LADDER))


def test_another_beta_is_another_unit_so_they_go(league: str) -> None:
    with Store(league) as store:
        store.write(put_estimates, estimated(league), NOW)
        store.write(open_epoch, LADDER, replace(RATING, tau=2 * RATING.tau))
        assert all(row.estimated for row in store.run(queries.rankings, LADDER))
        store.write(open_epoch, LADDER, replace(RATING, beta=2 * RATING.beta))
        assert not any(row.estimated for row in store.run(queries.rankings, LADDER))
