"""Seasons as they are played: who is where, when the matches end, the table, the final, and the next season.

What is due follows from the stored phase alone, and each change of the phase is one transaction. So a server that was
killed goes on where it was, and a season whose end fell while the server was down ends at its next start. The ladders
of a season with a time limit freeze by themselves at that time, so no match begins too late.

A bot has left while it is away for the time of the plan; time in which the server is down does not count.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final, Protocol

from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.leaderboard.queries import LadderEntry, Ranking
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.seasons import BREAK, ENDING, FINAL, PLAYING, SeasonBot, SeasonState
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.leaderboard.tournaments import TournamentEntry
from cutpurse.server.ladder_config import DivisionMembers, Ladder, ladder_of
from cutpurse.server.league.presence import OnlineBotView
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.matches.season_plan import SeasonPlan
from cutpurse.server.matches.season_rules import (
    has_played_out,
    members_of,
    next_divisions,
    season_table,
    unknown_bots,
)
from cutpurse.server.matches.tournament_rules import ELIMINATION, TournamentPlan, duels_of, standings_of

__all__ = ["SeasonLobby", "SeasonPlay", "champion_of"]

LOOK_S: Final = 0.5  # between two looks at the seasons
AGAIN_S: Final = 5.0  # after an error
HALF: Final = 2  # a bot that comes when another one has played this part of its matches comes late


class SeasonLobby(Protocol):
    """The lobby, as seasons use it on the event loop."""

    def here(self) -> Sequence[OnlineBotView]:
        """Run `Lobby.here`."""

    def plays(self, ladder: str) -> bool:
        """Run `Lobby.plays`."""

    def set_ladder(self, ladder: Ladder) -> None:
        """Run `Lobby.set_ladder`."""

    def set_members(self, name: str, members: DivisionMembers) -> None:
        """Run `Lobby.set_members`."""

    def is_quiet(self, name: str) -> bool:
        """Run `Lobby.is_quiet`."""


@dataclass(slots=True)
class _RunningSeries:
    """A series that goes on: its plan, and what was seen of its bots and matches."""

    plan: SeasonPlan
    seen: dict[tuple[str, str], float] = field(default_factory=dict)  # by bot, on the clock of the loop
    boards: tuple[int, tuple[int, ...]] = (0, ())  # season, and rated boards by division, of `matches`
    matches: Mapping[tuple[str, str], int] = field(default_factory=dict)  # rated matches by bot
    strangers: Sequence[tuple[str, str]] = ()  # ranked bots of the lowest division that are not in the season


class SeasonPlay:
    """The seasons that a server plays. Use it on one event loop."""

    def __init__(
        self,
        store: Store,
        lobby: SeasonLobby,
        start_final: Callable[[TournamentEntry], None],
        log: Logger,
        utc: Callable[[], datetime],
        *,
        look_s: float = LOOK_S,
    ) -> None:
        """Play the seasons of a store.

        Args:
            store: Where seasons are stored.
            lobby: Where their matches are played.
            start_final: Lets a stored tournament be played.
            log: The server's log.
            utc: Returns the time of day.
            look_s: Seconds between two looks.
        """
        self._store, self._lobby, self._start_final, self._log, self._utc = store, lobby, start_final, log, utc
        self._look_s = look_s
        self._running: dict[str, _RunningSeries] = {}
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()

    def restore(self) -> None:
        """Let only their own bots onto the ladders of all seasons, before bots come; waits for the database."""
        running = {entry.id for entry in self._store.series_list(only_running=True)}
        for series in sorted(running):
            state = self._store.season(series)
            if not all(self._lobby.plays(ladder) for ladder in state.ladders):
                self._log.warning("seasons not played", series=series, text="this server plays other games")
            elif (plan := self._plan_of(state)) is not None:
                self._running[series] = _RunningSeries(plan)
                for division, ladder in enumerate(state.ladders, 1):
                    self._lobby.set_members(ladder, members_of(plan, state.bots, division, is_waiting=True))
        current = {ladder for series in self._running for ladder in self._store.season(series).ladders}
        for ladder in self._store.series_by_ladder().keys() - current:
            self._lobby.set_members(ladder, _NOBODY)

    def begin(self) -> None:
        """Go on with the seasons of an earlier server, and play those that are started."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def close(self) -> None:
        """Play no more; the seasons go on when the server is started again."""
        if self._task is not None:
            self._task.cancel()

    async def start(self, state: SeasonState) -> None:
        """Play a series from now on."""
        if (plan := self._plan_of(state)) is not None:
            self._running[state.series.id] = _RunningSeries(plan)
            await self._admit(state)
            self._woken.set()

    async def stop(self, state: SeasonState) -> None:
        """Play no more of a series that was stopped."""
        running = self._running.get(state.series.id)
        if running is not None:
            await self._admit(state)
            self._running.pop(state.series.id, None)

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            if not self._running:
                await self._woken.wait()
            done = [await self._guarded(partial(self.look, series)) for series in list(self._running)]
            await asyncio.sleep(self._look_s if all(done) else AGAIN_S)

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Await `work`; log its error and return False, so that other seasons go on."""
        try:
            await work()
        except LeaderboardError as problem:  # the database does not answer; nothing was lost
            self._log.warning("seasons wait", text=str(problem))
        except Exception as problem:
            self._log.error("seasons broke", error=type(problem).__name__, places=traceback_locations(problem))
        else:
            return True
        return False

    def _plan_of(self, state: SeasonState) -> SeasonPlan | None:
        try:
            return SeasonPlan.from_text(state.series.plan)
        except CutpurseError as problem:  # another version, or other games
            self._log.warning("seasons not played", series=state.series.id, text=str(problem))
            return None

    async def look(self, series: str) -> None:
        """Do what is due for a series."""
        running = self._running.get(series)
        if running is None:
            return
        state = await asyncio.to_thread(self._store.season, series)
        if state.series.ended is not None:
            self._running.pop(series, None)
            return
        if state.phase == PLAYING:
            await self._play(running, state)
        elif state.phase == ENDING:
            await self._put_table(running, state)
        elif state.phase == FINAL:
            await self._note_bots(running, state)
            await self._end_final(running, state)
        elif state.phase == BREAK:
            await self._note_bots(running, state)
            if state.next_at is None or self._utc() >= state.next_at:
                await self._begin_next(running, state)

    # -- phases
    async def _play(self, running: _RunningSeries, state: SeasonState) -> None:
        await self._count(running, state)
        if await self._note_bots(running, state):
            return  # the next look knows them
        now, ends = self._utc(), running.plan.ends_at(state.began)
        is_time = ends is not None and now >= ends
        if is_time or has_played_out(running.plan, state.bots, running.matches):
            ended = ends if is_time and ends is not None else now
            state = await asyncio.to_thread(self._store.end_season_play, state.series.id, state.number, ended)
            await self._admit(state)
            self._tell(state, "season ends")

    async def _put_table(self, running: _RunningSeries, state: SeasonState) -> None:
        if not all(self._lobby.is_quiet(ladder) for ladder in state.ladders):
            return
        rankings = await asyncio.to_thread(self._final_rankings, state.ladders)
        if strangers := unknown_bots(state.bots, rankings):
            await self._add(running, state, strangers, is_late=True)
            return
        now, plan = self._utc(), running.plan
        table = season_table(plan, state.bots, rankings, is_last=plan.is_last(state.number))
        final = self._final(plan, state, table, now)
        next_at = None if final is not None else plan.next_at(state.number, now)
        put = partial(self._store.put_season_table, state.series.id, state.number, table, final, next_at, now)
        state = await asyncio.to_thread(put)
        self._tell(state, "season table")
        if final is not None and state.tournament == final.id:
            self._start_final(final)
        await self._admit_if_over(state)

    async def _end_final(self, running: _RunningSeries, state: SeasonState) -> None:
        final = await asyncio.to_thread(self._store.tournament, state.tournament)
        if final.ended is None:
            return
        boards = await asyncio.to_thread(self._store.tournament_boards, final.id)
        results: dict[int, list[str]] = {}
        for board in boards:
            results.setdefault(board.duel, []).append(board.result)
        champion = champion_of(state, final, results)
        now = self._utc()
        next_at = running.plan.next_at(state.number, now)
        named = "" if champion is None else "/".join(champion)
        end = partial(self._store.end_season_final, state.series.id, state.number, named, next_at, now)
        state = await asyncio.to_thread(end)
        self._tell(state, "season over", champion=named)
        await self._admit_if_over(state)

    async def _begin_next(self, running: _RunningSeries, state: SeasonState) -> None:
        plan, number = running.plan, state.number + 1
        new = plan.season(number, self._utc(), next_divisions(plan, state.bots))
        old = state.ladders
        state = await asyncio.to_thread(self._store.begin_next_season, state.series.id, state.number, new)
        await self._admit(state)
        for ladder in old:
            self._lobby.set_members(ladder, _NOBODY)
        self._tell(state, "season begins")

    def _final(
        self, plan: SeasonPlan, state: SeasonState, table: Sequence[SeasonBot], now: datetime
    ) -> TournamentEntry | None:
        """Return the final of a season, with the versions that are online; None if there is none."""
        if plan.final is None:
            return None
        online = {(bot.identity.owner, bot.identity.bot): bot.identity.version for bot in self._lobby.here()}
        bots = [
            Identity(*bot.key, version)
            for bot in table
            if bot.division == 1 and not bot.has_left and (version := online.get(bot.key) or bot.version)
        ][: plan.final.top]
        if len(bots) < 2:
            return None
        ladder = state.ladders[0]
        drawn = TournamentPlan(ladder, ELIMINATION, plan.final.best_of, tuple(bots))
        return TournamentEntry(secrets.token_hex(6), ladder, state.series.started_by, drawn.text, now)

    # -- bots and ladders
    async def _count(self, running: _RunningSeries, state: SeasonState) -> None:
        """Count the rated matches of each bot, if there are more than at the last look."""
        boards = (state.number, await asyncio.to_thread(self._boards, state.ladders))
        if boards == running.boards:
            return
        rankings = await asyncio.to_thread(lambda: [self._store.rankings(ladder) for ladder in state.ladders])
        running.matches = {(one.owner, one.bot): one.matches for ranking in rankings for one in ranking}
        running.strangers = unknown_bots(state.bots, rankings)
        running.boards = boards

    def _boards(self, ladders: Sequence[str]) -> tuple[int, ...]:
        return tuple(self._store.ladder(ladder).matches for ladder in ladders)

    def _final_rankings(self, ladders: Sequence[str]) -> list[list[Ranking]]:
        """Compute the estimates of all results, and return the rankings by them."""
        for ladder in ladders:
            self._store.put_estimates(self._store.ladder_estimates(ladder), self._utc()).result()
        return [self._store.rankings(ladder) for ladder in ladders]

    async def _note_bots(self, running: _RunningSeries, state: SeasonState) -> bool:
        """Store which bots are new, have left or are back; return whether there were any."""
        now, plan = asyncio.get_running_loop().time(), running.plan
        on = {
            (bot.identity.owner, bot.identity.bot): bot.ladders
            for bot in sorted(self._lobby.here(), key=lambda one: len(one.ladders))
            if bot.identity.owner != HOUSE
        }
        gone: dict[tuple[str, str], bool] = {}
        for bot in state.bots:
            if state.ladders[bot.division - 1] in on.get(bot.key, ()):
                running.seen[bot.key] = now
                if bot.has_left:
                    gone[bot.key] = False
            elif now - running.seen.setdefault(bot.key, now) >= plan.away_s and not bot.has_left:
                gone[bot.key] = True
        known = {bot.key for bot in state.bots}
        new: list[tuple[str, str]] = []
        if state.phase == PLAYING:
            came = (key for key, ladders in on.items() if state.ladders[-1] in ladders)
            new = [key for key in dict.fromkeys((*running.strangers, *came)) if key not in known]
        if gone:
            note = partial(self._store.note_season_bots, state.series.id, state.number, (), gone)
            await asyncio.to_thread(note)
            self._tell(state, "season bots", left=sorted("/".join(key) for key, left in gone.items() if left))
        if new:
            await self._add(running, state, new, is_late=self._is_late(running, state))
        return bool(gone or new)

    def _is_late(self, running: _RunningSeries, state: SeasonState) -> bool:
        """Return whether a bot that comes now to the lowest division comes late."""
        last = [bot for bot in state.bots if bot.division == len(state.ladders)]
        most = max((running.matches.get(bot.key, 0) for bot in last), default=0)
        return 0 < running.plan.matches <= HALF * most

    async def _add(
        self, running: _RunningSeries, state: SeasonState, bots: Sequence[tuple[str, str]], *, is_late: bool
    ) -> None:
        """Add newcomers to the lowest division."""
        seed = 1 + max((bot.seed for bot in state.bots if bot.division == len(state.ladders)), default=0)
        new = [
            SeasonBot(owner, bot, len(state.ladders), seed + number, is_late)
            for number, (owner, bot) in enumerate(bots)
        ]
        note: Callable[[], None] = partial(self._store.note_season_bots, state.series.id, state.number, new, {})
        await asyncio.to_thread(note)
        running.strangers = ()
        self._tell(state, "season bots", new=["/".join(key) for key in bots])

    async def _admit(self, state: SeasonState) -> None:
        """Put the ladders of a season into the lobby, each with its bots."""
        plan, is_waiting = self._running[state.series.id].plan, state.series.ended is None
        entries: list[LadderEntry] = await asyncio.to_thread(lambda: [self._store.ladder(one) for one in state.ladders])
        for division, entry in enumerate(entries, 1):
            members = members_of(plan, state.bots, division, is_waiting=is_waiting)
            self._lobby.set_ladder(replace(ladder_of(entry), members=members))

    async def _admit_if_over(self, state: SeasonState) -> None:
        """Let nobody wait any more on the ladders of a series that has ended."""
        if state.series.ended is not None:
            await self._admit(state)
            self._running.pop(state.series.id, None)

    def _tell(self, state: SeasonState, event: str, **facts: object) -> None:
        self._log.info(event, series=state.series.id, season=state.number, phase=state.phase, **facts)


_NOBODY: Final = DivisionMembers(frozenset(), None, is_waiting=False)


def champion_of(
    state: SeasonState, final: TournamentEntry | None, results: Mapping[int, Sequence[str]]
) -> tuple[str, str] | None:
    """Return owner and name of the bot that won a season: the winner of its final, or the first of its table.

    Args:
        state: The season, with its final table.
        final: Its final, which is over; None if there was none.
        results: Results of the final's boards, by duel.
    """
    if final is not None and final.outcome == "finished":
        plan = TournamentPlan.from_text(final.plan)
        played = {duel: [result for result in several if result] for duel, several in results.items()}
        first = standings_of(plan, duels_of(plan, played))[0]
        return plan.bots[first.bot].owner, plan.bots[first.bot].bot
    return next((bot.key for bot in state.bots if (bot.division, bot.place) == (1, 1)), None)
