"""The duels of knock-outs: who meets whom, who is out, and who has which rank, as it follows from the boards so far.

Two bots play a duel of at most `best_of` boards. On each board the better bot wins a point, and equal bots share it. A
duel is over when one bot cannot be caught up any more. A tied duel is won by the bot with the better seed.

* Elimination: who loses a duel is out. Bots are seeded so that the best two can only meet in the final. Where a bot has
  no opponent in the first round, it has a bye; those are the bots with the best seeds.
* Double elimination: who loses a duel of the winners' bracket goes on in the losers' bracket, and who loses there is
  out. The winners of both play the grand final. If the bot from the losers' bracket wins it, both have lost once, and a
  reset duel decides.

Everything follows from the number of bots and the results. This module imports nothing of the project, so that a server
and local tournaments have the same rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

__all__ = [
    "DOUBLE_ELIMINATION",
    "ELIMINATION",
    "KNOCKOUTS",
    "MOST_BEST_OF",
    "MOST_BOTS",
    "Duel",
    "Lane",
    "Ranked",
    "boards_needed",
    "duel_after",
    "knockout_duels",
    "knockout_ranks",
    "max_duels",
]

ELIMINATION: Final = "elimination"
DOUBLE_ELIMINATION: Final = "double_elimination"
KNOCKOUTS: Final = (ELIMINATION, DOUBLE_ELIMINATION)
MOST_BOTS: Final = 64
MOST_BEST_OF: Final = 99
_NOBODY: Final = -1  # in a slot to which no bot will ever come
_POINTS: Final = {"1": 1.0, "=": 0.5, "0": 0.0}


class Lane(Enum):
    """The part of a tournament to which a duel belongs; only double elimination has others than the main one.

    The order is that of the numbers on the wire.
    """

    MAIN = "main"
    WINNERS = "winners"
    LOSERS = "losers"
    FINAL = "final"


@dataclass(slots=True)
class Duel:
    """A duel as it is after some boards.

    Attributes:
        number: Its number, by which its boards are stored.
        round: Its round in its lane, counted from 0.
        bots: Its bots by seed, counted from 0; None if that is not decided yet.
        is_bye: Whether the first bot has no opponent; no board is played.
        results: Results of its boards, in order: the points of the first and of the second bot, "1", "=" for half a
            point or "0" each, as "10".
        points: Points of both bots.
        winner: Seed of its winner; None while it is played, or if it is tied.
        is_over: Whether no more board is played.
        lane: Its lane.
        slot: Its position in the full round, counted from 0; positions to which no bot comes have no duel.
    """

    number: int
    round: int
    bots: tuple[int | None, int | None]
    is_bye: bool = False
    results: tuple[str, ...] = ()
    points: tuple[float, float] = (0.0, 0.0)
    winner: int | None = None
    is_over: bool = False
    lane: Lane = Lane.MAIN
    slot: int = 0

    @property
    def is_due(self) -> bool:
        """Whether its next board can be played."""
        return not self.is_over and None not in self.bots

    @property
    def loser(self) -> int | None:
        """Seed of its loser; None while it is played, or if it is tied."""
        return None if self.winner is None else self.bots[self.bots[0] == self.winner]

    def seats(self, board: int) -> tuple[int, int]:
        """Return its bots by seat on a board: they swap seats from board to board."""
        first, second = self.bots
        assert first is not None
        assert second is not None
        return (first, second) if board % 2 == 0 else (second, first)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The rank of a bot in a knock-out, 1 is best, and whether it is out; bots that are still in share the best."""

    rank: int
    is_out: bool


def max_duels(form: str, count: int) -> int:
    """Return the maximum number of duels of a knock-out, byes left out; double elimination may need one less."""
    return count - 1 if form == ELIMINATION else 2 * count - 1


def knockout_duels(form: str, count: int, best_of: int, results: Mapping[int, Sequence[str]]) -> list[Duel]:
    """Return all duels of a knock-out as they are now, by number.

    A reset duel is only there once it is needed. It is the last one, so no other number changes.

    Args:
        form: One of `KNOCKOUTS`.
        count: Number of bots, 2 to `MOST_BOTS`.
        best_of: Maximum number of boards of a duel.
        results: Results of the boards so far, by duel, in the order of the boards.
    """
    bracket = _Bracket(best_of, results)
    slots: list[int | None] = [seed if seed < count else _NOBODY for seed in _seeded(count)]
    lane = Lane.MAIN if form == ELIMINATION else Lane.WINNERS
    dropped: list[list[int | None]] = []
    while len(slots) > 1:
        slots, losers = bracket.play(lane, len(dropped), slots)
        dropped.append(losers)
    if form == DOUBLE_ELIMINATION:
        bracket.play_final(slots[0], _losers_bracket(bracket, dropped))
    return bracket.duels


