"""What listens to the leaderboard's writes is part of the same commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from sqlalchemy import Connection, func, select

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import NoSuchEntry
from cutpurse.leaderboard.estimates.estimated import Estimated
from cutpurse.leaderboard.estimates.result_matrix import LadderEstimates, put_estimates
from cutpurse.leaderboard.ladders import change_ladder
from cutpurse.leaderboard.relations import ESTIMATES
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.write_hooks import DeletingLadder, EstimatesReplaced, LadderFrozen, ResultsWritten, WriteHooks
from tests.leaderboard.sample_results import DAWN, LADDER, prepare, result

LATER = DAWN + timedelta(hours=1)


def test_listeners_hear_of_what_is_written_in_their_order(database: str) -> None:
    heard: list[object] = []
    hooks = WriteHooks()
    hooks.on(LadderFrozen, lambda connection, event: heard.append(event))
    hooks.on(LadderFrozen, lambda connection, event: heard.append(event.at))
    hooks.on(DeletingLadder, lambda connection, event: heard.append(event))
    hooks.on(ResultsWritten, lambda connection, event: heard.append([number for _, number in event.results]))
    with Store(database, hooks=hooks) as store:
        four = prepare(store)[:4]
        store.submit(result("m1", four)).result()
        store.submit(result("m1", four)).result()
        store.write(change_ladder, LADDER, LadderTerms(frozen=LATER))
        store.write(change_ladder, LADDER, LadderTerms(frozen=LATER, title="The same time"))
    assert [event for event in heard if event != []] == [[1], LadderFrozen(LADDER, LATER), LATER]


def test_a_listener_that_fails_stops_the_commit(database: str) -> None:
    def fails(connection: Connection, event: LadderFrozen) -> None:
        raise NoSuchEntry("no receiver")

    hooks = WriteHooks()
    hooks.on(LadderFrozen, fails)
    with Store(database, hooks=hooks) as store:
        prepare(store)
        with pytest.raises(NoSuchEntry, match="no receiver"):
            store.write(change_ladder, LADDER, LadderTerms(frozen=LATER))
        assert store.run(queries.ladder, LADDER).terms.frozen is None
        store.write(change_ladder, LADDER, LadderTerms(title="Another"))
        assert store.run(queries.ladder, LADDER).terms.title == "Another", "the store goes on"


def test_a_listener_around_a_change_sees_what_was_before_and_what_is_after(database: str) -> None:
    seen: list[int | None] = []

    @contextmanager
    def counting(connection: Connection, event: EstimatesReplaced) -> Iterator[None]:
        seen.append(connection.scalar(select(func.count()).select_from(ESTIMATES)))
        yield
        seen.append(connection.scalar(select(func.count()).select_from(ESTIMATES)))

    hooks = WriteHooks()
    hooks.around(EstimatesReplaced, counting)
    with Store(database, hooks=hooks) as store:
        store.submit(result("m1", prepare(store)[:4])).result()
        estimated = {version: Estimated(25.0, 24.0, 26.0, 0, 0) for version in (1, 2, 3)}
        store.write(put_estimates, LadderEstimates(LADDER, 1, estimated), LATER)
    assert seen == [0, 3]
