"""The calls about seasons: who may plan, start, see and stop them.

A season is visible to those who may see the results of all its divisions. Every method waits for the database, so call
it only where no other work waits. This module plays nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from cutpurse.experiments.brackets import MOST_BEST_OF, MOST_BOTS
from cutpurse.leaderboard import errors
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.seasons import BREAK, ENDING, OVER, PLAYING, SeasonBot, SeasonState, SeriesEntry
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE, NOBODY, PEOPLE
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.ladder_config import ladder_defined
from cutpurse.server.league.league_queries import Answers, Caller
from cutpurse.server.league.messages import bot_name, milliseconds
from cutpurse.server.league.presence import Presence
from cutpurse.server.league.tournaments import TournamentQueries
from cutpurse.server.matches.season_plan import DivisionPlan, FinalPlan, SeasonPlan
from cutpurse.server.matches.season_rules import season_table
from cutpurse.v1 import ladder_pb2

__all__ = ["MAX_SERIES", "SeasonQueries", "Seasons"]

MAX_SERIES: Final = 8  # series that go on at a time
MAX_DIVISIONS: Final = 16
MAX_SIZE: Final = 256  # bots of a division but the last
MAX_NAME: Final = 24  # characters, since the names of ladders have more
MAX_MATCHES: Final = 1_000_000
MAX_TIME_MS: Final = 3_650 * 86_400_000  # ten years
AWAY_MS: Final = 86_400_000
MOST_LISTED: Final = 30
LATEST_MS: Final = 4_102_444_800_000  # the year 2100


class SeasonQueries:
    """The answers about seasons, which also a database without a server gives. All methods raise CallRefused."""

    def __init__(self, readings: Readings, answers: Answers, tournaments: TournamentQueries) -> None:
        """Answer from a database.

        Args:
            readings: Where seasons are stored.
            answers: Knows which ladders a caller can see.
            tournaments: Shows finals.
        """
        self._readings = readings
        self._answers = answers
        self._tournaments = tournaments

    def list(
        self, asked: ladder_pb2.ListSeasonsRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListSeasonsResponse:
        """Answer ListSeasons."""
        visible = self._answers.with_results(caller)
        states = (self._readings.season(entry.id) for entry in self._readings.series_list())
        seen = [
            state
            for state in states
            if visible.keys() >= set(state.ladders) and asked.game in ("", visible[state.ladders[0]].game)
        ]
        return ladder_pb2.ListSeasonsResponse(
            seasons=[_season(state, _plan(state.series), ()) for state in seen[:MOST_LISTED]]
        )

    def get(
        self, asked: ladder_pb2.GetSeasonRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.GetSeasonResponse:
        """Answer GetSeason."""
        return ladder_pb2.GetSeasonResponse(season=self.shown(self._seen(asked.series, asked.number or None, caller)))

    def shown(self, state: SeasonState) -> ladder_pb2.SeasonShown:
        """Encode a season as it is now, with its tables and its final."""
        plan = _plan(state.series)
        table: Sequence[SeasonBot] = state.bots
        is_live = state.phase in (PLAYING, ENDING) or any(bot.place is None for bot in state.bots)
        if is_live:  # also of a season that was stopped before its table
            rankings = [self._readings.rankings(ladder) for ladder in state.ladders]
            table = season_table(plan, state.bots, rankings, is_last=plan.is_last(state.number))
        shown = _season(state, plan, table)
        if state.tournament:
            final = self._readings.tournament(state.tournament)
            shown.final.CopyFrom(self._tournaments.shown(final))
            if final.outcome == "finished":
                shown.champion.CopyFrom(shown.final.standings[0].bot)
        if not shown.HasField("champion") and state.phase in (BREAK, OVER) and table and table[0].place == 1:
            shown.champion.CopyFrom(bot_name(table[0].owner, table[0].bot, table[0].version or ""))
        return shown

    def _seen(self, series: str, number: int | None, caller: Caller) -> SeasonState:
        """Return a season whose results this caller can see."""
        try:
            state = self._readings.season(series, number)
        except errors.NoSuchEntry:
            state = None
        if state is None or not self._answers.visible(caller).keys() >= set(state.ladders):
            which = "" if number is None else f", season {number},"
            raise CallRefused("NOT_FOUND", f"there are no seasons '{legible(series, 40)}'{which} here")
        for ladder in state.ladders:
            self._answers.check_results(ladder, caller)
        return state


class Seasons(SeasonQueries):
    """The seasons of a league. All methods raise CallRefused and StoreError."""

    def __init__(
        self, store: Store, answers: Answers, tournaments: TournamentQueries, utc: Callable[[], datetime]
    ) -> None:
        """Serve the seasons of a store.

        Args:
            store: Where seasons are stored.
            answers: Knows which ladders a caller can see.
            tournaments: Shows finals.
            utc: Returns the time of day.
        """
        super().__init__(store, answers, tournaments)
        self._store = store
        self._utc = utc

    def plan(
        self, asked: ladder_pb2.PlanSeasonRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.PlanSeasonResponse:
        """Answer PlanSeason."""
        plan = self._plan(asked.wanted, caller)
        first = plan.first_season(self._utc())
        state = SeasonState(
            SeriesEntry("", plan.name, caller.owner or NOBODY, plan.text, first.began),
            1,
            "",
            first.began,
            None,
            None,
            "",
            tuple(ladder.name for ladder in first.ladders),
            tuple(first.bots),
        )
        return ladder_pb2.PlanSeasonResponse(season=_season(state, plan, state.bots))

    def start(self, asked: ladder_pb2.StartSeasonRequest, caller: Caller) -> SeasonState:
        """Store a series, and return its first season; the caller must let it be played."""
        plan = self._plan(asked.wanted, caller)
        if plan.digest != asked.plan:
            text = f"the plan is {plan.digest} now, because its file or a ranking changed; look at it, and start that"
            raise CallRefused("BAD_MESSAGE", text if asked.plan else "name the plan that is to be started")
        now = self._utc()
        new = SeriesEntry(secrets.token_hex(6), plan.name, caller.owner or NOBODY, plan.text, now)
        try:
            return self._store.start_series(new, plan.first_season(now), MAX_SERIES)
        except errors.InvalidEntry as problem:
            raise CallRefused("FULL" if "as many as may" in str(problem) else "BAD_MESSAGE", str(problem)) from None

    def stop(self, asked: ladder_pb2.StopSeasonRequest, caller: Caller) -> SeasonState:
        """End a series, and return its last season."""
        state = self._seen(asked.series, None, caller)
        if state.series.ended is not None:
            raise CallRefused("SETTINGS", f"seasons {state.series.id} have ended already: {state.series.outcome}")
        return self._store.stop_series(state.series.id, self._utc())

    # -- plans
    def _plan(self, wanted: ladder_pb2.SeasonWanted, caller: Caller) -> SeasonPlan:
        ladder = ladder_defined(wanted.ladder)
        terms = ladder.terms
        _check_limits(wanted)
        if ladder.is_hosted or terms.owners == (PEOPLE,):
            raise CallRefused("SETTINGS", "the divisions of a season are played on the server, by bots that dial in")
        if terms.frozen is not None or terms.most_bots:
            raise CallRefused("SETTINGS", "a season freezes its ladders itself, and its divisions have sizes")
        final = None
        if wanted.final_top:
            final = FinalPlan(wanted.final_top, wanted.final_best_of or 1)
            _check_final(final, ladder.boards, ladder.seats, len(terms.house))
        ends = datetime.fromtimestamp(wanted.ends_ms / 1_000, UTC) if wanted.ends_ms else None
        if ends is not None and (wanted.seasons != 1 or ends <= self._utc()):
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
        self, wanted: ladder_pb2.SeasonWanted, seats: int, house: int, caller: Caller
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

    def _first_bots(self, wanted: ladder_pb2.SeasonWanted, caller: Caller) -> list[list[tuple[str, str]]]:
        """Return the named bots of each division, or those that a ranking puts into it."""
        if not wanted.seeds:
            known = {(entry.owner, entry.bot) for entry in self._store.bots()}
            bots = [[(caller.owner_of(bot), bot.bot) for bot in division.bots] for division in wanted.divisions]
            for key in (key for members in bots for key in members):
                if key not in known or key[0] == HOUSE:
                    raise CallRefused("NOT_FOUND", f"no bot {legible('/'.join(key), 100)} is known here")
            return bots
        if any(division.bots for division in wanted.divisions):
            raise CallRefused("SETTINGS", "name the bots of the divisions, or a ladder that seeds them, and not both")
        self._answers.check_results(wanted.seeds, caller)
        ranked = [(one.owner, one.bot) for one in self._store.rankings(wanted.seeds) if one.owner != HOUSE]
        seeded: list[list[tuple[str, str]]] = []
        for division in wanted.divisions:
            count = division.size or len(ranked)
            seeded.append(ranked[:count])
            ranked = ranked[count:]
        return seeded


def _check_limits(wanted: ladder_pb2.SeasonWanted) -> None:
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
        raise CallRefused("SETTINGS", f"a final of {final.top} bots: it has 2 to {MOST_BOTS}")
    if final.best_of > MOST_BEST_OF or final.best_of % 2 == 0:
        raise CallRefused("SETTINGS", f"best of {final.best_of}: it can be an odd number from 1 to {MOST_BEST_OF}")
    if boards != "plain":
        raise CallRefused("SETTINGS", f"a final needs plain boards, not those of kind {boards}")
    if seats - 2 > house:
        text = f"a duel of the final has 2 bots, and {seats - 2} of {seats} seats are left for house bots"
        raise CallRefused("SETTINGS", f"{text}: set seats = 2, or name {seats - 2} in house")


def _plan(entry: SeriesEntry) -> SeasonPlan:
    return SeasonPlan.from_text(entry.plan)


def _season(state: SeasonState, plan: SeasonPlan, table: Sequence[SeasonBot]) -> ladder_pb2.SeasonShown:
    """Encode a season with these tables, without its final."""
    phase = state.phase.upper() or "UNSPECIFIED"
    return ladder_pb2.SeasonShown(
        series=state.series.id,
        name=plan.name,
        started_by=state.series.started_by,
        plan=plan.digest,
        number=state.number,
        newest=state.series.number,
        seasons=plan.seasons,
        phase=ladder_pb2.SeasonPhase.Value(f"SEASON_PHASE_{phase}"),
        began_ms=milliseconds(state.began) if state.phase else 0,
        ends_ms=milliseconds(plan.ends_at(state.began)) if state.phase else milliseconds(plan.ends),
        matches=plan.matches,
        ended_ms=milliseconds(state.ended),
        next_ms=milliseconds(state.next_at),
        outcome=state.series.outcome,
        game=plan.ladder.game,
        divisions=[
            ladder_pb2.SeasonDivision(
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


def _standing(bot: SeasonBot) -> ladder_pb2.SeasonStanding:
    after = bot.next_division
    move = "UNSPECIFIED"
    if after is not None:
        move = "LEAVES" if not after else "STAYS" if after == bot.division else "UP" if after < bot.division else "DOWN"
    return ladder_pb2.SeasonStanding(
        place=bot.place if bot.place and bot.rating is not None else 0,
        bot=bot_name(bot.owner, bot.bot, bot.version or ""),
        rating=bot.rating,
        matches=bot.matches or 0,
        move=ladder_pb2.SeasonMove.Value(f"SEASON_MOVE_{move}"),
        has_left=bot.has_left,
    )
