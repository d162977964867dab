"""Scores from 0 to 100 out of points on the same boards as two bots that are the ends of the scale.

On each board an agent has points, and so have the bots of 0 and of 100. The score of a game is the agent's gain over
the first, as a share of that of the second; groups of boards count alike. All three had the same cards, so the luck of
the deal is mostly gone. The interval is that of a ratio of means of groups (W. Cochran, "Sampling techniques", 1977,
chapter 6): it speaks of all deals of these kinds, and has the error of both ends in it. A bot that is an end has no
error. This module knows no game.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Final

from cutpurse.engine.errors import UsageError

__all__ = ["BoardPoints", "Score", "mean_score", "score_of"]

Z: Final = 1.96  # for 95 %
FEWEST: Final = 2  # boards of a group, without which there is no spread

BoardPoints = tuple[float, float, float]  # of the agent, and of the bots of 0 and 100


@dataclass(frozen=True, slots=True)
class Score:
    """A score and its standard error."""

    score: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        return self.score - Z * self.error, self.score + Z * self.error


def score_of(groups: Mapping[str, Sequence[BoardPoints]]) -> Score:
    """Return the score on some groups of boards.  Raises UsageError for too few boards, or ends that are equal."""
    gain = span = 0.0
    for name, boards in groups.items():
        if len(boards) < FEWEST:
            raise UsageError(f"{name} has {len(boards)} boards; an interval needs at least {FEWEST}")
        gain += fmean(agent - zero for agent, zero, _ in boards)
        span += fmean(hundred - zero for _, zero, hundred in boards)
    if span <= 0:
        raise UsageError(f"the ends of the scale are equal on {', '.join(groups)}")
    share = gain / span
    squares = 0.0
    for boards in groups.values():
        residuals = [agent - zero - share * (hundred - zero) for agent, zero, hundred in boards]
        squares += variance(residuals) / len(boards)
    return Score(100 * share, 100 * math.sqrt(squares) / span)


def mean_score(scores: Sequence[Score]) -> Score:
    """Return the mean of scores on different deals."""
    error = math.sqrt(math.fsum(score.error**2 for score in scores)) / len(scores)
    return Score(fmean(score.score for score in scores), error)
