"""The meetings of a tournament: fields of bots, by number, for matches with a given number of seats.

Everything follows from the arguments, without chance: the same bots in the same order meet in the same way. The order
of the bots is their seeding. This module knows no match and no result, only meetings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, permutations
from math import comb
from typing import Final, TypeAlias

__all__ = ["Field", "gauntlet", "groups", "meetings_of", "round_robin", "swiss_round"]

Field: TypeAlias = tuple[int, ...]
_LOOKED_AT: Final = 2_000  # tables to try when searching for a round without repeated meetings
_MOST: Final = 200  # most bots for that search, which recurses once per bot


def meetings_of(fields: Iterable[Field]) -> Counter[Field]:
    """Count the meetings of each pair, the lower number first."""
    return Counter(pair for field in fields for pair in combinations(sorted(field), 2))


def round_robin(bots: Sequence[int], seats: int, meetings: int) -> list[Field]:
    """Return fields in which each pair meets at least `meetings` times; with two seats, exactly as often.

    In the list of all possible fields, each pair meets equally often: (bots - 2) over (seats - 2) times. It is used as
    often as it fits into `meetings`. For the remaining meetings, fields are built of the bots with the most missing
    meetings.
    """
    whole, left_over = divmod(meetings, comb(len(bots) - 2, seats - 2))
    return [*combinations(bots, seats)] * whole + (_covering(bots, seats, left_over) if left_over else [])


def _covering(bots: Sequence[int], seats: int, meetings: int) -> list[Field]:
    """Return fields in which each pair meets at least `meetings` times, and few more fields than necessary."""
    place = {bot: at for at, bot in enumerate(bots)}
    missing = {bot: dict.fromkeys((other for other in bots if other != bot), meetings) for bot in bots}
    met: Counter[Field] = Counter()
    played: Counter[int] = Counter()
    fields = []
    while any(missing.values()):
        field = [max(bots, key=lambda bot: (len(missing[bot]), -played[bot], -place[bot]))]
        while len(field) < seats:
            rest = [bot for bot in bots if bot not in field]
            field.append(
                min(
                    rest,
                    key=lambda bot: (
                        -sum(other in missing[bot] for other in field),
                        played[bot],
                        sum(met[min(bot, other), max(bot, other)] for other in field),
                        place[bot],
                    ),
                )
            )
        for first, other in permutations(field, 2):
            met[first, other] += 1
            if other in missing[first]:
                missing[first][other] -= 1
                if not missing[first][other]:
                    del missing[first][other]
        played.update(field)
        fields.append(tuple(sorted(field, key=place.__getitem__)))
    return fields


def gauntlet(challenger: int, others: Sequence[int], seats: int, meetings: int) -> list[Field]:
    """Return fields in which the challenger meets each other bot at least `meetings` times."""
    boards = -(-len(others) * meetings // (seats - 1))
    turns = [others[at % len(others)] for at in range(boards * (seats - 1))]
    fields = [turns[at : at + seats - 1] for at in range(0, len(turns), seats - 1)]
    return [(challenger, *field) for field in fields]


def groups(bots: Sequence[int], number: int) -> list[tuple[int, ...]]:
    """Divide bots into groups in snake order along the seeding: 1 to A, 2 to B, 3 to B, 4 to A, and so on."""
    drawn: list[list[int]] = [[] for _ in range(number)]
    for at, bot in enumerate(bots):
        turn, place = divmod(at, number)
        drawn[place if turn % 2 == 0 else number - 1 - place].append(bot)
    return [tuple(group) for group in drawn]


def swiss_round(
    standing: Sequence[int], seats: int, met: Mapping[Field, int], byes: Mapping[int, int]
) -> tuple[list[Field], tuple[int, ...]]:
    """Pair a round: neighbours in the standing meet, with as few repeated meetings as can be found.

    Args:
        standing: Bots, the best first.
        seats: Seats per match.
        met: Meetings of each pair so far.
        byes: Rounds that each bot rested so far.

    Returns:
        The fields, and the bots that rest: the last in the standing of those that rested least.
    """
    resting = sorted(range(len(standing)), key=lambda at: (byes.get(standing[at], 0), -at))[: len(standing) % seats]
    pool = [bot for at, bot in enumerate(standing) if at not in resting]
    return _tables(pool, seats, met), tuple(standing[at] for at in sorted(resting))


def _tables(pool: Sequence[int], seats: int, met: Mapping[Field, int]) -> list[Field]:
    """Return fields along the standing, without repeated meetings if the search finds such; else chosen greedily."""
    looked = 0

    def again(bot: int, field: Sequence[int]) -> int:
        return sum(met.get((min(bot, other), max(bot, other)), 0) for other in field)

    def seat(field: tuple[int, ...], rest: tuple[int, ...]) -> list[Field] | None:
        nonlocal looked
        looked += 1
        if len(field) == seats:
            if not rest:
                return [field]
            tail = seat(rest[:1], rest[1:])
            return None if tail is None else [field, *tail]
        for at, bot in enumerate(rest):
            if looked > _LOOKED_AT:
                return None
            if not again(bot, field):
                solution = seat((*field, bot), (*rest[:at], *rest[at + 1 :]))
                if solution is not None:
                    return solution
        return None

    if not pool:
        return []
    arrangement = seat((pool[0],), tuple(pool[1:])) if len(pool) <= _MOST else None
    if arrangement is not None:
        return arrangement
    left, fields = list(pool), []
    while left:
        field = [left.pop(0)]
        while len(field) < seats:
            field.append(left.pop(min(range(len(left)), key=lambda at: (again(left[at], field), at))))
        fields.append(tuple(field))
    return fields
