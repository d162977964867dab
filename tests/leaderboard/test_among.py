"""Matches of some ladders only: in the order of all, of any bot, faulted or not, and never one of another ladder."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import combinations
from typing import Any

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import DAWN, RATING, add_version, result


def test_matches_among_ladders_are_all_matches_but_those_of_others(database: str) -> None:
    ladders = ("a", "b", "c")
    with Store(database) as store:
        for name in ladders:
            store.write(ensure_ladder, NewLadder(name, game="greed", seats=2, rating=RATING))
        ann, bob = add_version(store, "ann", "sneak", "1"), add_version(store, "bob", "thug", "1")
        for number in range(30):
            made = result(f"match{number}", [ann, bob], ladder=ladders[number * number % 3 or number % 2])
            if number % 4 == 0:
                made = replace(made, seats=(replace(made.seats[0], faults=1), made.seats[1]))
            store.submit(made).result()
        assert store.run(queries.matches, among=()) == []
        for some in (subset for size in (1, 2, 3) for subset in combinations((*ladders, "none"), size)):
            questions: tuple[dict[str, Any], ...] = (
                {},
                {"faulted": True},
                {"since": DAWN - timedelta(1)},
                {"owner": "ann", "bot": "sneak"},
            )
            for question in (*questions, {"owner": "bob", "faulted": True, "bot": "thug"}):
                every = store.run(queries.matches, **question, limit=100)
                expected = [entry for entry in every if entry.ladder in some]
                asked = {**question, "among": some}
                assert store.run(queries.matches, **asked, limit=100) == expected
                assert store.run(queries.matches, **asked, limit=3) == expected[:3]
