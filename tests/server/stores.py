"""A store that accepts everything at once, and stores nothing."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from datetime import datetime
from functools import partial

from cutpurse.engine.match import Match
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.results import FinishedMatch, Identity, MatchAnnouncement, StoreOutcome

__all__ = ["Taken", "match_of"]


def match_of(result: FinishedMatch) -> Match:
    """Return the match that the record of a result is made from."""
    assert isinstance(result.make_record, partial)
    (match,) = result.make_record.args
    assert isinstance(match, Match)
    return match


class Taken:
    """A `ResultStore` that drops everything; a subclass can override `take` to see results."""

    def announce(self, match: MatchAnnouncement) -> Future[None]:
        future: Future[None] = Future()
        future.set_result(None)
        return future

    def standings(self, player: Identity, seen: datetime) -> Future[Mapping[str, tuple[Skill, int]]]:
        future: Future[Mapping[str, tuple[Skill, int]]] = Future()
        future.set_result({})
        return future

    def submit(self, result: FinishedMatch) -> Future[StoreOutcome]:
        self.take(result)
        future: Future[StoreOutcome] = Future()
        future.set_result(StoreOutcome())
        return future

    def take(self, result: FinishedMatch) -> None:
        """Take a result."""
