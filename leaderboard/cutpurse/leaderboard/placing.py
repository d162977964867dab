"""The rule that decides which bots of a ladder have a place, and which of those places are provisional.

A place needs a number of rated boards, and nothing else. Boards are never taken away, so a placed bot stays placed,
also while only others play and all intervals become wider. A place is provisional while the interval of the rating is
wide: the bot may still rise or fall far. This module knows no database, and not how estimates are computed.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ENOUGH_BOARDS", "MAX_WIDTH", "MIN_BOARDS", "is_placed", "is_provisional"]

# Minimum rated boards of a placed bot: a bot that won its first three matches may have the highest rating of all. A
# minimum of ten lowered Kendall tau of a simulated new ladder from 0.38 to 0.16 while some bots had nine boards.
MIN_BOARDS: Final = 4

# Widest 95 % interval of a place that is not provisional, in units of the ladder's beta (the performance noise of one
# match). It is relative to beta because estimates are computed in units of beta: a refit that doubles beta doubles
# every interval.
MAX_WIDTH: Final = 1.5

# From this many rated boards on, a place is not provisional even if its interval is wide. The interval of a bot that
# always wins, or always loses, stays wide: that it is ahead is certain, by how much is not.
ENOUGH_BOARDS: Final = 30


def is_placed(boards: int) -> bool:
    """Return whether a bot with an estimate and this many rated boards on the ladder has a place."""
    return boards >= MIN_BOARDS


def is_provisional(low: float, high: float, beta: float, boards: int) -> bool:
    """Return whether the place of a bot is provisional.

    Args:
        low: Lower end of its 95 % interval.
        high: Upper end of its 95 % interval.
        beta: The ladder's beta, on the same scale.
        boards: Number of rated boards of the bot on the ladder.
    """
    return high - low > MAX_WIDTH * beta and boards < ENOUGH_BOARDS
