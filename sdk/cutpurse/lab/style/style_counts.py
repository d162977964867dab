"""Counts of the habits of each seat of a match, from its record.

Besides the habits that the game's view class lists, every game has three: how often a seat aims at the leader, at the
weakest and at others, where it can choose among seats. This module knows no bot and no statistics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cutpurse.engine.agenda import Option
from cutpurse.engine.game import Game
from cutpurse.engine.match import EndCause, Match, OpenDecision
from cutpurse.engine.record import Record, replay
from cutpurse.lab.pairs.aims import aim_of
from cutpurse.sdk.playing.seating import view_for
from cutpurse.sdk.views import VIEWS
from cutpurse.sdk.views.habit import Habit

__all__ = ["AIMS", "TIME", "MatchCounts", "SeatCounts", "counts_of_record", "scales_of"]

AIMS: Final = ("aims at the leader", "aims at one between", "aims at the weakest")
TIME: Final = "seconds a decision"

SeatCounts = dict[str, tuple[float, int]]  # by habit: its sum, and the number of choices
MatchCounts = tuple[SeatCounts, ...]  # by seat


def scales_of(game: str) -> dict[str, float]:
    """Return the habits that similarities compare, each with its largest value."""
    return {**{habit.name: habit.most for habit in VIEWS[game].habits}, **dict.fromkeys(AIMS, 1.0)}


def counts_of_record(
    record: Record, rules: type[Game], thinking_ms: Mapping[int, Sequence[int]] | None = None
) -> MatchCounts:
    """Replay a match and count what its seats did.  Raises RecordError where the record and the rules part.

    Answers that the server gave for a bot don't count.

    Args:
        record: The record.
        rules: The game.
        thinking_ms: By seat, how long the bot thought over each decision. Default: not known.
    """
    counts: list[SeatCounts] = [{} for _ in record.seats]
    for seat, times in (thinking_ms or {}).items():
        counts[seat][TIME] = (sum(times) / 1_000, len(times))
    for match, open_decision, chosen in replay(record, rules):
        if chosen.cause is not EndCause.NORMAL or len(open_decision.options) < 2:
            continue
        own = counts[open_decision.seat]
        for habit in VIEWS[record.game].habits:
            number = _habit_number(habit, match, open_decision, chosen.option)
            if number is not None:
                _add(own, habit.name, number)
        for name, number in _aim_numbers(match, open_decision, chosen.option):
            _add(own, name, number)
    return tuple(counts)


def _add(counts: SeatCounts, name: str, number: float) -> None:
    total, times = counts.get(name, (0.0, 0))
    counts[name] = (total + number, times + 1)


def _habit_number(habit: Habit, match: Match, open_decision: OpenDecision, option: Option) -> float | None:
    """Return what a choice adds to a habit; None if it says nothing about it."""
    words = match.game.words
    options: Sequence[Option] = open_decision.options
    with_verb = [other for other in options if words.verbs[other.verb - 1].name in habit.verbs]
    if habit.sorts or habit.is_lowest:  # a choice among the cards of these verbs
        options = with_verb = [other for other in with_verb if other.cards]
    if habit.sorts:
        taken = [other for other in with_verb if words.cards[other.cards[0] - 1].sort in habit.sorts]
    elif habit.is_lowest:
        values = [words.cards[other.cards[0] - 1].value if other.cards[0] else 0 for other in with_verb]
        taken = [other for other, value in zip(with_verb, values, strict=True) if value == min(values)]
    else:
        taken = with_verb
    if option not in options or not 0 < len(taken) < len(options):
        return None
    if habit.measure is None:
        return float(option in taken)
    return habit.measure(view_for(match, open_decision.seat)) if option in taken else None


def _aim_numbers(match: Match, open_decision: OpenDecision, option: Option) -> list[tuple[str, float]]:
    """Return what a choice adds to the three habits of aiming; nothing if the seats offered stand alike."""
    aim = aim_of(match, open_decision, option)
    if aim is None or len(aim[1]) < 2:
        return []
    target, offered = aim
    standings = {seat: match.game.standing(seat) for seat in offered}
    best, worst = max(standings.values()), min(standings.values())
    if best == worst:
        return []
    leader, between, weakest = AIMS
    standing = standings[target]
    numbers = [(leader, float(standing == best)), (weakest, float(standing == worst))]
    has_between = any(worst < other < best for other in standings.values())
    return [*numbers, (between, float(worst < standing < best))] if has_between else numbers
