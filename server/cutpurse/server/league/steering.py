"""The management of ladders and pauses in the leaderboard, with or without a running server.

Requests are checked before anything is written. Every method waits for the disk. This module knows no lobby: a caller
that has one must notify it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard import errors, queries
from cutpurse.leaderboard.fault_streaks import lift_pause
from cutpurse.leaderboard.ladders import change_ladder, check_unused, create_ladders, delete_ladder
from cutpurse.leaderboard.owner_registry import change_bot
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.ladder_config import Ladder, check_memory, check_people, check_times, ladder_defined, terms_defined
from cutpurse.server.league.hosted_ladders import why_not_hosted
from cutpurse.server.league.league_queries import Answers, Caller
from cutpurse.server.league.messages import terms_shown
from cutpurse.v1 import ladder_pb2

__all__ = ["MOST_MADE", "LadderAdmin", "wanted_ladders"]

MOST_MADE: Final = 1_000  # maximum ladders in one request


class LadderAdmin:
    """The changes that admins may make, and owners to their bots. All methods raise CallRefused and StoreError."""

    def __init__(self, store: Store, answers: Answers, utc: Callable[[], datetime]) -> None:
        self._store = store
        self._answers = answers
        self._utc = utc

    def create(self, request: ladder_pb2.CreateLadderRequest) -> list[LadderEntry]:
        """Create ladders, all or none."""
        ladders = wanted_ladders(request, self._utc())
        for ladder in ladders:
            if ladder.is_hosted and (why := why_not_hosted(self._store.database.address)):
                raise CallRefused("SETTINGS", f"ladder {ladder.name}: {why}")
        try:
            return self._store.write(create_ladders, [ladder.kept for ladder in ladders], self._utc())
        except errors.InvalidEntry as problem:
            raise CallRefused("BAD_MESSAGE", legible(str(problem), 300)) from None

    def change(self, request: ladder_pb2.ChangeLadderRequest, caller: Caller) -> LadderEntry:
        """Change the terms of a ladder if they are still the expected ones. Do not run it concurrently."""
        entry = self._answers.ladder(request.ladder, caller)
        if request.HasField("expected"):
            expected = terms_shown(
                terms_defined(request.expected, entry.terms.house)
            )  # unset fields have their defaults
            if expected != terms_shown(entry.terms):
                what = f"the terms of ladder {entry.name} are not those expected; ask for them again"
                raise CallRefused("BAD_MESSAGE", what)
        terms = terms_defined(request.terms, entry.terms.house)
        check_people(terms, TimeControl(**entry.clock), entry.boards, is_hosted=entry.is_hosted)
        check_memory(terms, entry.boards, is_hosted=entry.is_hosted)
        return self._store.write(change_ladder, entry.name, terms)

    def deletable(self, request: ladder_pb2.DeleteLadderRequest, caller: Caller) -> LadderEntry:
        """Return a ladder that may be deleted."""
        entry = self._answers.ladder(request.ladder, caller)
        try:
            self._store.write_uncached(check_unused, entry.name)  # a write, since listeners hear only of writes
        except errors.InvalidEntry as problem:
            raise CallRefused("BAD_MESSAGE", legible(str(problem), 300)) from None
        return entry

    def delete(self, entry: LadderEntry) -> None:
        """Delete a ladder if it is still unused."""
        try:
            self._store.write(delete_ladder, entry.name)
        except errors.InvalidEntry as problem:
            raise CallRefused("BAD_MESSAGE", legible(str(problem), 300)) from None

    def lift(self, request: ladder_pb2.LiftPauseRequest, caller: Caller) -> Identity:
        """End the pause of a version, and return it."""
        owner, bot = self._answers.own(request.bot, caller)
        versions = [
            entry
            for entry in self._store.run(queries.bots, owner)
            if entry.bot == bot and request.bot.version in ("", entry.version)
        ]
        if not versions:
            raise CallRefused("NOT_FOUND", f"there is no bot {self._answers.named(request.bot, owner)} here")
        entry = versions[-1]  # the newest version
        if entry.paused is None:
            raise CallRefused("NOT_FOUND", f"{self._answers.named(request.bot, owner)} is not paused")
        self._store.write(lift_pause, entry.version_id, self._utc())
        return Identity(owner, bot, entry.version)

    def change_bot(self, request: ladder_pb2.ChangeBotRequest, caller: Caller) -> Identity:
        """Change the settings of a bot that are given, and return its newest version."""
        owner, bot = self._answers.own(request.bot, caller)
        versions = [entry for entry in self._store.run(queries.bots, owner) if entry.bot == bot]
        if not versions:
            raise CallRefused("NOT_FOUND", f"there is no bot {self._answers.named(request.bot, owner)} here")
        forgets_on = self._answers.ladder(request.forget_ladder, caller).name if request.forget_ladder else ""
        self._store.write(
            change_bot,
            owner,
            bot,
            declines_people=request.declines_people if request.HasField("declines_people") else None,
            publishes_notes=request.publishes_notes if request.HasField("publishes_notes") else None,
            forgets_on=forgets_on,
        )
        return Identity(owner, bot, versions[-1].version)


def wanted_ladders(request: ladder_pb2.CreateLadderRequest, now: datetime) -> list[Ladder]:
    """Return the requested ladders, all of them valid at this time of day.

    Raises:
        CallRefused: If one is invalid, or there are too many.
    """
    if len(request.more) >= MOST_MADE:
        raise CallRefused("BAD_MESSAGE", f"{len(request.more) + 1:,} ladders at once; the maximum is {MOST_MADE:,}")
    return [_checked(defined, now) for defined in (request.ladder, *request.more)]


def _checked(defined: ladder_pb2.LadderDefined, now: datetime) -> Ladder:
    """Return a requested ladder; name it in the refusal if it is invalid."""
    try:
        ladder = ladder_defined(defined)
        check_times(ladder.terms, now)
        return ladder
    except CallRefused as refused:
        how = refused.ending
        raise CallRefused(how.reason, f"ladder '{legible(defined.name, 40)}': {how.text}") from None
