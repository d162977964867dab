"""Arrangements of players on seats, in which neighbours vary as evenly as seats do.

A bot that always sits left of a weak one gets more than an equal bot elsewhere. So who sits left of whom has to change
from match to match, and not only who begins: turning the same circle by one seat leaves all neighbours as they are.

Arrangements come in blocks of n * (n - 1) for n players, and a block in squares of n:

* In a square everybody has every seat once (a Latin square).
* In a block everybody has every seat n - 1 times, and sits directly left of everybody else n times.
* In any window of consecutive arrangements two counts of "this player on this seat" differ by at most 2, and two counts
  of "this player left of that one" by at most 4 with an even number of players and by at most 6 with an odd one.

The players are shuffled for each block by a seed. With 9, 15 or another odd number of players that is no prime a block
is one square: the seats are even, the neighbours only on average. No game has that many seats.

The squares: row r of the first one has player r + z(s) on seat s (modulo n), for z = 0, 1, n - 1, 2, n - 2, ... With an
even n each player follows each other one once along the rows, from the first seat to the last (Williams, 1949); from
the last seat round to the first, player x follows x + n / 2, a second time. The other squares rename the players, so
that those pairs are another round of a tournament of two each time, by the circle method. With a prime n the other
squares multiply the players by 2 ... n - 1, so that any two of them sit on any two seats once.

This module knows no bot, no match and no result.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from cutpurse.engine.chance import Chance

__all__ = ["VERSION", "arrangement", "most_even", "most_even_square", "neighbours", "seating_chance", "square"]

VERSION: Final = "neighbours/1"  # changes when the same seed seats players otherwise
SEAT_WEIGHT: Final = 2  # of a seat beside a neighbour: at 1 seats differ by 3 now and then, neighbours by no less
MAX_PASSES: Final = 8  # of all exchanges; two or three are usual

Arrangement = tuple[int, ...]  # the player on each seat


def arrangement(players: int, seed: str | int, index: int) -> Arrangement:
    """Return the player on each seat in match number `index` of a run, drawn from the seed."""
    number, row = divmod(index, players)
    return square(players, seed, number)[row]


def square(players: int, seed: str | int, number: int) -> list[Arrangement]:
    """Return square `number`: the arrangements `number * players` and following, everybody on every seat once."""
    block, within = divmod(number, _squares_in_block(players))
    return _square(players, within, _shuffled(players, seating_chance(f"{players}/{seed}", block)))


def seating_chance(seed: str | int, number: int) -> Chance:
    """Return the chance of seating number `number` of a run, which is not that of its cards."""
    return Chance(sha256(f"cutpurse/seating/{seed}/{number}".encode()).digest())


def neighbours(seats: Sequence[int]) -> list[tuple[int, int]]:
    """Return each player with the one on the next seat; the last sits next to the first."""
    return [(player, seats[(seat + 1) % len(seats)]) for seat, player in enumerate(seats)]


def most_even(
    seat_excess: Sequence[Sequence[int]], neighbour_excess: Sequence[Sequence[int]], chance: Chance
) -> Arrangement:
    """Return an arrangement that evens out what was uneven before, for players whose opponents change.

    Begins with a random order and exchanges two players as long as that is better, which needs some n^3 steps. Best of
    all orders would need n! steps and is hardly more even.

    Args:
        seat_excess: For each player and seat, how much more than due the player had it.
        neighbour_excess: For two players, how much more than due the second sat on the seat after the first.
        chance: Shuffles the first order, so it decides between equals.
    """
    row = _shuffled(len(seat_excess), chance)
    excess = _excess(row, seat_excess, neighbour_excess)
    for _ in range(MAX_PASSES):
        before = excess
        for first in range(len(row)):
            for second in range(first + 1, len(row)):
                row[first], row[second] = row[second], row[first]
                exchanged = _excess(row, seat_excess, neighbour_excess)
                if exchanged < excess:
                    excess = exchanged
                else:
                    row[first], row[second] = row[second], row[first]
        if excess == before:
            break
    return tuple(row)


def most_even_square(neighbour_excess: Sequence[Sequence[int]], chance: Chance) -> list[Arrangement]:
    """Return the square of a shuffled block that evens out the neighbours best; see `most_even`."""
    best: list[Arrangement] = []
    least = 0
    for rows in _block(_shuffled(len(neighbour_excess), chance)):
        excess = 0
        for row in rows:
            for player, following in neighbours(row):
                excess += neighbour_excess[player][following]
        if not best or excess < least:
            best, least = rows, excess
    return best


def _excess(row: Sequence[int], seat_excess: Sequence[Sequence[int]], neighbour_excess: Sequence[Sequence[int]]) -> int:
    excess = 0
    previous = row[-1]
    for seat, player in enumerate(row):
        excess += SEAT_WEIGHT * seat_excess[player][seat] + neighbour_excess[previous][player]
        previous = player
    return excess


def _shuffled(players: int, chance: Chance) -> list[int]:
    labels = list(range(players))
    chance.shuffle(labels)
    return labels


def _block(labels: Sequence[int]) -> list[list[Arrangement]]:
    """Return the squares of a block whose players were shuffled to `labels`."""
    players = len(labels)
    return [_square(players, within, labels) for within in range(_squares_in_block(players))]


def _squares_in_block(players: int) -> int:
    """Return n - 1 where that many squares make all neighbours even, else 1."""
    if players % 2 == 0:
        return players - 1
    for divisor in range(3, players, 2):
        if players % divisor == 0:
            return 1
    return players - 1


def _square(players: int, number: int, labels: Sequence[int]) -> list[Arrangement]:
    steps = [(seat + 1) // 2 if seat % 2 else -(seat // 2) for seat in range(players)]
    names = [labels[_renamed(player, players, number)] for player in range(players)]
    return [tuple([names[(row + step) % players] for step in steps]) for row in range(players)]


def _renamed(player: int, players: int, number: int) -> int:
    """Return the player that stands in square `number` where this one stands in the plan."""
    if players % 2:
        factor = number // 2 + 1  # 1, -1, 2, -2, ...: a square and its mirror image follow each other
        return player * (factor if number % 2 == 0 else -factor) % players
    half = players // 2
    if player == 0:
        return players - 1  # the player who stays where they are while the others go round
    if player < half:
        return (number + player) % (players - 1)
    return (number - (player - half)) % (players - 1)
