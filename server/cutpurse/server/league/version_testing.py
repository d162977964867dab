"""The calls about version tests: who may start, see and stop which, and which bots can be tested.

A test is seen by its owner and by admins only, and does not exist for others. A hosted bot's own token gets no answer,
so that no bot learns that it is tested. Every method waits for the database, so call it only where no other work waits.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cutpurse.experiments.sprt import Design
from cutpurse.leaderboard import errors
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.submissions import ACCEPTED
from cutpurse.leaderboard.tokens import NOBODY, PEOPLE
from cutpurse.leaderboard.version_tests import STOPPED, NewVersionTest, TooManyTests, VersionTestEntry
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.league.league_queries import Answers, Caller
from cutpurse.server.league.presence import Presence
from cutpurse.server.league.version_test_results import design_text, running_test, version_test_shown
from cutpurse.server.matches.ladder_terms import paused_message
from cutpurse.server.matches.version_tests import VersionTest, VersionTests
from cutpurse.v1 import ladder_pb2

__all__ = ["MAX_A_DAY", "MAX_OPEN", "VersionTesting"]

MAX_OPEN: Final = 2  # tests of an owner that run
MAX_A_DAY: Final = 10  # tests that an owner starts within 24 hours
MOST_BOARDS: Final = 20_000  # maximum of `max_boards`
MOST_LISTED: Final = 30
MOST_KEPT: Final = 256  # ended tests whose results are cached
MOST_NAMED: Final = 20  # versions named in a refusal
_WITHOUT_RESULTS: Final = ("test", "ladder", "new", "old", "created_ms", "ended_ms", "max_boards")


@dataclass(frozen=True, slots=True)
class _OwnVersion:
    """A version that an owner has here, and why it can never play; empty if it can."""

    identity: Identity
    why_not: str = ""


class VersionTesting:
    """The version tests of a league. All methods raise CallRefused and StoreError."""

    def __init__(
        self,
        store: Store,
        answers: Answers,
        tests: VersionTests,
        utc: Callable[[], datetime],
        *,
        is_paused: Callable[[Identity], bool] = lambda identity: False,
        plays_here: Callable[[str], bool] = lambda ladder: True,
    ) -> None:
        """Serve the tests of a store.

        Args:
            store: Where tests are stored.
            answers: Knows which ladders a caller can see.
            tests: The tests that run.
            utc: Returns the time of day.
            is_paused: Returns whether a version is paused.
            plays_here: Returns whether this server plays a ladder; only then can a test start there.
        """
        self._store = store
        self._answers = answers
        self._tests = tests
        self._utc = utc
        self._is_paused = is_paused
        self._plays_here = plays_here
        self._ended: OrderedDict[str, ladder_pb2.VersionTestShown] = OrderedDict()  # tests with a verdict, by ID

    def unfinished(self) -> Sequence[VersionTestEntry]:
        """Return the stored tests that run, the oldest first."""
        return self._store.version_tests(only_running=True)[::-1]

    def resumed(self, entry: VersionTestEntry) -> VersionTest:
        """Return a stored test as it goes on, with what its boards have found."""
        return running_test(entry, self._store.version_test_boards(entry.id))

    def ladder_of(self, test: str, caller: Caller) -> str:
        """Return the ladder of a test that this caller can see."""
        return self._seen(test, caller).ladder

    def start(self, asked: ladder_pb2.StartTestRequest, caller: Caller, presence: Presence) -> VersionTest:
        """Store a test, and return it; the caller must hand it to the lobby."""
        _check_person(caller)
        ladder = self._ladder(asked.ladder, caller)
        new, old = (self._own(bot, caller, presence) for bot in (asked.new, asked.old))
        if new == old:
            raise CallRefused("SETTINGS", f"{new.shown} cannot be tested against itself: name two versions")
        design = _design(asked.max_boards)
        owner = new.owner
        for entry in self._store.version_tests(owner, only_running=True):
            self._settled(entry)
        wanted = NewVersionTest(secrets.token_hex(6), ladder.name, new, old, design_text(design))
        try:
            entry = self._store.start_version_test(wanted, self._utc(), MAX_OPEN, MAX_A_DAY)
        except TooManyTests as problem:
            raise CallRefused("FULL", legible(str(problem), 300)) from None
        return running_test(entry, ())

    def shown(self, test: str, caller: Caller) -> ladder_pb2.VersionTestShown:
        """Encode a test that exists, without its results if this caller may not see them."""
        entry = self._store.version_test(test)
        shown = self._encoded(entry)
        if not (why := self._why_hidden(entry.ladder, caller)):
            return shown
        facts = {name: getattr(shown, name) for name in _WITHOUT_RESULTS}
        return ladder_pb2.VersionTestShown(reason=why, **facts)

    def _why_hidden(self, ladder: str, caller: Caller) -> str:
        return self._answers.why_hidden(ladder, Caller(caller.owner, caller.scopes | {"read"}))

    def _check_results(self, ladder: str, caller: Caller) -> None:
        if why := self._why_hidden(ladder, caller):
            raise CallRefused("NOT_YOURS", why)

    def _encoded(self, entry: VersionTestEntry) -> ladder_pb2.VersionTestShown:
        """Encode a test; one with a verdict changes no more, so it is computed once."""
        if (known := self._ended.get(entry.id)) is not None:
            return known
        entry = self._settled(entry)
        shown = version_test_shown(entry, self._store.version_test_boards(entry.id), self._tests.waits_for(entry.id))
        if entry.ended is not None and entry.outcome != STOPPED:
            self._ended[entry.id] = shown
            if len(self._ended) > MOST_KEPT:
                self._ended.popitem(last=False)
        return shown

    def list(
        self, asked: ladder_pb2.ListTestsRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListTestsResponse:
        """Answer ListTests."""
        _check_person(caller)
        owner = asked.owner or (None if caller.is_admin else caller.owner or NOBODY)
        if owner is not None and not caller.answers_for(owner) and owner != (caller.owner or NOBODY):
            raise CallRefused("NOT_YOURS", "tests are shown to the owner of their bots only")
        entries = self._store.version_tests(owner, limit=MOST_LISTED)
        shown = [self._encoded(entry) for entry in entries if not self._why_hidden(entry.ladder, caller)]
        return ladder_pb2.ListTestsResponse(tests=[_without_opponents(one) for one in shown])

    def get(self, asked: ladder_pb2.GetTestRequest, caller: Caller, presence: Presence) -> ladder_pb2.GetTestResponse:
        """Answer GetTest."""
        entry = self._seen(asked.test, caller)
        self._check_results(entry.ladder, caller)
        return ladder_pb2.GetTestResponse(test=self._encoded(entry))

    def stop(self, asked: ladder_pb2.StopTestRequest, caller: Caller) -> str:
        """End a test that runs, and return its ID; the caller must tell the lobby."""
        entry = self._settled(self._seen(asked.test, caller))
        if entry.ended is not None:
            raise CallRefused("SETTINGS", f"test {entry.id} has ended already: {entry.outcome}")
        self._store.end_version_test(entry.id, STOPPED, self._utc()).result()
        return entry.id

    def _seen(self, test: str, caller: Caller) -> VersionTestEntry:
        """Return a test that this caller can see."""
        _check_person(caller)
        try:
            entry = self._store.version_test(test)
        except errors.NoSuchEntry:
            entry = None
        if entry is None or not (caller.answers_for(entry.owner) or entry.owner == (caller.owner or NOBODY)):
            raise CallRefused("NOT_FOUND", f"there is no test '{legible(test, 40)}' of yours here")
        return entry

    def _settled(self, entry: VersionTestEntry) -> VersionTestEntry:
        """Return a test; store its end if it has a verdict that could not be stored before."""
        if entry.ended is not None or self._tests.is_running(entry.id):
            return entry
        verdict = running_test(entry, self._store.version_test_boards(entry.id)).state.verdict
        if verdict is None:
            return entry
        return self._store.end_version_test(entry.id, verdict.value, self._utc()).result()

    def _ladder(self, name: str, caller: Caller) -> LadderEntry:
        """Return a ladder on which tests can be played."""
        ladder = self._answers.ladder(name, Caller(caller.owner, caller.scopes | {"read"}))
        self._check_results(ladder.name, caller)
        frozen = ladder.terms.frozen
        if self._tests.share <= 0:
            raise CallRefused("SETTINGS", "this server plays no version tests: its host has set --test-share 0")
        if ladder.is_hosted or not self._plays_here(ladder.name):
            why = "its matches are played elsewhere"
        elif ladder.boards == "rotation":
            why = "it plays rotations, and its bots have no other tables"
        elif ladder.terms.owners == (PEOPLE,):
            why = "only people play there"
        elif ladder.terms.owners and (caller.owner or NOBODY) not in ladder.terms.owners:
            why = f"it is not for bots of {caller.owner or NOBODY}"
        elif frozen is not None and self._utc() >= frozen:
            why = "it is frozen"
        else:
            return ladder
        raise CallRefused("SETTINGS", f"no test can be played on ladder {ladder.name}: {why}")

    def _own(self, bot: ladder_pb2.BotName, caller: Caller, presence: Presence) -> Identity:
        """Return the caller's own version that a request names; without a version, the newest."""
        owner, _ = self._answers.own(bot, caller)
        if owner != (caller.owner or NOBODY):
            text = f"{self._answers.named(bot, owner)} belongs to another owner; test two versions of your own"
            raise CallRefused("NOT_YOURS", text)
        known = self._versions(owner, presence)
        named = [one for one in known if one.identity.bot == bot.bot and bot.version in ("", one.identity.version)]
        if not named:
            there = ", ".join(sorted(one.identity.shown for one in known)[:MOST_NAMED]) or "none"
            raise CallRefused(
                "NOT_FOUND", f"{self._answers.named(bot, owner)} is no version of yours here; there are: {there}"
            )
        version = named[-1]
        if version.why_not:
            raise CallRefused("NOT_FOUND", version.why_not)
        if self._is_paused(version.identity):
            raise CallRefused("PAUSED", paused_message(version.identity))
        return version.identity

    def _versions(self, owner: str, presence: Presence) -> Sequence[_OwnVersion]:
        """List the versions of an owner, the newest last."""
        online = [one.identity for one in presence.bots if one.identity.owner == owner]
        submitted = {
            Identity(owner, one.bot, one.version): one for one in reversed(self._store.submissions(owner))
        }  # the oldest first
        played = [Identity(owner, one.bot, one.version) for one in self._store.bots(owner)]
        versions = []
        for identity in dict.fromkeys((*played, *submitted, *online)):
            entry = submitted.get(identity)
            why_not = ""
            if entry is not None and identity not in online:
                if entry.state != ACCEPTED:
                    why_not = f"{identity.shown} was submitted and is not accepted, so it cannot play: {entry.state}"
                elif not entry.is_kept:
                    why_not = (
                        f"the archive of {identity.shown} is not stored any more, so it cannot play: submit it again"
                    )
            versions.append(_OwnVersion(identity, why_not))
        return versions


def _check_person(caller: Caller) -> None:
    """Check that no hosted bot asks.  Raises CallRefused."""
    if caller.is_hosted_bot:
        raise CallRefused("TOKEN_SCOPE", "this token is a bot's own, for playing: it is not its author who asks")


def _without_opponents(shown: ladder_pb2.VersionTestShown) -> ladder_pb2.VersionTestShown:
    copy = ladder_pb2.VersionTestShown()
    copy.CopyFrom(shown)
    del copy.opponents[:]
    return copy


def _design(max_boards: int) -> Design:
    """Return the design of a test.  Raises CallRefused."""
    usual = Design()
    if max_boards > MOST_BOARDS:
        raise CallRefused("SETTINGS", f"max_boards is {max_boards}: it can be 1 to {MOST_BOARDS:,}")
    if not max_boards:
        return usual
    return Design(max_boards=max_boards, min_boards=min(usual.min_boards, max_boards))
