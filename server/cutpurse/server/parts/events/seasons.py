"""Series of seasons, as callers plan and see them. This module plays nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Connection

from cutpurse.leaderboard import events, queries, seasons, tournaments
from cutpurse.leaderboard.events import SERIES, EventEntry
from cutpurse.leaderboard.formats.brackets import MOST_BEST_OF, MOST_BOTS
from cutpurse.leaderboard.queries import Ranking
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.seasons import BREAK, ENDING, OVER, PLAYING, SeasonBot, SeasonState
from cutpurse.leaderboard.tokens import HOUSE, NOBODY
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.inner_ladders import is_inner
from cutpurse.server.ladder_config import check_times, ladder_defined
from cutpurse.server.league.league_queries import Answers, Caller
from cutpurse.server.league.messages import bot_name, milliseconds
from cutpurse.server.league.presence import Presence
from cutpurse.server.parts.events.absence import absent_bots, left_out
from cutpurse.server.parts.events.event_form import EventForm, EventPlan, common_facts, why_not_start
from cutpurse.server.parts.events.season_plan import DivisionPlan, FinalPlan, SeasonPlan
from cutpurse.server.parts.events.season_rules import can_fill_match, champion_of, season_table
from cutpurse.server.parts.events.tournaments import TournamentForm
from cutpurse.v1 import event_pb2
from cutpurse.wire.text import format_count

__all__ = ["MAX_SERIES", "SeasonForm"]

MAX_SERIES: Final = 8  # series that go on at a time
MAX_DIVISIONS: Final = 16
MAX_SIZE: Final = 256  # bots of a division but the last
MAX_NAME: Final = 24  # characters, since the names of ladders have more
MAX_MATCHES: Final = 1_000_000
MAX_TIME_MS: Final = 3_650 * 86_400_000  # ten years
AWAY_MS: Final = 86_400_000
LATEST_MS: Final = 4_102_444_800_000  # the year 2100


class SeasonForm(EventForm):
    """Series of seasons, as callers plan and see them."""

    form = SERIES
    kind = event_pb2.EVENT_KIND_SEASON
    field = "season"

    def __init__(self, readings: Readings, answers: Answers, finals: TournamentForm, *, is_alone: bool = True) -> None:
        """Answer from a database.

        Args:
            readings: Where seasons are stored.
            answers: Knows which ladders a caller can see.
            finals: Describes finals.
            is_alone: Whether the server plays all ladders of its database; only then can seasons start there.
        """
        self._readings = readings
        self._answers = answers
        self._finals = finals
        self._is_alone = is_alone
        self.waits_for = lambda series: ""

    def load(self, entry: EventEntry, number: int) -> SeasonState:
        """Load a season of a series.  Raises NoSuchEntry."""
        return self._readings.run(seasons.state, entry.id, number or None)

    def ladders(self, state: SeasonState) -> Sequence[str]:
        """Return the ladders of its divisions."""
        return state.ladders

    def describe(self, event: event_pb2.EventShown, state: SeasonState, *, is_whole: bool) -> None:
        """Add the season; if `is_whole`, with its tables and its final."""
        plan = SeasonPlan.from_text(state.series.plan)
        if not is_whole:
            event.season.CopyFrom(_season(state, plan, ()))
            return
        table: Sequence[SeasonBot] = state.bots
        is_live = state.phase in (PLAYING, ENDING) or any(bot.place is None for bot in state.bots)
        if is_live:  # also of a season that was stopped before its table
            rankings = [self._readings.run(queries.rankings, ladder) for ladder in state.ladders]
            table = season_table(plan, state.bots, rankings, is_last=plan.is_last(state.number))
        event.season.CopyFrom(_season(state, plan, table))
        final = self._readings.run(events.entry, state.tournament) if state.tournament else None
        if final is not None:
            event.season.final.CopyFrom(common_facts(final))
            if final.ended is None:
                event.season.final.waits_for = self._finals.waits_for(final.id)
            self._finals.describe(event.season.final, final, is_whole=True)
        if state.phase in (BREAK, OVER):
            boards = [] if final is None else self._readings.run(tournaments.boards, final.id)
            if (champion := champion_of(table, final, boards)) is not None:
                event.season.champion.CopyFrom(bot_name(*champion))

    def plan(self, request: event_pb2.EventRequest, caller: Caller, presence: Presence) -> EventPlan:
        """Return the plan of a series, with its first season."""
        if not self._is_alone:
            raise CallRefused("SETTINGS", "only a server that is alone plays seasons, and this one shares its league")
        plan, now = self._plan(request.season, caller), self._answers.utc()
        first = plan.first_season(now)
        entry = EventEntry("", "", caller.owner or NOBODY, plan.text, now, name=plan.name)
        ladders = tuple(ladder.name for ladder in first.ladders)
        state = SeasonState(entry, 1, "", first.began, None, None, "", ladders, tuple(first.bots))
        event = common_facts(entry)
        event.season.CopyFrom(_season(state, plan, state.bots))
        absent, can_play = self._absent(plan, request.season.seeds, presence)
        event.absent.extend(absent)
        needs = "a season needs two bots, and a division whose bots can fill a match"
        why_not = why_not_start(event, len(first.bots), needs, can_play=can_play)
        return EventPlan(
            entry, event, why_not, lambda connection, new: seasons.start(connection, new, first, MAX_SERIES)
        )

    def stop(self, connection: Connection, event_id: str, ended: datetime) -> None:
        """Store that a person ended a series, with its season and its final."""
        seasons.stop(connection, event_id, ended)

    # -- plans
    def _ranked(self, seeds: str) -> list[Ranking]:
        return [one for one in self._readings.run(queries.rankings, seeds) if one.owner != HOUSE]

    def _absent(self, plan: SeasonPlan, seeds: str, presence: Presence) -> tuple[list[event_pb2.AbsentBot], bool]:
        """Return the bots of a first season that were left out or cannot play now, and whether the others can begin.

        Any version of a bot will do. Bots of no division that are online come into the last one.
        """
        online: dict[tuple[str, str], list[Identity]] = {}
        for view in presence.bots:
            online.setdefault((view.identity.owner, view.identity.bot), []).append(view.identity)
        stored = {
            (one.owner, one.bot): [Identity(one.owner, one.bot, one.version)]
            for one in self._readings.run(queries.bots)
        }
        members = {bot: number for number, division in enumerate(plan.divisions, 1) for bot in division.bots}
        newcomers = {bot: len(plan.divisions) for bot in online if bot not in members and bot[0] != HOUSE}
        ready: dict[int, list[tuple[str, str]]] = {}
        paused = [one for one in self._ranked(seeds) if one.is_paused] if seeds else []
        absent = [left_out(one.owner, one.bot) for one in paused]
        for bot, division in (members | newcomers).items():
            versions = online.get(bot) or stored[bot]
            ladder = replace(plan.ladder, name=plan.ladder_name(1, division))
            unable = absent_bots(versions, ladder, presence)
            if len(unable) < len(versions):
                ready.setdefault(division, []).append(bot)
            elif bot in members:
                absent.append(event_pb2.AbsentBot(bot=bot_name(*bot), why=unable[-1].why))
        return absent, sum(map(len, ready.values())) > 1 and any(can_fill_match(plan, bots) for bots in ready.values())

    def _plan(self, wanted: event_pb2.SeasonRequest, caller: Caller) -> SeasonPlan:
        ladder = ladder_defined(wanted.ladder)
        terms = ladder.terms
        _check_limits(wanted)
        if ladder.is_hosted or is_inner(terms):
            raise CallRefused("SETTINGS", "the divisions of a season are played on the server, by bots that dial in")
        if terms.frozen is not None or terms.most_bots:
            raise CallRefused("SETTINGS", "a season freezes its ladders itself, and its divisions have sizes")
        check_times(terms, self._answers.utc())
        final = None
        if wanted.final_top:
            final = FinalPlan(wanted.final_top, wanted.final_best_of or 1)
            _check_final(final, ladder.boards, ladder.seats, len(terms.house))
        ends = datetime.fromtimestamp(wanted.ends_ms / 1_000, UTC) if wanted.ends_ms else None
        if ends is not None and (wanted.seasons != 1 or ends <= self._answers.utc()):
            why = "only a single season can end at a time" if wanted.seasons != 1 else f"{ends:%Y-%m-%d %H:%M} is over"
            raise CallRefused("SETTINGS", f"{why}: give the seasons a duration, or set seasons = 1 and a later time")
        return SeasonPlan(
            ladder,
            self._divisions(wanted, ladder.seats, len(terms.house), caller),
            wanted.matches,
            -(-wanted.lasts_ms // 1_000),
            ends,
            -(-wanted.pause_ms // 1_000),
            wanted.seasons,
            -(-(wanted.away_ms or AWAY_MS) // 1_000),
            final,
        )

    def _divisions(
        self, wanted: event_pb2.SeasonRequest, seats: int, house: int, caller: Caller
    ) -> tuple[DivisionPlan, ...]:
        """Return the divisions, with the bots of the first season."""
        *upper, last = wanted.divisions
        if last.size or last.down:
            raise CallRefused("SETTINGS", "the last division takes all other bots, so it has neither a size nor down")
        for number, division in enumerate(upper, 1):
            if not max(2, seats - house) <= division.size <= MAX_SIZE:
                least = max(2, seats - house)
                text = f"division {number} has size {division.size}: it can be {least} to {MAX_SIZE}"
                raise CallRefused("SETTINGS", f"{text}, so that its bots can fill a match" if least > 2 else text)
            if not 0 <= division.down < division.size:
                text = f"{division.down} bots go down from division {number}: it can be 0 to {division.size - 1}"
                raise CallRefused("SETTINGS", text)
        bots = self._first_bots(wanted, caller)
        listed = [bot for members in bots for bot in members]
        if len(set(listed)) < len(listed):
            twice = next(bot for bot in listed if listed.count(bot) > 1)
            raise CallRefused("SETTINGS", f"bot {legible('/'.join(twice), 100)} is in the divisions twice")
        for number, (division, members) in enumerate(zip(upper, bots, strict=False), 1):
            if len(members) > division.size:
                text = f"division {number} has size {division.size}, and {len(members)} bots are named"
                raise CallRefused("SETTINGS", text)
        return tuple(
            DivisionPlan(division.size, division.down, tuple(members))
            for division, members in zip(wanted.divisions, bots, strict=True)
        )

    def _first_bots(self, wanted: event_pb2.SeasonRequest, caller: Caller) -> list[list[tuple[str, str]]]:
        """Return the named bots of each division, or those that a ranking puts into it."""
        if not wanted.seeds:
            known = {(entry.owner, entry.bot) for entry in self._readings.run(queries.bots)}
            bots = [[(caller.owner_of(bot), bot.bot) for bot in division.bots] for division in wanted.divisions]
            for key in (key for members in bots for key in members):
                if key not in known or key[0] == HOUSE:
                    raise CallRefused("NOT_FOUND", f"no bot {legible('/'.join(key), 100)} is known here")
            return bots
        if any(division.bots for division in wanted.divisions):
            raise CallRefused("SETTINGS", "name the bots of the divisions, or a ladder that seeds them, and not both")
        self._answers.check_results(wanted.seeds, caller)
        ranked = [(one.owner, one.bot) for one in self._ranked(wanted.seeds) if not one.is_paused]
        seeded: list[list[tuple[str, str]]] = []
        for division in wanted.divisions:
            count = division.size or len(ranked)
            seeded.append(ranked[:count])
            ranked = ranked[count:]
        return seeded


def _check_limits(wanted: event_pb2.SeasonRequest) -> None:
    """Check the numbers of a request.  Raises CallRefused."""
    name = wanted.ladder.name
    if len(name) > MAX_NAME:
        text = f"'{legible(name, 40)}' has {len(name)} characters: a season's name has {MAX_NAME} at most"
        raise CallRefused("SETTINGS", text)
    if not 1 <= len(wanted.divisions) <= MAX_DIVISIONS:
        raise CallRefused("SETTINGS", f"{len(wanted.divisions)} divisions: a season has 1 to {MAX_DIVISIONS}")
    if not (wanted.matches or wanted.lasts_ms or wanted.ends_ms):
        raise CallRefused("SETTINGS", "a season ends after a number of matches, after a time or at a time: set one")
    if wanted.matches > MAX_MATCHES:
        raise CallRefused("SETTINGS", f"{wanted.matches:,} matches: a season has {MAX_MATCHES:,} at most")
    if wanted.ends_ms > LATEST_MS:
        raise CallRefused("SETTINGS", f"ends_ms is {wanted.ends_ms}; it is in ms since 1970, and before 2100")
    if max(wanted.lasts_ms, wanted.pause_ms, wanted.away_ms) > MAX_TIME_MS:
        raise CallRefused("SETTINGS", "a season, its pause and the absence of a bot last ten years at most")


def _check_final(final: FinalPlan, boards: str, seats: int, house: int) -> None:
    """Check that a final can be played.  Raises CallRefused."""
    if not 2 <= final.top <= MOST_BOTS:
        raise CallRefused("SETTINGS", f"a final of {format_count(final.top, 'bot')}: it has 2 to {MOST_BOTS}")
    if final.best_of > MOST_BEST_OF or final.best_of % 2 == 0:
        raise CallRefused("SETTINGS", f"best of {final.best_of}: it can be an odd number from 1 to {MOST_BEST_OF}")
    if boards != "plain":
        raise CallRefused("SETTINGS", f"a final needs plain boards, not those of kind {boards}")
    if seats - 2 > house:
        text = f"a duel of the final has 2 bots, which leaves {format_count(seats - 2, 'seat')} for house bots"
        raise CallRefused("SETTINGS", f"{text}: set seats = 2, or name {seats - 2} in house")


def _season(state: SeasonState, plan: SeasonPlan, table: Sequence[SeasonBot]) -> event_pb2.SeasonShown:
    """Encode a season with these tables, without its final."""
    phase = state.phase.upper() or "UNSPECIFIED"
    return event_pb2.SeasonShown(
        number=state.number,
        newest=state.series.number,
        seasons=plan.seasons,
        phase=event_pb2.SeasonPhase.Value(f"SEASON_PHASE_{phase}"),
        began_ms=milliseconds(state.began) if state.phase else 0,
        ends_ms=milliseconds(plan.ends_at(state.began)) if state.phase else milliseconds(plan.ends),
        matches=plan.matches,
        ended_ms=milliseconds(state.ended),
        next_ms=milliseconds(state.next_at),
        game=plan.ladder.game,
        divisions=[
            event_pb2.SeasonDivision(
                ladder=ladder,
                size=division.size,
                down=division.down,
                standings=[_standing(bot) for bot in table if bot.division == number],
            )
            for number, (ladder, division) in enumerate(zip(state.ladders, plan.divisions, strict=True), 1)
        ],
        final_top=0 if plan.final is None else plan.final.top,
        final_best_of=0 if plan.final is None else plan.final.best_of,
        lasts_ms=plan.lasts_s * 1_000,
    )


def _standing(bot: SeasonBot) -> event_pb2.SeasonStanding:
    after = bot.next_division
    move = "UNSPECIFIED"
    if after is not None:
        move = "LEAVES" if not after else "STAYS" if after == bot.division else "UP" if after < bot.division else "DOWN"
    return event_pb2.SeasonStanding(
        place=bot.place if bot.place and bot.rating is not None else 0,
        bot=bot_name(bot.owner, bot.bot, bot.version or ""),
        rating=bot.rating,
        matches=bot.matches or 0,
        move=event_pb2.SeasonMove.Value(f"SEASON_MOVE_{move}"),
        has_left=bot.has_left,
    )
