"""Three faulted rated matches in a row pause a version, once, until that is lifted; in the same transaction."""

import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from cutpurse.leaderboard.errors import NotFound
from cutpurse.leaderboard.results import MatchResult, SeatResult
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import DAWN, LADDER, RATING, prepare, result

NOW = DAWN + timedelta(hours=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "ladder.db") as opened:
        yield opened


@pytest.fixture
def versions(store: Store) -> list[int]:
    return prepare(store)


def faulty(match: str, versions: list[int], faults: list[int], **other: object) -> MatchResult:
    """A match in which seat i had faults[i] faults."""
    seats = tuple(
        SeatResult(version, place, -place, "normal", faults=count)
        for place, (version, count) in enumerate(zip(versions, faults, strict=True), 1)
    )
    return result(match, versions, seats=seats, **other)  # type: ignore[arg-type]  # by name


def void(match: str, versions: list[int], faults: list[int]) -> MatchResult:
    seats = tuple(
        SeatResult(version, None, None, "void_server", faults=count)
        for version, count in zip(versions, faults, strict=True)
    )
    return result(match, versions, seats=seats, void_cause="void_server", record=None)


def test_three_in_a_row_pause_and_say_why(store: Store, versions: list[int]) -> None:
    four = versions[:4]
    for number in (1, 2):
        assert store.submit(faulty(f"m{number}", four, [2, 0, 0, 0])).result().paused == ()
    third = faulty("m3", four, [1, 0, 1, 0], finished=NOW)
    told = store.submit(third).result()
    assert told.paused == (four[0],)
    assert store.submit(third).result() == told  # as the first time
    (paused,) = [entry for entry in store.bots() if entry.paused]
    assert (paused.bot, paused.version_id) == ("bot 0", four[0])
    assert paused.paused is not None
    assert (paused.paused.since, paused.paused.lifted) == (NOW, None)
    assert paused.paused.cause == "faults in 3 rated matches in a row: m1, m2, m3"
    assert [(ranking.bot, ranking.is_paused) for ranking in store.rankings(LADDER)] == [
        ("bot 0", True),
        *((f"bot {n}", False) for n in (1, 2, 3)),
    ]


def test_a_good_match_breaks_a_row_and_void_or_asked_for_ones_do_not(store: Store, versions: list[int]) -> None:
    four, bad, good = versions[:4], [1, 0, 0, 0], [0, 0, 0, 0]
    for match in (
        faulty("m1", four, bad),
        faulty("m2", four, bad),
        faulty("m3", four, good),
        faulty("m4", four, bad),
        void("m5", four, bad),
        void("m6", four, good),
        faulty("m7", four, bad, is_rated=False, requested_by="ann"),
        faulty("m8", four, good, is_rated=False, requested_by="ann"),
        faulty("m9", four, bad),
    ):
        assert store.submit(match).result().paused == ()
    assert store.submit(faulty("m10", four, bad)).result().paused == (four[0],)
    assert store.bots(owner="owner 0")[0].paused.cause.endswith("m4, m9, m10")  # type: ignore[union-attr]


def test_it_is_paused_once_and_after_the_pause_a_new_row_begins(store: Store, versions: list[int]) -> None:
    four, bad = versions[:4], [1, 0, 0, 0]
    told = [store.submit(faulty(f"m{number}", four, bad)).result().paused for number in range(7)]
    assert told == [(), (), (four[0],), (), (), (), ()]  # its other tables end, and it is paused already
    pause = store.lift_pause(four[0], NOW)
    assert (pause.version_id, pause.lifted) == (four[0], NOW)
    assert pause.cause.endswith("m0, m1, m2")
    assert not any(entry.paused for entry in store.bots())
    told = [store.submit(faulty(f"n{number}", four, bad)).result().paused for number in range(4)]
    assert told == [(), (), (four[0],), ()]
    with pytest.raises(NotFound, match=f"version {four[1]} is not paused"):
        store.lift_pause(four[1], NOW)
    store.lift_pause(four[0], NOW)
    with pytest.raises(NotFound, match="is not paused"):
        store.lift_pause(four[0], NOW)


def test_matches_of_all_ladders_count_and_other_versions_do_not(store: Store, versions: list[int]) -> None:
    store.ensure_ladder("two", game="szmal", seats=2, rating=RATING)
    newer = store.ensure_version("owner 0", "bot 0", "2.0")
    assert store.submit(faulty("m1", versions[:2], [1, 0], ladder="two")).result().paused == ()
    assert store.submit(faulty("m2", versions[:4], [1, 0, 0, 0])).result().paused == ()
    assert store.submit(faulty("m3", [newer, *versions[1:4]], [1, 0, 0, 0])).result().paused == ()
    assert store.submit(faulty("m4", versions[:2], [1, 0], ladder="two")).result().paused == (versions[0],)


def test_the_rule_holds_however_results_are_gathered(store: Store, versions: list[int]) -> None:
    rng = random.Random(3)
    matches = []
    for number in range(300):
        seated = rng.sample(versions, 4)
        faults = [int(rng.random() < 0.45) for _ in seated]
        one = void(f"m{number}", seated, faults) if rng.random() < 0.1 else faulty(f"m{number}", seated, faults)
        matches.append(one)
    rows: dict[int, int] = {}
    paused: set[int] = set()
    expected = []
    for one in matches:
        here = []
        for seat in one.seats:
            if one.void or seat.version in paused:
                continue
            rows[seat.version] = rows.get(seat.version, 0) + 1 if seat.faults else 0
            if rows[seat.version] == 3:
                here.append(seat.version)
                paused.add(seat.version)
        expected.append(tuple(here))
    told = []
    at = 0
    while at < len(matches):  # in transactions of all sizes
        step = rng.choice((1, 2, 5, 40))
        told += [future.result().paused for future in [store.submit(one) for one in matches[at : at + step]]]
        at += step
    assert told == expected
    assert 5 < len(paused) <= len(versions)
    assert {entry.version_id for entry in store.bots() if entry.paused} == paused
