"""The arithmetic of one board for two versions of a bot: place points and the paired difference.

This module knows no game, no clock and no file. A board is one deal (one key), played 2n times in a game of n seats.
Each seat is played once by the new version and once by the old one. The same other bots sit in the other seats, and all
bots are fresh in every match. So both versions meet the same luck of the deal. The difference of the board is the mean
over the seats of (points of new - points of old), in [-1, 1].

    new, old = [], []
    for seat in range(n):
        new.append(place_points(places_with(NEW, seat))[seat])
        old.append(place_points(places_with(OLD, seat))[seat])
    verdict = test.update(board_difference(new, old))

`cutpurse.leaderboard.statistics.sprt.Sprt` tests whether the mean difference is above zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["board_difference", "place_points"]


def place_points(places: Sequence[int]) -> list[float]:
    """Return the points of every seat, from 1 for the best to 0 for the last: (n - place) / (n - 1), ties averaged.

    The points always add up to n / 2.

    Args:
        places: Place of each of n >= 2 seats, 1 is best. Tied seats share the best place of their group, and the places
            after it stay empty.

    Raises:
        ValueError: If no match can end with these places.

    >>> place_points([2, 1, 2, 4])
    [0.5, 1.0, 0.5, 0.0]
    """
    seats = len(places)
    if seats < 2:
        raise ValueError(f"places {list(places)}: a match has at least 2 seats")
    for place in places:
        ahead = sum(other < place for other in places)
        if place != ahead + 1:
            raise ValueError(
                f"places {list(places)}: a seat with {ahead} ahead of it has place {ahead + 1}, not {place}"
            )
    # A tie of k seats at place p fills p .. p + k - 1, on average p + (k - 1) / 2.
    return [(seats - place - (places.count(place) - 1) / 2) / (seats - 1) for place in places]


def board_difference(new_points: Sequence[float], old_points: Sequence[float]) -> float:
    """Return the mean of new - old over the seats, in [-1, 1].

    Rounded to 12 decimals: floats cannot hold a third, and versions with equal points must differ by exactly 0.

    Args:
        new_points: Points of the new version in each seat.
        old_points: Points of the old version in each seat.

    Raises:
        ValueError: If there are no points, unequal numbers of them, or points outside [0, 1].
    """
    if len(new_points) != len(old_points) or not new_points:
        raise ValueError(f"{len(new_points)} points of new and {len(old_points)} of old, expected one of each a seat")
    for points in (*new_points, *old_points):
        if not 0 <= points <= 1:  # also false for nan
            raise ValueError(f"points {points!r} are not in [0, 1]")
    total = math.fsum(new - old for new, old in zip(new_points, old_points, strict=True))
    return round(total / len(new_points), 12) + 0.0  # + 0.0 turns -0.0 into 0.0
