"""Tournaments as they are played: a few boards at a time are requested from the lobby, and their results stored.

Each board is a requested match, so it is unrated and has the rights of a request of an admin. What is played next
follows from the stored boards alone, and a board is stored with the announcement of its match. So a server that was
killed goes on where it was: a match that it lost was voided at its start, and a void match is played again. Where
several arenas share a league, the one that has the ladder plays its tournaments, and drops them when it loses the
ladder.

A bot is away while it is offline, paused, not on the ladder, or declines requests. A bot that has been away for
`AWAY_S` when a board of it is due loses that board.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from cutpurse.leaderboard import events, tournaments
from cutpurse.leaderboard.events import FINISHED, TOURNAMENT, EventEntry
from cutpurse.leaderboard.formats.brackets import Duel
from cutpurse.leaderboard.formats.duels import Duels
from cutpurse.leaderboard.results import EventBoard, Identity
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from cutpurse.server.errors import CallRefused
from cutpurse.server.logs import Logger
from cutpurse.server.matches.requests import MatchRequest
from cutpurse.server.parts.events.tournament_rules import TournamentPlan

__all__ = ["AWAY_S", "TournamentLobby", "TournamentPlay"]

LOOK_S: Final = 0.1  # between two looks at the boards
AWAY_S: Final = 60.0  # for which a bot can be away before it loses a board
AT_ONCE: Final = 4  # boards of a tournament that wait or are played


class TournamentLobby(Protocol):
    """The lobby, as tournaments use it on the event loop."""

    def request(self, wanted: MatchRequest, now: float) -> str:
        """Queue an unrated match, and return its ID.  Raises CallRefused if it cannot be played."""

    def requested(self, name: str) -> str:
        """Return the state of a requested match: "waiting", "open", or why it was dropped."""

    def away(self, ladder: str, bots: Sequence[Identity]) -> Mapping[Identity, str]:
        """Return why each of these bots cannot play on a ladder now; those that can are left out."""


@dataclass(slots=True)
class _Running:
    """A tournament that is played."""

    entry: EventEntry
    epoch: int  # of its ladder
    plan: TournamentPlan
    duels: Duels
    open: dict[tuple[int, int], str] = field(default_factory=dict)  # requested match, by duel and board
    away_since: dict[Identity, float] = field(default_factory=dict)
    waits_for: str = ""

    @classmethod
    def of(cls, entry: EventEntry, epoch: int, boards: Sequence[TournamentBoardEntry]) -> _Running:
        """Return a stored tournament as it goes on; `boards` are in order."""
        plan = TournamentPlan.from_text(entry.plan)
        return cls(entry, epoch, plan, plan.duels(boards))


class TournamentPlay:
    """The tournaments that a server plays, for its `EventRunner`; `waits_for` can be called on any thread."""

    form = TOURNAMENT
    noun = "tournament"
    look_s = LOOK_S

    def __init__(
        self,
        store: Store,
        lobby: TournamentLobby,
        log: Logger,
        utc: Callable[[], datetime],
        *,
        epoch_of: Callable[[str], int | None] | None = None,
        away_s: float = AWAY_S,
    ) -> None:
        """Set up.

        Args:
            store: Where tournaments are stored.
            lobby: Where their matches are played.
            log: The server's log.
            utc: Returns the time of day.
            epoch_of: Returns the epoch in which this arena plays a ladder; None if it does not. Default: this server
                is alone, and plays all.
            away_s: Seconds for which a bot can be away before it loses a board.
        """
        self._store, self._lobby, self._log, self._utc = store, lobby, log, utc
        self._epoch_of = epoch_of or (lambda ladder: 0)
        self._away_s = away_s
        self._running: dict[str, _Running] = {}
        self._dropped: set[str] = set()  # a look at the database that began earlier may still have them
        self.woken = asyncio.Event()

    def waits_for(self, tournament: str) -> str:
        """Return why a board of a tournament cannot begin now; empty if nothing is known."""
        running = self._running.get(tournament)
        return "" if running is None else running.waits_for

    @property
    def running(self) -> Collection[str]:
        """IDs of the tournaments that are played."""
        return self._running.keys()

    def load(self, entry: EventEntry) -> tuple[EventEntry, Sequence[TournamentBoardEntry]]:
        """Return a tournament and its boards; waits for the database."""
        return entry, self._store.run(tournaments.boards, entry.id)

    def take(self, loaded: tuple[EventEntry, Sequence[TournamentBoardEntry]], epoch: int) -> None:
        """Play a stored tournament from now on."""
        entry, boards = loaded
        if entry.id not in self._dropped:
            self._running[entry.id] = _Running.of(entry, epoch, boards)

    def begin(self, entry: EventEntry) -> None:
        """Play a tournament that was stored just now, on a server that is alone."""
        self.take((entry, ()), 0)
        self.woken.set()

    async def drop(self, event: str) -> None:
        """Play no more boards of a tournament."""
        self._dropped.add(event)
        self._running.pop(event, None)

    def forget_lost(self, event: str) -> None:
        """Forget a tournament whose ladder this arena has lost; what it knows of the boards is not true any more."""
        running = self._running.get(event)
        if running is not None and self._epoch_of(running.entry.ladder) != running.epoch:
            del self._running[event]
            self._log.info("tournament lost", tournament=event, ladder=running.entry.ladder)

    def _is_played(self, running: _Running) -> bool:
        """Return whether a tournament was not stopped, and its ladder not lost, during a wait."""
        self.forget_lost(running.entry.id)
        return self._running.get(running.entry.id) is running

    async def look(self, event: str) -> None:
        """Do what is due for a tournament."""
        running = self._running.get(event)
        if running is None:
            return
        for key, match in list(running.open.items()):
            if not self._is_played(running):
                return
            await self._settle(running, key, match)
        due = running.duels.orders()[:AT_ONCE]
        if not due:
            if not self._is_played(running):
                return
            ladder = running.entry.ladder
            await asyncio.to_thread(self._store.write_on, ladder, events.end, event, FINISHED, self._utc())
            self._running.pop(event, None)
            self._log.info("tournament finished", tournament=event, ladder=running.entry.ladder)
            return
        reasons = []
        for duel in due:
            if not self._is_played(running):
                return
            key = (duel.number, len(duel.results))
            if key not in running.open:
                reasons.append(await self._begin(running, duel, key))
        running.waits_for = next(filter(None, reasons), "")

    async def _begin(self, running: _Running, duel: Duel, key: tuple[int, int]) -> str:
        """Request the next board of a duel, or let bots that are away lose it; return why neither can be done yet."""
        now = asyncio.get_running_loop().time()
        ladder, board = running.entry.ladder, key[1]
        bots = [running.plan.bots[seed] for seed in duel.seats(board)]
        away = self._lobby.away(ladder, bots)
        for bot in bots:
            if bot not in away:
                running.away_since.pop(bot, None)
        if away:
            gone = [bot for bot in away if now - running.away_since.setdefault(bot, now) >= self._away_s]
            if len(gone) < len(away):
                return ", ".join(f"{bot.shown} {why}" for bot, why in away.items())
            first, second = (running.plan.bots[seed] for seed in duel.bots if seed is not None)
            result = f"{int(second in gone and first not in gone)}{int(first in gone and second not in gone)}"
            self._log.info("board lost", tournament=running.entry.id, bots=[bot.shown for bot in gone])
            lost = TournamentBoardEntry(*key, "", result)
            await asyncio.to_thread(self._store.write_on, ladder, tournaments.put_board, running.entry.id, lost)
            running.duels.after(duel.number, result)
            return ""
        try:
            event_board = EventBoard(running.entry.id, *key)
            by = running.entry.started_by
            wanted = MatchRequest(ladder, tuple(bots), None, by, is_by_admin=True, event_board=event_board)
            running.open[key] = self._lobby.request(wanted, now)
        except CallRefused as refused:
            return refused.ending.text
        return ""

    async def _settle(self, running: _Running, key: tuple[int, int], match: str) -> None:
        """Take the result of a board whose match is over; one that is void or was dropped is played again."""
        state = self._lobby.requested(match)
        if state in ("waiting", "open"):
            return
        if not state:  # it is over, and so stored
            duel, number = key
            board = await asyncio.to_thread(self._store.run, tournaments.board, running.entry.id, duel, number)
            if board is not None and board.match == match and board.result:
                running.duels.after(duel, board.result)
        running.open.pop(key)
