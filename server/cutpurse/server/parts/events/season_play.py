"""Seasons as they are played: who is where, when the matches end, the table, the final, and the next season.

What is due follows from the stored phase alone, and each change of the phase is one transaction. So a server that was
killed goes on where it was, and a season whose end fell while the server was down ends at its next start. The ladders
of a season with a time limit freeze by themselves at that time, so no match begins too late.

A bot has left while it is away for the time of the plan; time in which the server is down does not count.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Protocol

from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard import events, queries, seasons, tournaments
from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates
from cutpurse.leaderboard.events import SERIES, EventEntry
from cutpurse.leaderboard.formats.brackets import ELIMINATION
from cutpurse.leaderboard.queries import LadderEntry, Ranking
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.seasons import BREAK, ENDING, FINAL, PLAYING, SeasonBot, SeasonState
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.ladder_config import DivisionMembers, Ladder, ladder_of
from cutpurse.server.league.presence import OnlineBotView
from cutpurse.server.logs import Logger
from cutpurse.server.parts.events.season_plan import SeasonPlan
from cutpurse.server.parts.events.season_rules import (
    champion_of,
    has_played_out,
    members_of,
    next_divisions,
    season_table,
    unknown_bots,
)
from cutpurse.server.parts.events.tournament_rules import TournamentPlan

__all__ = ["FinalPlay", "SeasonLobby", "SeasonPlay"]

LOOK_S: Final = 0.5  # between two looks at the seasons
HALF: Final = 2  # a bot that comes when another one has played this part of its matches comes late


class SeasonLobby(Protocol):
    """The lobby, as seasons use it on the event loop."""

    def here(self) -> Sequence[OnlineBotView]:
        """List all online bots."""

    def plays(self, ladder: str) -> bool:
        """Return whether a ladder is played here."""

    def set_ladder(self, ladder: Ladder) -> None:
        """Add a ladder, or put its new terms in force."""

    def set_members(self, name: str, members: DivisionMembers) -> None:
        """Admit only these bots to a ladder."""

    def is_quiet(self, name: str) -> bool:
        """Return whether no match of a ladder is open or waits to be stored."""


class FinalPlay(Protocol):
    """The tournaments that a server plays, as seasons use them."""

    def begin(self, entry: EventEntry) -> None:
        """Play a tournament that was stored just now."""

    async def drop(self, event: str) -> None:
        """Play no more boards of a tournament."""


@dataclass(slots=True)
class _RunningSeries:
    """A series that goes on: its plan, and what was seen of its bots and matches."""

    plan: SeasonPlan
    seen: dict[tuple[str, str], float] = field(default_factory=dict)  # by bot, on the clock of the loop
    boards: tuple[int, tuple[int, ...]] = (0, ())  # season, and rated boards by division, of `matches`
    matches: Mapping[tuple[str, str], int] = field(default_factory=dict)  # rated matches by bot
    strangers: Sequence[tuple[str, str]] = ()  # ranked bots of the lowest division that are not in the season


class SeasonPlay:
    """The seasons that a server plays, for its `EventRunner`. Only a server that is alone plays any."""

    form = SERIES
    noun = "season"
    look_s = LOOK_S

    def __init__(
        self,
        store: Store,
        lobby: SeasonLobby,
        log: Logger,
        utc: Callable[[], datetime],
        finals: FinalPlay,
    ) -> None:
        """Play the seasons of a store.

        Args:
            store: Where seasons are stored.
            lobby: Where their matches are played.
            log: The server's log.
            utc: Returns the time of day.
            finals: Plays the finals.
        """
        self._store, self._lobby, self._log, self._utc, self._finals = store, lobby, log, utc, finals
        self._running: dict[str, _RunningSeries] = {}
        self._left_alone: set[str] = set()  # series that this server cannot play
        self.woken = asyncio.Event()

    def restore(self) -> None:
        """Let only their own bots onto the ladders of all seasons, before bots come; waits for the database."""
        running = {entry.id for entry in self._store.run(events.entries, [SERIES], only_running=True)}
        for series in sorted(running):
            state = self._store.run(seasons.state, series)
            if (plan := self._playable(state)) is None:
                self._left_alone.add(series)
            else:
                self._running[series] = _RunningSeries(plan)
                for division, ladder in enumerate(state.ladders, 1):
                    self._lobby.set_members(ladder, members_of(plan, state.bots, division, is_waiting=True))
        current = {ladder for series in self._running for ladder in self._store.run(seasons.state, series).ladders}
        for ladder in self._store.run(seasons.series_by_ladder).keys() - current:
            self._lobby.set_members(ladder, _NOBODY)

    def load(self, entry: EventEntry) -> tuple[SeasonState, SeasonPlan, Sequence[LadderEntry]] | None:
        """Return a series that this server can play, and the ladders of its season; waits for the database."""
        if entry.id in self._left_alone:
            return None
        state = self._store.run(seasons.state, entry.id)
        return state, SeasonPlan.from_text(state.series.plan), self._ladders(state)

    def forget_lost(self, event: str) -> None:
        """Do nothing: a server that is alone loses no ladder."""

    def take(self, loaded: tuple[SeasonState, SeasonPlan, Sequence[LadderEntry]], epoch: int) -> None:
        """Play a series from now on, with its ladders."""
        state, plan, ladders = loaded
        self._running[state.series.id] = _RunningSeries(plan)
        self._put_ladders(state, plan, ladders)

    async def drop(self, event: str) -> None:
        """Play no more of a series, nor of its final."""
        if event in self._running:
            state = await asyncio.to_thread(self._store.run, seasons.state, event)
            if state.tournament:
                await self._finals.drop(state.tournament)
            await self._admit(state)
            self._running.pop(event, None)

    @property
    def running(self) -> Collection[str]:
        """IDs of the series that go on."""
        return self._running.keys()

    def _playable(self, state: SeasonState) -> SeasonPlan | None:
        """Return the plan of a season of an earlier server; None if this one cannot play it."""
        if not all(self._lobby.plays(ladder) for ladder in state.ladders):
            self._log.warning("seasons not played", series=state.series.id, text="this server plays other games")
            return None
        try:
            return SeasonPlan.from_text(state.series.plan)
        except CutpurseError as problem:  # another version, or other games
            self._log.warning("seasons not played", series=state.series.id, text=str(problem))
            return None

    async def look(self, event: str) -> None:
        """Do what is due for a series."""
        running = self._running.get(event)
        if running is None:
            return
        state = await asyncio.to_thread(self._store.run, seasons.state, event)
        if state.series.ended is not None:
            self._running.pop(event, None)
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
            state = await asyncio.to_thread(self._store.write, seasons.end_play, state.series.id, state.number, ended)
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
        paused = {Identity(rank.owner, rank.bot, rank.version) for rank in rankings[0] if rank.is_paused}
        final = self._final(plan, state, table, paused, now)
        next_at = None if final is not None else plan.next_at(state.number, now)
        state = await asyncio.to_thread(
            self._store.write, seasons.put_table, state.series.id, state.number, table, final, next_at, now
        )
        self._tell(state, "season table")
        if final is not None and state.tournament == final.id:
            self._finals.begin(final)
        await self._admit_if_over(state)

    async def _end_final(self, running: _RunningSeries, state: SeasonState) -> None:
        final = await asyncio.to_thread(self._store.run, events.entry, state.tournament)
        if final.ended is None:
            return
        boards = await asyncio.to_thread(self._store.run, tournaments.boards, final.id)
        champion = champion_of(state.bots, final, boards)
        now = self._utc()
        next_at = running.plan.next_at(state.number, now)
        named = "" if champion is None else f"{champion.owner}/{champion.bot}"
        state = await asyncio.to_thread(
            self._store.write, seasons.end_final, state.series.id, state.number, named, next_at, now
        )
        self._tell(state, "season over", champion=named)
        await self._admit_if_over(state)

    async def _begin_next(self, running: _RunningSeries, state: SeasonState) -> None:
        plan, number = running.plan, state.number + 1
        new = plan.season(number, self._utc(), next_divisions(plan, state.bots))
        old = state.ladders
        state = await asyncio.to_thread(self._store.write, seasons.begin_next, state.series.id, state.number, new)
        await self._admit(state)
        for ladder in old:
            self._lobby.set_members(ladder, _NOBODY)
        self._tell(state, "season begins")

    def _final(
        self,
        plan: SeasonPlan,
        state: SeasonState,
        table: Sequence[SeasonBot],
        paused: Container[Identity],
        now: datetime,
    ) -> EventEntry | None:
        """Return the final of a season, with the versions that are online but not `paused`; None if there is none."""
        if plan.final is None:
            return None
        online = {(bot.identity.owner, bot.identity.bot): bot.identity.version for bot in self._lobby.here()}
        able = [
            Identity(*bot.key, version)
            for bot in table
            if bot.division == 1 and not bot.has_left and (version := online.get(bot.key) or bot.version)
        ]
        bots = [bot for bot in able if bot not in paused][: plan.final.top]
        if len(bots) < 2:
            return None
        ladder = state.ladders[0]
        drawn = TournamentPlan(ladder, ELIMINATION, plan.final.best_of, tuple(bots))
        return EventEntry(secrets.token_hex(6), ladder, state.series.started_by, drawn.text, now)

    # -- bots and ladders
    async def _count(self, running: _RunningSeries, state: SeasonState) -> None:
        """Count the rated matches of each bot, if there are more than at the last look."""
        boards = (state.number, await asyncio.to_thread(self._boards, state.ladders))
        if boards == running.boards:
            return
        rankings = await asyncio.to_thread(
            lambda: [self._store.run(queries.rankings, ladder) for ladder in state.ladders]
        )
        running.matches = {(rank.owner, rank.bot): rank.matches for ranking in rankings for rank in ranking}
        running.strangers = unknown_bots(state.bots, rankings)
        running.boards = boards

    def _boards(self, ladders: Sequence[str]) -> tuple[int, ...]:
        return tuple(self._store.run(queries.ladder, ladder).matches for ladder in ladders)

    def _final_rankings(self, ladders: Sequence[str]) -> list[list[Ranking]]:
        """Compute the estimates of all results, and return the rankings by them."""
        for ladder in ladders:
            self._store.write(put_estimates, self._store.run(ladder_results, ladder).estimates(), self._utc())
        return [self._store.run(queries.rankings, ladder) for ladder in ladders]

    async def _note_bots(self, running: _RunningSeries, state: SeasonState) -> bool:
        """Store which bots are new, have left or are back; return whether there were any."""
        now, plan = asyncio.get_running_loop().time(), running.plan
        on = {
            (bot.identity.owner, bot.identity.bot): bot.ladders
            for bot in sorted(self._lobby.here(), key=lambda online: len(online.ladders))
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
            await asyncio.to_thread(self._store.write, seasons.note_bots, state.series.id, state.number, (), gone)
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
        await asyncio.to_thread(self._store.write, seasons.note_bots, state.series.id, state.number, new, {})
        running.strangers = ()
        self._tell(state, "season bots", new=["/".join(key) for key in bots])

    async def _admit(self, state: SeasonState) -> None:
        """Put the ladders of a season into the lobby, each with its bots."""
        plan = self._running[state.series.id].plan
        self._put_ladders(state, plan, await asyncio.to_thread(self._ladders, state))

    def _ladders(self, state: SeasonState) -> Sequence[LadderEntry]:
        return [self._store.run(queries.ladder, ladder) for ladder in state.ladders]

    def _put_ladders(self, state: SeasonState, plan: SeasonPlan, ladders: Sequence[LadderEntry]) -> None:
        for division, entry in enumerate(ladders, 1):
            members = members_of(plan, state.bots, division, is_waiting=state.series.ended is None)
            self._lobby.set_ladder(replace(ladder_of(entry), members=members))

    async def _admit_if_over(self, state: SeasonState) -> None:
        """Let nobody wait any more on the ladders of a series that has ended."""
        if state.series.ended is not None:
            await self._admit(state)
            self._running.pop(state.series.id, None)

    def _tell(self, state: SeasonState, event: str, **facts: object) -> None:
        self._log.info(event, series=state.series.id, season=state.number, phase=state.phase, **facts)


_NOBODY: Final = DivisionMembers(frozenset(), None, is_waiting=False)
