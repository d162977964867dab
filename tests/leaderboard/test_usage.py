"""What bots report that they used comes out by decision and added up, and a ranking has that of rated matches."""

import json
import zlib
from typing import Any

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.decision_logs import pack_courses, unpack_courses
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.results import DecisionLog, DecisionUsage, FinishedMatch, FinishedSeat, Identity, UsageTotal
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import LADDER, PLAYERS, RATING, player_of, prepare, result

USAGES = (
    DecisionUsage(1, 2_704, 61, 310, "small-1"),
    DecisionUsage(3, 8_300, 1_500, 1_900, "small-2", "unreadable"),
    DecisionUsage(4, fallback="outage"),
)
TOTAL = UsageTotal(1, 11_004, 1_561, 2_210, 2, "small-2")


def used(
    match: str, versions: list[Identity], usages: tuple[DecisionUsage, ...] = USAGES, **other: Any
) -> FinishedMatch:
    """A match of four in which the second seat reported what it used."""
    seats = [FinishedSeat(version, place, -place, "normal") for place, version in enumerate(versions, 1)]
    seats[1] = FinishedSeat(versions[1], 2, -2, "normal", course=DecisionLog((5, 6, 7, 8), (), usages))
    return result(match, versions, seats=tuple(seats), **other)


def test_what_was_reported_comes_back(store: Store) -> None:
    versions = prepare(store)[:4]
    store.submit(used("m1", versions)).result()
    store.submit(result("m2", versions)).result()
    assert store.run(queries.courses, "m1")[1] == DecisionLog((5, 6, 7, 8), (), USAGES)
    assert [seat.usage for seat in store.run(queries.match, "m1").seats] == [None, TOTAL, None, None]
    assert [[seat.usage for seat in entry.seats] for entry in store.run(queries.matches)] == [
        [None] * 4,
        [None, TOTAL, None, None],
    ]
    (log,) = store.run(queries.logs, "owner 1", "bot 1", match="m1")
    assert log.course is not None
    assert log.course.usages == USAGES
    with store.reading() as connection:
        assert connection.exec_driver_sql("SELECT match_number, seat FROM usages").all() == [(1, 1)]


def test_a_ranking_adds_up_what_was_used_in_rated_matches(store: Store) -> None:
    versions = prepare(store)
    store.write(ensure_ladder, NewLadder("other", "greed", 4, RATING))
    store.submit(used("m1", versions[:4])).result()
    store.submit(used("m2", versions[:4], (DecisionUsage(1, 96, 39, 790),))).result()
    store.submit(used("asked for", versions[:4], is_rated=False, requested_by="ann")).result()
    store.submit(used("elsewhere", versions[:4], ladder="other")).result()
    void = tuple(
        FinishedSeat(version, None, None, "void_server", course=DecisionLog((5,), (), USAGES))
        for version in versions[:4]
    )
    store.submit(result("void", versions[:4], seats=void, void_cause="void_server")).result()
    usage = {player_of(ranking): ranking.usage for ranking in store.run(queries.rankings, LADDER)}
    assert usage == dict.fromkeys(versions[:4]) | {versions[1]: UsageTotal(2, 11_100, 1_600, 3_000, 2)}
    assert store.run(queries.match, "void").seats[0].usage == TOTAL, "what a void match has cost is shown on its page"


def test_what_was_used_on_a_board_that_is_still_played_is_in_no_ranking(store: Store) -> None:
    versions = prepare(store)
    store.write(ensure_ladder, NewLadder("dup", "greed", 4, RATING, boards="duplicate"))
    first = used("first", versions[:4], ladder="dup", board="deal", board_matches=2)
    store.submit(first).result()
    assert store.run(queries.rankings, "dup") == []
    store.submit(result("last", versions[4:8], ladder="dup", board="deal", board_matches=2)).result()
    usage = {player_of(ranking): ranking.usage for ranking in store.run(queries.rankings, "dup")}
    assert (usage[versions[1]], usage[versions[5]]) == (UsageTotal(1, 11_004, 1_561, 2_210, 2), None)


def test_a_log_without_usage_is_stored_as_before() -> None:
    log = DecisionLog((3,), ())
    assert json.loads(zlib.decompress(pack_courses([log, None]))) == [[[3], []], None]
    assert unpack_courses(pack_courses([log, None])) == (log, None)
    assert log.usage is None


def test_no_model_named_is_an_empty_name() -> None:
    usage = DecisionLog((), (), (DecisionUsage(1, model="first"), DecisionUsage(2))).usage
    assert usage is not None
    assert usage.model == "first"
    assert DecisionLog((), (), (DecisionUsage(1),)).usage == UsageTotal(1, 0, 0, 0, 0, "")


@pytest.mark.parametrize("wrong", [DecisionUsage(1, -1), DecisionUsage(1, cost_micros=2**63)])
def test_an_impossible_usage_is_no_result(wrong: DecisionUsage) -> None:
    with pytest.raises(InvalidEntry, match="bytes and usage are counts, not"):
        used("m1", PLAYERS[:4], (wrong,)).check()
