"""The supervisor of accepted bots; each runs as one process with its own socket and token.

A bot that ends is restarted with backoff. A bot that keeps ending is taken off, with the reason. A bot that sends
nothing for minutes probably hangs, so it is restarted. A paused version is not started until its pause is lifted.

A bot that must keep no memory plays one match per process. It is stopped when it has received the result, and its next
process starts at once.

All work happens on one thread, except that each bot being stopped has its own. This module knows no match and no
ladder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from pathlib import Path
from time import monotonic
from typing import Final, Protocol

from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import Token
from cutpurse.process.last_words import last_words
from cutpurse.server.access.contact import Contact
from cutpurse.server.access.one_match import OneMatch
from cutpurse.server.access.owners import HostedBotIdentity
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.parts.submissions import submissions
from cutpurse.server.parts.submissions.bot_memories import BotMemories
from cutpurse.server.parts.submissions.bot_stages import BOT_STAGES, BotEvent, BotStage
from cutpurse.server.parts.submissions.process_tokens import ProcessTokens
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.parts.submissions.submission_queries import SubmissionEntry
from cutpurse.server.parts.submissions.submissions import TAKEN_OFF
from cutpurse.server.parts.submissions.tasks import play_task, without_paths
from cutpurse.server.runners.output_log import remove_talk
from cutpurse.server.runners.port import SOCKET, ExitStatus, NoRoom, ResourceUse, Runner, RunnerError, Running
from cutpurse.server.state_table import next_state
from cutpurse.wire.manifest import Manifest

__all__ = ["HostedBots", "HostingSite"]

LOOK_S: Final = 0.25  # between two checks of all bots
FIRST_WAIT_S: Final = 1.0  # before the first restart; doubled each time
LONGEST_WAIT_S: Final = 60.0
LIVED_S: Final = 60.0  # lifetime after which a bot's backoff starts anew
MOST_ENDS: Final = 5  # ends in a row, each before LIVED_S, after which a bot is taken off
GRACE_S: Final = 2.0  # for a bot to end by itself when it is stopped
UNHEARD_S: Final = 300.0  # without an envelope from a process, which acknowledges heartbeats; some start slowly
LOOKED_S: Final = 1.0  # maximum silence counted per check: while the server stalls, it receives nothing
HEARING_S: Final = 2.0  # for a bot to acknowledge the result of its one match
MOST_EARLIER: Final = 262_144  # characters of output stored from earlier processes that played one match each
MOST_TALKS: Final = 200  # stopped bots whose output is stored


class BotSocket(Protocol):
    """The open socket of one process: a `Relay`."""

    def close(self) -> None:
        """Close the socket and all its connections."""


@dataclass(slots=True, eq=False)
class _BotState:
    """The state of one hosted bot."""

    entry: SubmissionEntry
    manifest: Manifest
    stage: BotStage = BotStage.WAITING
    start_at: float = -inf
    started: float = inf
    wait_s: float = FIRST_WAIT_S
    ends: int = 0  # in a row, each before LIVED_S
    running: Running = field(init=False)  # its process; not set before the first
    token: Token | None = None
    relay: BotSocket | None = None
    contact: Contact = field(default_factory=Contact)  # of the current process
    unheard_s: float = 0.0
    one_match: OneMatch | None = None  # of the current process, if it plays only one
    over_at: float | None = None  # time at which the end of this match was noticed
    stopping: threading.Thread = field(init=False)  # stops the process, in STOPPING
    last: str = ""  # reason of its last end
    memory: Path | None = None  # folder of the current process, if it has a memory

    @property
    def identity(self) -> Identity:
        """Owner, bot and version."""
        return Identity(self.entry.owner, self.entry.bot, self.entry.version)

    def happened(self, event: BotEvent) -> None:
        """Go on to the stage after this event."""
        self.stage = next_state(BOT_STAGES, self.stage, event)


@dataclass(frozen=True, slots=True)
class _DesiredState:
    """The bots that must run from now on."""

    entries: Sequence[tuple[SubmissionEntry, Manifest]] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class HostingSite:
    """Where submitted bots are stored and run.

    Attributes:
        runner: Runs builds, checks and bots.
        storage: Folders of the submissions.
        store: Store of the submissions.
        passes: Makes and revokes the bots' tokens.
        log: Server log.
        utc: Returns the time.
    """

    runner: Runner
    storage: Storage
    store: Store
    passes: ProcessTokens
    log: Logger
    utc: Callable[[], datetime]


class HostedBots:
    """The supervisor of all hosted bots. Call `begin` once the server listens, and `close` at the end."""

    def __init__(
        self,
        site: HostingSite,
        *,
        is_paused: Callable[[Identity], bool],
        open_relay: Callable[[Path, str], BotSocket],
        withdrawn: Callable[[Identity], None] = lambda identity: None,
        plays_one: Callable[[Sequence[str]], bool] = lambda ladders: False,
        ladders_of: Callable[[SubmissionEntry, Manifest], Sequence[str]] = lambda entry, manifest: entry.ladders,
        catch_up: Callable[[], object] = lambda: None,
        memories: BotMemories | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Create a supervisor without bots.

        Args:
            site: Where the bots are stored and run.
            is_paused: Returns whether a bot is paused.
            open_relay: Opens the socket at a path, for a bot with this name in the log.
            withdrawn: Called with each bot that is no longer hosted.
            plays_one: Returns whether a bot on these ladders plays one match per process.
            ladders_of: Returns the ladders that a bot plays on.
            catch_up: Called before each check; it may call `set` if that was not possible earlier.
            memories: The memories of the bots; None if they have none.
            clock: Returns monotonic seconds.
        """
        self.runner = site.runner  # another part may have them run elsewhere, before `begin`
        self._storage = site.storage
        self._store = site.store
        self._passes = site.passes
        self._log = site.log
        self._utc = site.utc
        self._is_paused = is_paused
        self._open_relay = open_relay
        self._withdrawn = withdrawn
        self._plays_one = plays_one
        self._ladders_of = ladders_of
        self._catch_up = catch_up
        self._memories = memories
        self._clock = clock
        self._courses: dict[int, _BotState] = {}  # by submission ID; changed by the thread only
        self._uses: dict[Identity, Callable[[], ResourceUse]] = {}  # replaced, never changed
        self._talks: dict[int, Running] = {}  # newest process of each bot, even if ended; replaced, never changed
        self._earlier: dict[int, str] = {}  # output of earlier processes that played one match each
        self._wanted: _DesiredState | None = None  # not applied yet
        self._telling = threading.Lock()  # guards `_wanted`
        self._woken = threading.Event()
        self._looked_at = clock()
        self._is_closed = False
        self._is_draining = False
        self._thread: threading.Thread | None = None

    # -- on any thread
    def uses(self) -> Mapping[Identity, Callable[[], ResourceUse]]:
        """Return functions that read the resource usage of the running bots."""
        return self._uses

    def is_running(self, submission: int) -> bool:
        """Return whether the process of a submission runs."""
        course = self._courses.get(submission)
        return course is not None and course.stage is not BotStage.WAITING

    def talk(self, submission: int) -> str:
        """Return the newest output of a submission since the server started."""
        running = self._talks.get(submission)
        return self._earlier.get(submission, "") + ("" if running is None else running.talk())

    def bots_of(self, processes: Collection[Running]) -> list[Identity]:
        """Return the bots of these processes."""
        return [
            course.identity
            for course in [*self._courses.values()]
            if course.stage is not BotStage.WAITING and course.running in processes
        ]

    def set(self, submissions: Sequence[tuple[SubmissionEntry, Manifest]]) -> None:
        """Set the bots that must run; all others are stopped."""
        with self._telling:
            self._wanted = _DesiredState(tuple(submissions))
        self._woken.set()

    def begin(self) -> None:
        """Start the thread. Call it once the server listens."""
        self._thread = threading.Thread(target=self._keep, name="residents", daemon=True)
        self._thread.start()

    def drain(self) -> None:
        """Start no more bots, and restart none."""
        self._is_draining = True

    def close(self) -> None:
        """Stop all bots, and wait for their end."""
        self._is_closed = True
        self._woken.set()
        if self._thread is not None:
            self._thread.join()
        self._stop([*self._courses.values()])

    # -- on the thread
    def _keep(self) -> None:
        while not self._is_closed:
            try:
                self.look(self._clock())
            except Exception as problem:
                self._log.error("residents broke", error=type(problem).__name__, places=traceback_locations(problem))
            self._woken.wait(LOOK_S)
            self._woken.clear()

    def look(self, now: float) -> None:
        """Apply changes of the desired bots, start bots that are due, and handle bots that have ended or hang."""
        since_s, self._looked_at = min(LOOKED_S, now - self._looked_at), now
        self._catch_up()
        if (desired := self._wanted) is not None:
            self._change(desired)
            with self._telling:  # only now, so that a change that failed half-way is applied again
                if self._wanted is desired:
                    self._wanted = None
        for course in [] if self._is_draining else [*self._courses.values()]:
            match course.stage:
                case BotStage.WAITING:
                    if now >= course.start_at and not self._is_paused(course.identity):
                        self._start(course, now)
                case BotStage.RUNNING:
                    self._look_at_process(course, now, since_s)
                case BotStage.STOPPING:
                    if not course.stopping.is_alive():
                        self._again(course, now)

    def _look_at_process(self, course: _BotState, now: float, since_s: float) -> None:
        if (ended := course.running.ended()) is not None:
            if ended.cause == "deadly":
                self._leave(course)
                self._take_off(course, ended.text)
            elif course.one_match is not None and course.one_match.is_over:
                self._again(course, now)
            else:
                self._ended(course, ended, now)
        elif _has_played(course, now) or self._is_unheard(course, since_s):
            course.stopping = threading.Thread(target=self._part_with, args=(course.running,), daemon=True)
            course.stopping.start()
            course.happened(BotEvent.STOP)  # after `start`, which fails if the system has no thread left
        elif self._is_paused(course.identity):
            self._log.info("resident paused", bot=course.entry.shown)
            self._stop([course])
            course.start_at, course.ends = now, 0

    def _is_unheard(self, course: _BotState, since_s: float) -> bool:
        """Return whether a bot has sent nothing for UNHEARD_S, so that it probably hangs."""
        course.unheard_s = 0.0 if course.contact.take() else course.unheard_s + since_s
        if course.unheard_s < UNHEARD_S:
            return False
        self._log.warning("resident not heard", bot=course.entry.shown, for_s=UNHEARD_S)
        return True

    def _change(self, desired: _DesiredState) -> None:
        kept = {entry.id: (entry, manifest) for entry, manifest in desired.entries}
        gone = [
            course
            for number, course in self._courses.items()
            if number not in kept
            or (kept[number][0].digest, kept[number][0].is_active) != (course.entry.digest, course.entry.is_active)
        ]
        self._stop(gone)
        for course in gone:
            del self._courses[course.entry.id]
            if course.entry.id not in kept:
                self._withdrawn(course.identity)
        self._forget()
        for number, (entry, manifest) in kept.items():
            if number not in self._courses:
                self._courses[number] = _BotState(entry, manifest)
            else:
                self._courses[number].entry = entry

    def _forget(self) -> None:
        """Remove the output of stopped bots, except for the MOST_TALKS newest."""
        over = sorted({*self._talks, *self._earlier} - self._courses.keys())[:-MOST_TALKS]
        if over:
            self._talks = {number: text for number, text in self._talks.items() if number not in over}
            self._earlier = {number: text for number, text in self._earlier.items() if number not in over}
            for number in over:
                remove_talk(self._storage.talk / str(number))

    def _start(self, course: _BotState, now: float) -> None:
        entry, manifest, name = course.entry, course.manifest, f"bot-{course.entry.id}"
        remembers = self._ladders_with_memory(entry)
        course.one_match = OneMatch(self._woken.set) if remembers or self._plays_one(entry.ladders) else None
        course.contact, course.unheard_s, course.over_at = Contact(), 0.0, None
        resident = HostedBotIdentity(
            entry.bot,
            entry.version,
            entry.ladders,
            manifest.tables,
            course.one_match,
            course.contact,
            is_for_tests=not entry.is_active,
        )
        course.token = self._passes.give(entry.owner, resident)
        course.start_at, course.started = inf, now
        try:
            arena = self._storage.arena(name)
            course.relay = self._open_relay(arena / SOCKET, entry.shown)
            if remembers and self._memories is not None:
                course.memory = self._storage.arena(f"memory-{entry.id}")
                self._memories.give(course.identity, remembers, course.memory)
            task = play_task(
                manifest,
                self._storage.tree(entry.digest),
                arena,
                self._storage.talk / str(entry.id),
                course.token.reveal(),
                self._ladders_of(entry, manifest),
                course.memory,
            )
            course.running = self.runner.start(task)
            course.happened(BotEvent.START)
        except NoRoom as problem:
            self._wait_for_room(course, str(problem), now)
            return
        except (OSError, RunnerError, LeaderboardError) as problem:
            said = without_paths(str(problem), self._storage.tree(entry.digest), self._storage.run)
            self._over(course, f"it cannot be run: {said}", now, is_its_own=False)
            return
        self._uses = {**self._uses, course.identity: course.running.use}
        self._talks = {**self._talks, entry.id: course.running}
        self._log.info("resident started", bot=entry.shown, pid=course.running.pid)

    def _ladders_with_memory(self, entry: SubmissionEntry) -> Sequence[str]:
        """Return the ladders on which the next process of a bot has a memory; a bot must name them."""
        if self._memories is None or not self.runner.has_memory:
            return ()
        return self._memories.ladders(entry.ladders)

    def _wait_for_room(self, course: _BotState, why: str, now: float) -> None:
        """Try to start a bot again soon, since there is no room for it now."""
        if course.last != why:
            self._log.info("resident waits", bot=course.entry.shown, why=why)
        self._leave(course)
        course.last, course.start_at, course.started = why, now + FIRST_WAIT_S, inf

    def _part_with(self, running: Running) -> None:
        """Stop a process; runs on its own thread, since a bot may use all its grace."""
        running.stop(GRACE_S)
        self._woken.set()

    def _again(self, course: _BotState, now: float) -> None:
        """Start the bot's next process at once, after one that has played its match or was silent."""
        said = self._earlier.get(course.entry.id, "") + course.running.talk()
        self._earlier = {**self._earlier, course.entry.id: said[-MOST_EARLIER:]}
        self._talks = {number: text for number, text in self._talks.items() if number != course.entry.id}
        self._leave(course)
        course.wait_s, course.ends, course.start_at = FIRST_WAIT_S, 0, now
        if not self._is_paused(course.identity):
            self._start(course, now)

    def _ended(self, course: _BotState, ended: ExitStatus, now: float) -> None:
        """Handle the end of a bot's process that the server did not stop."""
        text = without_paths(course.running.talk(), self._storage.tree(course.entry.digest), self._storage.run)
        said = last_words(text.splitlines())
        how = ended.text + (f"; its last words: {said}" if said else "")
        self._over(course, how, now, is_its_own=ended.cause != "lost")

    def _over(self, course: _BotState, how: str, now: float, *, is_its_own: bool = True) -> None:
        """Schedule the restart of a bot that has ended, with backoff, or take it off after MOST_ENDS."""
        if now - course.started >= LIVED_S:
            course.wait_s, course.ends = FIRST_WAIT_S, 0
        self._leave(course)
        course.ends += is_its_own
        course.last = how
        if course.ends >= MOST_ENDS:
            ends = f"it ended {course.ends} times in a row, each soon after its start; the last time {course.last}"
            self._take_off(course, ends)
            return
        self._log.warning("resident ended", bot=course.entry.shown, how=how, again_in_s=course.wait_s)
        course.start_at, course.started = now + course.wait_s, inf
        course.wait_s = min(2 * course.wait_s, LONGEST_WAIT_S)

    def _take_off(self, course: _BotState, why: str) -> None:
        self._log.warning("resident taken off", bot=course.entry.shown, why=why)
        self._courses.pop(course.entry.id, None)
        self._withdrawn(course.identity)
        try:
            self._store.write(submissions.set_state, course.entry.id, TAKEN_OFF, self._utc(), " ".join(why.split()))
        except LeaderboardError as problem:  # the bot stays down; the next start of the server tries it again
            self._log.error("resident not taken off", bot=course.entry.shown, text=str(problem))

    def _leave(self, course: _BotState) -> None:
        """Revoke the token of an ended process, close its socket and remove its folder."""
        course.happened(BotEvent.END)
        if course.token is not None:
            self._passes.take_back(course.token)
            course.token = None
        if course.relay is not None:
            course.relay.close()
            course.relay = None
        self._uses = {who: use for who, use in self._uses.items() if who != course.identity}
        if course.memory is not None:
            self._keep_memory(course, course.memory)
            course.memory = None
        with suppress(OSError):  # the next start removes the folder too
            self._storage.no_arena(f"bot-{course.entry.id}")

    def _keep_memory(self, course: _BotState, folder: Path) -> None:
        """Keep what an ended process has left in its memory folder, if its match is over, and remove the folder."""
        is_over = course.one_match is not None and course.one_match.is_over
        try:
            assert self._memories is not None
            line = self._memories.keep(course.identity, folder, is_over=is_over)
        except (OSError, LeaderboardError) as problem:
            line = ""
            self._log.error("memory not kept", bot=course.entry.shown, error=type(problem).__name__)
        if line:
            said = f"{self._earlier.get(course.entry.id, '')}{line}\n"
            self._earlier = {**self._earlier, course.entry.id: said[-MOST_EARLIER:]}
        with suppress(OSError):
            self._storage.no_arena(folder.name)

    def _stop(self, courses: Sequence[_BotState]) -> None:
        """Stop several bots in parallel, so that their grace periods do not add up."""
        threads = []
        for course in courses:
            if course.stage is BotStage.STOPPING:
                threads.append(course.stopping)
            elif course.stage is BotStage.RUNNING:
                thread = threading.Thread(target=course.running.stop, args=(GRACE_S,))
                try:
                    thread.start()
                except RuntimeError:  # the system has no thread left
                    course.running.stop(GRACE_S)
                else:
                    threads.append(thread)
        for thread in threads:
            thread.join()
        for course in courses:
            if course.stage is not BotStage.WAITING:
                self._log.info("resident stopped", bot=course.entry.shown)
            self._leave(course)


def _has_played(course: _BotState, now: float) -> bool:
    """Return whether a bot's one match is finished, and the bot has acknowledged the result or had time to."""
    one_match = course.one_match
    if one_match is None or not one_match.is_over:
        return False
    if course.over_at is None:
        course.over_at = now
    return one_match.is_heard or now >= course.over_at + HEARING_S
