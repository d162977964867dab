"""Results go to the leaderboard: the lobby's words are turned into the store's on a thread of their own.

To write a match down and to look versions up takes milliseconds, and the bots of other matches must not wait for it. So
`submit` only hands over. This module knows no table and no stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from typing import Final

from cutpurse.leaderboard import errors
from cutpurse.leaderboard import results as leaderboard
from cutpurse.leaderboard.errors import LeaderboardError, Refused, Unsure
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladders import Ladder
from cutpurse.server.results import FinishedMatch, Identity, LedgerBroken, NotTaken, StoreDown, StoreUnsure

__all__ = ["Ledger"]

MOST_KNOWN: Final = 10_000  # versions whose ids are kept


class Ledger:
    """A `ResultStore` that is a leaderboard. `close` it before the store."""

    def __init__(self, store: Store, ladders: Iterable[Ladder]) -> None:
        """Makes the ladders that are new.  Raises StoreError, and Refused for a ladder that is there and differs."""
        self._store = store
        self._versions: dict[Identity, int] = {}  # touched by the thread only
        for ladder in ladders:
            store.ensure_ladder(
                ladder.name,
                game=ladder.game,
                seats=ladder.seats,
                rating=TrueSkill(draw_probability=ladder.ties),
                settings=ladder.settings,
                clock=asdict(ladder.control),
            )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")

    def submit(self, result: FinishedMatch) -> Future[None]:
        """Store and rate a match, see `ResultStore`."""
        answer: Future[None] = Future()
        self._thread.submit(self._hand_over, result, answer)
        return answer

    def close(self) -> None:
        """Hand over what waits. Its futures are done when the store is closed, at the latest."""
        self._thread.shutdown()

    def _hand_over(self, result: FinishedMatch, answer: Future[None]) -> None:
        try:
            stored = self._store.submit(self._translated(result))
        except Exception as problem:
            answer.set_exception(_translated_problem(problem))
        else:
            stored.add_done_callback(lambda done: _settle(answer, done))

    def _translated(self, result: FinishedMatch) -> leaderboard.MatchResult:
        is_void = result.void is not None
        return leaderboard.MatchResult(
            match=result.match,
            board=result.deal.board,
            ladder=result.ladder,
            rules=result.rules_version,
            started=result.started,
            finished=result.finished,
            decisions=result.decisions,
            seats=tuple(
                leaderboard.SeatResult(
                    version=self._version(seat.player, result.started),
                    place=None if is_void else seat.place,
                    score=None if is_void else seat.score,
                    end_cause=seat.end_cause.value,
                    faults=seat.faults,
                    thinking_ms=seat.thinking_ms,
                    course=seat.course,
                    notes=seat.notes,
                    dropped_bytes=seat.dropped_bytes,
                )
                for seat in result.seats
            ),
            deal=leaderboard.Deal(result.deal.commitment, result.deal.seed, result.deal.params),
            record=result.record() or None,
            void_cause=result.void.value if result.void is not None else None,
        )

    def _version(self, player: Identity, seen: datetime) -> int:
        known = self._versions.get(player)
        if known is None:
            known = self._store.ensure_version(*player, created=seen)
            if len(self._versions) >= MOST_KNOWN:
                self._versions.clear()
            self._versions[player] = known
        return known


def _settle(answer: Future[None], done: Future[leaderboard.Stored]) -> None:
    problem = done.exception()
    if problem is None:
        answer.set_result(None)
    else:
        answer.set_exception(_translated_problem(problem))


def _translated_problem(problem: BaseException) -> BaseException:
    if isinstance(problem, Refused):
        return NotTaken(str(problem))
    if isinstance(problem, Unsure):
        return StoreUnsure(str(problem))
    if isinstance(problem, errors.LedgerBroken):
        return LedgerBroken(str(problem))
    if isinstance(problem, LeaderboardError):
        return StoreDown(str(problem))
    return NotTaken("the match cannot be written down").with_traceback(problem.__traceback__)
