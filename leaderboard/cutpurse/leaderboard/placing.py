"""Which bots of a ladder have a place, and which are not placed yet.

A rating is an estimate with an interval. While the interval is wide, the rating is provisional: a bot that won its
first three matches may have the highest rating of all. So a bot gets a place once its interval is narrow enough, and
stands below the placed bots until then. This module knows no database and no arithmetic of estimates.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ENOUGH_BOARDS", "MAX_WIDTH", "MIN_BOARDS", "is_placed"]

# Widest 95 % interval of a placed bot, in units of the ladder's beta (the noise of one match). A share of beta and not
# a number of points, because estimates are found in units of beta: a refit that doubles beta doubles every interval.
# It is wide enough not to part the bots of a new ladder, on which all begin at once: Kendall tau of the simulated
# ladder stays what it is without places (`python -m benchmarks.ladder.estimated`); at 1.25 it fell from 0.38 to 0.34.
MAX_WIDTH: Final = 1.5

# Fewest rated boards of a placed bot. On a ladder of near equals the interval of a newcomer is narrow from the start:
# the ladder is known then, and not the bot. A floor of ten lowered tau of a new ladder to 0.16 while some had nine.
MIN_BOARDS: Final = 4

# Rated boards from which on a bot is placed however wide its interval is. The interval of a bot that always wins, or
# always loses, stays wide: how far it is ahead cannot be known, but that it is ahead is.
ENOUGH_BOARDS: Final = 30


def is_placed(low: float, high: float, beta: float, boards: int) -> bool:
    """Tell whether a bot has a place.

    Args:
        low: Lower end of its 95 % interval.
        high: Upper end of its 95 % interval.
        beta: The ladder's beta, on the same scale.
        boards: Rated boards of the bot on the ladder.
    """
    return boards >= MIN_BOARDS and (high - low <= MAX_WIDTH * beta or boards >= ENOUGH_BOARDS)
