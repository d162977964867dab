"""The initial parameters of a game's ladders, fitted to matches of bots with known strength, judged by others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.boards.play import outcomes
from cutpurse.leaderboard.parameter_fit import RankedMatch, fit, log_loss
from cutpurse.leaderboard.ratings import TrueSkill

__all__ = ["BOTS", "LIBRARY", "Fit", "fit_to", "strengths"]

BOTS = 24
LIBRARY = TrueSkill(draw_probability=0.10)  # TrueSkill's defaults


@dataclass(frozen=True)
class Fit:
    """The fitted parameters, and the log losses of several parameters on matches not used for the fit.

    A log loss is in nats per pair of players: with the fitted parameters, with TrueSkill's defaults, with the defaults
    and the fitted draw probability, and with the server's initial parameters.
    """

    found: TrueSkill
    begins: TrueSkill
    matches: int
    fitted: float
    library: float
    library_with_ties: float
    as_begun: float


def strengths(bots: int = BOTS) -> list[float]:
    """Return evenly spaced strengths, from the random bot to the greedy one."""
    return [bot / (bots - 1) for bot in range(bots)]


def fit_to(game: str, matches: int, begins: TrueSkill, seed: str) -> Fit:
    """Fit to `matches` matches, and judge by as many others, in which all bots are newcomers again."""
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
