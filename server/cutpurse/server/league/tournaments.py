"""The calls about tournaments: who may start, see and stop which, and what is planned.

A tournament is visible to those who may see its ladder and its results. Every method waits for the database, so call it
only where no other work waits. This module plays nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from cutpurse.experiments.brackets import MOST_BEST_OF, MOST_BOTS
from cutpurse.leaderboard import errors
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import HOUSE, NOBODY, PEOPLE
from cutpurse.leaderboard.tournaments import STOPPED, TournamentBoardEntry, TournamentEntry
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.league.league_queries import Answers, Caller
from cutpurse.server.league.messages import bot_name, milliseconds
from cutpurse.server.league.presence import Presence
from cutpurse.server.matches.tournament_rules import FORMATS, Duel, TournamentPlan, duels_of, standings_of
from cutpurse.v1 import ladder_pb2

__all__ = ["MAX_OPEN", "TournamentQueries", "Tournaments"]

MAX_OPEN: Final = 4  # tournaments that are played at a time
MOST_BOARDS: Final = 20_000  # of all duels together
MOST_LISTED: Final = 30


class TournamentQueries:
    """The answers about tournaments, which also a database without a server gives. All methods raise CallRefused."""

    def __init__(
        self, readings: Readings, answers: Answers, waits_for: Callable[[str], str] = lambda tournament: ""
    ) -> None:
        """Answer from a database.

        Args:
            readings: Where tournaments are stored.
            answers: Knows which ladders a caller can see.
            waits_for: Returns why a board of a tournament cannot begin now; empty if nothing is known.
        """
        self._readings = readings
        self._answers = answers
        self._waits_for = waits_for

    def list(
        self, asked: ladder_pb2.ListTournamentsRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.ListTournamentsResponse:
        """Answer ListTournaments."""
        if asked.ladder:
            self._answers.check_results(asked.ladder, caller)
        visible = self._answers.with_results(caller)
        entries = [
            entry
            for entry in self._readings.tournaments()
            if entry.ladder in visible and asked.ladder in ("", entry.ladder)
        ]
        shown = [self.shown(entry) for entry in entries[:MOST_LISTED]]
        for one in shown:
            del one.duels[:]
        return ladder_pb2.ListTournamentsResponse(tournaments=shown)

    def get(
        self, asked: ladder_pb2.GetTournamentRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.GetTournamentResponse:
        """Answer GetTournament."""
        return ladder_pb2.GetTournamentResponse(tournament=self.shown(self._seen(asked.tournament, caller)))

    def shown(self, entry: TournamentEntry) -> ladder_pb2.TournamentShown:
        """Encode a tournament as it is now."""
        waits_for = "" if entry.ended is not None else self._waits_for(entry.id)
        return _shown(entry, self._readings.tournament_boards(entry.id), waits_for)

    def _seen(self, tournament: str, caller: Caller) -> TournamentEntry:
        """Return a tournament whose results this caller can see."""
        try:
            entry = self._readings.tournament(tournament)
        except errors.NoSuchEntry:
            entry = None
        if entry is None or entry.ladder not in self._answers.visible(caller):
            raise CallRefused("NOT_FOUND", f"there is no tournament '{legible(tournament, 40)}' here")
        self._answers.check_results(entry.ladder, caller)
        return entry


class Tournaments(TournamentQueries):
    """The tournaments of a league. All methods raise CallRefused and StoreError."""

    def __init__(
        self,
        store: Store,
        answers: Answers,
        utc: Callable[[], datetime],
        *,
        plays_here: Callable[[str], bool] = lambda ladder: True,
        waits_for: Callable[[str], str] = lambda tournament: "",
    ) -> None:
        """Serve the tournaments of a store.

        Args:
            store: Where tournaments are stored.
            answers: Knows which ladders a caller can see.
            utc: Returns the time of day.
            plays_here: Returns whether this server plays a ladder; only then can a tournament start there.
            waits_for: Returns why a board of a tournament cannot begin now; empty if nothing is known.
        """
        super().__init__(store, answers, waits_for)
        self._store = store
        self._utc = utc
        self._plays_here = plays_here

    def plan(
        self, asked: ladder_pb2.PlanTournamentRequest, caller: Caller, presence: Presence
    ) -> ladder_pb2.PlanTournamentResponse:
        """Answer PlanTournament."""
        plan = self._plan(asked.wanted, caller, presence)
        entry = TournamentEntry("", plan.ladder, caller.owner or NOBODY, plan.text, self._utc())
        return ladder_pb2.PlanTournamentResponse(tournament=_shown(entry, (), ""))

    def start(self, asked: ladder_pb2.StartTournamentRequest, caller: Caller, presence: Presence) -> TournamentEntry:
        """Store a tournament, and return it; the caller must let it be played."""
        plan = self._plan(asked.wanted, caller, presence)
        if plan.digest != asked.plan:
            text = f"the plan is {plan.digest} now, because bots or ratings changed; look at it, and start that"
            raise CallRefused("BAD_MESSAGE", text if asked.plan else "name the plan that is to be started")
        new = TournamentEntry(secrets.token_hex(6), plan.ladder, caller.owner or NOBODY, plan.text, self._utc())
        try:
            return self._store.start_tournament(new, MAX_OPEN)
        except errors.InvalidEntry as problem:
            raise CallRefused("FULL", legible(str(problem), 300)) from None

    def stop(self, asked: ladder_pb2.StopTournamentRequest, caller: Caller) -> TournamentEntry:
        """End a tournament that is played, and return it."""
        entry = self._seen(asked.tournament, caller)
        if entry.ended is not None:
            raise CallRefused("SETTINGS", f"tournament {entry.id} has ended already: {entry.outcome}")
        return self._store.end_tournament(entry.id, STOPPED, self._utc())

    def ladder_of(self, tournament: str, caller: Caller) -> str:
        """Return the ladder of a tournament whose results this caller can see."""
        return self._seen(tournament, caller).ladder

    # -- plans
    def _plan(self, wanted: ladder_pb2.TournamentWanted, caller: Caller, presence: Presence) -> TournamentPlan:
        ladder = self._ladder(wanted.ladder, caller)
        if wanted.format not in ladder_pb2.TournamentFormat.values() or not wanted.format:
            raise CallRefused("SETTINGS", f"a tournament has one of these formats: {', '.join(FORMATS)}")
        best_of = wanted.best_of or 1
        if best_of > MOST_BEST_OF or best_of % 2 == 0:
            raise CallRefused("SETTINGS", f"best of {best_of}: it can be an odd number from 1 to {MOST_BEST_OF}")
        bots = self._bots(wanted, ladder, caller, presence)
        name = ladder_pb2.TournamentFormat.Name(wanted.format).removeprefix("TOURNAMENT_FORMAT_").lower()
        plan = TournamentPlan(ladder.name, name, best_of, tuple(bots))
        if plan.max_duels * best_of > MOST_BOARDS:
            text = f"{plan.max_duels:,} duels, best of {best_of}: a tournament has {MOST_BOARDS:,} boards at most"
            raise CallRefused("SETTINGS", text)
        return plan

    def _ladder(self, name: str, caller: Caller) -> LadderEntry:
        """Return a ladder on which tournaments can be played."""
        ladder = self._answers.ladder(name, caller)
        if ladder.is_hosted or not self._plays_here(ladder.name):
            why = "its matches are played elsewhere"
        elif ladder.boards != "plain":
            why = f"its boards are of kind {ladder.boards}, and not plain"
        elif ladder.terms.owners == (PEOPLE,):
            why = "only people play there"
        else:
            return ladder
        raise CallRefused("SETTINGS", f"no tournament can be played on ladder {ladder.name}: {why}")

    def _bots(
        self, wanted: ladder_pb2.TournamentWanted, ladder: LadderEntry, caller: Caller, presence: Presence
    ) -> Sequence[Identity]:
        """Return the bots in the order of their seeds."""
        rankings = self._store.rankings(ladder.name)
        ranked = [Identity(one.owner, one.bot, one.version) for one in rankings if one.rating is not None]
        if wanted.top:
            if wanted.bots:
                raise CallRefused("SETTINGS", "name bots, or how many of the best, and not both")
            bots = [bot for bot in ranked if bot.owner != HOUSE and not bot.is_person][: wanted.top]
            if len(bots) < wanted.top:
                raise CallRefused(
                    "SETTINGS", f"the best {wanted.top}: only {len(bots)} bots have a rating on {ladder.name}"
                )
        else:
            online = [bot.identity for bot in presence.bots if ladder.name in bot.ladders]
            stored = [Identity(entry.owner, entry.bot, entry.version) for entry in self._store.bots()]
            versions = list(dict.fromkeys((*stored, *online)))
            bots = [_named(bot, caller, versions) for bot in wanted.bots]
        if people := [bot.shown for bot in bots if bot.is_person]:
            raise CallRefused("SETTINGS", f"{', '.join(people)}: people play no tournaments")
        if len(set(bots)) < len(bots):
            raise CallRefused("SETTINGS", "a bot is named twice: each plays once in each of its versions")
        if not 2 <= len(bots) <= MOST_BOTS:
            raise CallRefused("SETTINGS", f"{len(bots)} bots: a tournament has 2 to {MOST_BOTS}")
        seeds = {(bot.owner, bot.bot): seed for seed, bot in enumerate(ranked)}
        return sorted(bots, key=lambda bot: seeds.get((bot.owner, bot.bot), len(seeds)))


def _named(bot: ladder_pb2.BotName, caller: Caller, versions: Sequence[Identity]) -> Identity:
    """Return the version that a request names; without a version, the newest.  Raises CallRefused."""
    owner = caller.owner_of(bot)
    found = [one for one in versions if (one.owner, one.bot) == (owner, bot.bot) and bot.version in ("", one.version)]
    if not found:
        shown = legible(Identity(owner, bot.bot, bot.version or "newest").shown, 100)
        raise CallRefused("NOT_FOUND", f"no bot {shown} is known here")
    return found[-1]


def _shown(
    entry: TournamentEntry, boards: Sequence[TournamentBoardEntry], waits_for: str
) -> ladder_pb2.TournamentShown:
    plan = TournamentPlan.from_text(entry.plan)
    by_duel: dict[int, list[TournamentBoardEntry]] = {}
    for board in boards:
        by_duel.setdefault(board.duel, []).append(board)
    results = {duel: [board.result for board in several if board.result] for duel, several in by_duel.items()}
    duels = duels_of(plan, results)
    return ladder_pb2.TournamentShown(
        tournament=entry.id,
        ladder=entry.ladder,
        started_by=entry.started_by,
        format=ladder_pb2.TournamentFormat.Value(f"TOURNAMENT_FORMAT_{plan.format.upper()}"),
        best_of=plan.best_of,
        plan=plan.digest,
        created_ms=milliseconds(entry.created),
        ended_ms=milliseconds(entry.ended),
        outcome=entry.outcome,
        duels_planned=sum(not duel.is_bye for duel in duels),
        duels_over=sum(duel.is_over and not duel.is_bye for duel in duels),
        waits_for=waits_for,
        standings=[
            ladder_pb2.TournamentStanding(
                rank=one.rank,
                bot=bot_name(*plan.bots[one.bot]),
                seed=one.bot + 1,
                duels=one.duels,
                won=one.won,
                points=one.points,
                boards=one.boards,
                is_out=one.is_out,
            )
            for one in standings_of(plan, duels)
        ],
        duels=[_duel(duel, by_duel.get(duel.number, ())) for duel in duels],
    )


def _duel(duel: Duel, boards: Sequence[TournamentBoardEntry]) -> ladder_pb2.TournamentDuel:
    first, second = (0 if bot is None else bot + 1 for bot in duel.bots)
    return ladder_pb2.TournamentDuel(
        round=duel.round + 1,
        first=first,
        second=second,
        is_bye=duel.is_bye,
        first_points=duel.points[0],
        second_points=duel.points[1],
        winner=0 if duel.winner is None else duel.winner + 1,
        is_over=duel.is_over,
        lane=ladder_pb2.TournamentLane.Value(f"TOURNAMENT_LANE_{duel.lane.name}"),
        slot=duel.slot,
        boards=[ladder_pb2.TournamentBoard(match=board.match, result=board.result) for board in boards],
    )
