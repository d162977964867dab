"""Several ladders are made at once, all of them or none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.ladders import NewLadder, create_ladders
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import DAWN, RATING


def test_all_of_them_or_none(database: str) -> None:
    frozen = datetime(2027, 1, 1, tzinfo=UTC)
    terms = LadderTerms(
        owners=("ann",),
        most_bots=3,
        is_private=True,
        frozen=frozen,
        most_per_owner=2,
        results_hidden_until=frozen,
        title="The one – jeden",
        names_hidden_until=frozen + timedelta(days=1),
        memory_kib=64,
    )
    one = NewLadder("one", "greed", 2, RATING, {"rounds": "3"}, {"base_ms": 500}, terms)
    two = NewLadder("two", "greed", 4, RATING)
    with Store(database) as store:
        made = store.write(create_ladders, [two, one], DAWN)
        assert [entry.name for entry in made] == ["two", "one"]
        assert made[1] == store.run(queries.ladder, "one")
        kept = made[1]
        assert (kept.terms, kept.created, dict(kept.settings), kept.rating) == (terms, DAWN, {"rounds": "3"}, RATING)
        for there in ("one", "three"):
            with pytest.raises(InvalidEntry, match=f"there is a ladder {there} already"):
                store.write(
                    create_ladders, [NewLadder("three", "greed", 2, RATING), NewLadder(there, "greed", 2, RATING)], DAWN
                )
        assert [entry.name for entry in store.run(queries.ladders)] == ["one", "two"]
