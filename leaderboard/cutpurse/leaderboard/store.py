"""A leaderboard in its database: one thread writes, any thread reads.

Any thread can submit a result and gets a future. The future is done once the result, its record and the new ratings are
committed together. The writing thread commits everything that waits in one transaction. So a single result does not
wait, and many results share the cost of a commit. There are no timers.

    with Store("ladder.db") as store:
        store.ensure_ladder("greed-main", game="greed", seats=4, rating=TrueSkill(draw_probability=0.05))
        store.submit(FinishedMatch(...)).result()
        store.rankings("greed-main")

A submitted result cannot be withdrawn: cancelling its future does nothing. The writing thread runs the callbacks of
futures, so they must not wait for it. If the database fails (a full disk, a lock that is not released), the future has
a StoreError. Then nothing was stored, and the result may be submitted again. The next write uses a new connection, so
writing continues once the problem is solved. After a failed commit the store checks whether the results are stored.
Only if that fails too, the StoreError is an Unsure.

If the ledger is inconsistent (a sequence number is missing or occurs twice), that transaction is rolled back. From then
on the store answers every result with LedgerCorrupt, but still writes other things, such as revoked tokens.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from cutpurse.leaderboard import (
    fault_streaks,
    ladders,
    owner_registry,
    queries,
    result_writer,
    seasons,
    sign_ins,
    submissions,
    tournaments,
    version_tests,
    work,
    write_state,
)
from cutpurse.leaderboard.database import Database
from cutpurse.leaderboard.errors import InvalidEntry, LedgerCorrupt, StoreError, Unsure
from cutpurse.leaderboard.estimates.result_matrix import LadderEstimates, put_estimates
from cutpurse.leaderboard.ladders import NewLadder
from cutpurse.leaderboard.notices.outbox import Claim, Outcome, claim_notices, due_receivers, release_claims, settle
from cutpurse.leaderboard.notices.receivers import NewReceiver, ReceiverEntry, add_receiver, remove_receiver
from cutpurse.leaderboard.owner_registry import NewToken
from cutpurse.leaderboard.queries import LadderEntry, Pause, SubmissionEntry, TokenEntry
from cutpurse.leaderboard.ratings import Skill, TrueSkill
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.result_writer import LastCommit
from cutpurse.leaderboard.results import FinishedMatch, Identity, LadderTerms, MatchAnnouncement, StoreOutcome
from cutpurse.leaderboard.schema import check_schema, newest_revision, upgrade
from cutpurse.leaderboard.seasons import NewSeason, SeasonBot, SeasonState, SeriesEntry
from cutpurse.leaderboard.sign_ins import ProviderAccount
from cutpurse.leaderboard.submissions import NewSubmission
from cutpurse.leaderboard.tokens import Token, new_token
from cutpurse.leaderboard.tournaments import TournamentBoardEntry, TournamentEntry
from cutpurse.leaderboard.version_tests import NewVersionTest, VersionTestEntry
from cutpurse.leaderboard.work import NewWork

__all__ = ["GATHER", "Store"]

GATHER: Final = 256  # maximum results in one transaction: rating them takes about a tenth of a second
MOST_AT_ONCE: Final = 1024  # maximum writes taken at once; announcements cost little
OPEN: Final = LadderTerms()  # without any limit

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _PendingWrite:
    """A result or an announcement that waits to be stored."""

    entry: FinishedMatch | MatchAnnouncement
    future: Future[Any]  # StoreOutcome, or None for an announcement


@dataclass(frozen=True, slots=True)
class _Task:
    """Another write that waits, with its own transaction."""

    write: Callable[[Connection], object]
    future: Future[Any]  # of the result of `write`
    is_change: bool = True  # whether cached copies of stored values may be outdated afterwards


class Store(Readings):
    """A leaderboard opened for writing; opening creates a missing file or tables and upgrades an old schema."""

    def __init__(
        self, database: str | os.PathLike[str] | Database, busy_timeout_s: float = 5.0, *, is_shared: bool = False
    ) -> None:
        """Open the database, and start the writing thread.

        Args:
            database: A path, `sqlite:///PATH` or `postgresql://...`.
            busy_timeout_s: Maximum wait for a lock of another process, or for a connection to a server.
            is_shared: Share the right to write with other arenas, see `ArenaStore`.

        Raises:
            StoreError: If it fails; InUse if another process writes it, NewerSchema if a newer version wrote it.
        """
        super().__init__(database, busy_timeout_s)
        self._access = self.database.open_for_writing(busy_timeout_s, is_shared=is_shared)
        self._waiting: SimpleQueue[_PendingWrite | _Task | None] = SimpleQueue()
        self._lock = threading.Lock()  # so that no write is queued behind the None that ends the thread
        self._closed = False
        self._last = LastCommit()
        self._broken: LedgerCorrupt | None = None
        self.changes = 0  # number of writes other than results; a cached copy is outdated if it has changed
        try:
            # revision before the upgrade; None if the database was empty
            self.found = upgrade(self._access.engine) if self._access.is_alone else self._newest()
            self._access.check()
            self._access.share()
        except BaseException as error:
            super().close()
            self._access.release()
            if isinstance(error, SQLAlchemyError):
                raise self.database.explain(error) from None
            raise
        self._thread = threading.Thread(target=self._write, name=f"leaderboard {self.database}", daemon=True)
        self._thread.start()

    def _newest(self) -> str:
        """Return the revision, which must be the newest.  Raises NewerSchema or OlderSchema."""
        with self.reading() as connection:
            check_schema(connection, self.database.address)
        return newest_revision()

    # -- writing
    def ensure_ladder(
        self,
        name: str,
        *,
        game: str,
        seats: int,
        rating: TrueSkill,
        settings: Mapping[str, object] | None = None,
        clock: Mapping[str, object] | None = None,
    ) -> int:
        """Create a ladder if it is new, and return its ID once it is stored.

        Args:
            name: Name of the ladder.
            game: Name of the game.
            seats: Number of seats of its matches.
            rating: TrueSkill parameters of its first epoch.
            settings: Settings of the game. Default: none.
            clock: Time controls. Default: none.

        Raises:
            InvalidEntry: If a ladder of this name differs.
            StoreError: As in `submit`.
        """
        return self.ensure(NewLadder(name, game, seats, rating, settings or {}, clock or {}))

    def ensure(self, new: NewLadder, created: datetime | None = None) -> int:
        """Create a ladder if it is new, and return its ID; the terms of an existing one may differ."""
        return self._do(lambda connection: ladders.ensure_ladder(connection, new, created))

    def create_ladder(
        self,
        name: str,
        *,
        game: str,
        seats: int,
        rating: TrueSkill,
        settings: Mapping[str, object] | None = None,
        clock: Mapping[str, object] | None = None,
        terms: LadderTerms = OPEN,
        created: datetime,
    ) -> LadderEntry:
        """Create a ladder, and return it once it is stored.

        Args:
            name: Name of the ladder.
            game: Name of the game.
            seats: Number of seats of its matches.
            rating: TrueSkill parameters of its first epoch.
            settings: Settings of the game. Default: none.
            clock: Time controls. Default: none.
            terms: Terms that may change later. Default: no limits.
            created: Creation time to store, with a time zone.

        Raises:
            InvalidEntry: If there is a ladder of this name, or a value is invalid.
            StoreError: As in `submit`.
        """
        new = NewLadder(name, game, seats, rating, settings or {}, clock or {}, terms)
        (entry,) = self.create_ladders([new], created)
        return entry

    def create_ladders(self, wanted: Sequence[NewLadder], created: datetime) -> list[LadderEntry]:
        """Create ladders in this order, all or none, and return them once they are stored.

        Raises:
            InvalidEntry: If there is a ladder of one of the names, or a value is invalid.
            StoreError: As in `submit`.
        """

        def create(connection: Connection) -> list[LadderEntry]:
            for new in wanted:
                ladders.create_ladder(connection, new, created)
            return [queries.ladder(connection, new.name) for new in wanted]

        return self._do(create)

    def change_ladder(self, name: str, terms: LadderTerms) -> LadderEntry:
        """Set the terms of a ladder, and return it once they are stored.  Raises NoSuchEntry, and StoreError."""

        def change(connection: Connection) -> LadderEntry:
            ladders.change_ladder(connection, name, terms)
            return queries.ladder(connection, name)

        return self._do(change)

    def check_unused(self, ladder: str) -> None:
        """Check that a ladder may be deleted.  Raises as `delete_ladder` does."""
        self._do(lambda connection: ladders.check_unused(connection, ladder))

    def delete_ladder(self, name: str) -> None:
        """Delete a ladder that nothing depends on, and return once that is stored.

        Raises:
            NoSuchEntry: If there is no such ladder.
            InvalidEntry: If it has matches, or is named by a submission that is active or still being checked.
            StoreError: As in `submit`.
        """
        self._do(lambda connection: ladders.delete_ladder(connection, name))

    def ensure_version(self, owner: str, bot: str, version: str, created: datetime | None = None) -> int:
        """Return the ID of a version of a bot once it is stored, creating missing owner, bot and version.

        Args:
            owner: Name of the owner.
            bot: Name of the bot.
            version: Label of the version.
            created: Creation time to store for a new version.

        Raises:
            InvalidEntry: If a name is invalid.
            StoreError: As in `submit`.
        """
        return self._do(lambda connection: owner_registry.ensure_version(connection, owner, bot, version, created))

    def create_tokens(self, wanted: Sequence[NewToken], created: datetime) -> list[tuple[Token, TokenEntry]]:
        """Create tokens in this order, all or none; return them with their entries once they are stored.

        Raises:
            InvalidEntry: If a token expires before `created`.
            StoreError: As in `submit`.
        """
        made = [(new, new_token()) for new in wanted]
        entries = self._do(lambda connection: owner_registry.create_tokens(connection, made, created))
        return [(token, entry) for (_, token), entry in zip(made, entries, strict=True)]

    def revoke_token(self, token_id: str, revoked: datetime) -> TokenEntry:
        """Revoke a token; return once that is stored.  Raises NoSuchEntry, and StoreError."""
        return self._do(lambda connection: owner_registry.revoke_token(connection, token_id, revoked))

    def redeem_link(self, link_id: str, now: datetime) -> tuple[Token, TokenEntry]:
        """Exchange a link for its token, once; return when that is stored.

        Raises:
            InvalidEntry: If it is no link, or was used, revoked or has expired.
            NoSuchEntry: If there is no such token.
            StoreError: As in `submit`.
        """
        token = new_token()
        return token, self._do(lambda connection: owner_registry.redeem_link(connection, link_id, token, now))

    def open_session(
        self, account: ProviderAccount, new: NewToken, now: datetime, *, may_create: bool
    ) -> tuple[Token, TokenEntry]:
        """Create a token for the owner whom an account is linked with; return when that is stored.

        Args:
            account: The account, which the provider has confirmed.
            new: The token; its owner counts only for an account that is not linked, and is then created.
            now: Present time.
            may_create: Whether an account that is not linked may become a new owner.

        Raises:
            NotLinked: If the account is not linked, and the owner exists already or may not be created.
            StoreError: As in `submit`.
        """
        token = new_token()
        return token, self._do(
            lambda connection: sign_ins.open_session(connection, account, new, token, now, may_create)
        )

    def link_account(self, account: ProviderAccount, owner: str, now: datetime) -> str:
        """Link an account with an owner, created if new; return the owner it was linked with before, or "".

        Raises:
            InvalidEntry: If the name of the owner is invalid or reserved.
            StoreError: As in `submit`.
        """
        return self._do(lambda connection: sign_ins.link_account(connection, account, owner, now))

    def note_uses(self, uses: Mapping[str, datetime]) -> Future[None]:
        """Store when tokens were last used, by ID; the future may have a StoreError."""
        future: Future[None] = Future()
        self._hand_in(_Task(lambda connection: owner_registry.note_uses(connection, uses), future))
        return future

    def open_epoch(self, ladder: str, rating: TrueSkill) -> int:
        """Rate the next boards of a ladder with these parameters, and return the number of the epoch.

        Raises:
            InvalidEntry: If there is no such ladder.
            StoreError: As in `submit`.
        """
        return self._do(lambda connection: ladders.open_epoch(connection, ladder, rating))

    def lift_pause(self, version_id: int, now: datetime) -> Pause:
        """End the pause of a version, and return the pause once that is stored.

        Raises:
            NoSuchEntry: If the version is not paused.
            StoreError: As in `submit`.
        """
        return self._do(
            lambda connection: queries.pause(connection, fault_streaks.lift_pause(connection, version_id, now))
        )

    def put_estimates(self, estimates: LadderEstimates, made: datetime) -> Future[None]:
        """Replace the estimates of a ladder in one transaction.

        The future may have a NoSuchEntry or an InvalidEntry, as in `result_matrix.put_estimates`, or a StoreError.
        """
        future: Future[None] = Future()
        self._hand_in(_Task(lambda connection: put_estimates(connection, estimates, made), future))
        return future

    # -- submissions; each method returns once its change is stored, and raises StoreError as in `submit`
    def hand_in(self, new: NewSubmission, received: datetime) -> SubmissionEntry:
        """Run `submissions.hand_in`."""
        return self._do(lambda connection: submissions.hand_in(connection, new, received))

    def set_submission(
        self, submission: int, state: str, changed: datetime, why: str = "", log: str | None = None
    ) -> SubmissionEntry:
        """Run `submissions.set_state`."""
        return self._do(lambda connection: submissions.set_state(connection, submission, state, changed, why, log))

    def claim_submissions(self, working_on: Collection[int], silent_s: float) -> list[SubmissionEntry]:
        """Run `submissions.claim`."""
        future: Future[list[SubmissionEntry]] = Future()
        claims = partial(submissions.claim, working_on=working_on, silent_s=silent_s)
        self._hand_in(_Task(claims, future, is_change=False))
        return future.result()

    def accept(self, submission: int, changed: datetime, log: str) -> SubmissionEntry:
        """Run `submissions.accept`."""
        return self._do(lambda connection: submissions.accept(connection, submission, changed, log))

    def activate(self, submission: int, changed: datetime) -> SubmissionEntry:
        """Run `submissions.activate`."""
        return self._do(lambda connection: submissions.activate(connection, submission, changed))

    def retire(self, submission: int, changed: datetime) -> SubmissionEntry:
        """Run `submissions.retire`."""
        return self._do(lambda connection: submissions.retire(connection, submission, changed))

    def not_kept(self, which: Sequence[int]) -> None:
        """Run `submissions.not_kept`."""
        self._do(lambda connection: submissions.not_kept(connection, which))

    # -- notices; each method returns once its change is stored, and raises StoreError as in `submit`
    def add_receiver(self, new: NewReceiver, created: datetime) -> ReceiverEntry:
        """Run `receivers.add_receiver`."""
        return self._do(lambda connection: add_receiver(connection, new, created))

    def remove_receiver(self, receiver_id: int) -> ReceiverEntry:
        """Run `receivers.remove_receiver`."""
        return self._do(lambda connection: remove_receiver(connection, receiver_id))

    def claim_notices(self, now: datetime, until: datetime, most_receivers: int, most_each: int) -> list[Claim]:
        """Run `outbox.claim_notices`, if anything is due; else nothing is written."""
        with self.reading() as connection:
            if not due_receivers(connection, now, 1):
                return []
        future: Future[list[Claim]] = Future()
        claim = partial(claim_notices, now=now, until=until, most_receivers=most_receivers, most_each=most_each)
        self._hand_in(_Task(claim, future, is_change=False))
        return future.result()

    def settle_notices(self, outcomes: Sequence[Outcome], now: datetime) -> None:
        """Run `outbox.settle`."""
        self._do_work(lambda connection: settle(connection, outcomes, now))

    def release_claims(self) -> None:
        """Run `outbox.release_claims`, unless other arenas share the database."""
        if self._access.is_alone:
            self._do_work(release_claims)

    # -- version tests
    def start_version_test(
        self, new: NewVersionTest, created: datetime, max_open: int, max_a_day: int
    ) -> VersionTestEntry:
        """Run `version_tests.start_version_test`; return once the test is stored."""
        return self._do(
            lambda connection: version_tests.start_version_test(connection, new, created, max_open, max_a_day)
        )

    def end_version_test(self, test_id: str, outcome: str, ended: datetime) -> Future[VersionTestEntry]:
        """Run `version_tests.end_version_test`; the future may have a NoSuchEntry or a StoreError."""
        future: Future[VersionTestEntry] = Future()
        self._hand_in(_Task(partial(_end_version_test, test_id=test_id, outcome=outcome, ended=ended), future))
        return future

    # -- tournaments
    def start_tournament(self, new: TournamentEntry, max_open: int) -> TournamentEntry:
        """Run `tournaments.start_tournament`; return once the tournament is stored."""
        return self._do(lambda connection: tournaments.start_tournament(connection, new, max_open))

    def end_tournament(self, tournament_id: str, outcome: str, ended: datetime) -> TournamentEntry:
        """Run `tournaments.end_tournament`; return once the end is stored."""
        return self._do(lambda connection: tournaments.end_tournament(connection, tournament_id, outcome, ended))

    def put_tournament_board(self, tournament_id: str, board: TournamentBoardEntry) -> None:
        """Run `tournaments.put_tournament_board`; return once the board is stored."""
        self._do(lambda connection: tournaments.put_tournament_board(connection, tournament_id, board))

    # -- seasons; each method returns once its change is stored
    def start_series(self, new: SeriesEntry, first: NewSeason, max_open: int) -> SeasonState:
        """Run `seasons.start_series`."""
        return self._do(lambda connection: seasons.start_series(connection, new, first, max_open))

    def note_season_bots(
        self, series_id: str, number: int, newcomers: Sequence[SeasonBot], has_left: Mapping[tuple[str, str], bool]
    ) -> None:
        """Run `seasons.note_season_bots`."""
        self._do(lambda connection: seasons.note_season_bots(connection, series_id, number, newcomers, has_left))

    def end_season_play(self, series_id: str, number: int, ended: datetime) -> SeasonState:
        """Run `seasons.end_season_play`."""
        return self._do(lambda connection: seasons.end_season_play(connection, series_id, number, ended))

    def put_season_table(
        self,
        series_id: str,
        number: int,
        table: Sequence[SeasonBot],
        final: TournamentEntry | None,
        next_at: datetime | None,
        now: datetime,
    ) -> SeasonState:
        """Run `seasons.put_season_table`."""
        return self._do(
            lambda connection: seasons.put_season_table(connection, series_id, number, table, final, next_at, now)
        )

    def end_season_final(
        self, series_id: str, number: int, champion: str, next_at: datetime | None, now: datetime
    ) -> SeasonState:
        """Run `seasons.end_season_final`."""
        return self._do(
            lambda connection: seasons.end_season_final(connection, series_id, number, champion, next_at, now)
        )

    def begin_next_season(self, series_id: str, number: int, new: NewSeason) -> SeasonState:
        """Run `seasons.begin_next_season`."""
        return self._do(lambda connection: seasons.begin_next_season(connection, series_id, number, new))

    def stop_series(self, series_id: str, now: datetime) -> SeasonState:
        """Run `seasons.stop_series`."""
        return self._do(lambda connection: seasons.stop_series(connection, series_id, now))

    # -- matches
    def announce(self, match: MatchAnnouncement) -> Future[None]:
        """Store an announcement with the commitment to its deal; the future is done after the commit.

        Missing owners, bots and versions are created. A match that is announced or stored already stays as it is. The
        future may have an InvalidEntry (impossible values, no such ladder, another number of seats, a board that is
        full) or a StoreError.
        """
        future: Future[None] = Future()
        self._hand_in_entry(_PendingWrite(match, future))
        return future

    def void_unfinished(
        self,
        now: datetime,
        ladders: Collection[str] | None = None,
        *,
        has_workers: bool = False,
        started_before: datetime | None = None,
    ) -> list[str]:
        """Store every announced match that is not over as void, by the server's fault, and return their IDs.

        A server calls this at its start, because no match can continue without its clocks. A board with a void match is
        not rated. Returns once the results are stored.

        Args:
            now: End of these matches.
            ladders: Only matches of these ladders. Default: of all.
            has_workers: Whether workers play on, so that their matches are not void.
            started_before: Only matches that started before this time. Default: all.

        Raises:
            StoreError: As in `submit`.
        """
        with self.reading() as connection:
            played = work.open_work(connection)
            cut_off = write_state.unfinished(connection, now, ladders)
        if started_before is not None:
            cut_off = [result for result in cut_off if result.started < started_before]
        if has_workers:
            cut_off = [result for result in cut_off if result.match not in played]
        for future in [self.submit(result) for result in cut_off]:
            future.result()
        if played and not has_workers:
            self.remove_work([result.match for result in cut_off if result.match in played])
        self._do(lambda connection: write_state.reveal_boards(connection, ladders))
        return [result.match for result in cut_off]

    # -- matches that workers play; each method returns once its change is stored, and raises StoreError as in `submit`
    def open_to_workers(self, install: Callable[[Connection], None]) -> None:
        """Create what workers call, and what `install` creates, in one transaction."""

        def create(connection: Connection) -> None:
            work.create_functions(connection)
            install(connection)

        self._do(create)

    def put_work(self, works: Sequence[NewWork], now: datetime, enqueue: Callable[[Connection], None]) -> None:
        """Let workers take announced matches, and put them into their queue in the same transaction.

        Args:
            works: The matches.
            now: The time of day.
            enqueue: Puts them into the queue.
        """

        def put(connection: Connection) -> None:
            work.put_work(connection, works, now)
            enqueue(connection)

        self._do_work(put)

    def requeue_work(self, enqueue: Callable[[Connection], None]) -> None:
        """Run `enqueue`, which puts matches into the queue that may have left it."""
        self._do_work(enqueue)

    def remove_work(self, matches: Collection[str]) -> None:
        """Run `work.remove_work`."""
        self._do_work(lambda connection: work.remove_work(connection, matches))

    def put_archive(self, digest: bytes, content: bytes) -> None:
        """Store packed files under their SHA-256, unless they are."""
        self.put_archives({digest: content})

    def put_archives(self, contents: Mapping[bytes, bytes]) -> None:
        """Run `work.put_archives`."""
        self._do_work(lambda connection: work.put_archives(connection, contents))

    def drop_archives(self, digests: Collection[bytes]) -> None:
        """Run `work.drop_archives`."""
        self._do_work(lambda connection: work.drop_archives(connection, digests))

    def remove_archives(
        self, needed: Callable[[Connection], Collection[bytes]], among: Collection[bytes] | None = None
    ) -> None:
        """Remove what no key of `needed` names, as of that transaction.

        Args:
            needed: Returns the keys to keep.
            among: Remove nothing but these. Default: everything.
        """

        def remove(connection: Connection) -> None:
            found = work.archive_keys(connection) if among is None else {*among}
            work.drop_archives(connection, found - {*needed(connection)})

        self._do_work(remove)

    def submit(self, result: FinishedMatch) -> Future[StoreOutcome]:
        """Store and rate a result; the future is done after the commit.

        Missing owners, bots and versions are created. If the match is stored already, nothing changes and the first
        answer is repeated. The future may have a StoreError; after an Unsure, the result may be stored nevertheless. It
        may have an InvalidEntry: impossible values, no such ladder, another number of seats, a full board, a deal that
        differs from the announced one, or a record that cannot be made.
        """
        future: Future[StoreOutcome] = Future()
        self._hand_in_entry(_PendingWrite(result, future))
        return future

    def standings(self, player: Identity, seen: datetime) -> Future[Mapping[str, tuple[Skill, int]]]:
        """Return the pairing skill of a version and its number of rated matches, by ladder.

        Missing owner, bot and version are created, as of `seen`. The future may have an InvalidEntry or a StoreError.
        """
        future: Future[Mapping[str, tuple[Skill, int]]] = Future()
        self._hand_in(_Task(partial(_standings, player=player, seen=seen), future, is_change=False))
        return future

    @property
    def waiting(self) -> int:
        """Number of queued writes that the writing thread has not taken yet."""
        return self._waiting.qsize()

    def close(self) -> None:
        """Write everything that waits, then close the database."""
        with self._lock:
            is_closed, self._closed = self._closed, True
            if not is_closed:
                self._waiting.put(None)
        self._thread.join()
        super().close()  # first: the last connection to close writes a checkpoint, which only the writer may do
        if not is_closed:
            self._access.release()

    # -- the thread
    def _do(self, write: Callable[[Connection], Answer]) -> Answer:
        future: Future[Answer] = Future()
        self._hand_in(_Task(write, future))
        return future.result()

    def _do_work(self, write: Callable[[Connection], None]) -> None:
        """Write what nobody has cached."""
        future: Future[None] = Future()
        self._hand_in(_Task(write, future, is_change=False))
        future.result()

    def _hand_in_entry(self, waiting: _PendingWrite) -> None:
        try:
            waiting.entry.check()
        except InvalidEntry as problem:
            waiting.future.set_exception(problem.with_traceback(None))
        else:
            self._hand_in(waiting)

    def _hand_in(self, job: _PendingWrite | _Task) -> None:
        job.future.set_running_or_notify_cancel()  # a cancelled wait must not lose the result
        with self._lock:
            is_closed = self._closed
            if not is_closed:
                self._waiting.put(job)
        if is_closed:
            job.future.set_exception(StoreError(f"the leaderboard {self.database} is closed"))

    def _write(self) -> None:
        ended = False
        while not ended:
            jobs = self._gathered()
            ended = jobs[-1] is None  # nothing comes after it
            entries: list[_PendingWrite] = []
            for job in jobs:
                if isinstance(job, _PendingWrite):
                    entries.append(job)
                    continue
                self._write_entries(entries)  # keeps the order of submission
                entries = []
                if job is not None:
                    self._write_task(job)
            self._write_entries(entries)

    def _gathered(self) -> list[_PendingWrite | _Task | None]:
        """Wait for a job, and return it with all others that wait already."""
        jobs = [self._waiting.get()]
        results = 0
        with suppress(Empty):
            while results < GATHER and len(jobs) < MOST_AT_ONCE:
                jobs.append(job := self._waiting.get_nowait())
                results += isinstance(job, _PendingWrite) and isinstance(job.entry, FinishedMatch)
        return jobs

    def _write_task(self, task: _Task) -> None:
        try:
            with self._transaction() as connection:
                answer = task.write(connection)
        except Exception as error:
            task.future.set_exception(error)
        else:
            self.changes += task.is_change
            task.future.set_result(answer)

    def _write_entries(self, batch: Sequence[_PendingWrite]) -> None:
        if not batch:
            return
        if self._broken is not None:
            _fail(batch, LedgerCorrupt, self._broken.ladder)
            return
        try:
            with self._transaction() as connection:
                answers = self._write_all(connection, [waiting.entry for waiting in batch])
        except Exception as error:
            self._last.clear()
            self._not_written(batch, error)
        else:
            for waiting, answer in zip(batch, answers, strict=True):
                if isinstance(answer, InvalidEntry):
                    waiting.future.set_exception(answer)
                else:
                    waiting.future.set_result(answer)

    def _write_all(
        self, connection: Connection, entries: Sequence[FinishedMatch | MatchAnnouncement]
    ) -> list[StoreOutcome | InvalidEntry | None]:
        """Run `result_writer.write`."""
        return result_writer.write(connection, entries, self._last)

    def _not_written(self, batch: Sequence[_PendingWrite], error: Exception) -> None:
        """Answer the entries of a failed transaction, or store each of them in its own transaction."""
        if isinstance(error, Unsure):
            self._look_up(batch, error)
        elif isinstance(error, LedgerCorrupt):
            self._broken = error
            _fail(batch, LedgerCorrupt, error.ladder)
        elif isinstance(error, StoreError):
            _fail(batch, StoreError, *error.args)
        elif isinstance(error, InvalidEntry) and len(batch) == 1:
            batch[0].future.set_exception(error.with_traceback(None))
        elif len(batch) == 1:  # its text may quote the record
            problem = InvalidEntry("the match cannot be written down")
            batch[0].future.set_exception(problem.with_traceback(error.__traceback__))
        else:  # one of them caused an unexpected error, so the others are stored without it
            for waiting in batch:
                self._write_entries([waiting])

    def _look_up(self, batch: Sequence[_PendingWrite], error: Unsure) -> None:
        """Answer the entries of a failed commit by looking up which are stored."""
        try:
            self._access.settle()
            with self.reading() as connection:
                stored = write_state.stored(connection, {waiting.entry.match for waiting in batch})
                lost = write_state.voided(connection, [waiting.entry for waiting in batch])
        except Exception:
            _fail(batch, Unsure, *error.args)
            return
        for waiting in batch:
            answer = stored.get(waiting.entry.match)
            is_announcement = isinstance(waiting.entry, MatchAnnouncement)  # announcing a match twice does no harm
            if is_announcement or answer is None or waiting.entry.match in lost:
                waiting.future.set_exception(StoreError(*error.args))
            else:
                waiting.future.set_result(answer)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Hold the write lock, and commit at the end.

        Raises:
            StoreError: If the database fails; an Unsure if the commit fails.
        """
        self._access.check()
        is_committing = False
        try:
            with self._access.engine.begin() as connection:
                yield connection
                is_committing = True
        except DBAPIError as error:
            if not self.database.is_failure(error):
                raise  # an unsuitable value: a bug of the caller, not a failure of the database
            self._access.engine.dispose()  # perhaps only this connection is broken
            # On a server another process may have written before the next connection.
            self._last.clear()
            self.changes += 1
            problem = self.database.explain(error)
            raise (Unsure if is_committing else StoreError)(*problem.args) from None


def _standings(connection: Connection, player: Identity, seen: datetime) -> dict[str, tuple[Skill, int]]:
    return queries.standings(connection, owner_registry.ensure_version(connection, *player, created=seen))


def _end_version_test(connection: Connection, test_id: str, outcome: str, ended: datetime) -> VersionTestEntry:
    return version_tests.end_version_test(connection, test_id, outcome, ended)


def _fail(batch: Sequence[_PendingWrite], problem: Callable[..., StoreError], *facts: object) -> None:
    """Answer each entry with its own instance of the error."""
    for waiting in batch:
        waiting.future.set_exception(problem(*facts))
