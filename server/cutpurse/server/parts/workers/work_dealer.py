"""The server's side of hosted ladders: it pairs, deals and announces matches, and stores what workers hand back.

A thread works through the same steps again and again: read what changed, settle ended matches, deal new ones. A match
is announced first, then put where workers find it. Its report is checked by playing its record again, and stored as a
match of this server. A match that is lost with its worker, or whose report is false or cannot be stored, is void, and
its bots get a fresh deal. A version in three lost matches in a row is checked again before it plays, since it may be
the cause.

If the store fails, a step is done again later: results have their match as key. Whatever else goes wrong with a match,
it is settled apart from the others. This module knows no queue's engine, no stream and no lobby.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Final, Protocol

from sqlalchemy import Connection

from cutpurse.engine.chance import KEY_BYTES, Chance
from cutpurse.games import GAMES
from cutpurse.leaderboard import queries, write_state
from cutpurse.leaderboard.errors import InvalidEntry, LadderMoved, LeaderboardError
from cutpurse.leaderboard.results import FinishedMatch, Identity, MatchAnnouncement, StoreOutcome
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.ladder_config import ladder_of
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.matches.deals import dealt
from cutpurse.server.matches.matchmaking import Pairing, Seating
from cutpurse.server.parts.submissions import archive_table
from cutpurse.server.parts.submissions.packed_files import FilesError, pack_files
from cutpurse.server.parts.submissions.stored_archives import remove_unneeded
from cutpurse.server.parts.submissions.submission_queries import SubmissionEntry
from cutpurse.server.parts.workers import work
from cutpurse.server.parts.workers.hosted_player import HostedPlayer, hosted_player
from cutpurse.server.parts.workers.match_queue import MatchQueue
from cutpurse.server.parts.workers.match_report import CheckedReport, FalseReport, check_report
from cutpurse.server.parts.workers.match_task import MatchTask, TaskSeat
from cutpurse.server.parts.workers.work import EndedWork, NewWork, WorkLoad
from cutpurse.wire.manifest import Manifest
from cutpurse.wire.version import VERSION

__all__ = ["DealerSite", "HostedFiles", "WorkDealer"]

LOOK_S: Final = 0.25
AGAIN_S: Final = 1.0  # after a failure of the store
REQUEUE_S: Final = 60.0  # between repairs of the queue
AHEAD: Final = 4  # matches that wait for a worker; more would only wait longer
SHARE: Final = 8  # of the matches being played, one in SHARE may wait in addition
SETTLED: Final = 32  # matches settled at a time
MOST_LOST: Final = 3  # void matches in a row, by lost workers, after which a version is checked again
MOST_NOT_STARTED: Final = 3  # matches in a row for which a version did not start, after which it is taken off


class HostedFiles(Protocol):
    """The submitted bots: the submission desk."""

    @property
    def built(self) -> Sequence[tuple[SubmissionEntry, Manifest]]:
        """The active bots whose files are built; another object after each change."""

    def tree(self, digest: bytes) -> Path:
        """Return the folder with the built files of an archive."""

    def check_again(self, submission: int, why: str) -> None:
        """Build and check a submission again before it plays."""

    def take_off(self, submission: int, why: str) -> None:
        """Let a submission play no more."""


@dataclass(frozen=True, slots=True)
class DealerSite:
    """What a dealer needs from outside of it.

    Attributes:
        store: The leaderboard, in PostgreSQL.
        queue: Where workers find their matches.
        files: The submitted bots.
        log: The server's log.
        utc: Returns the time of day.
        entropy: Returns that number of unpredictable bytes.
        paused: Called with each version that a result pauses.
        own_ladders: Returns the ladders that this server has; None means all.
    """

    store: Store
    queue: MatchQueue
    files: HostedFiles
    log: Logger
    utc: Callable[[], datetime]
    entropy: Callable[[int], bytes]
    paused: Callable[[Identity], None] = lambda identity: None
    own_ladders: Callable[[], Collection[str] | None] = lambda: None


class WorkDealer:
    """The dealer of all hosted ladders. Call `begin` once the server listens, and `close` at the end."""

    def __init__(self, site: DealerSite) -> None:
        self._site = site
        self._store = site.store
        self._queue = site.queue
        self._log = site.log
        self._code = VERSION
        self._changes = -1  # of the store, when its ladders and bots were read
        self._built: object = None  # the bots, as of then
        self._own: Collection[str] | None = None  # the ladders of this server, as of then
        self._pairing = Pairing((), Chance(site.entropy(KEY_BYTES)))
        self._players: dict[Identity, HostedPlayer] = {}
        self._open: dict[str, tuple[Seating, float]] = {}  # matches dealt by this process, and when
        self.load = WorkLoad()  # as of the last round
        self._is_open = False  # workers can take matches
        self._requeue_at = 0.0
        self._packed: dict[bytes, bytes] = {}  # SHA-256 of the packed files in the store, by that of the archive
        self._lost: Counter[Identity] = Counter()  # void matches in a row, by lost workers
        self._not_started: Counter[Identity] = Counter()
        self._woken = threading.Event()
        self._is_draining = False
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="work dealer", daemon=True)
        self._thread.start()

    def drain(self) -> None:
        """Deal no more matches; workers play on, and the next server stores what they hand back."""
        self._is_draining = True

    def close(self) -> None:
        """Stop the thread."""
        self._is_closed = True
        self._woken.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        wait_s = LOOK_S
        while not self._woken.wait(wait_s):
            try:
                self.look(monotonic())
                wait_s = LOOK_S
            except LeaderboardError as problem:
                self._log.error("work not written", text=str(problem))
                wait_s, self._changes = AGAIN_S, -1
            except Exception as problem:
                self._log.error("dealer broke", error=type(problem).__name__, places=traceback_locations(problem))
                wait_s, self._changes = AGAIN_S, -1

    def look(self, now: float) -> None:
        """Do one round of all steps.

        Raises:
            StoreError: If the store fails.
        """
        changes, built, own = self._store.changes, self._site.files.built, self._site.own_ladders()
        if changes != self._changes or built is not self._built or own != self._own:
            self._own = own
            self._read(built)
            self._changes, self._built = changes, built
        if not self._pairing.ladders and not self._is_open:
            return
        if not self._is_open:
            self._open_to_workers()
        if now >= self._requeue_at:
            self._requeue_at = now + REQUEUE_S
            self._store.write_uncached(self._requeue)
        self._settle(now)
        self.load = self._store.run(work.load)
        if not self._is_draining:
            self._deal(now)

    # -- what is there
    def _read(self, built: Sequence[tuple[SubmissionEntry, Manifest]]) -> None:
        """Read the hosted ladders and their bots."""
        entries = [
            entry
            for entry in self._store.run(queries.ladders)
            if entry.is_hosted and entry.game in GAMES and (self._own is None or entry.name in self._own)
        ]
        for entry in entries:
            self._pairing.set_ladder(replace(ladder_of(entry), is_hosted=False))  # to this pairing they are its own
        for ladder in self._pairing.ladders:
            if ladder.name not in {entry.name for entry in entries}:
                self._forget_matches(ladder.name)
                self._pairing.remove_ladder(ladder.name)
        if not entries:
            return
        paused = {
            Identity(bot.owner, bot.bot, bot.version) for bot in self._store.run(queries.bots) if bot.paused is not None
        }
        house = {bot for entry in entries for bot in entry.terms.house}
        submitted = [hosted_player(entry, manifest) for entry, manifest in built]
        wanted = [player for player in submitted if player.identity not in paused]
        players = {
            player.identity: player
            for player in (*wanted, *(HostedPlayer(Identity(HOUSE, bot, "1")) for bot in sorted(house)))
        }
        for identity, player in self._players.items():
            if identity not in players:
                self._pairing.leave(player)
        self._players = {
            identity: self._entered(player, self._players.get(identity)) for identity, player in players.items()
        }

    def _forget_matches(self, ladder: str) -> None:
        """Leave the open matches of a ladder to the server that has it now; workers play on."""
        for match, (seating, _) in [*self._open.items()]:
            if seating.ladder.name == ladder:
                del self._open[match]
                self._pairing.ended(seating, 0.0, is_void=True)

    def _entered(self, player: HostedPlayer, before: HostedPlayer | None) -> HostedPlayer:
        facts = (player.games, player.ladders, player.digest, player.submission)
        if before is not None and facts == (before.games, before.ladders, before.digest, before.submission):
            self._pairing.enter(before)  # on ladders that are new
            return before
        if before is not None:
            self._pairing.leave(before)
        self._pairing.enter(player)
        self._pairing.know(player.identity, self._store.standings(player.identity, self._site.utc()).result())
        return player

    def _open_to_workers(self) -> None:
        """Create what workers need, and remove files that no match needs any more."""

        def install(connection: Connection) -> None:
            work.create_functions(connection)
            self._queue.install(connection)

        self._store.write(install)
        if (
            self._own is None
        ):  # otherwise another server may be dealing with files that were just stored: `ArchiveSweep`
            self._store.write_uncached(remove_unneeded)
        self._is_open = True
        self._log.info("open to workers", open_matches=len(self._store.run(work.open_tasks)))

    # -- new matches
    def _deal(self, now: float) -> None:
        counts = self.load.counts
        room = AHEAD + counts.get("taken", 0) // SHARE - counts.get("waiting", 0)
        at = self._site.utc()
        shut = {ladder.name for ladder in self._pairing.ladders if ladder.is_frozen(at)}
        for _ in range(room):
            seating = self._pairing.next(now, shut)
            if seating is None:
                return
            try:
                match = self._begin(seating)
            except BaseException as problem:
                self._pairing.ended(seating, 0.0, is_void=True)
                self._pairing.postpone(seating.ladder, now + AGAIN_S)
                if not isinstance(problem, (FilesError, OSError)):
                    raise
                self._log.error("bot not packed", ladder=seating.ladder.name, text=str(problem))
                return
            self._open[match] = seating, now

    def _begin(self, seating: Seating) -> str:
        """Announce a match, and let workers take it.

        Raises:
            FilesError: If the files of a bot cannot be packed.
            OSError: If they cannot be read.
            StoreError: If the store fails.
        """
        ladder, utc = seating.ladder, self._site.utc()
        players = [self._players[player.identity] for player in seating.players]
        seats = tuple(TaskSeat(player.identity, self._files_of(player).hex()) for player in players)
        match = self._site.entropy(16).hex()
        identities = tuple(player.identity for player in players)
        hides_names = ladder.terms.hides_names(utc)
        deal = dealt(ladder, match, identities, self._site.entropy, hides_names=hides_names)
        task = MatchTask(
            match,
            ladder.name,
            ladder.game,
            ladder.rules.words.version,
            dict(ladder.settings),
            asdict(ladder.control),
            deal.board,
            deal.commitment,
            deal.params,
            utc,
            seating.reason,
            seats,
            hides_names,
        )
        announced = MatchAnnouncement(match, ladder.name, task.rules, deal, utc, identities, reason=seating.reason)
        self._store.announce(announced).result()
        try:
            self._store.write_uncached(self._put, NewWork(match, self._code, task.to_json(), deal.seed), utc)
        except LeaderboardError:
            self._store.submit(task.void(deal.seed, self._site.utc()))  # if that fails too, the next start voids it
            raise
        self._log.info("match dealt", match=match, ladder=ladder.name, bots=[one.shown for one in identities])
        return match

    def _requeue(self, connection: Connection) -> None:
        """Put matches into the queue that may have left it."""
        self._queue.put(connection, work.unfinished_matches(connection))

    def _put(self, connection: Connection, new: NewWork, now: datetime) -> None:
        """Let workers take an announced match, and put it into their queue in the same transaction."""
        work.put(connection, [new], now)
        self._queue.put(connection, [new.match])

    def _files_of(self, player: HostedPlayer) -> bytes:
        """Return the SHA-256 of a bot's packed files, which are in the store then; empty for a house bot."""
        if not player.digest:
            return b""
        known = self._packed.get(player.digest)
        if known is None or not self._store.run(archive_table.has_archive, known):
            known, content = pack_files(self._site.files.tree(player.digest))
            self._store.write_uncached(archive_table.put_archives, {known: content})
            self._packed[player.digest] = known
        return known

    # -- ended matches
    def _settle(self, now: float) -> None:
        ended = self._store.run(work.ended_matches, SETTLED, self._own)
        if not ended:
            return
        reports = [self._checked(job) for job in ended]
        pending = [None if report is None else self._store.submit(report.result) for report in reports]
        settled: list[tuple[EndedWork, CheckedReport | None, StoreOutcome]] = []
        for job, report, future in zip(ended, reports, pending, strict=True):
            try:
                settled.append((job, *self._stored(job, report, future)))
            except LadderMoved:  # the server that has the ladder now settles it
                continue
            except InvalidEntry as problem:  # not even as void; the next start tries again
                self._log.error("match left open", match=job.match, text=str(problem))
                settled.append((job, None, StoreOutcome()))
        self._store.write_uncached(work.remove, [job.match for job, _, _ in settled])
        for job, report, outcome in settled:  # the matches are over: nothing below is done again
            try:
                self._note(job, report, outcome, now)
            except Exception as problem:
                places = traceback_locations(problem)
                self._log.error("end not noted", match=job.match, error=type(problem).__name__, places=places)

    def _checked(self, job: EndedWork) -> CheckedReport | None:
        """Check a report; a lost match and a false report are void.  Returns None for a void match that is over."""
        if job.report is None:
            self._log.warning("match lost", match=job.match, worker=job.worker)
        else:
            try:
                return check_report(job.report, MatchTask.from_json(job.task), job.seed, self._site.utc())
            except FalseReport as problem:
                self._log.error("report refused", match=job.match, worker=job.worker, why=str(problem))
            except (KeyError, TypeError, ValueError) as problem:  # a server of another version dealt it
                self._log.error("task not read", match=job.match, error=type(problem).__name__)
        return self._void(job)

    def _void(self, job: EndedWork) -> CheckedReport | None:
        """Return a match as void, as it was announced; None if it is over."""
        result = self._store.run(write_state.announced_void, job.match, self._site.utc())
        return None if result is None else CheckedReport(result)

    def _stored(
        self, job: EndedWork, report: CheckedReport | None, future: Future[StoreOutcome] | None
    ) -> tuple[CheckedReport | None, StoreOutcome]:
        """Wait until a result is stored; one that cannot be is stored as void.

        Raises:
            LadderMoved: If another server has its ladder.
            InvalidEntry: If it cannot be stored as void either.
            StoreError: If the store fails.
        """
        try:
            return report, StoreOutcome() if future is None else future.result()
        except LadderMoved:
            raise
        except InvalidEntry as problem:
            self._log.error("result not stored", match=job.match, worker=job.worker, text=str(problem))
        report = self._void(job)
        return report, StoreOutcome() if report is None else self._store.submit(report.result).result()

    def _note(self, job: EndedWork, report: CheckedReport | None, outcome: StoreOutcome, now: float) -> None:
        """Note the end of a match in the pairing, and what it says of its bots."""
        opened = self._open.pop(job.match, None)
        if opened is not None:
            seating, began = opened
            self._pairing.ended(seating, now - began, is_void=report is None or report.result.is_void)
        if report is None:
            return
        result = report.result
        if outcome.changes and self._is_played(result.ladder):
            self._pairing.rated(result.ladder, outcome.changes)
        for identity in outcome.paused:
            self._log.info("bot paused", owner=identity.owner, bot=identity.bot, version=identity.version)
            self._site.paused(identity)
            self._changes = -1
        self._log.info(
            "match ended",
            match=result.match,
            ladder=result.ladder,
            worker=job.worker,
            places=[seat.place or 0 for seat in result.seats],
            end_causes=[seat.end_cause for seat in result.seats],
            void=result.void_cause,
        )
        self._judge(job, result, report)

    def _is_played(self, ladder: str) -> bool:
        return self._pairing.ladder_named(ladder) is not None

    def _judge(self, job: EndedWork, result: FinishedMatch, checked: CheckedReport) -> None:
        """Count the lost matches and the failed starts of versions, which end with a match that is played."""
        if not result.is_void:
            for identity in result.players:
                del self._lost[identity], self._not_started[identity]
            return
        if job.report is None:
            for identity in result.players:
                self._lost[identity] += 1
                if self._lost[identity] >= MOST_LOST and (submission := self._submission(identity)):
                    why = f"checked again: {MOST_LOST} matches in a row were lost with their workers"
                    self._log.warning("bot checked again", bot=identity.shown, why=why)
                    self._site.files.check_again(submission, why)
                    del self._lost[identity]
        elif checked.not_started is not None:
            identity = result.players[checked.not_started]
            self._not_started[identity] += 1
            if self._not_started[identity] >= MOST_NOT_STARTED and (submission := self._submission(identity)):
                self._log.warning("bot taken off", bot=identity.shown, why=checked.why)
                self._site.files.take_off(submission, f"{MOST_NOT_STARTED} times in a row {checked.why}")
                del self._not_started[identity]

    def _submission(self, identity: Identity) -> int:
        player = self._players.get(identity)
        return 0 if player is None else player.submission
