"""Admission: which bots are online, which of them may be paired, and what the store knows of them.

A paused version may be online but is not paired. When a bot comes online, the store is asked for its skills and match
counts. This module knows no match, no stream and no clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeAlias

from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.ladder_terms import OtherEntrants, check_entry, may_see, paused_message, why_no_match
from cutpurse.server.matches.matchmaking import Pairing
from cutpurse.server.matches.other_arenas import OtherArenas
from cutpurse.server.matches.roster import MOST_GONE
from cutpurse.server.matches.server_match import TableSession
from cutpurse.server.result_store import ResultStore

__all__ = ["BotAdmission"]

Standings: TypeAlias = Mapping[str, tuple[Skill, int]]
MOST_ASKED: Final = MOST_GONE  # bots whose standings were already requested from the store


class BotAdmission:
    """The online bots, between the lobby and the pairing."""

    def __init__(
        self,
        pairing: Pairing,
        store: ResultStore,
        paused: Iterable[Identity],
        wake: Callable[[], None],
        other_arenas: OtherArenas,
    ) -> None:
        """Start with no bots online.

        Args:
            pairing: Pairing that admitted bots enter.
            store: Where the skills of bots are looked up.
            paused: Versions that get no match.
            wake: Called on any thread when the store has answered.
            other_arenas: Ladders that are not played here.
        """
        self.here: dict[Identity, TableSession] = {}
        self._pairing = pairing
        self._other_arenas = other_arenas
        self._store = store
        self._paused = set(paused)
        # online bots that get no match: reason and text they were sent
        self._barred: dict[Identity, tuple[str, str]] = {}
        self._wake = wake
        self._asked: dict[Identity, None] = {}
        self._told: deque[tuple[Identity, Standings]] = deque()  # filled by the store's thread

    # -- entry
    def ladders(self, owner: str) -> Mapping[str, Sequence[str]]:
        """List the names of the ladders of all arenas by game, without those that `owner` cannot see."""
        listed: dict[str, list[str]] = {}
        for ladder in self._pairing.ladders:
            names = listed.setdefault(ladder.game, [])
            if may_see(ladder, owner):
                names.append(ladder.name)
        for ladder in self._other_arenas.ladders(owner):
            listed.setdefault(ladder.game, []).append(ladder.name)
        return listed

    def check(self, identity: Identity, wanted: Mapping[str, Sequence[str]], at: datetime, forgets: bool) -> None:
        """Check that a bot may enter, see `check_entry`.

        Raises:
            CallRefused: If it may not.
        """
        check_entry(
            identity,
            wanted,
            self._pairing.ladders,
            lambda ladder: self._pairing.others_on(ladder.name, identity),
            identity in self._paused,
            at,
            forgets,
        )

    def check_submitted(
        self, identity: Identity, wanted: Mapping[str, Sequence[str]], at: datetime, forgets: bool
    ) -> None:
        """Check that a bot may be submitted for these ladders, be they of this arena or another, or hosted.

        Raises:
            CallRefused: As in `check_entry`.
        """
        own = {ladder.name for ladder in self._pairing.ladders}
        check_entry(
            identity,
            wanted,
            [
                replace(ladder, is_hosted=False)
                for ladder in (*self._pairing.ladders, *self._other_arenas.ladders(identity.owner))
            ],
            lambda ladder: (
                self._pairing.others_on(ladder.name, identity) if ladder.name in own else OtherEntrants(0, ())
            ),
            identity in self._paused,
            at,
            forgets,
        )

    def enter(self, player: TableSession, at: datetime) -> None:
        """Admit a bot for the first time or after a reconnect."""
        identity = player.identity
        self.here[identity] = player
        if identity in self._paused:
            player.tell("PAUSED", paused_message(identity))
            return
        if not player.is_for_tests:
            self._pairing.enter(player)
            self._tell_nothing_left(player, self._pairing.ladders, at)
        if identity not in self._asked:
            self._ask(identity, at)

    def leave(self, player: TableSession) -> None:
        """Remove a bot."""
        if self.here.get(player.identity) is player:
            del self.here[player.identity]
            self._barred.pop(player.identity, None)
        self._pairing.leave(player)

    def reload_terms(self, at: datetime) -> None:
        """Apply changed ladder terms: notify once each bot that can get no match any more."""
        ladders = self._pairing.ladders
        for player in self.here.values():
            if player.identity not in self._paused and not player.is_for_tests:
                self._tell_nothing_left(player, ladders, at)

    def _tell_nothing_left(self, player: TableSession, ladders: Sequence[Ladder], at: datetime) -> None:
        identity, on = player.identity, self._pairing.ladders_of(player)
        if any(ladder.name in on and not ladder.is_frozen(at) for ladder in ladders) or self._other_arenas.wanted(
            player.plays, identity.owner
        ):
            why = None
        else:
            others_on = self._pairing.others_on
            why = why_no_match(
                identity, player.plays, ladders, lambda ladder: others_on(ladder.name, identity), at, player.forgets
            )
        if why is None:
            self._barred.pop(identity, None)
        elif self._barred.get(identity) != why:
            self._barred[identity] = why
            player.tell(*why)

    # -- pauses
    def is_paused(self, identity: Identity) -> bool:
        """Return whether this version is paused."""
        return identity in self._paused

    def pause(self, identity: Identity) -> None:
        """Pause a version that failed too often, and notify it. House bots have no author, so they are never paused."""
        if identity.owner == HOUSE or identity in self._paused:
            return
        self._paused.add(identity)
        if (player := self.here.get(identity)) is not None:
            self._pairing.leave(player)
            player.tell("PAUSED", paused_message(identity))

    def lift(self, identity: Identity) -> None:
        """End the pause of a version."""
        self._paused.discard(identity)
        if (player := self.here.get(identity)) is not None and not player.is_for_tests:
            self._pairing.enter(player)

    # -- what the store knows
    def ask_again(self, at: datetime) -> None:
        """Ask the store about all online bots, since it knows more ladders of them that are played here."""
        for identity in self.here:
            self._ask(identity, at)

    def _ask(self, identity: Identity, at: datetime) -> None:
        self._asked[identity] = None
        if len(self._asked) > MOST_ASKED:
            del self._asked[next(iter(self._asked))]
        self._store.standings(identity, at).add_done_callback(lambda done: self._is_told(identity, done))

    def _is_told(self, identity: Identity, done: Future[Standings]) -> None:
        """Queue the store's answer and wake the lobby; runs on the store's thread.

        If the store fails, the bot keeps the values of a newcomer.
        """
        if not done.cancelled() and done.exception() is None:
            self._told.append((identity, done.result()))
            self._wake()

    @property
    def has_news(self) -> bool:
        """Whether the store has sent answers that `take` has not processed."""
        return bool(self._told)

    def take(self) -> None:
        """Process the store's answers."""
        while self._told:
            self._pairing.know(*self._told.popleft())
