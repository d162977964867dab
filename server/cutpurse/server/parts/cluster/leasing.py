"""The ladders of one arena among several: it leases them, and hands them to its lobby.

    leasing = Leasing(store, lobby, log, utc)
    leasing.begin()            # the first ladders, before a bot can come
    leasing.look(now)          # often

An arena that cannot renew its leases for `HOLD_S` begins no match. After `LEASE_S` another arena may have the ladders,
so it makes their matches void and drops them. What it had not stored by then is void in the database, too. This module
knows no stream and no SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.leaderboard.arena_store import ArenaStore, Tended
from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.leaderboard.leases import LEASE_S, LadderHolder
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.results import Identity
from cutpurse.server.ladder_config import Ladder, ladder_of
from cutpurse.server.logs import Logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.other_arenas import OtherArena, key_of

__all__ = ["HOLD_S", "RENEW_S", "Leasing"]

RENEW_S: Final = LEASE_S / 3
HOLD_S: Final = LEASE_S / 2
RETRY_S: Final = 0.5  # seconds until the next try after a failure


class Leasing:
    """The leases of an arena. Close it after the last result, and before the store."""

    def __init__(self, store: ArenaStore, lobby: Lobby, log: Logger, utc: Callable[[], datetime]) -> None:
        """Set up without a ladder.

        Args:
            store: The leaderboard.
            lobby: Where matches of leased ladders are played.
            log: The server's log.
            utc: Returns the time of day.
        """
        self._store = store
        self._lobby = lobby
        self.locate: Final = lobby.locate  # for sessions, whose bots may be sent to another arena
        self._log = log
        self._utc = utc
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="leases")
        self._tending: Future[Tended] | None = None
        self._renewed_at = -float("inf")
        self._tend_at = -float("inf")
        self._epochs: Mapping[str, int] = {}  # of the ladders in the lobby
        self._leased: Mapping[str, int] = {}
        self._ladders: Mapping[str, Ladder] = {}
        self._paused: Set[Identity] = frozenset()
        self._is_failing = False

    def epoch_of(self, ladder: str) -> int | None:
        """Return the epoch in which this arena plays a ladder; None if it does not; thread-safe."""
        epoch = self._epochs.get(ladder)
        return epoch if epoch == self._leased.get(ladder) else None

    def begin(self) -> None:
        """Take the first ladders; waits for the database.  Raises StoreError."""
        self._take(self._store.tend(self._utc()))

    def look(self, now: float) -> None:
        """Do what is due, without waiting.  `now` is on the monotonic clock."""
        if self._tending is not None and self._tending.done():
            tending, self._tending = self._tending, None
            self._tended(tending, now)
        if self._tending is None and now >= self._tend_at:
            self._tend_at = now + RENEW_S
            self._tending = self._thread.submit(self._store.tend, self._utc(), not self._lobby.is_draining)
        is_held = now - self._renewed_at > HOLD_S
        if is_held != self._lobby.is_held:
            self._lobby.hold(is_held)
            if is_held:
                self._log.warning("leases not renewed", seconds=round(now - self._renewed_at, 1))
        if now - self._renewed_at > LEASE_S:
            self._leased = {}
        self._settle()

    @property
    def renewed_at(self) -> float:
        """Time on the monotonic clock of the last renewal."""
        return self._renewed_at

    def close(self) -> None:
        """Give up all ladders."""
        self._thread.shutdown()
        try:
            self._store.release()
        except LeaderboardError as problem:  # then others wait until the leases run out
            self._log.warning("leases not given up", text=str(problem))

    def _tended(self, tending: Future[Tended], now: float) -> None:
        problem = tending.exception()
        if problem is None:
            self._take(tending.result())
            return
        self._tend_at = now + RETRY_S
        if not self._is_failing:
            self._is_failing = True
            text = str(problem) if isinstance(problem, LeaderboardError) else type(problem).__name__
            self._log.error("leases not renewed", text=text)

    def _take(self, found: Tended) -> None:
        self._is_failing = False
        if found.began_at < self._renewed_at:  # `begin` has looked since: what was read before is out of date
            return
        self._renewed_at, self._leased = found.began_at, found.epochs
        before, self._ladders = (
            self._ladders,
            {entry.name: ladder for entry in found.ladders if (ladder := _playable(entry)) is not None},
        )
        for name, ladder in self._ladders.items():
            # What changed since the last look was changed at another arena, or is in force already.
            if self._is_played(name) and before.get(name) != ladder:
                self._lobby.set_ladder(ladder)
        if found.voided:
            self._log.warning("unfinished matches are void", count=len(found.voided))
        self._lobby.see_pauses(frozenset(found.paused) - self._paused, self._paused - frozenset(found.paused))
        self._paused = frozenset(found.paused)
        self._lobby.other_arenas.set(
            (ladder, _other_arena(found.elsewhere[name]) if name in found.elsewhere else None)
            for name, ladder in self._ladders.items()
            if name not in found.epochs and not ladder.is_for_people
        )
        self._lobby.other_arenas.set_present(map(_other_arena, found.arenas))
        self._lobby.other_arenas.lags = {one.address: one.lag_s for one in (*found.arenas, *found.elsewhere.values())}
        self._settle()

    def _settle(self) -> None:
        """Let the lobby play the leased ladders, and no others."""
        for name, epoch in list(self._epochs.items()):
            if self._leased.get(name) != epoch and self._lobby.lose_ladder(name):
                self._log.info("ladder lost", ladder=name, epoch=epoch)
                self._epochs = {one: had for one, had in self._epochs.items() if one != name}
        for name, epoch in self._leased.items():
            if name not in self._epochs and (ladder := self._ladders.get(name)) is not None:
                self._lobby.take_ladder(ladder)
                self._epochs = {**self._epochs, name: epoch}
                self._log.info("ladder taken", ladder=name, epoch=epoch)

    def _is_played(self, name: str) -> bool:
        return name in self._epochs and self._epochs[name] == self._leased.get(name)


def _other_arena(holder: LadderHolder) -> OtherArena:
    return OtherArena(holder.address, key_of(holder.name))


def _playable(entry: LadderEntry) -> Ladder | None:
    """Return the ladder, None if this version cannot play it."""
    if entry.game not in GAMES:
        return None
    try:
        return ladder_of(entry)
    except (TypeError, UsageError):
        return None
