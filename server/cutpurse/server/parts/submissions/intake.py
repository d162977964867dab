"""The intake of submissions: each is unpacked, built, checked, and accepted or rejected.

One thread works on them, the oldest first, and stores the state after each step. If the store fails, a submission is
processed again later, from its first step. The same holds for submissions that a stopped or killed server left
unfinished. This module knows no call and no message.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard.errors import LeaderboardError, StoreError
from cutpurse.leaderboard.store import Store
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.parts.submissions import submission_queries, submissions
from cutpurse.server.parts.submissions.building import NotBuilt, build, manifest_of
from cutpurse.server.parts.submissions.checking import SubmissionCheck, check_apart
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.parts.submissions.submission_queries import SubmissionEntry
from cutpurse.server.parts.submissions.submissions import BUILT, REFUSED, UNDER_WAY, UNPACKED
from cutpurse.server.parts.submissions.tasks import without_paths
from cutpurse.server.runners.output_log import remove_talk
from cutpurse.server.runners.port import Runner, RunnerError
from cutpurse.wire.archive import ArchiveError
from cutpurse.wire.manifest import Manifest

__all__ = ["Intake"]

LOOK_S: Final = 1.0
FIRST_PAUSE_S: Final = 5.0  # before the first retry of a failed store; doubled each time
LONGEST_PAUSE_S: Final = 300.0
MOST_CHECKS: Final = 3  # of a submission, while the machine is too busy for a check
MOST_LOG: Final = 200_000  # characters stored


class Intake:
    """The intake of all submissions; `changed` is called when a bot has been accepted."""

    def __init__(
        self,
        runner: Runner,
        storage: Storage,
        store: Store,
        log: Logger,
        utc: Callable[[], datetime],
        changed: Callable[[], object],
    ) -> None:
        self._runner = runner
        self._storage = storage
        self._store = store
        self._log = log
        self._utc = utc
        self._changed = changed
        self._waiting: deque[SubmissionEntry] = deque()
        self._now: SubmissionEntry | None = None
        self._lock = threading.Condition()
        self._is_closed = False
        self._thread: threading.Thread | None = None

    # -- on any thread
    def put(self, entries: Iterable[SubmissionEntry]) -> None:
        """Queue submissions in this order, except those that wait already.

        A submission counts as another one if it was received again, even while the thread still rejects the first.
        """
        with self._lock:
            now = [self._now] if self._now is not None else []
            known = {(entry.id, entry.received) for entry in [*now, *self._waiting]}
            self._waiting.extend(entry for entry in entries if (entry.id, entry.received) not in known)
            self._lock.notify()

    def before(self, submission: int) -> int:
        """Return the number of submissions that are processed before this one; 0 if it does not wait."""
        with self._lock:
            waiting = [entry.id for entry in self._waiting]
            return waiting.index(submission) + (self._now is not None) if submission in waiting else 0

    def waiting(self, owner: str) -> int:
        """Return the number of an owner's submissions that wait or are being processed."""
        with self._lock:
            now = [self._now] if self._now is not None else []
            return sum(entry.owner == owner for entry in [*now, *self._waiting])

    @property
    def at_hand(self) -> list[int]:
        """IDs of the submissions that wait or are being processed."""
        with self._lock:
            now = [self._now] if self._now is not None else []
            return [entry.id for entry in [*now, *self._waiting]]

    @property
    def total(self) -> int:
        """Number of all waiting submissions."""
        return len(self._waiting)

    def begin(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._work, name="submissions", daemon=True)
        self._thread.start()

    def drain(self) -> None:
        """Start no more submissions, and abandon the current one; the server's next start processes it again."""
        with self._lock:
            self._is_closed = True
            self._lock.notify()

    def close(self) -> None:
        """Drain, and wait for the thread to end."""
        self.drain()
        if self._thread is not None:
            self._thread.join()

    # -- on the thread
    def _work(self) -> None:
        while True:
            with self._lock:
                while not self._waiting and not self._is_closed:
                    self._lock.wait(LOOK_S)
                if self._is_closed:
                    return
                entry = self._now = self._waiting.popleft()
            try:
                self._until_written(entry)
            except LeaderboardError as problem:  # the submission was replaced or removed meanwhile
                self._log.error("submission not written", bot=entry.shown, text=str(problem))
            except Exception as problem:
                facts = {"error": type(problem).__name__, "places": traceback_locations(problem)}
                self._log.error("submission broke", bot=entry.shown, **facts)
                with suppress(LeaderboardError):
                    self._refuse(entry, "the server made a fault with it, and its log says more: submit it again", [])
            finally:
                with self._lock:
                    self._now = None

    def _until_written(self, entry: SubmissionEntry) -> None:
        """Process a submission; if the store fails, retry with backoff until the outcome is stored."""
        pause_s, is_first = FIRST_PAUSE_S, True
        while True:
            try:
                if is_first or self._is_under_way(entry):
                    self.take_up(entry)
                else:
                    self._changed()
                return
            except StoreError as problem:
                self._log.error("submission not written", bot=entry.shown, text=str(problem), again_in_s=pause_s)
            with self._lock:
                if self._lock.wait_for(lambda: self._is_closed, pause_s):
                    return
            pause_s, is_first = min(2 * pause_s, LONGEST_PAUSE_S), False

    def _is_under_way(self, entry: SubmissionEntry) -> bool:
        same = self._store.run(submission_queries.submissions, entry.owner, entry.bot, entry.version)
        return any((one.id, one.received) == (entry.id, entry.received) and one.state in UNDER_WAY for one in same)

    def take_up(self, entry: SubmissionEntry) -> None:
        """Process a submission until it is accepted or rejected, or the server stops.

        Raises:
            StoreError: If the store fails.
            LeaderboardError: If the submission was replaced or removed meanwhile.
        """
        self._log.info("submission taken up", bot=entry.shown, sha256=entry.digest.hex()[:16])
        seen: list[str] = []
        try:
            manifest = manifest_of(self._storage.archive(entry.digest))
            seen += self._build(entry, manifest)
            self._store.write(submissions.set_state, entry.id, BUILT, self._utc(), log="\n".join(seen))
            for _ in range(MOST_CHECKS):
                checked = self._check(entry, manifest)
                if not checked.is_busy:
                    break
                self._log.warning("submission not checked", bot=entry.shown, why=checked.why)
        except NotBuilt as problem:
            if not self._is_closed:
                self._refuse(entry, str(problem), [*seen, problem.log])
            return
        except (ArchiveError, UsageError) as problem:
            self._refuse(entry, str(problem), seen)
            return
        except (OSError, RunnerError) as problem:
            text = problem.strerror if isinstance(problem, OSError) else str(problem)
            self._log.error("submission not run", bot=entry.shown, text=str(problem))
            said = without_paths(text or type(problem).__name__, self._storage.root)
            self._refuse(entry, f"the server could not build or run it ({said}); submit it again", seen)
            return
        if self._is_closed:
            return
        seen += [f"{one.scenario}: {one.verdict.value}: {one.seen}" for one in checked.findings]
        if checked.why:
            self._refuse(entry, checked.why, seen)
            return
        self._store.write(submissions.accept, entry.id, self._utc(), _kept(seen))
        self._log.info("submission accepted", bot=entry.shown)
        self._changed()

    def _build(self, entry: SubmissionEntry, manifest: Manifest) -> list[str]:
        talk = self._storage.talk / f"build-{entry.id}"
        try:
            return build(
                self._runner,
                self._storage,
                entry.digest,
                manifest,
                talk,
                lambda: self._store.write(submissions.set_state, entry.id, UNPACKED, self._utc()),
                lambda: self._is_closed,
            )
        finally:
            remove_talk(talk)  # the submission's log has the output

    def _check(self, entry: SubmissionEntry, manifest: Manifest) -> SubmissionCheck:
        name = f"check-{entry.id}"
        arena, talk = self._storage.arena(name), self._storage.talk / name
        try:
            return check_apart(
                self._runner.name,
                self._runner.image,
                manifest,
                manifest.games,
                self._storage.tree(entry.digest),
                arena,
                talk,
                lambda: self._is_closed,
            )
        finally:
            self._storage.no_arena(name)
            remove_talk(talk)

    def _refuse(self, entry: SubmissionEntry, why: str, seen: list[str]) -> None:
        why = " ".join(why.split())
        self._log.info("submission refused", bot=entry.shown, why=why)
        self._store.write(submissions.set_state, entry.id, REFUSED, self._utc(), why, _kept([*seen, why]))


def _kept(seen: list[str]) -> str:
    return "\n".join(line for line in seen if line)[-MOST_LOG:]
