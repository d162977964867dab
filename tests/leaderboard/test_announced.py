"""What is promised of a deal is stored before its match is over; a match that is cut off is void, and not forgotten."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry, LedgerCorrupt, StoreError
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.results import Deal, EventBoard, FinishedMatch, Identity, MatchAnnouncement, StoreOutcome
from cutpurse.leaderboard.store import Store
from tests.leaderboard.databases import change_by_hand
from tests.leaderboard.sample_results import DAWN, LADDER, prepare, random_result, result


def announcement(of: FinishedMatch, event_board: EventBoard | None = None) -> MatchAnnouncement:
    """What was to be said of this match before it began."""
    return MatchAnnouncement(
        of.match,
        of.ladder,
        of.rules,
        of.deal,
        of.started,
        of.players,
        of.requested_by,
        of.reason,
        of.board_matches,
        event_board,
    )


def rows(store: Store, query: str) -> list[tuple[object, ...]]:
    with store.reading() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]


def test_a_promise_is_kept_before_the_match_is_over(store: Store, versions: list[Identity]) -> None:
    one = result("m1", versions[:4], deal=Deal("b1", b"\x01" * 32, b"\x02" * 32, b"{}"))
    store.announce(announcement(one)).result()
    assert rows(store, "SELECT id, sequence, epoch, commitment, seed, params FROM boards") == [
        ("b1", None, None, b"\x01" * 32, b"\x02" * 32, b"{}")
    ]
    assert store.run(queries.matches) == []
    assert store.submit(one).result().sequence == 1
    assert rows(store, "SELECT id, sequence, epoch, commitment FROM boards") == [("b1", 1, 1, b"\x01" * 32)]
    assert rows(store, "SELECT * FROM open_matches") == []
    assert store.run(queries.match, "m1").deal == one.deal
    assert recompute(store)[0].equal


def test_a_repeat_changes_nothing(store: Store, versions: list[Identity]) -> None:
    one = result("m1", versions[:4])
    for _ in range(2):
        store.announce(announcement(one)).result()
    first = store.submit(one).result()
    store.announce(announcement(one)).result()  # late, as after trouble of the database
    assert rows(store, "SELECT * FROM open_matches") == []
    assert store.submit(one).result() == first
    assert rows(store, "SELECT count(*) FROM boards") == [(1,)]


def test_announcements_and_results_of_one_transaction_are_rated_as_if_each_had_its_own(
    new_database: Callable[[str], str],
) -> None:
    with Store(new_database("one")) as alone, Store(new_database("many")) as together:
        versions = prepare(together)
        assert prepare(alone) == versions
        results = [random_result(number, versions) for number in range(60)]
        for one in results:
            alone.announce(announcement(one)).result()
            alone.submit(one).result()
        futures: list[Future[StoreOutcome]] = []
        for ahead, one in zip([*results[3:], *[None] * 3], results, strict=True):
            if ahead is not None:
                together.announce(announcement(ahead))
            futures.append(together.submit(one))
        for future in futures:
            future.result()
        assert together.run(queries.rankings, LADDER) == alone.run(queries.rankings, LADDER)
        assert together.run(queries.matches, limit=100) == alone.run(queries.matches, limit=100)
        assert recompute(together)[0].equal
        assert rows(together, "SELECT * FROM open_matches") == []


def test_what_does_not_fit_is_refused(store: Store, versions: list[Identity]) -> None:
    one = result("m1", versions[:4], board="b1")
    store.announce(announcement(one)).result()
    store.submit(result("m0", versions[:4], board="b0")).result()
    for bad, said in (
        (replace(one, match="m2"), "board b1 has its match already, m1"),
        (replace(one, match="m2", deal=one.deal._replace(board="b0")), "board b0 has its match already, m0"),
        (
            replace(one, deal=one.deal._replace(board="b2")),
            "it was announced with another ladder, board, deal or other seats",
        ),
        (
            replace(one, deal=one.deal._replace(commitment=b"x" * 32)),
            "it was announced with another ladder, board, deal",
        ),
        (result("m1", versions[4:8], board="b1"), "it was announced with another ladder, board, deal or other seats"),
        (result("m2", [*versions[:3], Identity("ann", "", "1")]), "the name of a bot is ''"),
        (result("m2", versions[:3]), "it has 3 seats, and ladder greed-main has 4"),
        (result("m2", versions[:4], ladder="none"), "there is no ladder 'none'"),
    ):
        for future in (store.announce(announcement(bad)), store.submit(bad)):
            with pytest.raises(InvalidEntry, match=said):
                future.result()
    assert store.submit(one).result().sequence == 2
    for changed, said in (
        ({"players": (versions[0],) * 2}, "sits in two seats"),
        ({"players": versions[:1]}, "1 seats; a match has at least 2"),
        ({"started": DAWN.replace(tzinfo=None)}, "needs a time zone"),
    ):
        with pytest.raises(InvalidEntry, match=said):
            store.announce(replace(announcement(one), **changed)).result()


def test_what_a_server_left_behind_is_void(database: str) -> None:
    with Store(database) as store:
        versions = prepare(store)
        store.submit(result("m1", versions[:4])).result()
        left = [
            result("m3", versions[:4], started=DAWN + timedelta(seconds=9), reason="fewest matches"),
            result("m2", versions[4:8]),
            result("m4", versions[:4], started=DAWN + timedelta(seconds=20), requested_by="ann"),
        ]
        for one in left:
            store.announce(announcement(one)).result()
        ranked = store.run(queries.rankings, LADDER)
    now = DAWN + timedelta(minutes=5)
    with Store(database) as store:
        assert store.void_unfinished(now) == ["m2", "m3", "m4"]
        assert store.void_unfinished(now) == []
        assert store.run(queries.rankings, LADDER) == ranked
        entries = {entry.match: entry for entry in store.run(queries.matches)}
        assert list(entries) == ["m4", "m3", "m2", "m1"]
        cut = entries["m3"]
        assert (cut.void_cause, cut.sequence, cut.started, cut.finished) == (
            *("void_server", None),
            *(DAWN + timedelta(seconds=9), now),
        )
        assert (cut.decisions, cut.reason, cut.deal, cut.is_rated) == (0, "fewest matches", left[0].deal, True)
        assert [(seat.bot, seat.place, seat.end_cause, seat.faults) for seat in cut.seats] == [
            (f"bot {n}", None, "void_server", 0) for n in range(4)
        ]
        assert (entries["m4"].is_rated, entries["m4"].requested_by) == (False, "ann")
        assert store.submit(left[0]).result() == StoreOutcome()  # too late: it is void
        assert store.submit(result("m5", versions[:4])).result().sequence == 2
        assert recompute(store)[0].equal


def test_a_match_on_request_has_places_and_changes_no_rating(store: Store, versions: list[Identity]) -> None:
    store.submit(result("m1", versions[:4])).result()
    ranked = store.run(queries.rankings, LADDER)
    asked = result("m2", versions[3::-1], is_rated=False, requested_by="ann", reason="ann asked for it")
    store.announce(announcement(asked)).result()
    stored = store.submit(asked).result()
    assert stored == StoreOutcome()
    assert store.submit(asked).result() == stored
    entry = store.run(queries.match, "m2")
    assert (entry.is_rated, entry.requested_by, entry.reason) == (False, "ann", "ann asked for it")
    assert (entry.sequence, entry.void_cause) == (None, None)
    assert [seat.place for seat in entry.seats] == [1, 2, 3, 4]
    assert [(seat.before, seat.after) for seat in entry.seats] == [(None, None)] * 4
    assert store.run(queries.rankings, LADDER) == ranked
    assert store.run(queries.ladder, LADDER).matches == 1
    assert store.run(queries.opponents, LADDER, "owner 0", "bot 0")[0].matches == 1
    assert store.submit(result("m3", versions[:4])).result().sequence == 2
    assert (store.run(queries.match, "m1").is_rated, store.run(queries.match, "m1").requested_by) == (True, "")
    assert recompute(store)[0].equal


def test_after_trouble_an_announcement_may_be_handed_in_again(tmp_path: Path) -> None:
    with Store(tmp_path / "ladder.db", busy_timeout_s=0.05) as store:
        one = result("m1", prepare(store)[:4])
        other = sqlite3.connect(tmp_path / "ladder.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="database is locked"):
            store.announce(announcement(one)).result()
        other.execute("ROLLBACK")
        other.close()
        store.announce(announcement(one)).result()
        assert rows(store, "SELECT match_id FROM open_matches") == [("m1",)]


def test_a_broken_ledger_takes_no_announcement(database: str) -> None:
    with Store(database) as store:
        versions = prepare(store)
        for number in range(3):
            store.submit(result(f"m{number}", versions[:4])).result()
    change_by_hand(database, "UPDATE boards SET sequence = 9 WHERE sequence = 2")
    with Store(database) as store, pytest.raises(LedgerCorrupt):
        store.announce(announcement(result("m3", versions[:4]))).result()
