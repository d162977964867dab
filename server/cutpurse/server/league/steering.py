"""The management of ladders and pauses in the leaderboard, with or without a running server.

Requests are checked before anything is written. Every method waits for the disk. This module knows no lobby: a caller
that has one must notify it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard import errors
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.ladder_config import Ladder, check_people, ladder_defined, terms_defined
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

    def create(self, asked: ladder_pb2.CreateLadderRequest) -> list[LadderEntry]:
        """Create ladders, all or none."""
        wanted = wanted_ladders(asked)
        for ladder in wanted:
            if ladder.is_hosted and (why := why_not_hosted(self._store.database.address)):
                raise CallRefused("SETTINGS", f"ladder {ladder.name}: {why}")
        try:
            return self._store.create_ladders([ladder.kept for ladder in wanted], self._utc())
        except errors.InvalidEntry as problem:
            raise CallRefused("BAD_MESSAGE", legible(str(problem), 300)) from None

    def change(self, asked: ladder_pb2.ChangeLadderRequest, caller: Caller) -> LadderEntry:
        """Change the terms of a ladder if they are still the expected ones. Do not run it concurrently."""
        entry = self._answers.ladder(asked.ladder, caller)
        if asked.HasField("expected"):
            expected = terms_shown(terms_defined(asked.expected, entry.terms.house))  # unset fields have their defaults
            if expected != terms_shown(entry.terms):
                what = f"the terms of ladder {entry.name} are not those expected; ask for them again"
                raise CallRefused("BAD_MESSAGE", what)
        terms = terms_defined(asked.terms, entry.terms.house)
        check_people(terms, TimeControl(**entry.clock), entry.boards, is_hosted=entry.is_hosted)
        return self._store.change_ladder(entry.name, terms)

    def deletable(self, asked: ladder_pb2.DeleteLadderRequest, caller: Caller) -> LadderEntry:
        """Return a ladder that may be deleted."""
        entry = self._answers.ladder(asked.ladder, caller)
        try:
            self._store.check_unused(entry.name)
        except errors.InvalidEntry as problem:
            raise CallRefused("BAD_MESSAGE", legible(str(problem), 300)) from None
        return entry

    def delete(self, entry: LadderEntry) -> None:
        """Delete a ladder if it is still unused."""
        try:
            self._store.delete_ladder(entry.name)
        except errors.InvalidEntry as problem:
            raise CallRefused("BAD_MESSAGE", legible(str(problem), 300)) from None

    def lift(self, asked: ladder_pb2.LiftPauseRequest, caller: Caller) -> Identity:
        """End the pause of a version, and return it."""
        owner, bot = self._answers.own(asked.bot, caller)
        versions = [
            entry for entry in self._store.bots(owner) if entry.bot == bot and asked.bot.version in ("", entry.version)
        ]
        if not versions:
            raise CallRefused("NOT_FOUND", f"there is no bot {self._answers.named(asked.bot, owner)} here")
        entry = versions[-1]  # the newest version
        if entry.paused is None:
            raise CallRefused("NOT_FOUND", f"{self._answers.named(asked.bot, owner)} is not paused")
        self._store.lift_pause(entry.version_id, self._utc())
        return Identity(owner, bot, entry.version)


def wanted_ladders(asked: ladder_pb2.CreateLadderRequest) -> list[Ladder]:
    """Return the requested ladders, all of them valid.

    Raises:
        CallRefused: If one is invalid, or there are too many.
    """
    if len(asked.more) >= MOST_MADE:
        raise CallRefused("BAD_MESSAGE", f"{len(asked.more) + 1:,} ladders at once; the maximum is {MOST_MADE:,}")
    return [_checked(one) for one in (asked.ladder, *asked.more)]


def _checked(defined: ladder_pb2.LadderDefined) -> Ladder:
    """Return a requested ladder; name it in the refusal if it is invalid."""
    try:
        return ladder_defined(defined)
    except CallRefused as refused:
        how = refused.ending
        raise CallRefused(how.reason, f"ladder '{legible(defined.name, 40)}': {how.text}") from None
