"""Boards of several matches: what is rated on one, once, by whom it is played, and what is told before it is over."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.comparisons import Comparison, comparisons_of, half_points, why_incompatible
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.ratings import rate
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.results import FinishedMatch, FinishedSeat, Identity, StoreOutcome
from cutpurse.leaderboard.store import Store
from tests.leaderboard.databases import change_by_hand
from tests.leaderboard.sample_results import DAWN, DEAL, RATING, places_of
from tests.leaderboard.test_announced import announcement

SEATS = 3


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store(database) as made:
        for kind in ("plain", "rotation", "duplicate"):
            made.write(ensure_ladder, NewLadder(kind, "greed", SEATS, RATING, boards=kind))
        for version in range(1, 13):
            made.write(ensure_version, *player(version))
        yield made


def player(version: int) -> Identity:
    """The version with this ID."""
    return Identity(f"owner {version - 1}", f"bot {version - 1}", "1")


def of_board(
    kind: str,
    board: str,
    table: int,
    versions: list[int],
    places: list[int] | None,
    matches: int,
    **other: object,
) -> FinishedMatch:
    """A match of a board; places None: it is void."""
    is_void = places is None
    seats = tuple(
        FinishedSeat(
            player(version),
            None if places is None else places[seat],
            None if places is None else -places[seat],
            "void_server" if is_void else "normal",
        )
        for seat, version in enumerate(versions)
    )
    fields: dict[str, object] = {"seats": seats, "void_cause": "void_server" if is_void else None, **other}
    return FinishedMatch(
        f"{board}/{table}",
        kind,
        "1",
        DEAL._replace(board=board),
        DAWN,
        DAWN,
        9,
        board_matches=matches,
        **fields,  # type: ignore[arg-type]
    )


def rotation(board: str, versions: list[int], all_places: list[list[int] | None]) -> list[FinishedMatch]:
    """Places by match, and in it by seat."""
    return [
        of_board("rotation", board, turn, [*versions[turn:], *versions[:turn]], places, SEATS)
        for turn, places in enumerate(all_places)
    ]


def duplicate(board: str, tables: list[list[int]], all_places: list[list[int] | None]) -> list[FinishedMatch]:
    return [
        of_board("duplicate", board, table, versions, places, len(tables))
        for table, (versions, places) in enumerate(zip(tables, all_places, strict=True))
    ]


def submit(store: Store, *results: FinishedMatch) -> list[StoreOutcome]:
    return [future.result() for future in [store.submit(result) for result in results]]


def check_whole(store: Store) -> None:
    checks = recompute(store)
    assert [check.differences for check in checks] == [()] * len(checks)


# -- what is compared
def test_place_points_are_whom_one_is_ahead_of() -> None:
    assert half_points([1, 2, 3, 4]) == [6, 4, 2, 0]
    assert half_points([1, 1, 3, 4]) == [5, 5, 2, 0]
    assert half_points([1, 2, 2, 2]) == [6, 2, 2, 2]
    assert half_points([1, 1]) == [1, 1]


def test_a_rotation_is_ranked_by_the_sum_of_its_points() -> None:
    seats = [(5, 6, 7), (6, 7, 5), (7, 5, 6)]
    places = [(1, 2, 3), (1, 2, 3), (1, 2, 2)]  # of 5: 4 0 1, of 6: 2 4 1, of 7: 0 2 4
    matches = [Comparison(sat, at, (0, 0, 1)) for sat, at in zip(seats, places, strict=True)]
    (field,) = comparisons_of("rotation", matches)
    assert field == Comparison((5, 6, 7), (3, 1, 2), (1, 1, 1))


def test_a_duplicate_compares_those_who_held_the_same_seat() -> None:
    matches = [
        Comparison((1, 2, 3), (1, 2, 3), (0, 0, 0)),
        Comparison((4, 5, 6), (2, 1, 3), (0, 2, 0)),
        Comparison((7, 8, 9), (1, 2, 2), (0, 0, 0)),
    ]
    assert comparisons_of("duplicate", matches) == [
        Comparison((1, 4, 7), (1, 3, 1), (0, 0, 0)),
        Comparison((2, 5, 8), (2, 1, 3), (0, 2, 0)),
        Comparison((3, 6, 9), (2, 2, 1), (0, 0, 0)),
    ]


def test_what_does_not_fit_a_board() -> None:
    assert why_incompatible("plain", 1, (1, 2), [(1, 2)]) is None
    assert "have one" in str(why_incompatible("plain", 2, (1, 2), []))
    assert "as many" in str(why_incompatible("rotation", 3, (1, 2), []))
    assert why_incompatible("rotation", 2, (1, 2), [(2, 1)]) is None
    assert "others sit" in str(why_incompatible("rotation", 2, (1, 3), [(2, 1)]))
    assert "the same seat" in str(why_incompatible("rotation", 2, (2, 1), [(2, 1)]))
    assert why_incompatible("duplicate", 3, (1, 2), [(3, 4), (5, 6)]) is None
    assert "has seen its cards" in str(why_incompatible("duplicate", 3, (1, 2), [(3, 4), (5, 1)]))


# -- what is rated
@pytest.mark.parametrize("is_announced", [True, False])
def test_a_rotation_is_rated_once_by_its_last_match(store: Store, is_announced: bool) -> None:
    results = rotation("r", [1, 2, 3], [[1, 2, 3], [1, 2, 3], [1, 2, 2]])
    if is_announced:
        for result in results:
            store.announce(announcement(result)).result()
    first, second, last = submit(store, *results[:1]) + submit(store, *results[1:2]) + submit(store, *results[2:])
    assert [(one.sequence, one.changes) for one in (first, second)] == [(None, ()), (None, ())]
    assert last.sequence == 1
    assert [change.after for change in last.changes] == rate([3, 1, 2], [RATING.newcomer] * 3, RATING)
    assert [(r.bot, r.matches, r.wins, r.form) for r in store.run(queries.rankings, "rotation")] == [
        ("bot 0", 1, 0, (3,)),
        ("bot 1", 1, 1, (1,)),
        ("bot 2", 1, 0, (2,)),
    ]
    check_whole(store)
    assert submit(store, *results) == [first, second, last]  # again: the same answers, and nothing more
    check_whole(store)
    assert store.run(queries.ladders)[2].matches == 1


def test_a_duplicate_is_rated_seat_by_seat(store: Store) -> None:
    results = duplicate("d", [[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [2, 1, 3]])
    answers = submit(store, *results)
    assert [one.sequence for one in answers] == [None, 1]
    after = {change.player: change.after for change in answers[1].changes}
    for seat, places in enumerate([[1, 2], [2, 1], [1, 1]]):
        expected = rate(places, [RATING.newcomer] * 2, RATING)
        assert [after[player(1 + seat)], after[player(4 + seat)]] == expected
    assert {(one.owner, one.matches) for one in store.run(queries.opponents, "duplicate", "owner 0", "bot 0")} == {
        ("owner 3", 1)
    }
    check_whole(store)
    assert submit(store, *results) == answers


def test_a_match_at_a_time_or_all_in_one_transaction_is_the_same(
    store: Store, new_database: Callable[[str], str]
) -> None:
    rng = random.Random(5)
    results: list[FinishedMatch] = []
    for number in range(60):
        kind = rng.choice(["plain", "rotation", "duplicate"])
        drawn = rng.sample(range(1, 13), SEATS * (rng.choice([2, 3, 4]) if kind == "duplicate" else 1))
        tables = [drawn[at : at + SEATS] for at in range(0, len(drawn), SEATS)]
        if kind == "rotation":
            tables = [[*drawn[turn:], *drawn[:turn]] for turn in range(SEATS)]
        for at, versions in enumerate(tables):
            places = places_of([rng.randint(0, 4) for _ in versions]) if rng.random() > 0.05 else None
            results.append(of_board(kind, f"b{number}", at, versions, places, len(tables)))
    for result in results:
        store.submit(result).result()
    check_whole(store)
    with Store(new_database("other")) as other:
        for kind in ("plain", "rotation", "duplicate"):
            other.write(ensure_ladder, NewLadder(kind, "greed", SEATS, RATING, boards=kind))
        for version in range(1, 13):
            other.write(ensure_version, *player(version))
        for result in results:
            other.announce(announcement(result))
        submit(other, *results)
        check_whole(other)
        for kind in ("plain", "rotation", "duplicate"):
            assert other.run(queries.rankings, kind) == store.run(queries.rankings, kind)
            assert len(store.run(queries.rankings, kind)) == 12


# -- what rates nothing
@pytest.mark.parametrize("void", [0, 1, 2])
def test_a_void_match_voids_its_board(store: Store, void: int) -> None:
    places: list[list[int] | None] = [[1, 2, 3], [1, 2, 3], [1, 2, 3]]
    places[void] = None
    answers = submit(store, *rotation("r", [1, 2, 3], places))
    assert [(one.sequence, one.changes) for one in answers] == [(None, ())] * 3
    assert store.run(queries.rankings, "rotation") == []
    entry = store.run(queries.match, f"r/{(void + 1) % 3}")
    assert (entry.sequence, entry.void_cause, entry.is_sealed) == (None, None, False)
    assert len(entry.board_matches) == entry.board_size == 3
    check_whole(store)
    assert submit(store, *rotation("s", [1, 2, 3], [[1, 2, 3]] * 3))[2].sequence == 1


def test_a_server_that_was_killed_leaves_a_board_that_rates_nothing(store: Store) -> None:
    tables = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    killed = duplicate("d", tables, [[1, 2, 3]] * 3)
    for result in killed[:2]:  # of the third nothing was written
        store.announce(announcement(result)).result()
    submit(store, killed[0])
    assert store.run(queries.match, "d/0").is_sealed
    assert store.void_unfinished(datetime(2026, 12, 1, tzinfo=UTC)) == ["d/1"]
    entry = store.run(queries.match, "d/0")
    assert (entry.sequence, entry.is_sealed) == (None, False)
    assert (entry.board_matches, entry.board_size) == (("d/0", "d/1"), 3)
    check_whole(store)
    assert store.void_unfinished(datetime(2026, 12, 1, tzinfo=UTC)) == []


# -- what does not fit
def test_what_does_not_fit_is_refused(store: Store) -> None:
    good = duplicate("d", [[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [1, 2, 3]])
    submit(store, good[0])
    wrong = {
        "has seen its cards": of_board("duplicate", "d", 1, [3, 5, 6], [1, 2, 3], 2),
        "another number of matches": of_board("duplicate", "d", 1, [4, 5, 6], [1, 2, 3], 3),
        "another ladder": of_board("rotation", "d", 1, [4, 5, 6], [1, 2, 3], 2),
        "boards of its ladder have one": of_board("plain", "p", 0, [4, 5, 6], [1, 2, 3], 2),
        "has as many": of_board("rotation", "r", 0, [4, 5, 6], [1, 2, 3], 2),
    }
    for why, result in wrong.items():
        with pytest.raises(InvalidEntry, match=why):
            store.submit(result).result()
    submit(store, good[1])
    with pytest.raises(InvalidEntry, match="board d has its 2 matches already, d/0, d/1"):
        store.submit(of_board("duplicate", "d", 2, [7, 8, 9], [1, 2, 3], 2)).result()
    with pytest.raises(InvalidEntry, match="its board has one match, or two of a test, not 3"):
        store.submit(of_board("duplicate", "e", 0, [1, 2, 3], [1, 2, 3], 3, is_rated=False)).result()
    with pytest.raises(InvalidEntry, match="1 to 255 can be"):
        store.submit(of_board("duplicate", "e", 0, [1, 2, 3], [1, 2, 3], 0)).result()
    with pytest.raises(InvalidEntry, match="there are: plain, rotation, duplicate"):
        store.write(ensure_ladder, NewLadder("odd", "greed", 2, RATING, boards="round"))
    with pytest.raises(InvalidEntry, match="has boards rotation, not plain"):
        store.write(ensure_ladder, NewLadder("rotation", "greed", SEATS, RATING))


# -- what is told
def test_of_a_board_that_is_not_over_nothing_is_listed(store: Store) -> None:
    results = duplicate("d", [[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [1, 2, 3]])
    submit(store, of_board("duplicate", "p", 0, [1, 2, 3], [1, 2, 3], 1), results[0])
    assert store.run(queries.match, "d/0").is_sealed
    assert [entry.match for entry in store.run(queries.matches, limit=1)] == ["p/0"]
    assert [entry.match for entry in store.run(queries.matches, "duplicate", "owner 0", "bot 0")] == ["p/0"]
    assert [log.match.match for log in store.run(queries.logs, "owner 0", "bot 0", limit=1)] == ["p/0"]
    assert store.run(queries.logs, "owner 0", "bot 0", match="d/0") == []
    submit(store, results[1])
    entries = store.run(queries.matches, "duplicate")
    assert [entry.match for entry in entries] == ["d/1", "d/0", "p/0"]
    assert [entry.board_kind for entry in entries] == ["duplicate", "duplicate", "plain"]
    assert [entry.board_matches for entry in entries] == [("d/0", "d/1"), ("d/0", "d/1"), ("p/0",)]
    assert not any(entry.is_sealed for entry in entries)


# -- a ledger that was changed is found
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE matches SET void_cause = 'void_server' WHERE id = 'd/0'",
        "UPDATE seats SET place = 1 WHERE match_number = 1 AND seat = 2",
        "DELETE FROM rating_changes WHERE version_id = 5",
        "UPDATE boards SET matches = 3 WHERE id = 'd'",
    ],
)
def test_a_board_that_was_changed_is_found(store: Store, database: str, change: str) -> None:
    submit(store, *duplicate("d", [[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [2, 1, 3]]))
    change_by_hand(database, change)
    assert sum(check.count for check in recompute(store)) > 0


# -- why
def test_a_step_of_a_rotation_is_against_those_who_sat_there_by_the_sum_of_points(store: Store) -> None:
    results = rotation("b", [1, 2, 3], [[1, 2, 3], [1, 2, 3], [1, 2, 3]])
    submit(store, *results)
    (step,) = store.run(queries.history, "rotation", "owner 1", "bot 1")
    assert step.matches == tuple(result.match for result in results)
    assert step.match == results[-1].match
    assert {(one.bot, one.outcome) for one in step.opponents} == {("bot 0", 0), ("bot 2", 0)}
    assert step.place == 1
    assert [one.likely for one in step.opponents] == pytest.approx([0.5, 0.5])


def test_a_step_of_a_duplicate_is_against_those_who_held_the_seat(store: Store) -> None:
    results = duplicate("b", [[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [3, 2, 1]])
    submit(store, *results)
    (step,) = store.run(queries.history, "duplicate", "owner 0", "bot 0")
    assert (step.matches, step.place) == (("b/0",), 1)
    assert [(one.bot, one.outcome) for one in step.opponents] == [("bot 3", 1)]
    assert step.opponents[0].likely == pytest.approx(0.5)
    (step,) = store.run(queries.history, "duplicate", "owner 5", "bot 5")
    assert (step.match, step.place, step.opponents[0].bot) == ("b/1", 1, "bot 2")
