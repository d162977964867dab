"""The fixed point of a ladder's scale: the house bot `greedy` has the rating of a newcomer.

Results determine only differences of skills, so something has to be fixed. Without the anchor that is the mean of all
bots, which moves with who plays: after a season with stronger bots, the same bot has a lower rating. With it, ratings
of two seasons can be compared, and of two ladders with the same settings. The anchor moves all ratings alike, so it
changes no difference, no place and no width of an interval. This module knows no database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from cutpurse.leaderboard.estimates.estimated import Estimated, Field

__all__ = ["ANCHOR", "anchored"]

ANCHOR: Final = "greedy"  # of the owner `house`; all its versions play alike


def anchored(
    estimates: Mapping[int, Estimated], results: Sequence[Field], anchors: Collection[int], rating: float
) -> dict[int, Estimated]:
    """Move all estimates alike, so that the mean of the anchor's versions, weighted by results, has this rating.

    Args:
        estimates: Estimates by version.
        results: The results that they are from.
        anchors: Versions of the anchor; without any, nothing is moved.
        rating: Rating of the anchor.
    """
    played = Counter(player for who, _ in results for player in who if player in anchors and player in estimates)
    if not played:
        return dict(estimates)
    mean = sum(estimates[version].mu * count for version, count in played.items()) / played.total()
    shift = rating - mean
    return {
        version: estimate._replace(mu=estimate.mu + shift, low=estimate.low + shift, high=estimate.high + shift)
        for version, estimate in estimates.items()
    }
