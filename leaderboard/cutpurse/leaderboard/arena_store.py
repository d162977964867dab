"""A leaderboard that several arenas write, each the ladders that it has leased.

    with ArenaStore("postgresql://...", "https://b.example:7777", games=["greed"]) as store:
        round = store.tend(datetime.now(UTC))  # renew, take, void what the last arena left open
        store.submit(FinishedMatch(...)).result()

Entries of other ladders are answered with LadderMoved, in the transaction that would have written them. This module
knows no thread but the store's.
"""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from os import PathLike, getpid
from typing import Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import Connection

from cutpurse.leaderboard import leases, queries, result_writer, write_state
from cutpurse.leaderboard.database import Database
from cutpurse.leaderboard.errors import InvalidEntry, LadderMoved
from cutpurse.leaderboard.leases import Holder, LadderHolder, Leases
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.results import FinishedMatch, Identity, MatchAnnouncement, StoreOutcome
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.write_hooks import WriteHooks

__all__ = ["ArenaStore", "Tended"]

P = ParamSpec("P")
Answer = TypeVar("Answer")
ABANDONED: Final = timedelta(days=2)  # far longer than a match of people can last


@dataclass(frozen=True, slots=True)
class Tended:
    """The state of a league after `ArenaStore.tend`.

    Attributes:
        began_at: Seconds on the monotonic clock before the leases were renewed.
        epochs: Epoch of each ladder that this arena has; 0 for those of people.
        elsewhere: The arena of each ladder that another one has.
        ladders: All ladders.
        paused: All paused versions.
        voided: Matches of the last arena that are void now.
        arenas: The other arenas, with and without ladders.
    """

    began_at: float
    epochs: Mapping[str, int]
    elsewhere: Mapping[str, LadderHolder]
    ladders: Sequence[LadderEntry]
    paused: Collection[Identity]
    voided: Sequence[str]
    arenas: Sequence[LadderHolder] = ()


class ArenaStore(Store):
    """A store of one arena among several."""

    def __init__(
        self,
        database: str | PathLike[str] | Database,
        address: str,
        *,
        games: Collection[str],
        preferred: Collection[str] = (),
        people_ladders: Collection[str] = (),
        plays_hosted: bool = False,
        busy_timeout_s: float = 5.0,
        hooks: WriteHooks | None = None,
    ) -> None:
        """Open the database, without any ladder.

        Args:
            database: `postgresql://...`.
            address: Where bots dial this arena.
            games: Games whose ladders it can play.
            preferred: As in `leases.Holder`.
            people_ladders: Ladders for people that this arena plays, as others may, too; nobody leases them.
            plays_hosted: Whether this arena deals to workers; their matches go on when it takes a ladder.
            busy_timeout_s: As in `Store`.
            hooks: As in `Store`.

        Raises:
            StoreError: As in `Store`; OlderSchema if an arena of an older version writes the database.
        """
        name = f"{socket.gethostname()} {getpid()} {secrets.token_hex(16)}"
        self.holder = Holder(name, address, tuple(preferred), tuple(games), plays_hosted)
        self._people_ladders = dict.fromkeys(people_ladders, 0)
        self._epochs: dict[str, int] = {}  # by leased ladder; only the writing thread uses it
        self._unsettled: set[str] = set()  # ladders taken whose open matches are not void yet, as a write failed
        self._has_tended = False
        super().__init__(database, busy_timeout_s, is_shared=True, hooks=hooks)

    def tend(self, now: datetime, takes_more: bool = True) -> Tended:
        """Renew the leases, take free ladders, and make void what their last arena has left open.

        Call it every third of `leases.LEASE_S`. What other arenas have changed counts from then on.

        Args:
            now: End of the matches that are void.
            takes_more: Whether to take free ladders.

        Raises:
            StoreError: As in `submit`.
        """
        began_at, own_leases = self.write(self._tend, takes_more)
        self._unsettled = {*self._unsettled, *own_leases.taken} & own_leases.epochs.keys()
        voided: list[str] = []
        if self._unsettled:
            voided += self.void_unfinished(now, self._unsettled, has_workers=self.holder.plays_hosted)
            self._unsettled = set()
        if self._people_ladders and not self._has_tended:  # those that a server left which is gone for long
            voided += self.void_unfinished(now, self._people_ladders, started_before=now - ABANDONED)
        self._has_tended = True
        with self.reading() as connection:
            elsewhere = leases.others(connection, self.holder.name)
            arenas = leases.present(connection, self.holder.name)
            ladders = queries.ladders(connection)
            paused = {Identity(bot.owner, bot.bot, bot.version) for bot in queries.bots(connection) if bot.paused}
        epochs = {**own_leases.epochs, **self._people_ladders}
        return Tended(began_at, epochs, elsewhere, ladders, paused, voided, arenas)

    def _tend(self, connection: Connection, takes_more: bool) -> tuple[float, Leases]:
        began_at = time.monotonic()
        own_leases = leases.tend(connection, self.holder, takes_more)
        if own_leases.taken:  # another arena may have rated boards there
            self._last.clear()
        self._epochs = dict(own_leases.epochs)
        return began_at, own_leases

    def release(self) -> None:
        """Give up all ladders, after the last result.  Raises StoreError."""
        self.write(leases.release, self.holder.name)

    def write_on(
        self, ladder: str, function: Callable[Concatenate[Connection, P], Answer], /, *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        """Write what belongs to a ladder.  Raises LadderMoved if this arena does not have it."""

        def change(connection: Connection) -> Answer:
            if not leases.held(connection, self.holder.name, self._epochs, {ladder}):
                raise LadderMoved(f"this arena does not have ladder {ladder}")
            return function(connection, *args, **kwargs)

        return self.write(change)

    def _write_all(
        self, connection: Connection, entries: Sequence[FinishedMatch | MatchAnnouncement]
    ) -> list[StoreOutcome | InvalidEntry | None]:
        """Write the entries of this arena's ladders, and answer the others with LadderMoved.

        A match that is stored as void by another arena did not end here, whatever its bots did meanwhile.
        """
        held = leases.held(connection, self.holder.name, self._epochs, {entry.ladder for entry in entries})
        held |= self._people_ladders.keys()
        lost = write_state.voided(connection, entries)
        kept = [entry for entry in entries if entry.ladder in held and entry.match not in lost]
        written = iter(result_writer.write(connection, kept, self._last))
        others = [entry for entry in entries if entry.ladder not in held and entry.match not in lost]
        known = write_state.stored(connection, {entry.match for entry in others}) if others else {}
        answers: list[StoreOutcome | InvalidEntry | None] = []
        for entry in entries:
            if entry.match in lost:
                answers.append(LadderMoved(f"match {entry.match}: another arena took ladder {entry.ladder} meanwhile"))
            elif entry.ladder in held:
                answers.append(next(written))
            elif isinstance(entry, FinishedMatch) and entry.match in known:
                answers.append(known[entry.match])
            else:
                answers.append(LadderMoved(f"match {entry.match}: this arena does not have ladder {entry.ladder}"))
        return answers
