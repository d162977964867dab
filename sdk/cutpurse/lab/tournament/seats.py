"""The seats on the boards of a tournament: all bots get even shares of seats and neighbours.

Shares are counted over the whole tournament. Fields change from board to board, and bots that meet often must be left
neighbours of each other equally often. The seats follow from the fields and the seed alone, so an interrupted
tournament continues with the same seats. This module plays nothing and knows no result.
"""

from __future__ import annotations

from collections import Counter

from cutpurse.engine.seating import most_even, most_even_square, neighbours, seating_chance
from cutpurse.leaderboard.formats.pairings import Field

__all__ = ["Seats"]


class Seats:
    """The seat and neighbour counts of one tournament.

    Counts are relative to an even share, which is 0. The unit of a seat is 1/n of a match, that of a neighbour 1/(n -
    1) of one, for n seats.
    """

    def __init__(self, boards: str, seed: str) -> None:
        """Start with nothing played; `boards` is "rotation" or "plain"."""
        self._is_rotation = boards == "rotation"
        self._seed = seed
        self._seat_excess: Counter[tuple[int, int]] = Counter()  # bot, seat
        self._neighbour_excess: Counter[tuple[int, int]] = Counter()  # bot, the bot in the next seat
        self._boards = 0

    def next(self, field: Field) -> tuple[Field, ...]:
        """Return the bots by seat in each match of the next board, and count them."""
        chance = seating_chance(self._seed, self._boards)
        self._boards += 1
        neighbour_excess = [[self._neighbour_excess[bot, other] for other in field] for bot in field]
        if self._is_rotation:
            rows = most_even_square(neighbour_excess, chance)
        else:
            seat_excess = [[self._seat_excess[bot, seat] for seat in range(len(field))] for bot in field]
            rows = [most_even(seat_excess, neighbour_excess, chance)]
        matches = tuple([tuple([field[player] for player in row]) for row in rows])
        for match in matches:
            self._count(match)
        return matches

    def _count(self, bots: Field) -> None:
        n = len(bots)
        for bot in bots:
            for seat in range(n):
                self._seat_excess[bot, seat] -= 1
            for other in bots:
                if other != bot:
                    self._neighbour_excess[bot, other] -= 1
        for seat, bot in enumerate(bots):
            self._seat_excess[bot, seat] += n
        for pair in neighbours(bots):
            self._neighbour_excess[pair] += n - 1
