"""An overall table of bots over several ladders, from the places in their matches.

The model is that of Bradley and Terry (1952): of two bots in a match, one is ahead with odds that are the ratio of
their strengths. Each match counts as one comparison of each pair of its seats, a shared place as half of one each way.
The pairs of a match with n seats have the weight 1 / (n - 1), so a seat weighs as much with many others as with one.
Each ladder has the same total weight, however many matches it has, and so each game counts alike. The fit is that of
`choix` (Maystre and Grossglauser, "Fast and Accurate Inference of Plackett-Luce Models", 2015).

So that a bot that won or lost everything has a strength too, each bot also ties with an average of all bots: `PRIOR`
comparisons in all. Strengths are shown on the scale of Elo: 400 points are odds of 10 to 1, and the mean is 1500.

The intervals hold for each bot alone, against the mean of all bots. They come from the sandwich estimator with one term
for each match (Huber, 1967; White, 1982), since the pairs of a match are not independent.

This module imports nothing of the project.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["OverallRow", "PlacedMatch", "overall_table"]

PRIOR: Final = 2.0  # comparisons of each bot, as if tied with the average bot
SCALE: Final = 400 / math.log(10)
MEAN: Final = 1500.0
MAX_ITERATIONS: Final = 2_000
_95: Final = 1.959964  # standard errors to either side


@dataclass(frozen=True, slots=True)
class PlacedMatch:
    """A match: its bots by seat, and their places, 1 is the best."""

    ladder: str
    bots: tuple[str, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OverallRow:
    """A bot in the table.

    Attributes:
        rank: 1 is best; None for a bot that is not on every ladder.
        bot: The bot.
        elo: Its strength over all ladders, on the scale of Elo; no rating of a ladder.
        low: Lower end of the 95 % interval.
        high: Upper end of that interval.
        matches: Number of its matches, by ladder; only ladders on which it has any.
    """

    rank: int | None
    bot: str
    elo: float
    low: float
    high: float
    matches: Mapping[str, int]


def overall_table(matches: Sequence[PlacedMatch]) -> list[OverallRow]:
    """Return the table: the ranked bots, the best first, then those that are not on every ladder.

    Args:
        matches: Matches of all ladders, with two bots or more. A bot that holds several seats of a match is not
            compared with itself.

    Raises:
        ModuleNotFoundError: If choix or numpy is not installed.
        ValueError: If no match has two different bots.
    """
    import choix
    import numpy as np

    bots = sorted({bot for match in matches for bot in match.bots})
    if len(bots) < 2:  # two can be compared
        raise ValueError("there are no two bots to compare")
    index = {bot: number for number, bot in enumerate(bots)}
    weights = _weights(matches)
    prior = PRIOR / len(bots)
    wins: NDArray[np.float64] = np.full((len(bots), len(bots)), prior / 2)
    np.fill_diagonal(wins, 0.0)
    for match, weight in zip(matches, weights, strict=True):
        for first, second, share in _pairs(match, index):
            wins[first, second] += weight * share
            wins[second, first] += weight * (1 - share)
    strengths = choix.ilsr_pairwise_dense(wins, max_iter=MAX_ITERATIONS)
    strengths = strengths - strengths.mean()
    errors = _standard_errors(matches, weights, index, strengths, wins)
    ladders = {match.ladder for match in matches}
    played = _played(matches)
    rows: list[OverallRow] = []
    for number in np.argsort(-strengths):
        bot, elo, reach = bots[number], MEAN + SCALE * strengths[number], _95 * SCALE * errors[number]
        rank = 1 + sum(row.rank is not None for row in rows) if played[bot].keys() == ladders else None
        rows.append(OverallRow(rank, bot, float(elo), float(elo - reach), float(elo + reach), played[bot]))
    return sorted(rows, key=lambda row: row.rank is None)


def _weights(matches: Sequence[PlacedMatch]) -> list[float]:
    """Return the weight of the comparisons of each match; the weights of all matches have the mean 1."""
    sizes: dict[str, int] = {}
    for match in matches:
        sizes[match.ladder] = sizes.get(match.ladder, 0) + 1
    share = len(matches) / len(sizes)
    return [share / sizes[match.ladder] / (len(match.bots) - 1) for match in matches]


def _pairs(match: PlacedMatch, index: Mapping[str, int]) -> Iterator[tuple[int, int, float]]:
    """Yield the pairs of different bots of a match, with the share of the comparison that the first one won."""
    seats = [(index[bot], place) for bot, place in zip(match.bots, match.places, strict=True)]
    for at, (first, place) in enumerate(seats):
        for second, other in seats[at + 1 :]:
            if first != second:
                yield first, second, 1.0 if place < other else 0.0 if place > other else 0.5


def _standard_errors(
    matches: Sequence[PlacedMatch],
    weights: Sequence[float],
    index: Mapping[str, int],
    strengths: NDArray[np.float64],
    wins: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the standard error of each strength against the mean of all."""
    import numpy as np

    ahead = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))  # the first ahead of the second
    information = -(wins + wins.T) * ahead * (1 - ahead)
    np.fill_diagonal(information, 0.0)
    np.fill_diagonal(information, -information.sum(axis=1))
    inverse = np.linalg.pinv(information, hermitian=True)
    variance = np.zeros_like(information)
    for match, weight in zip(matches, weights, strict=True):
        scores: dict[int, float] = {}
        for first, second, share in _pairs(match, index):
            surprise = weight * (share - ahead[first, second])
            scores[first] = scores.get(first, 0.0) + surprise
            scores[second] = scores.get(second, 0.0) - surprise
        for bot, score in scores.items():
            for other, another in scores.items():
                variance[bot, other] += score * another
    covariance = inverse @ variance @ inverse
    # A bot with few matches was surprised too seldom to show how little is known: the information bounds it from below.
    spread = np.maximum(np.diag(covariance), np.diag(inverse))
    errors: NDArray[np.float64] = np.sqrt(spread)
    return errors


def _played(matches: Sequence[PlacedMatch]) -> dict[str, dict[str, int]]:
    """Count the matches of each bot by ladder."""
    played: dict[str, dict[str, int]] = {}
    for match in matches:
        for bot in set(match.bots):
            of_bot = played.setdefault(bot, {})
            of_bot[match.ladder] = of_bot.get(match.ladder, 0) + 1
    return played
