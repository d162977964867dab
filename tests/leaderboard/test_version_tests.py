"""Version tests in the store: boards count once, survive a killed server, and no rating changes because of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from cutpurse.leaderboard import events, queries, version_tests
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.events import TEST, EventEntry, TooManyEvents
from cutpurse.leaderboard.ladders import NewLadder, delete_ladder, ensure_ladder
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.results import Deal, EventBoard, FinishedMatch, Identity, StoreOutcome
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.version_tests import VersionTestEntry
from tests.leaderboard.sample_results import DAWN, LADDER, prepare, random_result, result
from tests.leaderboard.test_announced import announcement

NEW, OLD = Identity("owner 0", "bot 0", "2"), Identity("owner 0", "bot 0", "1.0")


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store(database) as opened:
        prepare(opened)
        yield opened


@pytest.fixture
def players(store: Store) -> list[Identity]:
    return [Identity(entry.owner, entry.bot, entry.version) for entry in store.run(queries.bots)]


def start(store: Store, name: str = "t1", hours: float = 0.0, most: tuple[int, int] = (9, 9)) -> VersionTestEntry:
    event = EventEntry(name, LADDER, "owner 0", "{}", DAWN + timedelta(hours=hours))
    return store.write(version_tests.start, event, NEW, OLD, *most)


def board(players: list[Identity], name: str, is_void: bool = False) -> list[FinishedMatch]:
    """The matches of a board of a test, first that of the new version."""
    others = [player for player in players if player.owner != "owner 0"][:3]
    deal = Deal(f"board {name}", b"c" * 32, b"s" * 32, b"{}")
    matches = [
        result(f"{name} {at}", [others[0], version, *others[1:]], deal=deal, is_rated=False, requested_by="owner 0")
        for at, version in enumerate((NEW, OLD))
    ]
    matches = [replace(match, board_matches=2) for match in matches]
    return [matches[0], matches[1].voided() if is_void else matches[1]]


def announce(store: Store, match: FinishedMatch) -> None:
    """Announce a match of test t1 on a board that counts next."""
    store.announce(announcement(match, EventBoard("t1", 0, len(store.run(version_tests.boards, "t1"))))).result()


def play(store: Store, match: FinishedMatch) -> StoreOutcome:
    """Store a match of test t1: its announcement, then its result."""
    announce(store, match)
    return store.submit(match).result()


def test_what_is_started_is_stored_with_its_versions(store: Store) -> None:
    entry = start(store)
    assert entry == store.run(version_tests.entry, "t1")
    assert [entry.event] == store.run(events.entries, [TEST], only_running=True, started_by="owner 0")
    assert (entry.ladder, entry.event.started_by, entry.new, entry.old) == (LADDER, "owner 0", NEW, OLD)
    assert store.run(events.entries, [TEST], started_by="owner 1") == []
    for hours, outcome in ((1, "better"), (2, "stopped")):
        store.write(events.end, "t1", outcome, DAWN + timedelta(hours=hours))
        ended = store.run(events.entry, "t1")
        assert (ended.outcome, ended.ended) == ("better", DAWN + timedelta(hours=1))
    assert store.run(events.entries, [TEST], only_running=True) == []
    with pytest.raises(NoSuchEntry, match="there is no event 't2'"):
        store.run(events.entry, "t2")


def test_a_version_is_not_tested_against_itself_or_against_that_of_another_owner(store: Store) -> None:
    for old in (NEW, Identity("owner 1", "bot 1", "1.0")):
        with pytest.raises(InvalidEntry, match="two versions of bots of one owner"):
            store.write(version_tests.start, EventEntry("t1", LADDER, "owner 0", "{}", DAWN), NEW, old, 9, 9)
    with pytest.raises(NoSuchEntry):
        store.write(version_tests.start, EventEntry("t1", "nowhere", "owner 0", "{}", DAWN), NEW, OLD, 9, 9)
    assert store.run(events.entries, [TEST]) == []


def test_an_owner_has_so_few_open_tests_and_starts_so_few_a_day(store: Store) -> None:
    most = (2, 3)
    start(store, "t1", 0, most)
    start(store, "t2", 1, most)
    with pytest.raises(TooManyEvents, match="owner 0 has 2 tests that run"):
        start(store, "t3", 2, most)
    store.write(events.end, "t1", "better", DAWN)
    start(store, "t3", 2, most)
    store.write(events.end, "t2", "better", DAWN)
    with pytest.raises(TooManyEvents, match="owner 0 has started 3 tests within a day"):
        start(store, "t4", 23, most)
    assert start(store, "t4", 24.5, most).event.id == "t4"


def test_a_board_counts_once_both_of_its_matches_are_stored(store: Store, players: list[Identity]) -> None:
    start(store)
    first, second = board(players, "b1")
    for match in (first, second):
        announce(store, match)
    store.submit(first).result()
    store.submit(first).result()
    assert store.run(version_tests.boards, "t1") == []
    assert store.run(queries.match, first.match).is_sealed
    store.submit(second).result()
    store.submit(second).result()
    for match in (*board(players, "b2", is_void=True), *board(players, "b3")):
        play(store, match)
    boards = store.run(version_tests.boards, "t1")
    assert [one.board for one in boards] == ["board b1", "board b3"]
    assert [match.players[1] for match in boards[0].matches] == [NEW, OLD]
    assert [match.places for match in boards[0].matches] == [(1, 2, 3, 4)] * 2
    shown = store.run(queries.match, first.match)
    assert (shown.is_sealed, shown.board_kind, shown.is_rated) == (False, "test", False)


def test_a_killed_server_leaves_a_void_board_and_the_others_count(database: str) -> None:
    with Store(database) as store:
        prepare(store)
        players = [Identity(entry.owner, entry.bot, entry.version) for entry in store.run(queries.bots)]
        start(store)
        for match in board(players, "b1"):
            play(store, match)
        first, second = board(players, "b2")
        for match in (first, second):
            announce(store, match)
        store.submit(first).result()  # and here it is killed
    with Store(database) as store:
        assert store.void_unfinished(DAWN + timedelta(hours=1)) == [second.match]
        assert [one.board for one in store.run(version_tests.boards, "t1")] == ["board b1"]
        assert not store.run(queries.match, first.match).is_sealed
        assert store.run(queries.match, second.match).board_kind == "test"
        assert recompute(store)[0].equal


def test_matches_of_tests_change_no_rating_by_a_bit(new_database: Callable[[str], str]) -> None:
    ratings = []
    for name in ("with", "without"):
        with Store(new_database(name)) as store:
            prepare(store)
            players = [Identity(entry.owner, entry.bot, entry.version) for entry in store.run(queries.bots)]
            start(store)
            for number in range(20):
                store.submit(random_result(number, players)).result()
                for match in board(players, f"b{number}") if name == "with" else ():
                    assert play(store, match).sequence is None
            assert recompute(store)[0].equal
            with store.reading() as connection:
                tables = ("ratings", "rating_changes", "opponents", "pauses")
                ratings.append(
                    [
                        [tuple(row) for row in connection.exec_driver_sql(f"SELECT * FROM {table} ORDER BY 1, 2, 3")]
                        for table in tables
                    ]
                )
    assert ratings[0] == ratings[1]
    assert all(ratings[0][:3])


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"board_matches": 3}, "is unrated, so its board has one match, or two of a test, not 3"),
        ({"requested_by": ""}, "is played for an event, so it is unrated: it needs a requester"),
    ],
)
def test_a_match_of_a_test_is_one_of_two_unrated_ones(
    store: Store, players: list[Identity], changed: dict[str, object], why: str
) -> None:
    start(store)
    new = announcement(board(players, "b1")[0], EventBoard("t1", 0, 0))
    with pytest.raises(InvalidEntry, match=why):
        store.announce(replace(new, **changed)).result()  # type: ignore[arg-type]  # fields by name
    assert store.run(version_tests.boards, "t1") == []


def test_the_matches_of_a_board_differ_in_one_seat(store: Store, players: list[Identity]) -> None:
    start(store)
    first, second = board(players, "b1")
    store.submit(first).result()
    for seats in (first.seats, second.seats[::-1]):
        with pytest.raises(InvalidEntry, match="differ in exactly one seat"):
            store.submit(replace(second, seats=seats)).result()


def test_a_ladder_with_tests_is_not_deleted(store: Store) -> None:
    store.write(
        ensure_ladder, NewLadder("empty", game="greed", seats=4, rating=store.run(queries.ladder, LADDER).rating)
    )
    store.write(version_tests.start, EventEntry("t1", "empty", "owner 0", "{}", DAWN), NEW, OLD, 9, 9)
    with pytest.raises(InvalidEntry, match="ladder empty has version tests"):
        store.write(delete_ladder, "empty")
