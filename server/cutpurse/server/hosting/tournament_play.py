"""Tournaments as they are played: a few boards at a time are requested from the lobby, and their results stored.

Each board is a requested match, so it is unrated and has the rights of a request of an admin. What is played next
follows from the stored boards alone. So a server that was killed goes on where it was: a match that it lost was voided
at its start, and a void match is played again. Where several arenas share a league, the one that has the ladder plays
its tournaments, and drops them when it loses the ladder.

A bot is away while it is offline, paused, not on the ladder, or declines requests. A bot that has been away for
`AWAY_S` when a board of it is due loses that board.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Final, Protocol

from cutpurse.leaderboard.errors import LeaderboardError, NoSuchEntry
from cutpurse.leaderboard.queries import MatchEntry
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tournaments import FINISHED, TournamentBoardEntry, TournamentEntry
from cutpurse.server.errors import CallRefused
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.matches.requests import MatchRequest
from cutpurse.server.matches.tournament_rules import ROUND_ROBIN, Duel, TournamentPlan, duels_of, round_robin_duel

__all__ = ["AWAY_S", "TournamentLobby", "TournamentPlay", "TournamentStore"]

LOOK_S: Final = 0.1  # between two looks at the boards
AGAIN_S: Final = 5.0  # after an error
FOLLOW_S: Final = 2.0  # between two looks at the tournaments that the database has, if there are other arenas
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
    epoch: int  # of its ladder
    plan: TournamentPlan
    results: dict[int, list[str]]  # by duel, of its boards in order
    duels: list[Duel]
    open: dict[tuple[int, int], TournamentBoardEntry]  # boards without a result, by duel and board
    misses: dict[str, int] = field(default_factory=dict)  # by match
    away_since: dict[Identity, float] = field(default_factory=dict)
    waits_for: str = ""

    @classmethod
    def of(cls, entry: TournamentEntry, epoch: int, boards: Sequence[TournamentBoardEntry]) -> _Running:
        """Return a stored tournament as it goes on; `boards` are in order."""
        plan = TournamentPlan.from_text(entry.plan)
        results: dict[int, list[str]] = {}
        for board in boards:
            if board.result:
                results.setdefault(board.duel, []).append(board.result)
        unfinished = {(board.duel, board.board): board for board in boards if not board.result}
        return cls(entry, epoch, plan, results, duels_of(plan, results), unfinished)

    def know(self, board: TournamentBoardEntry) -> None:
        """Take a stored board into account. In a round robin it changes one duel of thousands."""
        key = (board.duel, board.board)
        if not board.result:
            self.open[key] = board
            return
        self.open.pop(key, None)
        results = self.results.setdefault(board.duel, [])
        results.append(board.result)
        if self.plan.format == ROUND_ROBIN:
            self.duels[board.duel] = round_robin_duel(self.plan, self.duels[board.duel], results)
        else:
            self.duels = duels_of(self.plan, self.results)


class TournamentPlay:
    """The tournaments that a server plays. Use it on one event loop; `waits_for` can be called on any thread."""

    def __init__(
        self,
        store: TournamentStore,
        lobby: TournamentLobby,
        log: Logger,
        utc: Callable[[], datetime],
        *,
        epoch_of: Callable[[str], int | None] | None = None,
        look_s: float = LOOK_S,
        away_s: float = AWAY_S,
    ) -> None:
        """Set up; `begin` starts it.

        Args:
            store: Where tournaments are stored.
            lobby: Where their matches are played.
            log: The server's log.
            utc: Returns the time of day.
            epoch_of: Returns the epoch in which this arena plays a ladder; None if it does not. Default: this server
                is alone, and plays all.
            look_s: Seconds between two looks at the boards.
            away_s: Seconds for which a bot can be away before it loses a board.
        """
        self._store, self._lobby, self._log, self._utc = store, lobby, log, utc
        self._is_alone = epoch_of is None
        self._epoch_of = epoch_of or (lambda ladder: 0)
        self._look_s, self._away_s = look_s, away_s
        self._running: dict[str, _Running] = {}
        self._stopped: set[str] = set()  # a look at the database that began earlier may still have them
        self._follow_at = 0.0  # next look at the database
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()

    def begin(self) -> None:
        """Go on with the tournaments of an earlier server, and play those that are started."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def close(self) -> None:
        """Play no more; the tournaments go on when the server is started again."""
        if self._task is not None:
            self._task.cancel()

    def start(self, entry: TournamentEntry) -> None:
        """Play a tournament from now on."""
        if (epoch := self._epoch_of(entry.ladder)) is not None:  # otherwise another arena finds it in the database
            self._running.setdefault(entry.id, _Running.of(entry, epoch, ()))
            self._woken.set()

    def stop(self, tournament: str) -> None:
        """Play no more boards of a tournament."""
        self._stopped.add(tournament)
        self._running.pop(tournament, None)

    def waits_for(self, tournament: str) -> str:
        """Return why a board of a tournament cannot begin now; empty if nothing is known."""
        running = self._running.get(tournament)
        return "" if running is None else running.waits_for

    async def _run(self) -> None:
        while not await self._guarded(self.follow):
            await asyncio.sleep(AGAIN_S)
        while True:
            self._woken.clear()
            if not self._running:
                await self._wait()
            done = [await self._guarded(partial(self.look, name)) for name in list(self._running)]
            if not self._is_alone and asyncio.get_running_loop().time() >= self._follow_at:
                done.append(await self._guarded(self.follow))
            await asyncio.sleep(self._look_s if all(done) else AGAIN_S)

    async def _wait(self) -> None:
        """Wait until a tournament is started, here or, with other arenas, perhaps there."""
        try:
            await asyncio.wait_for(self._woken.wait(), None if self._is_alone else FOLLOW_S)
        except TimeoutError:
            self._follow_at = 0.0

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Await `work`; log its error and return False, so that other tournaments go on."""
        try:
            await work()
        except LeaderboardError as problem:  # the database does not answer; nothing was lost
            self._log.warning("tournaments wait", text=str(problem))
        except Exception as problem:
            self._log.error("tournaments broke", error=type(problem).__name__, places=traceback_locations(problem))
        else:
            return True
        return False

    async def follow(self) -> None:
        """Play the tournaments that the database has for the ladders of this arena, and no others."""
        self._follow_at = asyncio.get_running_loop().time() + FOLLOW_S
        before = [] if self._is_alone else list(self._running)  # without one that is started during the look
        entries = {entry.id: entry for entry in await asyncio.to_thread(self._store.tournaments, True)}
        for tournament in before:
            if tournament not in entries:  # it was stopped at another arena
                self._running.pop(tournament, None)
        for entry in entries.values():
            self._drop_if_lost(entry.id)
            epoch = self._epoch_of(entry.ladder)
            if epoch is None or entry.id in self._running or entry.id in self._stopped:
                continue
            boards = await asyncio.to_thread(self._store.tournament_boards, entry.id)
            if entry.id not in self._running and entry.id not in self._stopped:
                self._running[entry.id] = _Running.of(entry, epoch, boards)
                self._log.info("tournament goes on", tournament=entry.id, ladder=entry.ladder, boards=len(boards))

    def _drop_if_lost(self, tournament: str) -> None:
        """Forget a tournament whose ladder this arena has lost; what it knows of the boards is not true any more."""
        running = self._running.get(tournament)
        if running is not None and self._epoch_of(running.entry.ladder) != running.epoch:
            del self._running[tournament]
            self._log.info("tournament lost", tournament=tournament, ladder=running.entry.ladder)

    def _is_played(self, running: _Running) -> bool:
        """Return whether a tournament was not stopped, and its ladder not lost, during a wait."""
        self._drop_if_lost(running.entry.id)
        return self._running.get(running.entry.id) is running

    async def look(self, tournament: str) -> None:
        """Do what is due for a tournament."""
        running = self._running.get(tournament)
        if running is None:
            return
        for board in list(running.open.values()):
            if not self._is_played(running):
                return
            await self._settle(running, board)
        due = list(islice((duel for duel in running.duels if duel.is_due), AT_ONCE))
        if not due:
            if not self._is_played(running):
                return
            await asyncio.to_thread(self._store.end_tournament, tournament, FINISHED, self._utc())
            self._running.pop(tournament, None)
            self._log.info("tournament finished", tournament=tournament, ladder=running.entry.ladder)
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
                return f"{', '.join(bot.shown for bot in away)} cannot play now"
            first, second = (running.plan.bots[seed] for seed in duel.bots if seed is not None)
            result = f"{int(second in gone and first not in gone)}{int(first in gone and second not in gone)}"
            self._log.info("board lost", tournament=running.entry.id, bots=[bot.shown for bot in gone])
            await self._put(running, TournamentBoardEntry(*key, "", result))
            return ""
        try:
            wanted = MatchRequest(ladder, tuple(bots), None, running.entry.started_by, is_by_admin=True)
            match = self._lobby.request(wanted, now)
        except CallRefused as refused:
            return refused.ending.text
        await self._put(running, TournamentBoardEntry(*key, match))
        return ""

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
                running.open.pop((board.duel, board.board), None)
            return
        running.misses.pop(board.match, None)
        if entry.void_cause is not None:
            running.open.pop((board.duel, board.board), None)
            return
        duel = running.duels[board.duel]
        bots = [running.plan.bots[seed] for seed in duel.bots if seed is not None]
        places = {Identity(seat.owner, seat.bot, seat.version): seat.place or 0 for seat in entry.seats}
        first, second = (places[bot] for bot in bots)
        result = "==" if first == second else f"{int(first < second)}{int(second < first)}"
        await self._put(running, TournamentBoardEntry(board.duel, board.board, board.match, result))

    async def _put(self, running: _Running, board: TournamentBoardEntry) -> None:
        await asyncio.to_thread(self._store.put_tournament_board, running.entry.id, board)
        running.know(board)
