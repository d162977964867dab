"""The check of a ledger whose writer was killed: all that was acknowledged is there once, and rated rightly."""

from __future__ import annotations

from pathlib import Path

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import LADDER, prepare, random_result

__all__ = ["check_ledger"]


def check_ledger(database: Path | str, acknowledged: set[str]) -> None:
    """Check the ledger in a database.

    Args:
        database: Path or address.
        acknowledged: IDs of the matches whose writing was acknowledged.
    """
    with Store(database) as store:
        versions = prepare(store)
        stored = {match.match: match for match in store.run(queries.matches, limit=10**6)}
        (check,) = recompute(store)
        rankings = store.run(queries.rankings, LADDER)
    assert acknowledged - stored.keys() == set()
    assert check.equal, check.differences
    counted = [match for match in stored.values() if match.void_cause is None]
    assert sorted(match.sequence or 0 for match in counted) == list(range(1, len(counted) + 1))
    assert check.boards == len(counted)
    assert sum(ranking.matches for ranking in rankings) == 4 * len(counted)
    for name, match in stored.items():
        expected = random_result(int(name[1:]), versions)
        assert [(seat.bot, seat.place) for seat in match.seats] == [(s.player.bot, s.place) for s in expected.seats]
