"""Tournaments, as callers plan and see them. This module plays nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from cutpurse.leaderboard import queries, tournaments
from cutpurse.leaderboard.events import FINISHED, TOURNAMENT, EventEntry
from cutpurse.leaderboard.formats.brackets import MOST_BEST_OF, MOST_BOTS, Duel
from cutpurse.leaderboard.formats.duels import FORMATS
from cutpurse.leaderboard.queries import LadderEntry, Ranking
from cutpurse.leaderboard.reader import Readings
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tokens import HOUSE, NOBODY
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.inner_ladders import is_inner
from cutpurse.server.ladder_config import ladder_of
from cutpurse.server.league.league_queries import Answers, Caller
from cutpurse.server.league.messages import bot_name
from cutpurse.server.league.presence import Presence
from cutpurse.server.parts.events.absence import absent_bots, left_out
from cutpurse.server.parts.events.event_form import EventForm, EventPlan, common_facts, why_not_start
from cutpurse.server.parts.events.tournament_rules import TournamentPlan, is_played
from cutpurse.v1 import event_pb2, ladder_pb2
from cutpurse.wire.league import format_bot_name
from cutpurse.wire.text import format_count

__all__ = ["MAX_OPEN", "TournamentForm"]

MAX_OPEN: Final = 4  # tournaments that are played at a time
MOST_BOARDS: Final = 20_000  # of all duels together
NOBODY_PLAYED: Final = "nobody played"  # outcome of a finished tournament whose boards were all lost by absence


class TournamentForm(EventForm):
    """Tournaments, as callers plan and see them."""

    form = TOURNAMENT
    kind = event_pb2.EVENT_KIND_TOURNAMENT
    field = "tournament"

    def __init__(
        self,
        readings: Readings,
        answers: Answers,
        *,
        plays_here: Callable[[str], bool] = lambda ladder: True,
        waits_for: Callable[[str], str] = lambda tournament: "",
    ) -> None:
        """Answer from a database.

        Args:
            readings: Where tournaments are stored.
            answers: Knows which ladders a caller can see.
            plays_here: Returns whether this server plays a ladder; only then can a tournament start there.
            waits_for: Returns why a board of a tournament cannot begin now; empty if nothing is known.
        """
        self._readings = readings
        self._answers = answers
        self._plays_here = plays_here
        self.waits_for = waits_for

    def load(self, entry: EventEntry, number: int) -> EventEntry:
        """Return the entry: all else is read when it is described."""
        return entry

    def describe(self, event: event_pb2.EventShown, state: EventEntry, *, is_whole: bool) -> None:
        """Add the standings, and the duels."""
        boards = self._readings.run(tournaments.boards, state.id)
        _describe(event, state, boards)
        if not is_whole:
            del event.tournament.duels[:]

    def plan(self, request: event_pb2.EventRequest, caller: Caller, presence: Presence) -> EventPlan:
        """Return the plan of a tournament."""
        plan, absent = self._plan(request.tournament, caller, presence)
        entry = EventEntry("", plan.ladder, caller.owner or NOBODY, plan.text, self._answers.utc())
        event = common_facts(entry)
        _describe(event, entry, ())
        event.absent.extend(absent)
        away = sum(not bot.is_left_out for bot in absent)
        can_play = len(plan.bots) - away >= 2
        why_not = why_not_start(event, len(plan.bots), "a tournament needs two bots", can_play=can_play)
        return EventPlan(entry, event, why_not, lambda connection, new: tournaments.start(connection, new, MAX_OPEN))

    # -- plans
    def _plan(
        self, wanted: event_pb2.TournamentRequest, caller: Caller, presence: Presence
    ) -> tuple[TournamentPlan, list[event_pb2.AbsentBot]]:
        """Return a plan, and the bots that cannot play now or were left out."""
        ladder = self._ladder(wanted.ladder, caller)
        if wanted.format not in event_pb2.TournamentFormat.values() or not wanted.format:
            raise CallRefused("SETTINGS", f"a tournament has one of these formats: {', '.join(FORMATS)}")
        best_of = wanted.best_of or 1
        if best_of > MOST_BEST_OF or best_of % 2 == 0:
            raise CallRefused("SETTINGS", f"best of {best_of}: it can be an odd number from 1 to {MOST_BEST_OF}")
        bots, best_paused = self._bots(wanted, ladder, caller, presence)
        name = event_pb2.TournamentFormat.Name(wanted.format).removeprefix("TOURNAMENT_FORMAT_").lower()
        plan = TournamentPlan(ladder.name, name, best_of, tuple(bots))
        if plan.max_duels * best_of > MOST_BOARDS:
            text = f"{plan.max_duels:,} duels, best of {best_of}: a tournament has {MOST_BOARDS:,} boards at most"
            raise CallRefused("SETTINGS", text)
        paused = [left_out(*bot) for bot in best_paused]
        return plan, [*paused, *absent_bots(bots, ladder_of(ladder), presence, is_requested=True)]

    def _ladder(self, name: str, caller: Caller) -> LadderEntry:
        """Return a ladder on which tournaments can be played."""
        ladder = self._answers.ladder(name, caller)
        if ladder.is_hosted or not self._plays_here(ladder.name):
            why = "its matches are played elsewhere"
        elif ladder.boards != "plain":
            why = f"its boards are of kind {ladder.boards}, and not plain"
        elif is_inner(ladder.terms):
            why = "only people play there"
        else:
            return ladder
        raise CallRefused("SETTINGS", f"no tournament can be played on ladder {ladder.name}: {why}")

    def _bots(
        self, wanted: event_pb2.TournamentRequest, ladder: LadderEntry, caller: Caller, presence: Presence
    ) -> tuple[Sequence[Identity], Sequence[Identity]]:
        """Return the bots in the order of their seeds, and the paused ones that would be among the best."""
        rankings = [rank for rank in self._readings.run(queries.rankings, ladder.name) if rank.rating is not None]
        ranked = [Identity(rank.owner, rank.bot, rank.version) for rank in rankings]
        paused: list[Identity] = []
        if wanted.top:
            if wanted.bots:
                raise CallRefused("SETTINGS", "name bots, or how many of the best, and not both")
            bots, paused = _best(rankings, wanted.top)
            if len(bots) < wanted.top:
                rated = format_count(len(bots) + len(paused), "bot")
                left_out = f", {len(paused)} of them paused" if paused else ""
                text = f"the best {wanted.top}: {ladder.name} has only {rated} with a rating{left_out}"
                raise CallRefused("SETTINGS", text)
        else:
            online = [bot.identity for bot in presence.bots if ladder.name in bot.ladders]
            stored = [Identity(entry.owner, entry.bot, entry.version) for entry in self._readings.run(queries.bots)]
            versions = list(dict.fromkeys((*stored, *online)))
            bots = [_named(bot, caller, versions) for bot in wanted.bots]
        if people := [bot.shown for bot in bots if bot.is_person]:
            raise CallRefused("SETTINGS", f"{', '.join(people)}: people play no tournaments")
        if len(set(bots)) < len(bots):
            raise CallRefused("SETTINGS", "a bot is named twice: each plays once in each of its versions")
        if not 2 <= len(bots) <= MOST_BOTS:
            raise CallRefused("SETTINGS", f"{format_count(len(bots), 'bot')}: a tournament has 2 to {MOST_BOTS}")
        seeds = {(bot.owner, bot.bot): seed for seed, bot in enumerate(ranked)}
        return sorted(bots, key=lambda bot: seeds.get((bot.owner, bot.bot), len(seeds))), paused


def _best(rankings: Sequence[Ranking], count: int) -> tuple[list[Identity], list[Identity]]:
    """Return the best bots of a ranking that are not paused, at most `count`, and the paused ones among them."""
    bots: list[Identity] = []
    paused: list[Identity] = []
    for one in rankings:
        bot = Identity(one.owner, one.bot, one.version)
        if bot.owner == HOUSE or bot.is_person:
            continue
        if len(bots) == count:
            break
        (paused if one.is_paused else bots).append(bot)
    return bots, paused


def _named(bot: ladder_pb2.BotName, caller: Caller, versions: Sequence[Identity]) -> Identity:
    """Return the version that a request names; without a version, the newest.  Raises CallRefused."""
    owner = caller.owner_of(bot)
    found = [one for one in versions if (one.owner, one.bot) == (owner, bot.bot) and bot.version in ("", one.version)]
    if not found:
        shown = format_bot_name(bot_name(owner, bot.bot, bot.version))
        raise CallRefused("NOT_FOUND", f"no bot {legible(shown, 200)} is known here")
    return found[-1]


def _describe(event: event_pb2.EventShown, entry: EventEntry, boards: Sequence[TournamentBoardEntry]) -> None:
    """Add what the boards of a tournament say."""
    plan = TournamentPlan.from_text(entry.plan)
    by_duel: dict[int, list[TournamentBoardEntry]] = {}
    for board in boards:
        by_duel.setdefault(board.duel, []).append(board)
    duels = plan.duels(boards)
    has_ranks = entry.ended is None or is_played(boards)
    if not has_ranks and entry.outcome == FINISHED:
        event.outcome = NOBODY_PLAYED
    event.tournament.CopyFrom(
        event_pb2.TournamentShown(
            format=event_pb2.TournamentFormat.Value(f"TOURNAMENT_FORMAT_{plan.format.upper()}"),
            best_of=plan.best_of,
            duels_planned=sum(not duel.is_bye for duel in duels.all),
            duels_over=sum(duel.is_over and not duel.is_bye for duel in duels.all),
            standings=[
                event_pb2.TournamentStanding(
                    rank=row.rank if has_ranks else 0,
                    bot=bot_name(*plan.bots[row.bot]),
                    seed=row.bot + 1,
                    duels=row.duels,
                    won=row.won,
                    points=row.points,
                    boards=row.boards,
                    is_out=row.is_out,
                )
                for row in duels.table()
            ],
            duels=[_duel(duel, by_duel.get(duel.number, ())) for duel in duels.all],
        )
    )


def _duel(duel: Duel, boards: Sequence[TournamentBoardEntry]) -> event_pb2.TournamentDuel:
    first, second = (0 if bot is None else bot + 1 for bot in duel.bots)
    return event_pb2.TournamentDuel(
        round=duel.round + 1,
        first=first,
        second=second,
        is_bye=duel.is_bye,
        first_points=duel.points[0],
        second_points=duel.points[1],
        winner=0 if duel.winner is None else duel.winner + 1,
        is_over=duel.is_over,
        lane=event_pb2.TournamentLane.Value(f"TOURNAMENT_LANE_{duel.lane.name}"),
        slot=duel.slot,
        boards=[event_pb2.TournamentBoard(match=board.match, result=board.result) for board in boards],
    )
