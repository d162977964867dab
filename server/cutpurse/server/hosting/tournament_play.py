"""Tournaments as they are played: a few boards at a time are requested from the lobby, and their results stored.

Each board is a requested match, so it is unrated and has the rights of a request of an admin. What is played next
follows from the stored boards alone. So a server that was killed goes on where it was: a match that it lost was voided
at its start, and a void match is played again.

A bot is away while it is offline, paused, not on the ladder, or declines requests. A bot that has been away for
`AWAY_S` when a board of it is due loses that board.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from cutpurse.leaderboard.errors import LeaderboardError, NoSuchEntry
from cutpurse.leaderboard.queries import MatchEntry
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tournaments import FINISHED, TournamentBoardEntry, TournamentEntry
from cutpurse.server.errors import CallRefused
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.matches.requests import MatchRequest
from cutpurse.server.matches.tournament_rules import Duel, TournamentPlan, duels_of

__all__ = ["AWAY_S", "TournamentLobby", "TournamentPlay", "TournamentStore"]

LOOK_S: Final = 0.1  # between two looks at the boards
AWAY_S: Final = 60.0  # for which a bot can be away before it loses a board
AT_ONCE: Final = 4  # boards of a tournament that wait or are played
MISSES: Final = 4  # looks at which a match is neither known to the lobby nor stored, until it counts as lost


class TournamentLobby(Protocol):
    """The lobby, as tournaments use it on the event loop."""

    def request(self, wanted: MatchRequest, now: float) -> str:
        """Run `Lobby.request`."""

    def requested(self, name: str) -> str:
        """Run `Lobby.requested`."""

    def away(self, ladder: str, bots: Sequence[Identity]) -> list[Identity]:
        """Run `Lobby.away`."""


class TournamentStore(Protocol):
    """The store, as tournaments use it on threads."""

    def tournaments(self, only_running: bool = False, limit: int | None = None) -> list[TournamentEntry]:
        """Run `LeaderboardReader.tournaments`."""

    def tournament_boards(self, tournament_id: str) -> Sequence[TournamentBoardEntry]:
        """Run `LeaderboardReader.tournament_boards`."""

    def put_tournament_board(self, tournament_id: str, board: TournamentBoardEntry) -> None:
        """Run `Store.put_tournament_board`."""

    def end_tournament(self, tournament_id: str, outcome: str, ended: datetime) -> TournamentEntry:
        """Run `Store.end_tournament`."""

    def match(self, name: str) -> MatchEntry:
        """Run `LeaderboardReader.match`."""


@dataclass(slots=True)
class _Running:
    """A tournament that is played."""

    entry: TournamentEntry
    plan: TournamentPlan
    boards: dict[tuple[int, int], TournamentBoardEntry]
    misses: dict[str, int] = field(default_factory=dict)  # by match
    away_since: dict[Identity, float] = field(default_factory=dict)
    waits_for: str = ""

    def duels(self) -> list[Duel]:
        """Return the duels as they are now."""
        results: dict[int, list[str]] = {}
        for (duel, _), board in sorted(self.boards.items()):
            if board.result:
                results.setdefault(duel, []).append(board.result)
        return duels_of(self.plan, results)


class TournamentPlay:
    """The tournaments that a server plays. Use it on one event loop; `waits_for` can be called on any thread."""

    def __init__(
        self,
        store: TournamentStore,
        lobby: TournamentLobby,
        log: Logger,
        utc: Callable[[], datetime],
        *,
        look_s: float = LOOK_S,
        away_s: float = AWAY_S,
    ) -> None:
        self._store, self._lobby, self._log, self._utc = store, lobby, log, utc
        self._look_s, self._away_s = look_s, away_s
        self._running: dict[str, _Running] = {}
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Go on with the tournaments of an earlier server, and play those that are started."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def close(self) -> None:
        """Play no more; the tournaments go on when the server is started again."""
        if self._task is not None:
            self._task.cancel()

    def start(self, entry: TournamentEntry) -> None:
        """Play a tournament from now on."""
        self._running.setdefault(entry.id, _Running(entry, TournamentPlan.from_text(entry.plan), {}))

    def stop(self, tournament: str) -> None:
        """Play no more boards of a tournament."""
        self._running.pop(tournament, None)

    def waits_for(self, tournament: str) -> str:
        """Return why a board of a tournament cannot begin now; empty if nothing is known."""
        running = self._running.get(tournament)
        return "" if running is None else running.waits_for

    async def _run(self) -> None:
        is_loaded = False
        while True:
            try:
                if not is_loaded:
                    await self._load()
                    is_loaded = True
                for running in list(self._running.values()):
                    await self.look(running.entry.id)
            except LeaderboardError as problem:  # the database does not answer; nothing was lost
                self._log.warning("tournaments wait", text=str(problem))
            except Exception as problem:
                self._log.error("tournaments broke", error=type(problem).__name__, places=traceback_locations(problem))
            await asyncio.sleep(self._look_s)

    async def _load(self) -> None:
        for entry in await asyncio.to_thread(self._store.tournaments, True):
            boards = await asyncio.to_thread(self._store.tournament_boards, entry.id)
            known = {(board.duel, board.board): board for board in boards}
            self._running[entry.id] = _Running(entry, TournamentPlan.from_text(entry.plan), known)
            self._log.info("tournament goes on", tournament=entry.id, ladder=entry.ladder, boards=len(known))

    async def look(self, tournament: str) -> None:
        """Do what is due for a tournament."""
        running = self._running.get(tournament)
        if running is None:
            return
        running.waits_for = ""
        for board in [board for board in running.boards.values() if not board.result]:
            await self._settle(running, board)
        duels = running.duels()
        if all(duel.is_over for duel in duels):
            if self._running.get(tournament) is not running:
                return
            await asyncio.to_thread(self._store.end_tournament, tournament, FINISHED, self._utc())
            self._running.pop(tournament, None)
            self._log.info("tournament finished", tournament=tournament, ladder=running.entry.ladder)
            return
        for duel in [duel for duel in duels if duel.is_due][:AT_ONCE]:
            if self._running.get(tournament) is not running:  # it was stopped meanwhile
                return
            key = (duel.number, len(duel.results))
            if key not in running.boards:
                await self._begin(running, duel, key)

    async def _begin(self, running: _Running, duel: Duel, key: tuple[int, int]) -> None:
        """Request the next board of a duel, or let bots that are away lose it."""
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
                running.waits_for = f"{', '.join(bot.shown for bot in away)} cannot play now"
                return
            first, second = (running.plan.bots[seed] for seed in duel.bots if seed is not None)
            result = f"{int(second in gone and first not in gone)}{int(first in gone and second not in gone)}"
            self._log.info("board lost", tournament=running.entry.id, bots=[bot.shown for bot in gone])
            await self._put(running, TournamentBoardEntry(*key, "", result))
            return
        try:
            wanted = MatchRequest(ladder, tuple(bots), None, running.entry.started_by, is_by_admin=True)
            match = self._lobby.request(wanted, now)
        except CallRefused as refused:
            running.waits_for = refused.ending.text
            return
        await self._put(running, TournamentBoardEntry(*key, match))

    async def _settle(self, running: _Running, board: TournamentBoardEntry) -> None:
        """Store the result of a board whose match is over; forget a match that is void, or was never played."""
        told = self._lobby.requested(board.match)
        if told in ("waiting", "open"):
            return
        try:
            entry = await asyncio.to_thread(self._store.match, board.match)
        except NoSuchEntry:
            misses = running.misses[board.match] = running.misses.get(board.match, 0) + 1
            if told or misses >= MISSES:  # it was dropped, or the server was killed before it began
                running.misses.pop(board.match)
                running.boards.pop((board.duel, board.board), None)
            return
        running.misses.pop(board.match, None)
        if entry.void_cause is not None:
            running.boards.pop((board.duel, board.board), None)
            return
        duel = running.duels()[board.duel]
        bots = [running.plan.bots[seed] for seed in duel.bots if seed is not None]
        places = {Identity(seat.owner, seat.bot, seat.version): seat.place or 0 for seat in entry.seats}
        first, second = (places[bot] for bot in bots)
        result = "==" if first == second else f"{int(first < second)}{int(second < first)}"
        await self._put(running, TournamentBoardEntry(board.duel, board.board, board.match, result))

    async def _put(self, running: _Running, board: TournamentBoardEntry) -> None:
        await asyncio.to_thread(self._store.put_tournament_board, running.entry.id, board)
        running.boards[board.duel, board.board] = board
