"""The rule that decides which bots of a ladder have a place.

A rating is an estimate with an interval. While the interval is wide, the rating is provisional: a bot that won its
first three matches may have the highest rating of all. So a bot gets a place once its interval is narrow enough, and
is listed below the placed bots until then. This module knows no database, and not how estimates are computed.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ENOUGH_BOARDS", "MAX_WIDTH", "MIN_BOARDS", "is_placed"]

# Widest 95 % interval of a placed bot, in units of the ladder's beta (the performance noise of one match). It is
# relative to beta because estimates are computed in units of beta: a refit that doubles beta doubles every interval.
# It is wide enough for a new ladder, where all bots begin at once: Kendall tau of the simulated ladder stays what it is
# without this rule (`python -m benchmarks.ladder.estimated`); at 1.25 it fell from 0.38 to 0.34.
MAX_WIDTH: Final = 1.5

# Minimum rated boards of a placed bot. If the bots of a ladder are nearly equal, the interval of a new bot is narrow
# from the start, although little is known of it. A minimum of ten lowered tau of a new ladder to 0.16 while some bots
# had nine boards.
MIN_BOARDS: Final = 4

# From this many rated boards on, a bot is placed even if its interval is wide. The interval of a bot that always wins,
# or always loses, stays wide: that it is ahead is certain, by how much is not.
ENOUGH_BOARDS: Final = 30


def is_placed(low: float, high: float, beta: float, boards: int) -> bool:
    """Return whether a bot has a place.

    Args:
        low: Lower end of its 95 % interval.
        high: Upper end of its 95 % interval.
        beta: The ladder's beta, on the same scale.
        boards: Number of rated boards of the bot on the ladder.
    """
    return boards >= MIN_BOARDS and (high - low <= MAX_WIDTH * beta or boards >= ENOUGH_BOARDS)
