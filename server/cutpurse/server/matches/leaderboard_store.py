"""The lobby's result store, backed by the leaderboard and running on its own thread.

Writing a match and looking up versions take milliseconds, and the bots of other matches must not wait for that. So
`submit` only queues. This module knows no match in play and no stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Final

from cutpurse.leaderboard import errors
from cutpurse.leaderboard import results as leaderboard
from cutpurse.leaderboard.errors import InvalidEntry, LeaderboardError, Unsure
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.store import Store
from cutpurse.server.finished_match import (
    Deal,
    FinishedMatch,
    Identity,
    MatchAnnouncement,
    NotTaken,
    StoreCorrupt,
    StoreDown,
    StoreOutcome,
    StoreUnsure,
)
from cutpurse.server.ladder_config import Ladder

__all__ = ["Ledger"]

MOST_KNOWN: Final = 10_000  # versions whose ids are cached


class Ledger:
    """A `ResultStore` backed by a leaderboard. Close it before the store."""

    def __init__(
        self, store: Store, ladders: Iterable[Ladder], utc: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Create the ladders that the leaderboard lacks, and start the thread.

        Args:
            store: The leaderboard.
            ladders: Ladders to create.
            utc: Returns the time of day, for new versions.

        Raises:
            StoreError: If the leaderboard cannot be written.
            InvalidEntry: If a ladder exists and differs.
        """
        self._store = store
        self._utc = utc
        self._versions: dict[Identity, int] = {}  # used only by the thread
        for ladder in ladders:
            store.ensure(ladder.kept)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")

    def paused(self) -> list[Identity]:
        """Return the paused versions.

        Raises:
            StoreError: If the leaderboard cannot be read.
        """
        return [Identity(bot.owner, bot.bot, bot.version) for bot in self._store.bots() if bot.paused is not None]

    def announce(self, match: MatchAnnouncement) -> Future[None]:
        """Store that a match is to begin, see `ResultStore`."""
        answer: Future[None] = Future()
        self._thread.submit(self._announce, match, answer)
        return answer

    def standings(self, player: Identity) -> Future[Mapping[str, tuple[Skill, int]]]:
        """Return the pairing skills of a bot by ladder, see `ResultStore`; store a new version."""
        answer: Future[Mapping[str, tuple[Skill, int]]] = Future()
        self._thread.submit(self._tell_standings, player, answer)
        return answer

    def submit(self, result: FinishedMatch) -> Future[StoreOutcome]:
        """Store and rate a match, see `ResultStore`."""
        answer: Future[StoreOutcome] = Future()
        self._thread.submit(self._hand_over, result, answer)
        return answer

    def close(self) -> None:
        """Pass on what is queued, and stop the thread. All futures are done at the latest when the store is closed."""
        self._thread.shutdown()

    # -- on the thread
    def _announce(self, match: MatchAnnouncement, answer: Future[None]) -> None:
        try:
            stored = self._store.announce(
                leaderboard.Announcement(
                    match=match.match,
                    board=match.deal.board_kept,
                    ladder=match.ladder,
                    rules=match.rules_version,
                    started=match.started,
                    deal=_translated_deal(match.deal),
                    versions=tuple(self._version(player, match.started) for player in match.seats),
                    requested_by=match.requested_by,
                    reason=match.reason,
                    board_matches=match.board_matches,
                )
            )
        except Exception as problem:
            answer.set_exception(_translated_problem(problem))
        else:
            stored.add_done_callback(lambda done: _settle_announcement(answer, done))

    def _tell_standings(self, player: Identity, answer: Future[Mapping[str, tuple[Skill, int]]]) -> None:
        try:
            told = self._store.standings(self._version(player, None))
        except Exception as problem:
            answer.set_exception(_translated_problem(problem))
        else:
            answer.set_result(told)

    def _hand_over(self, result: FinishedMatch, answer: Future[StoreOutcome]) -> None:
        try:
            translated = self._translated(result)
            stored = self._store.submit(translated)
        except Exception as problem:
            answer.set_exception(_translated_problem(problem))
        else:
            players = {seat.version: one.player for seat, one in zip(translated.seats, result.seats, strict=True)}
            for player in (player for table in result.tables for player in table):
                players[self._version(player, result.started)] = player
            stored.add_done_callback(lambda done: _settle(answer, done, players))

    def _translated(self, result: FinishedMatch) -> leaderboard.CompletedMatch:
        is_void = result.void is not None
        return leaderboard.CompletedMatch(
            match=result.match,
            board=result.deal.board_kept,
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
                    cpu_ms=seat.cpu_ms,
                    peak_bytes=seat.peak_bytes,
                )
                for seat in result.seats
            ),
            deal=_translated_deal(result.deal),
            record=result.record() or None,
            void_cause=result.void.value if result.void is not None else None,
            is_rated=result.is_rated,
            requested_by=result.requested_by,
            reason=result.reason,
            board_matches=result.board_matches,
        )

    def _version(self, player: Identity, seen: datetime | None) -> int:
        known = self._versions.get(player)
        if known is None:
            known = self._store.ensure_version(*player, created=seen or self._utc())
            if len(self._versions) >= MOST_KNOWN:
                self._versions.clear()
            self._versions[player] = known
        return known


def _settle_announcement(answer: Future[None], done: Future[None]) -> None:
    problem = done.exception()
    if problem is not None:
        answer.set_exception(_translated_problem(problem))
    else:
        answer.set_result(None)


def _settle(answer: Future[StoreOutcome], done: Future[leaderboard.Stored], players: Mapping[int, Identity]) -> None:
    problem = done.exception()
    if problem is not None:
        answer.set_exception(_translated_problem(problem))
        return
    stored = done.result()
    changes = {players[one.version]: (one.after, one.matches) for one in stored.changes if one.version in players}
    answer.set_result(StoreOutcome(changes, tuple(players[version] for version in stored.paused if version in players)))


def _translated_deal(deal: Deal) -> leaderboard.DealCommitment:
    return leaderboard.DealCommitment(deal.commitment, deal.seed, deal.params)


def _translated_problem(problem: BaseException) -> BaseException:
    if isinstance(problem, InvalidEntry):
        return NotTaken(str(problem))
    if isinstance(problem, Unsure):
        return StoreUnsure(str(problem))
    if isinstance(problem, errors.LedgerCorrupt):
        return StoreCorrupt(str(problem))
    if isinstance(problem, LeaderboardError):
        return StoreDown(str(problem))
    return NotTaken("the match cannot be written down").with_traceback(problem.__traceback__)
