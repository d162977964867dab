"""Conversions from leaderboard values to messages of ladder.proto, field by field.

These functions omit only what their caller asks them to omit; `league_queries` decides who may see what. This module
knows no database and no lobby.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cutpurse.leaderboard.estimates.history import RatingPoint
from cutpurse.leaderboard.queries import HistoryStep, LadderEntry, MatchEntry, Opponent, Ranking, SeatEntry
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.results import DecisionLog, DecisionUsage, Identity, LadderTerms, SeatNote, UsageTotal
from cutpurse.server.inner_ladders import is_inner
from cutpurse.v1 import arena_pb2, game_pb2, ladder_pb2
from cutpurse.wire.hidden_names import hidden_seat
from cutpurse.wire.usage import FALLBACKS

__all__ = [
    "board_kind",
    "bot_name",
    "course_shown",
    "ladder_shown",
    "match_shown",
    "match_without_result",
    "milliseconds",
    "notes_kept",
    "opponent_shown",
    "ranking_shown",
    "rating_point_shown",
    "step_shown",
    "terms_shown",
]


def bot_name(owner: str, bot: str, version: str = "") -> ladder_pb2.BotName:
    """Encode the name of a bot or of a version."""
    return ladder_pb2.BotName(owner=owner, bot=bot, version=version, person=Identity(owner, bot, version).is_person)


def milliseconds(moment: datetime | None) -> int:
    """Return a timestamp in ms since 1970; 0 for None."""
    return 0 if moment is None else int(moment.timestamp() * 1_000)


def ladder_shown(entry: LadderEntry, bots: int, tables: int, now: datetime) -> ladder_pb2.LadderShown:
    """Encode a ladder, with its online bots and open matches."""
    return ladder_pb2.LadderShown(
        defined=ladder_pb2.LadderDefined(
            name=entry.name,
            game=entry.game,
            settings=_settings(entry.settings),
            seats=entry.seats,
            clock=_clock(entry.clock),
            terms=terms_shown(entry.terms),
            boards=board_kind(entry.boards),
            hosted=entry.is_hosted,
        ),
        matches=entry.matches,
        bots=bots,
        tables=tables,
        created_ms=milliseconds(entry.created),
        is_frozen=entry.terms.frozen is not None and now >= entry.terms.frozen,
        has_hidden_results=entry.terms.hides_results(now),
        hidden_until_ms=milliseconds(entry.terms.results_shown_from) if entry.terms.hides_results(now) else 0,
        has_hidden_names=entry.terms.hides_names(now),
        has_hidden_replays=entry.terms.hides_replays(now),
        is_inner=is_inner(entry.terms),
    )


def ranking_shown(entry: Ranking, is_here: bool) -> ladder_pb2.Ranking:
    """Encode a bot on a ladder, with its rating and its place."""
    return ladder_pb2.Ranking(
        place=entry.place,
        bot=bot_name(entry.owner, entry.bot, entry.version),
        skill=_skill(entry.pairing_skill),
        low=entry.low,
        high=entry.high,
        matches=entry.matches,
        wins=entry.wins,
        faulted=entry.faulted,
        form=entry.form,
        is_here=is_here,
        is_paused=entry.is_paused,
        best=entry.best,
        worst=entry.worst,
        estimated=entry.estimated,
        rating=entry.rating,
        usage=_usage_total(entry.usage),
        is_provisional=entry.is_provisional,
    )


def step_shown(step: HistoryStep) -> ladder_pb2.RatingStep:
    """Encode how one board changed a pairing skill, and why."""
    return ladder_pb2.RatingStep(
        number=step.number,
        match=step.match,
        finished_ms=milliseconds(step.finished),
        version=step.version,
        place=step.place,
        before=_skill(step.before),
        after=_skill(step.after),
        matches=step.matches,
        opponents=[
            ladder_pb2.StepOpponent(
                bot=bot_name(one.owner, one.bot, one.version),
                before=_skill(one.before),
                likely=one.likely,
                outcome=one.outcome,
            )
            for one in step.opponents
        ],
    )


def rating_point_shown(point: RatingPoint) -> ladder_pb2.RatingPoint:
    """Encode a past rating of a version."""
    return ladder_pb2.RatingPoint(
        boards=point.sequence, version=point.version, rating=point.rating, low=point.low, high=point.high
    )


def opponent_shown(entry: Opponent) -> ladder_pb2.Opponent:
    """Encode the results of a bot against another."""
    return ladder_pb2.Opponent(
        bot=bot_name(entry.owner, entry.bot), matches=entry.matches, ahead=entry.ahead, level=entry.level
    )


def match_shown(entry: MatchEntry) -> ladder_pb2.MatchShown:
    """Encode a finished match."""
    return ladder_pb2.MatchShown(
        number=entry.number,
        match=entry.match,
        board=entry.board,
        ladder=entry.ladder,
        game=entry.game,
        rules_version=entry.rules,
        settings=_settings(entry.settings),
        started_ms=milliseconds(entry.started),
        finished_ms=milliseconds(entry.finished),
        decisions=entry.decisions,
        void_cause=entry.void_cause or "",
        rated_number=entry.sequence or 0,
        requested_by=entry.requested_by,
        reason=entry.reason,
        seats=map(_seat, entry.seats),
        board_kind=board_kind(entry.board_kind),
        board_matches=entry.board_matches,
    )


def match_without_result(entry: MatchEntry, seat: int, *, hides_names: bool) -> ladder_pb2.MatchShown:
    """Encode what the owner of a seat learns of a finished match whose result is hidden.

    That is which bots met, unless names are hidden, and of this seat its faults, times and reports: no place, score, or
    change of a rating.
    """
    shown = match_shown(entry)
    shown.reason, shown.rated_number = "", 0
    if hides_names and shown.requested_by != entry.seats[seat].owner:
        shown.requested_by = ""
    for number, other in enumerate(shown.seats):
        if number == seat:
            for field in ("place", "score", "before", "after"):
                other.ClearField(field)
        else:
            bot = ladder_pb2.BotName()
            bot.CopyFrom(bot_name("", hidden_seat(number)) if hides_names else other.bot)
            other.Clear()
            other.bot.CopyFrom(bot)
    return shown


def board_kind(kind: str) -> ladder_pb2.BoardKind.ValueType:
    """Encode the kind of a board, or of the boards of a ladder."""
    return ladder_pb2.BoardKind.Value(f"BOARD_KIND_{kind.upper()}")


def course_shown(
    course: DecisionLog | None, is_told_why: bool, notes: tuple[SeatNote, ...] = ()
) -> ladder_pb2.SeatCourse:
    """Encode the decision log of a seat, with notes that are published.

    `is_told_why` includes the texts of faults, which may quote the bot.
    """
    if course is None:
        return ladder_pb2.SeatCourse(notes=notes_kept(notes))
    return ladder_pb2.SeatCourse(
        thinking_ms=course.thinking_ms,
        faults=[
            ladder_pb2.SeatFault(
                decision=fault.decision,
                at=fault.at,
                cause=_cause(fault.cause),
                text=fault.text if is_told_why else "",
            )
            for fault in course.faults
        ],
        usages=map(_usage, course.usages),
        notes=notes_kept(notes),
    )


def notes_kept(notes: tuple[SeatNote, ...]) -> list[ladder_pb2.NoteKept]:
    """Encode the notes of a bot."""
    return [ladder_pb2.NoteKept(decision=note.decision, text=note.text) for note in notes]


def _seat(seat: SeatEntry) -> ladder_pb2.MatchSeat:
    return ladder_pb2.MatchSeat(
        bot=bot_name(seat.owner, seat.bot, seat.version),
        place=seat.place or 0,
        score=seat.score or 0,
        end_cause=_cause(seat.end_cause),
        faults=seat.faults,
        thinking_ms=seat.thinking_ms,
        before=_skill(seat.before),
        after=_skill(seat.after),
        cpu_ms=seat.cpu_ms or 0,
        peak_bytes=seat.peak_bytes or 0,
        usage=_usage_total(seat.usage),
        memory=seat.memory or b"",
    )


def _usage(usage: DecisionUsage) -> arena_pb2.Usage:
    number = FALLBACKS.index(usage.fallback) if usage.fallback in FALLBACKS else FALLBACKS.index("other")
    return arena_pb2.Usage(
        decision=usage.decision,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_micros=usage.cost_micros,
        model=usage.model,
        fallback=arena_pb2.Fallback.ValueType(number),
    )


def _usage_total(total: UsageTotal | None) -> ladder_pb2.UsageTotal | None:
    if total is None:
        return None
    return ladder_pb2.UsageTotal(
        matches=total.matches,
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        cost_micros=total.cost_micros,
        fallbacks=total.fallbacks,
        model=total.model,
    )


def _skill(skill: Skill | None) -> ladder_pb2.SkillShown | None:
    return None if skill is None else ladder_pb2.SkillShown(mu=skill.mu, sigma=skill.sigma)


def _cause(cause: str) -> arena_pb2.EndCause.ValueType:
    return arena_pb2.EndCause.Value(f"END_CAUSE_{cause.upper()}")


def _settings(settings: Mapping[str, Any]) -> list[game_pb2.Setting]:
    return [game_pb2.Setting(name=name, value=str(value)) for name, value in settings.items()]


def _clock(clock: Mapping[str, Any]) -> ladder_pb2.LadderClock:
    told = ladder_pb2.LadderClock.DESCRIPTOR.fields_by_name
    return ladder_pb2.LadderClock(**{name: value for name, value in clock.items() if name in told})


def terms_shown(terms: LadderTerms) -> ladder_pb2.LadderTerms:
    """Encode the terms of a ladder."""
    return ladder_pb2.LadderTerms(
        owners=terms.owners,
        most_bots=terms.most_bots,
        private=terms.is_private,
        frozen_ms=milliseconds(terms.frozen),
        house=terms.house,
        most_per_owner=terms.most_per_owner,
        pause_failed=terms.pause_failed,
        pause_window=terms.pause_window,
        voids_outages=terms.voids_outages,
        results_hidden_until_ms=milliseconds(terms.results_hidden_until),
        title=terms.title,
        people=terms.admits_people,
        names_hidden_until_ms=milliseconds(terms.names_hidden_until),
        memory_kib=terms.memory_kib,
        replays_hidden_until_ms=milliseconds(terms.replays_hidden_until),
    )
