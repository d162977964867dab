"""What a ladder of a game had best begin with: fitted to play between bots of known strength, judged by other play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.boards.play import outcomes
from cutpurse.leaderboard.parameter_fit import RankedMatch, fit, log_loss
from cutpurse.leaderboard.ratings import TrueSkill

__all__ = ["BOTS", "LIBRARY", "Fit", "fit_to", "strengths"]

BOTS = 24
LIBRARY = TrueSkill(draw_probability=0.10)  # the library's values


@dataclass(frozen=True)
class Fit:
    """What was found, and how badly as many matches of newcomers that it was not fitted to are foretold.

    Each log-loss is in nats a pair of players: with what was found, with the library's values, with the library's but
    for the ties that were found, and with the numbers that a server begins with.
    """

    found: TrueSkill
    begins: TrueSkill
    matches: int
    fitted: float
    library: float
    library_with_ties: float
    as_begun: float


def strengths(bots: int = BOTS) -> list[float]:
    """A continuum, from the random bot to the greedy one."""
    return [bot / (bots - 1) for bot in range(bots)]


def fit_to(game: str, matches: int, begins: TrueSkill, seed: str) -> Fit:
    """Play twice as many, fit to the first half, judge by the second, in which all are newcomers again."""
    first: Sequence[RankedMatch] = list(outcomes(game, strengths(), matches, f"{seed}/fit"))
    other: Sequence[RankedMatch] = list(outcomes(game, strengths(), matches, f"{seed}/held out"))
    found = fit(first, LIBRARY)
    return Fit(
        found,
        begins,
        matches,
        log_loss(other, found),
        log_loss(other, LIBRARY),
        log_loss(other, TrueSkill(draw_probability=found.draw_probability)),
        log_loss(other, begins),
    )
