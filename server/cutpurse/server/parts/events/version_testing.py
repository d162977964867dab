"""Version tests: as their owners start and see them, and as they are played.

A test is seen by its owner and by admins only, and does not exist for others. A hosted bot's own token gets no answer,
so that no bot learns that it is tested. A test runs where its ladder is played, from its stored boards.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from cutpurse.leaderboard import queries, version_tests
from cutpurse.leaderboard.events import STOPPED, TEST, EventEntry
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.statistics.sprt import Design, Verdict
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import NOBODY
from cutpurse.leaderboard.version_tests import VersionTestEntry
from cutpurse.server.access.owners import check_scope
from cutpurse.server.errors import CallRefused
from cutpurse.server.inner_ladders import is_inner
from cutpurse.server.ladder_config import ladder_of
from cutpurse.server.league.league_queries import Answers, Caller
from cutpurse.server.league.presence import Presence
from cutpurse.server.logs import Logger
from cutpurse.server.matches.ladder_terms import paused_message
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.version_tests import VersionTest
from cutpurse.server.parts.events.absence import absent_bots
from cutpurse.server.parts.events.event_form import EventForm, EventPlan, common_facts, why_not_start
from cutpurse.server.parts.events.version_test_results import plan_text, running_test, version_test_shown
from cutpurse.v1 import event_pb2, ladder_pb2

__all__ = ["MAX_A_DAY", "MAX_OPEN", "VersionTestForm", "VersionTestPlay"]

MAX_OPEN: Final = 2  # tests of an owner that run
MAX_A_DAY: Final = 10  # tests that an owner starts within 24 hours
MOST_BOARDS: Final = 20_000  # maximum of `max_boards`
MOST_KEPT: Final = 256  # ended tests whose results are cached
MOST_NAMED: Final = 20  # versions named in a refusal
ASKING: Final = frozenset({"play", "read", "admin"})  # scopes: a caller with any of them may see tests


class VersionTestPlay:
    """The version tests that a server plays, for its `EventRunner`; the lobby deals their boards."""

    form = TEST
    noun = "version test"
    look_s = 0.2

    def __init__(self, store: Store, lobby: Lobby, log: Logger, utc: Callable[[], datetime]) -> None:
        """Deal boards for the tests of a store.

        Args:
            store: Where tests are stored.
            lobby: Where their boards are dealt.
            log: The server's log.
            utc: Returns the time of day.
        """
        self._store, self._lobby, self._log, self._utc = store, lobby, log, utc
        self._tests = lobby.tests
        self._tests.on_verdict = self._note_verdict
        self._verdicts: dict[str, Verdict] = {}  # which are not stored yet
        self.woken = asyncio.Event()

    @property
    def running(self) -> Collection[str]:
        """IDs of the tests for which boards are dealt, or whose end is not stored."""
        return {*self._tests.running, *self._verdicts}

    async def look(self, event: str) -> None:
        """Store the end of a test that has a verdict; the lobby deals the boards of all others at their turn."""
        if (verdict := self._verdicts.get(event)) is not None:
            await asyncio.to_thread(self._store.write, version_tests.end, event, verdict.value, self._utc())
            del self._verdicts[event]
            self._log.info("version test ended", test=event, outcome=verdict.value)

    def load(self, entry: EventEntry) -> VersionTest:
        """Return a stored test as it goes on, with what its boards have found; waits for the database."""
        test = self._store.run(version_tests.entry, entry.id)
        return running_test(test, self._store.run(version_tests.boards, entry.id))

    def forget_lost(self, event: str) -> None:
        """Do nothing: when an arena loses a ladder, its lobby forgets the tests."""

    def take(self, loaded: VersionTest, epoch: int) -> None:
        """Deal boards for a stored test from now on."""
        self._lobby.start_test(loaded)

    async def drop(self, event: str) -> None:
        """Deal no more boards for a test."""
        self._lobby.stop_test(event)

    def _note_verdict(self, test: str, verdict: Verdict) -> None:
        self._verdicts[test] = verdict
        self.woken.set()


@dataclass(frozen=True, slots=True)
class _OwnVersion:
    """A version that an owner has here, and why it can never play; empty if it can.

    The server itself starts a submitted version for a test.
    """

    identity: Identity
    why_not: str = ""
    is_submitted: bool = False


class VersionTestForm(EventForm):
    """Version tests, as their owners start and see them. They exist for nobody else, but for hosts."""

    form = TEST
    kind = event_pb2.EVENT_KIND_TEST
    field = "test"
    scope = "play"
    is_public = False

    def __init__(self, readings: Readings, answers: Answers, lobby: Lobby | None = None) -> None:
        """Answer from a database.

        Args:
            readings: Where tests are stored.
            answers: Knows which ladders a caller can see.
            lobby: Where the boards of tests are dealt; without it, none can be started.
        """
        self._readings = readings
        self._answers = answers
        self._lobby = lobby
        self.waits_for = (lambda test: "") if lobby is None else lobby.tests.waits_for
        self._ended: OrderedDict[str, event_pb2.VersionTestShown] = OrderedDict()  # tests with a verdict, by ID

    def load(self, entry: EventEntry, number: int) -> VersionTestEntry:
        """Load a test."""
        return self._readings.run(version_tests.entry, entry.id)

    def describe(self, event: event_pb2.EventShown, state: VersionTestEntry, *, is_whole: bool) -> None:
        """Add what a test has found; one with a verdict changes no more, so it is computed once."""
        detail = self._ended.get(event.event)
        if detail is None:
            detail = version_test_shown(state, self._readings.run(version_tests.boards, event.event))
            if state.event.ended is not None and state.event.outcome != STOPPED:
                self._ended[event.event] = detail
                if len(self._ended) > MOST_KEPT:
                    self._ended.popitem(last=False)
        event.test.CopyFrom(detail)
        if not is_whole:
            del event.test.opponents[:]

    def stop(self, connection: Connection, event_id: str, ended: datetime) -> None:
        """Store that a person ended a test."""
        version_tests.end(connection, event_id, STOPPED, ended)

    def exists_for(self, entry: EventEntry, caller: Caller) -> bool:
        """Return whether a caller may see a test: its owner and hosts, but no process of a hosted bot."""
        is_own = caller.answers_for(entry.started_by) or entry.started_by == (caller.owner or NOBODY)
        return is_own and not caller.is_hosted_bot and bool(caller.scopes & ASKING)

    def viewer(self, caller: Caller) -> Caller:
        """Return the caller with the right to read, since a test needs only "play"."""
        return Caller(caller.owner, caller.scopes | {"read"})

    def check_list(self, request: event_pb2.ListEventsRequest, caller: Caller) -> None:
        """Check that a caller may ask for a list of tests alone.  Raises CallRefused."""
        check_scope(caller.grant, *ASKING)
        _check_person(caller)
        own = caller.owner or NOBODY
        if request.owner not in ("", own) and not caller.is_admin:
            raise CallRefused("NOT_YOURS", "tests are shown to the owner of their bots only")

    def plan(self, request: event_pb2.EventRequest, caller: Caller, presence: Presence) -> EventPlan:
        """Return the plan of a test."""
        _check_person(caller)
        if self._lobby is None:
            raise CallRefused("SETTINGS", "tests are started on a server")
        ladder = self._ladder(self._lobby, request.test.ladder, caller)
        versions = [self._own(self._lobby, bot, caller, presence) for bot in (request.test.new, request.test.old)]
        new, old = (version.identity for version in versions)
        if new == old:
            raise CallRefused("SETTINGS", f"{new.shown} cannot be tested against itself: name two versions")
        design = _design(request.test.max_boards)
        text = plan_text(ladder.name, new, old, design)
        entry = EventEntry("", ladder.name, new.owner, text, self._answers.utc())
        event = common_facts(entry)
        event.test.CopyFrom(version_test_shown(VersionTestEntry(entry, new, old), ()))
        dialled = [version.identity for version in versions if not version.is_submitted]
        event.absent.extend(absent_bots(dialled, ladder_of(ladder), presence))
        needs = "a version test needs both versions"
        why_not = why_not_start(event, len(versions), needs, can_play=not event.absent)
        return EventPlan(
            entry,
            event,
            why_not,
            lambda connection, entry: version_tests.start(connection, entry, new, old, MAX_OPEN, MAX_A_DAY),
        )

    def _ladder(self, lobby: Lobby, name: str, caller: Caller) -> LadderEntry:
        """Return a ladder on which tests can be played."""
        ladder = self._answers.ladder(name, self.viewer(caller))
        self._answers.check_results(ladder.name, self.viewer(caller))
        frozen = ladder.terms.frozen
        if lobby.tests.share <= 0:
            raise CallRefused("SETTINGS", "this server plays no version tests: its host has set --test-share 0")
        if ladder.is_hosted or not lobby.plays(ladder.name):
            why = "its matches are played elsewhere"
        elif ladder.boards == "rotation":
            why = "it plays rotations, and its bots have no other tables"
        elif is_inner(ladder.terms):
            why = "only people play there"
        elif ladder.terms.owners and (caller.owner or NOBODY) not in ladder.terms.owners:
            why = f"it is not for bots of {caller.owner or NOBODY}"
        elif frozen is not None and self._answers.utc() >= frozen:
            why = "it is frozen"
        else:
            return ladder
        raise CallRefused("SETTINGS", f"no test can be played on ladder {ladder.name}: {why}")

    def _own(self, lobby: Lobby, bot: ladder_pb2.BotName, caller: Caller, presence: Presence) -> _OwnVersion:
        """Return the caller's own version that a request names; without a version, the newest."""
        owner, _ = self._answers.own(bot, caller)
        if owner != (caller.owner or NOBODY):
            text = f"{self._answers.named(bot, owner)} belongs to another owner; test two versions of your own"
            raise CallRefused("NOT_YOURS", text)
        known = self._versions(lobby, owner, presence)
        named = [own for own in known if own.identity.bot == bot.bot and bot.version in ("", own.identity.version)]
        if not named:
            there = ", ".join(sorted(own.identity.shown for own in known)[:MOST_NAMED]) or "none"
            raise CallRefused(
                "NOT_FOUND", f"{self._answers.named(bot, owner)} is no version of yours here; there are: {there}"
            )
        version = named[-1]
        if version.why_not:
            raise CallRefused("NOT_FOUND", version.why_not)
        if lobby.is_paused(version.identity):
            raise CallRefused("PAUSED", paused_message(version.identity))
        return version

    def _versions(self, lobby: Lobby, owner: str, presence: Presence) -> Sequence[_OwnVersion]:
        """List the versions of an owner, the newest last."""
        online = [bot.identity for bot in presence.bots if bot.identity.owner == owner]
        submitted = lobby.submitted_versions(owner)
        played = [Identity(owner, bot.bot, bot.version) for bot in self._readings.run(queries.bots, owner)]
        return [
            _OwnVersion(identity, "" if identity in online else submitted.get(identity, ""), identity in submitted)
            for identity in dict.fromkeys((*played, *submitted, *online))
        ]


def _check_person(caller: Caller) -> None:
    """Check that no hosted bot asks.  Raises CallRefused."""
    if caller.is_hosted_bot:
        raise CallRefused("TOKEN_SCOPE", "this token is a bot's own, for playing: it is not its author who asks")


def _design(max_boards: int) -> Design:
    """Return the design of a test.  Raises CallRefused."""
    usual = Design()
    if max_boards > MOST_BOARDS:
        raise CallRefused("SETTINGS", f"max_boards is {max_boards}: it can be 1 to {MOST_BOARDS:,}")
    if not max_boards:
        return usual
    return Design(max_boards=max_boards, min_boards=min(usual.min_boards, max_boards))
