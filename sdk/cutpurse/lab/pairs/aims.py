"""Whom each seat of a match aimed at: its choices among other seats, counted by verb.

A seat *aims* when it takes an option that names another seat, or a zone of another seat, and options with the same verb
named at least one seat more. `raid` of Greed, `give` of Bag-O-Loot and `attack` of Steal & Plunder are such verbs.

    aims = aims_of(replayed_match)          # [Aim("raid", 0, 2, 3, 5, 1.7), ...]

Only what a seat could choose from is counted, so nothing here depends on how often a game asks. This module knows no
rules of a game, no ladder and no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from cutpurse.engine.agenda import Option
from cutpurse.engine.game import Game
from cutpurse.engine.match import EndCause, Match, OpenDecision
from cutpurse.engine.record import Record, replay

__all__ = ["Aim", "AimCounter", "aim_of", "aims_of_record"]


class Aim(NamedTuple):
    """How often a seat aimed at another one in a match.

    Attributes:
        verb: What it did.
        actor: Seat that chose.
        target: The other seat.
        times: Number of times that the actor chose the target.
        offered: Number of its choices of this verb in which the target was offered.
        expected: Mean of `times` if all offered seats were equally likely.
    """

    verb: str
    actor: int
    target: int
    times: int
    offered: int
    expected: float


@dataclass(slots=True)
class _Tally:
    times: int = 0
    offered: int = 0
    expected: float = 0.0


class AimCounter:
    """Counts the aims of one match, choice by choice."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, int, int], _Tally] = {}

    def add(self, verb: str, actor: int, offered: Iterable[int], target: int) -> None:
        """Count a choice of `target` among the seats `offered`; with one seat offered there was no choice."""
        seats = sorted(set(offered))
        if len(seats) < 2:
            return
        share = 1 / len(seats)
        for seat in seats:
            tally = self._tallies.setdefault((verb, actor, seat), _Tally())
            tally.times += seat == target
            tally.offered += 1
            tally.expected += share

    def aims(self) -> list[Aim]:
        """Return what was counted."""
        return [Aim(*key, tally.times, tally.offered, tally.expected) for key, tally in self._tallies.items()]


def aims_of_record(record: Record, rules: type[Game]) -> list[Aim]:
    """Replay a match and count its aims.  Raises RecordError where the record and the rules part.

    Answers that the server gave for a bot don't count.
    """
    counter = AimCounter()
    for match, open_decision, chosen in replay(record, rules):
        if chosen.cause is EndCause.NORMAL and (aim := aim_of(match, open_decision, chosen.option)) is not None:
            target, offered = aim
            counter.add(match.game.words.verbs[chosen.option.verb - 1].name, open_decision.seat, offered, target)
    return counter.aims()


def aim_of(match: Match, open_decision: OpenDecision, option: Option) -> tuple[int, list[int]] | None:
    """Return the seat that an option aims at, and the seats that options with its verb offered; None without an aim."""
    seat_of = _seat_finder(match.game)
    target = seat_of(option)
    if target is None or target == open_decision.seat or len(open_decision.options) < 2:
        return None
    others = (other for other in open_decision.options if other.verb == option.verb)
    return target, sorted(set(_targets(seat_of, others, open_decision.seat)))


def _targets(seat_of: Callable[[Option], int | None], options: Iterable[Option], actor: int) -> Iterator[int]:
    """Yield the other seats that options name."""
    for option in options:
        seat = seat_of(option)
        if seat is not None and seat != actor:
            yield seat


def _seat_finder(game: Game) -> Callable[[Option], int | None]:
    """Return a function that finds the seat an option names: itself, or as the owner of its zone."""

    def seat_of(option: Option) -> int | None:
        if option.seat is not None:
            return option.seat
        owner = game.zone(option.zone).owner if option.zone else -1
        return owner if 0 <= owner < game.n else None

    return seat_of
