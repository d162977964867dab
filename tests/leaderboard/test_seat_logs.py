"""What became of decisions comes out as it went in, and what a bot sent along is kept apart from it."""

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.results import DecisionFault, DecisionLog, FinishedMatch, FinishedSeat, Identity, SeatNote
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import LADDER, add_version, result

COURSE = DecisionLog((3, 0, 2**40), (DecisionFault(2, 17, "timeout", "no answer after 1.2 s \u2713"),))
NOTES = (SeatNote(0, "hello"), SeatNote(3, "half a surrogate \ud800, a bell \x07, \U0001f600"), SeatNote(3, ""))


def noted(match: str, versions: list[Identity], faults: int = 1) -> FinishedMatch:
    """The first seat has a course and notes, the second only dropped bytes, the third an empty course."""
    first = FinishedSeat(
        versions[0], 1, 9, "normal", faults=faults, thinking_ms=3, course=COURSE, notes=NOTES, dropped_bytes=7
    )
    seats = (
        first,
        FinishedSeat(versions[1], 2, 8, "normal", dropped_bytes=2**40),
        FinishedSeat(versions[2], 3, 7, "normal", course=DecisionLog((), ())),
        FinishedSeat(versions[3], 4, 6, "normal"),
    )
    return result(match, versions, seats=seats)


def test_courses_and_notes_come_back(store: Store, versions: list[Identity]) -> None:
    store.submit(noted("m1", versions[:4])).result()
    assert store.run(queries.courses, "m1") == (COURSE, None, DecisionLog((), ()), None)
    (log,) = store.run(queries.logs, "owner 0", "bot 0")
    assert (log.match, log.seat, log.course, log.notes, log.dropped_bytes) == (
        store.run(queries.match, "m1"),
        0,
        COURSE,
        NOTES,
        7,
    )
    (log,) = store.run(queries.logs, "owner 1", "bot 1")
    assert (log.seat, log.course, log.notes, log.dropped_bytes) == (1, None, (), 2**40)
    (log,) = store.run(queries.logs, "owner 3", "bot 3", match="m1")
    assert (log.seat, log.course, log.notes, log.dropped_bytes) == (3, None, (), 0)


def test_of_a_match_without_courses_none_are_told(store: Store, versions: list[Identity]) -> None:
    store.submit(result("m1", versions[:4])).result()
    assert store.run(queries.courses, "m1") == (None, None, None, None)
    with store.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM courses").scalar_one() == 0
        assert connection.exec_driver_sql("SELECT count(*) FROM notes").scalar_one() == 0


def test_notes_are_nowhere_but_in_their_own_table(store: Store, versions: list[Identity]) -> None:
    secret = "my plan is to raid"
    seats = tuple(
        FinishedSeat(
            version, place, -place, "normal", course=COURSE, notes=(SeatNote(1, secret),) if place == 1 else ()
        )
        for place, version in enumerate(versions[:4], 1)
    )
    store.submit(result("m1", versions[:4], seats=seats)).result()
    (log,) = store.run(queries.logs, "owner 0", "bot 0")
    assert log.notes == (SeatNote(1, secret),)
    others = [
        store.run(queries.match, "m1"),
        store.run(queries.matches),
        store.run(queries.courses, "m1"),
        store.run(queries.record, "m1"),
        store.run(queries.rankings, LADDER),
    ]
    others += [store.run(queries.logs, f"owner {n}", f"bot {n}") for n in (1, 2, 3)]
    assert secret not in repr(others)
    with store.reading() as connection:
        assert connection.exec_driver_sql("SELECT match_number, seat FROM notes").all() == [(1, 0)]


def test_logs_are_of_a_bot_a_version_a_match_or_those_with_a_fault(store: Store, versions: list[Identity]) -> None:
    newer = add_version(store, "owner 0", "bot 0", "2.0")
    for number in range(6):
        first = newer if number >= 4 else versions[0]
        store.submit(noted(f"m{number}", [first, *versions[1:4]], faults=number % 2)).result()

    def matches(**asked: object) -> list[str]:
        return [log.match.match for log in store.run(queries.logs, "owner 0", "bot 0", **asked)]  # type: ignore[arg-type]  # by name

    assert matches() == ["m5", "m4", "m3", "m2", "m1", "m0"]
    assert matches(limit=2) == ["m5", "m4"]
    assert matches(version="1.0") == ["m3", "m2", "m1", "m0"]
    assert matches(version="2.0", faulted=True) == ["m5"]
    assert matches(faulted=True) == ["m5", "m3", "m1"]
    assert matches(match="m2") == ["m2"]
    assert matches(match="m2", version="2.0") == []
    assert matches(match="m2", faulted=True) == []
    with pytest.raises(NoSuchEntry, match="there is no match 'm9'"):
        matches(match="m9")
    with pytest.raises(NoSuchEntry, match=r"bot 'bot 0' of owner 'owner 0' has no version '9\.9'"):
        matches(version="9.9")
    with pytest.raises(NoSuchEntry, match="owner 'owner 1' has no bot 'bot 0'"):
        store.run(queries.logs, "owner 1", "bot 0")


def test_dropped_bytes_are_a_count(store: Store, versions: list[Identity]) -> None:
    seats = (FinishedSeat(versions[0], 1, 1, "normal", dropped_bytes=-1), FinishedSeat(versions[1], 2, 0, "normal"))
    with pytest.raises(InvalidEntry, match="are counts"):
        store.submit(result("m1", versions[:2], seats=seats)).result()
