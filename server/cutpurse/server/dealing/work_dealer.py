"""The server's side of hosted ladders: it pairs, deals and announces matches, and stores what workers hand back.

A thread works through the same steps again and again: read what changed, settle ended matches, deal new ones. A match
is announced first, then put where workers find it. Its report is checked by playing its record again, and stored as a
match of this server. A match that is lost with its worker, or whose report is false, is void, and its bots get a fresh
deal. A version in three such matches in a row is checked again before it plays, since it may be the cause.

If the store fails, a step is done again later: results have their match as key. This module knows no queue's engine, no
stream and no lobby.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Final, Protocol

from cutpurse.engine.chance import KEY_BYTES, Chance
from cutpurse.games import GAMES
from cutpurse.leaderboard.errors import InvalidEntry, LadderMoved, LeaderboardError
from cutpurse.leaderboard.queries import SubmissionEntry
from cutpurse.leaderboard.results import FinishedMatch, Identity, MatchAnnouncement, StoreOutcome
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.leaderboard.work import EndedWork, NewWork, WorkLoad, unfinished_work
from cutpurse.server.dealing.hosted_player import HostedPlayer, hosted_player
from cutpurse.server.dealing.match_queue import MatchQueue
from cutpurse.server.dealing.match_report import CheckedReport, FalseReport, check_report
from cutpurse.server.dealing.match_task import MatchTask, TaskSeat
from cutpurse.server.dealing.stored_archives import needed_archives
from cutpurse.server.ladder_config import ladder_of
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.matches.deals import dealt
from cutpurse.server.matches.matchmaking import Pairing, Seating
from cutpurse.server.places.packed_files import FilesError, pack_files
from cutpurse.wire.manifest import Manifest

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
        self._code = version("cutpurse")
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
            self._store.requeue_work(lambda connection: self._queue.put(connection, unfinished_work(connection)))
        self._settle(now)
        self.load = self._store.work_load()
        if not self._is_draining:
            self._deal(now)

    # -- what is there
    def _read(self, built: Sequence[tuple[SubmissionEntry, Manifest]]) -> None:
        """Read the hosted ladders and their bots."""
        entries = [
            entry
            for entry in self._store.ladders()
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
        paused = {Identity(bot.owner, bot.bot, bot.version) for bot in self._store.bots() if bot.paused is not None}
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
        self._store.open_to_workers(self._queue.install)
        if (
            self._own is None
        ):  # otherwise another server may be dealing with files that were just stored: `ArchiveSweep`
            self._store.remove_archives(needed_archives)
        self._is_open = True
        self._log.info("open to workers", open_matches=len(self._store.open_work()))

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
            work = NewWork(match, self._code, task.to_json(), deal.seed)
            self._store.put_work([work], utc, lambda connection: self._queue.put(connection, [match]))
        except LeaderboardError:
            self._store.submit(task.void(deal.seed, self._site.utc()))  # if that fails too, the next start voids it
            raise
        self._log.info("match dealt", match=match, ladder=ladder.name, bots=[one.shown for one in identities])
        return match

    def _files_of(self, player: HostedPlayer) -> bytes:
        """Return the SHA-256 of a bot's packed files, which are in the store then; empty for a house bot."""
        if not player.digest:
            return b""
        known = self._packed.get(player.digest)
        if known is None or not self._store.has_archive(known):
            known, content = pack_files(self._site.files.tree(player.digest))
            self._store.put_archive(known, content)
            self._packed[player.digest] = known
        return known

    # -- ended matches
    def _settle(self, now: float) -> None:
        ended = self._store.ended_work(SETTLED, self._own)
        if not ended:
            return
        settled = [(work, *self._checked(work)) for work in ended]
        stored = [(*one, self._store.submit(one[2].result)) for one in settled]
        moved = set()
        for work, task, checked, future in stored:
            try:
                outcome = future.result()
            except LadderMoved:  # the server that has the ladder now settles it
                moved.add(work.match)
                continue
            except InvalidEntry as problem:  # it is stored already, or an operator changed the ladder
                self._log.error("result not stored", match=work.match, worker=work.worker, text=str(problem))
                outcome = StoreOutcome()
            self._note(work, task, checked, outcome, now)
        self._store.remove_work([work.match for work in ended if work.match not in moved])

    def _checked(self, work: EndedWork) -> tuple[MatchTask, CheckedReport]:
        """Check a report; a lost match and a false report are void."""
        task = MatchTask.from_json(work.task)
        if work.report is None:
            self._log.warning("match lost", match=work.match, worker=work.worker)
        else:
            try:
                return task, check_report(work.report, task, work.seed)
            except FalseReport as problem:
                self._log.error("report refused", match=work.match, worker=work.worker, why=str(problem))
        return task, CheckedReport(task.void(work.seed, self._site.utc()))

    def _note(
        self, work: EndedWork, task: MatchTask, checked: CheckedReport, outcome: StoreOutcome, now: float
    ) -> None:
        """Note the end of a match in the pairing, and what it says of its bots."""
        result = checked.result
        opened = self._open.pop(work.match, None)
        if opened is not None:
            seating, began = opened
            self._pairing.ended(seating, now - began, result.is_void)
        if outcome.changes and self._is_played(task.ladder):
            self._pairing.rated(task.ladder, outcome.changes)
        for identity in outcome.paused:
            self._log.info("bot paused", owner=identity.owner, bot=identity.bot, version=identity.version)
            self._site.paused(identity)
            self._changes = -1
        self._log.info(
            "match ended",
            match=result.match,
            ladder=result.ladder,
            worker=work.worker,
            places=[seat.place or 0 for seat in result.seats],
            end_causes=[seat.end_cause for seat in result.seats],
            void=result.void_cause,
        )
        self._judge(work, result, checked)

    def _is_played(self, ladder: str) -> bool:
        return self._pairing.ladder_named(ladder) is not None

    def _judge(self, work: EndedWork, result: FinishedMatch, checked: CheckedReport) -> None:
        """Count the lost matches and the failed starts of versions, which end with a match that is played."""
        if not result.is_void:
            for identity in result.players:
                del self._lost[identity], self._not_started[identity]
            return
        if work.report is None:
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