def duel_after(duel: Duel, results: Sequence[str], best_of: int, *, has_winner: bool = True) -> Duel:
    """Return a duel after boards with these results, in order.

    Args:
        duel: The duel before its first board.
        results: Results of its boards; see `Duel.results`.
        best_of: Maximum number of boards.
        has_winner: Whether a tied duel is won by the bot with the better seed.
    """
    if None in duel.bots:
        return duel
    first = second = 0.0
    counted: Sequence[str] = ()
    is_over = False
    for count, result in enumerate(results, 1):
        first, second = first + _POINTS[result[0]], second + _POINTS[result[1]]
        counted = results[:count]
        left = best_of - count
        if is_over := abs(first - second) > left or left == 0:
            break
    winner = None
    if is_over and first != second:
        winner = duel.bots[first < second]
    elif is_over and has_winner:
        winner = min(bot for bot in duel.bots if bot is not None)
    return replace(duel, results=tuple(counted), points=(first, second), winner=winner, is_over=is_over)


def boards_needed(duel: Duel, best_of: int) -> int:
    """Return the minimum number of further boards until a duel can be over; 0 if none is due."""
    if not duel.is_due:
        return 0
    left = best_of - len(duel.results)
    ahead = int(abs(duel.points[0] - duel.points[1]))
    return min(left, (left - ahead) // 2 + 1)


def knockout_ranks(duels: Sequence[Duel], count: int) -> list[Ranked]:
    """Return the ranks by seed: who went out later ranks higher, and who went out in the same round shares a rank."""
    losses_allowed = 0 if all(duel.lane is Lane.MAIN for duel in duels) else 1
    lost: list[list[tuple[bool, int]]] = [[] for _ in range(count)]  # by bot: in a final, and in which round
    for duel in duels:
        if not duel.is_bye and duel.loser is not None:
            lost[duel.loser].append((duel.lane is Lane.FINAL, duel.round))
    stay = (True, len(duels))
    reached = [losses[-1] if len(losses) > losses_allowed else stay for losses in lost]
    return [Ranked(1 + sum(other > result for other in reached), result != stay) for result in reached]


class _Bracket:
    """The duels of a knock-out, made round by round."""

    def __init__(self, best_of: int, results: Mapping[int, Sequence[str]]) -> None:
        self.duels: list[Duel] = []
        self._best_of = best_of
        self._results = results

    def play(self, lane: Lane, number: int, slots: Sequence[int | None]) -> tuple[list[int | None], list[int | None]]:
        """Add a round in which neighbours meet; return its winners and its losers by position."""
        winners: list[int | None] = []
        losers: list[int | None] = []
        for slot, pair in enumerate(zip(slots[::2], slots[1::2], strict=True)):
            present = [bot for bot in pair if bot != _NOBODY]
            if len(present) == 2:
                duel = self._add(Duel(len(self.duels), number, pair, lane=lane, slot=slot))
                winners.append(duel.winner)
                losers.append(duel.loser)
                continue
            for bot in present:
                bye = Duel(len(self.duels), number, (bot, None), is_bye=True, winner=bot, lane=lane, slot=slot)
                bye.is_over = bot is not None
                self.duels.append(bye)
            winners.append(present[0] if present else _NOBODY)
            losers.append(_NOBODY)
        return winners, losers

    def play_final(self, upper: int | None, lower: int | None) -> None:
        """Add the grand final, and the reset duel if it is needed."""
        final = self._add(Duel(len(self.duels), 0, (upper, lower), lane=Lane.FINAL))
        if final.winner is not None and final.winner == lower:
            self._add(Duel(len(self.duels), 1, (upper, lower), lane=Lane.FINAL))

    def _add(self, duel: Duel) -> Duel:
        duel = duel_after(duel, self._results.get(duel.number, ()), self._best_of)
        self.duels.append(duel)
        return duel


def _losers_bracket(bracket: _Bracket, dropped: Sequence[Sequence[int | None]]) -> int | None:
    """Add the losers' bracket; return its winner.

    Args:
        bracket: Gets the duels.
        dropped: The losers of the winners' bracket, by round.
    """
    slots, number = list(dropped[0]), 0
    for step, losers in enumerate(dropped[1:]):
        slots, _ = bracket.play(Lane.LOSERS, number, slots)
        met = [bot for pair in zip(slots, _crossed(losers, step), strict=True) for bot in pair]
        slots, _ = bracket.play(Lane.LOSERS, number + 1, met)
        number += 2
    return slots[0]


def _crossed(losers: Sequence[int | None], step: int) -> list[int | None]:
    """Reorder the losers who come down, so that bots that met do not soon meet again.

    Of all sequences of these four orders, this one has the latest second meetings in drawn brackets of 16 to 64.
    """
    half = len(losers) // 2
    first, second = list(losers[:half]), list(losers[half:])
    orders = (list(losers[::-1]), [*first[::-1], *second[::-1]], [*second, *first], list(losers))
    return orders[step % len(orders)]


def _seeded(count: int) -> list[int]:
    """Return the seeds, counted from 0, by slot of the first round; there are as many slots as a power of two."""
    slots = [0]
    while len(slots) < count:
        size = 2 * len(slots)
        slots = [seed for slot in slots for seed in (slot, size - 1 - slot)]
    return slots
