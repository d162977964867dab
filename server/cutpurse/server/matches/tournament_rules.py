"""The rules of tournaments: which duels are played, and who is ahead, as it follows from the boards so far.

Two bots play a duel of at most `best_of` boards. On each board the better placed bot wins a point; who shares a place
shares the point. The bots swap seats from board to board, and house bots have the other seats. A duel is over when one
bot cannot be caught up any more. A bot that was away when a board was due loses it; if both were, nobody gets a point.

* Round robin: each bot has a duel with each other bot. Duels won count, half for a tied duel, then points.
* Elimination and double elimination: see `cutpurse.experiments.brackets`.

This module knows no match, no database and no clock.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from typing import Final

from cutpurse.experiments.brackets import (
    DOUBLE_ELIMINATION,
    ELIMINATION,
    KNOCKOUTS,
    Duel,
    duel_after,
    knockout_duels,
    knockout_ranks,
    max_duels,
)
from cutpurse.leaderboard.results import Identity

__all__ = [
    "DOUBLE_ELIMINATION",
    "ELIMINATION",
    "FORMATS",
    "KNOCKOUTS",
    "ROUND_ROBIN",
    "Duel",
    "TournamentPlan",
    "Standing",
    "duels_of",
    "round_robin_duel",
    "standings_of",
]

ROUND_ROBIN: Final = "round_robin"
FORMATS: Final = (ELIMINATION, ROUND_ROBIN, DOUBLE_ELIMINATION)


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
    def max_duels(self) -> int:
        """Maximum number of duels until the end, byes left out."""
        count = len(self.bots)
        return max_duels(self.format, count) if self.format in KNOCKOUTS else count * (count - 1) // 2


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
    if plan.format in KNOCKOUTS:
        return knockout_duels(plan.format, len(plan.bots), plan.best_of, results)
    pairs = enumerate(combinations(range(len(plan.bots)), 2))
    return [round_robin_duel(plan, Duel(number, 0, pair), results.get(number, ())) for number, pair in pairs]


def round_robin_duel(plan: TournamentPlan, duel: Duel, results: Sequence[str]) -> Duel:
    """Return a duel of a round robin after boards with these results, in order."""
    return duel_after(duel, results, plan.best_of, has_winner=False)


def standings_of(plan: TournamentPlan, duels: Sequence[Duel]) -> list[Standing]:
    """Rank the bots of a tournament as it is now, the best first; equals in the order of their seeds."""
    is_knockout = plan.format in KNOCKOUTS
    ranked = knockout_ranks(duels, len(plan.bots)) if is_knockout else ()
    facts = []
    for bot in range(len(plan.bots)):
        own = [duel for duel in duels if bot in duel.bots and not duel.is_bye]
        over = [duel for duel in own if duel.is_over]
        won = sum(1.0 if duel.winner == bot else 0.5 if duel.winner is None else 0.0 for duel in over)
        points = sum(duel.points[duel.bots.index(bot)] for duel in own)
        boards = sum(len(duel.results) for duel in own)
        order = (float(ranked[bot].rank),) if is_knockout else (-won, -points)
        is_out = is_knockout and ranked[bot].is_out
        facts.append((order, Standing(bot, 0, len(over), won, points, boards, is_out)))
    facts.sort(key=lambda one: one[0])
    standings = []
    for order, one in facts:
        rank = 1 + sum(other < order for other, _ in facts)
        standings.append(Standing(one.bot, rank, one.duels, one.won, one.points, one.boards, one.is_out))
    return standings
