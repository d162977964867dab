"""Rankings that circles don't break: alpha-rank and Nash averaging, from the shares of head-to-head results.

* Alpha-rank (Omidshafiei and others, "Alpha-Rank: Multi-Agent Evaluation by Evolution", 2019): a population plays one
  bot, and now and then a better one takes over. The weight of a bot is the part of the time that all play it.
* Nash averaging (Balduzzi and others, "Re-evaluating Evaluation", 2018): the mixture of bots that no bot is ahead of
  more often than not, and of several the most even one. Two copies of a bot weigh no more than one.

Both take the shares as exact and know nothing of chance; `circles` does. OpenSpiel has both, but loads matplotlib,
networkx and cvxpy for them; NumPy and SciPy are enough. This module imports nothing of the project but its neighbour.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from cutpurse.leaderboard.statistics.circles import Encounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["all_met", "alpha_rank", "nash_average", "share_matrix"]

PRIOR: Final = 2  # matches of each pair, as if one was won by each, so that a single match is no certainty
POPULATION: Final = 50  # these two as in OpenSpiel
INTENSITY: Final = 100.0
SMALLEST: Final = 1e-9  # weight; less is rounding


def all_met(count: int, encounters: Iterable[Encounter]) -> list[int]:
    """Return bots that all met each other: of `count` bots, each that met all those before it in the result."""
    met = {frozenset((its.bot, its.other)) for its in encounters if its.matches}
    bots: list[int] = []
    for bot in range(count):
        if all(frozenset((bot, other)) in met for other in bots):
            bots.append(bot)
    return bots


def share_matrix(bots: Sequence[int], encounters: Iterable[Encounter]) -> NDArray[np.float64]:
    """Return the share of each of `bots` against each, by place in `bots`; one half against itself.

    Raises:
        ModuleNotFoundError: If numpy is not installed.
    """
    import numpy as np

    index = {bot: at for at, bot in enumerate(bots)}
    shares = np.full((len(bots), len(bots)), 0.5)
    for its in encounters:
        if its.bot in index and its.other in index:
            share = (its.ahead + its.level / 2 + PRIOR / 2) / (its.matches + PRIOR)
            shares[index[its.bot], index[its.other]] = share
            shares[index[its.other], index[its.bot]] = 1 - share
    return shares


def alpha_rank(
    shares: NDArray[np.float64], population: int = POPULATION, intensity: float = INTENSITY
) -> NDArray[np.float64]:
    """Return the weight of each bot by alpha-rank; the weights sum to 1.

    Args:
        shares: Share of each bot against each.
        population: Number of those that play.
        intensity: How surely the better one is copied.
    """
    import numpy as np

    count = len(shares)
    if count < 2:
        return np.ones(count)
    gains = intensity * (shares - shares.T)  # of the newcomer in the row against the population of the column
    sizes = np.where(gains == 0, 1.0, np.abs(gains))
    takes_over = np.expm1(-sizes) / np.expm1(-population * sizes)
    takes_over[gains < 0] *= np.exp(-(population - 1) * sizes[gains < 0])
    takes_over[gains == 0] = 1 / population
    moves = takes_over.T / (count - 1)
    np.fill_diagonal(moves, 0.0)
    stays = np.vstack([moves.T - np.diag(moves.sum(axis=1)), np.ones(count)])
    weights = np.linalg.lstsq(stays, np.append(np.zeros(count), 1.0))[0]
    return _tidy(weights)


def nash_average(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of each bot in the most even mixture that no bot beats; the weights sum to 1.

    `shares @ weights` is the share of each bot against this mixture, one half at most.

    Raises:
        ModuleNotFoundError: If scipy is not installed.
    """
    import numpy as np
    from scipy.linalg import null_space
    from scipy.optimize import minimize

    lead = shares - 0.5
    inner = _inner_mixture(lead)
    support = inner > SMALLEST
    start = inner[support] / inner[support].sum()
    # Each bot of the support is level with the mixture, so what remains free keeps that, and the sum.
    free = null_space(np.vstack([lead[np.ix_(support, support)], np.ones(len(start))]), rcond=SMALLEST)
    if free.shape[1]:
        others = lead[np.ix_(~support, support)]

        def mixture(move: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(start + free @ move)

        def unevenness(move: NDArray[np.float64]) -> float:
            weights = np.maximum(mixture(move), SMALLEST)
            return float(weights @ np.log(weights))

        limits = [
            {"type": "ineq", "fun": mixture},
            {"type": "ineq", "fun": lambda move: -others @ mixture(move)},
        ]
        start = mixture(minimize(unevenness, np.zeros(free.shape[1]), constraints=limits, method="SLSQP", tol=1e-12).x)
    weights = np.zeros(len(shares))
    weights[support] = start
    return _tidy(weights)


def _inner_mixture(lead: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a mixture that no bot beats and that has every bot which any such mixture has."""
    import numpy as np
    from scipy.optimize import linprog

    count = len(lead)
    mixtures = [
        linprog(-goal, A_ub=lead, b_ub=np.zeros(count), A_eq=np.ones((1, count)), b_eq=[1.0]).x
        for goal in np.eye(count)
    ]
    return np.asarray(np.mean(mixtures, axis=0))


def _tidy(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights without rounding below 0, summing to 1."""
    import numpy as np

    kept = np.where(weights > SMALLEST, weights, 0.0)
    return np.asarray(kept / kept.sum())
