"""The rules of tournaments: which duels are played, and who is ahead, as it follows from the boards so far.

Two bots play a duel of at most `best_of` boards. On each board the better placed bot wins a point; who shares a place
shares the point. The bots swap seats from board to board, and house bots have the other seats. A duel is over when one
bot cannot be caught up any more. A bot that was away when a board was due loses it; if both were, nobody gets a point.

* Round robin: each bot has a duel with each other bot. Duels won count, half for a tied duel, then points.
* Elimination: who loses a duel is out, and a tied duel is won by the bot with the better seed. Bots are seeded so that
  the best two can only meet in the final. Where a bot has no opponent in the first round, it has a bye; those are the
  bots with the best seeds.

This module knows no match, no database and no clock.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import combinations
from typing import Final

from cutpurse.leaderboard.results import Identity

__all__ = [
    "ELIMINATION",
    "FORMATS",
    "ROUND_ROBIN",
    "Duel",
    "TournamentPlan",
    "Standing",
    "duel_after",
    "duels_of",
    "standings_of",
]

ELIMINATION: Final = "elimination"
ROUND_ROBIN: Final = "round_robin"
FORMATS: Final = (ELIMINATION, ROUND_ROBIN)
_POINTS: Final = {"1": 1.0, "=": 0.5, "0": 0.0}


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """All that is fixed before the first board.

    Attributes:
        ladder: Ladder whose rules are played.
        format: One of `FORMATS`.
        best_of: Maximum number of boards of a duel.
        bots: The bots in the order of their seeds, the best first.
    """

    ladder: str
    format: str
    best_of: int
    bots: tuple[Identity, ...]

    @property
    def text(self) -> str:
        """The plan as JSON; the same plan has the same text."""
        facts = {
            "ladder": self.ladder,
            "format": self.format,
            "best_of": self.best_of,
            "bots": [list(bot) for bot in self.bots],
        }
        return json.dumps(facts, separators=(",", ":"), sort_keys=True)

    @property
    def digest(self) -> str:
        """The SHA-256 of the text, in hexadecimal."""
        return sha256(self.text.encode()).hexdigest()

    @classmethod
    def from_text(cls, text: str) -> TournamentPlan:
        """Read a plan that `text` returned."""
        facts = json.loads(text)
        bots = tuple(Identity(*bot) for bot in facts["bots"])
        return cls(facts["ladder"], facts["format"], facts["best_of"], bots)

    @property
    def duels(self) -> int:
        """Number of duels until the end."""
        count = len(self.bots)
        return count - 1 if self.format == ELIMINATION else count * (count - 1) // 2


@dataclass(slots=True)
class Duel:
    """A duel as it is after some boards.

    Attributes:
        number: Its number, by which its boards are stored.
        round: Its round, counted from 0.
        bots: Its bots by seed, counted from 0; None if that is not decided yet.
        is_bye: Whether the first bot has no opponent; no board is played.
        results: Results of its boards, in order; see `TournamentBoardEntry.result`.
        points: Points of both bots.
        winner: Seed of its winner; None while it is played, or if it is tied.
        is_over: Whether no more board is played.
    """

    number: int
    round: int
    bots: tuple[int | None, int | None]
    is_bye: bool = False
    results: tuple[str, ...] = ()
    points: tuple[float, float] = (0.0, 0.0)
    winner: int | None = None
    is_over: bool = False

    @property
    def is_due(self) -> bool:
        """Whether its next board can be played."""
        return not self.is_over and None not in self.bots

    def seats(self, board: int) -> tuple[int, int]:
        """Return its bots by seat on a board: they swap seats from board to board."""
        first, second = self.bots
        assert first is not None
        assert second is not None
        return (first, second) if board % 2 == 0 else (second, first)


@dataclass(frozen=True, slots=True)
class Standing:
    """The standing of a bot.

    Attributes:
        bot: Its seed, counted from 0.
        rank: Its rank, 1 is best; equals share.
        duels: Duels that are over, byes left out.
        won: Duels won; half for a tied one.
        points: Points of all boards.
        boards: Boards played or lost by absence.
        is_out: Whether it was eliminated.
    """

    bot: int
    rank: int
    duels: int
    won: float
    points: float
    boards: int
    is_out: bool = False


def duels_of(plan: TournamentPlan, results: Mapping[int, Sequence[str]]) -> list[Duel]:
    """Return all duels of a tournament as they are now, by number.

    Args:
        plan: The plan.
        results: Results of the boards so far, by duel, in the order of the boards.
    """
    if plan.format == ROUND_ROBIN:
        pairs = enumerate(combinations(range(len(plan.bots)), 2))
        return [duel_after(plan, Duel(number, 0, pair), results.get(number, ())) for number, pair in pairs]
    slots: list[int | None] = [seed if seed < len(plan.bots) else None for seed in _bracket(len(plan.bots))]
    duels: list[Duel] = []
    number_of_round = 0
    while len(slots) > 1:
        winners: list[int | None] = []
        for first, second in zip(slots[::2], slots[1::2], strict=True):
            duel = Duel(len(duels), number_of_round, (first, second))
            if number_of_round == 0 and second is None:
                duel.is_bye = duel.is_over = True
                duel.winner = first
            else:
                duel = duel_after(plan, duel, results.get(duel.number, ()))
            duels.append(duel)
            winners.append(duel.winner)
        slots = winners
        number_of_round += 1
    return duels


def duel_after(plan: TournamentPlan, duel: Duel, results: Sequence[str]) -> Duel:
    """Return a duel after boards with these results, in order."""
    if None in duel.bots:
        return duel
    first = second = 0.0
    counted: Sequence[str] = ()
    is_over = False
    for count, result in enumerate(results, 1):
        first, second = first + _POINTS[result[0]], second + _POINTS[result[1]]
        counted = results[:count]
        left = plan.best_of - count
        if is_over := abs(first - second) > left or left == 0:
            break
    winner = None
    if is_over and first != second:
        winner = duel.bots[first < second]
    elif is_over and plan.format == ELIMINATION:
        winner = min(bot for bot in duel.bots if bot is not None)
    return replace(duel, results=tuple(counted), points=(first, second), winner=winner, is_over=is_over)


def standings_of(plan: TournamentPlan, duels: Sequence[Duel]) -> list[Standing]:
    """Rank the bots of a tournament as it is now, the best first; equals in the order of their seeds."""
    facts = []
    for bot in range(len(plan.bots)):
        own = [duel for duel in duels if bot in duel.bots and not duel.is_bye]
        over = [duel for duel in own if duel.is_over]
        won = sum(1.0 if duel.winner == bot else 0.5 if duel.winner is None else 0.0 for duel in over)
        points = sum(duel.points[duel.bots.index(bot)] for duel in own)
        boards = sum(len(duel.results) for duel in own)
        lost = [duel.round for duel in over if duel.winner not in (bot, None)]
        is_out = plan.format == ELIMINATION and bool(lost)
        reached = lost[0] if is_out else max((duel.round for duel in duels), default=0) + 1
        order = (-reached,) if plan.format == ELIMINATION else (-won, -points)
        facts.append((order, Standing(bot, 0, len(over), won, points, boards, is_out)))
    facts.sort(key=lambda one: one[0])
    standings = []
    for order, one in facts:
        rank = 1 + sum(other < order for other, _ in facts)
        standings.append(Standing(one.bot, rank, one.duels, one.won, one.points, one.boards, one.is_out))
    return standings


def _bracket(count: int) -> list[int]:
    """Return the seeds, counted from 0, by slot of the first round; there are as many slots as a power of two."""
    slots = [0]
    while len(slots) < count:
        size = 2 * len(slots)
        slots = [seed for slot in slots for seed in (slot, size - 1 - slot)]
    return slots
