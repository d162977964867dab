"""A store that takes everything, at once, and keeps nothing."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future

from cutpurse.leaderboard.ratings import Skill
from cutpurse.server.results import Announced, FinishedMatch, Identity, Kept

__all__ = ["Taken"]


class Taken:
    """A `ResultStore`; whoever wants to see a result overrides `take`."""

    def announce(self, match: Announced) -> Future[None]:
        future: Future[None] = Future()
        future.set_result(None)
        return future

    def standings(self, player: Identity) -> Future[Mapping[str, tuple[Skill, int]]]:
        future: Future[Mapping[str, tuple[Skill, int]]] = Future()
        future.set_result({})
        return future

    def submit(self, result: FinishedMatch) -> Future[Kept]:
        self.take(result)
        future: Future[Kept] = Future()
        future.set_result(Kept())
        return future

    def take(self, result: FinishedMatch) -> None:
        """A result has come."""
