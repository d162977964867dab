"""Cards for places where not every card may lie, every way to lay them equally likely.

The ways are counted first, and then drawn by their number: no draw is thrown away, however few ways there are. Places
that take the same faces count as one, and so do cards that go to the same places. So it is quick where there are few
sorts of both, as at a card table. This module knows no view and no rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import comb
from operator import sub
from typing import Final, TypeVar

from cutpurse.engine.chance import Chance

__all__ = ["fit", "weighted"]

_WORD: Final = 1 << 32
_T = TypeVar("_T")
_Numbers = tuple[int, ...]


def fit(able: Sequence[frozenset[int]], cards: list[int], rng: Chance) -> list[int]:
    """Take a card for each place out of the shuffled `cards`, which stay shuffled.

    able: The cards that may lie at each place.  Raises ValueError if there is no way.
    """
    spaces: dict[frozenset[int], list[int]] = {}
    for place, faces in enumerate(able):
        spaces.setdefault(faces, []).append(place)
    dealt = [0] * len(able)
    narrow = sorted([faces for faces in spaces if not faces.issuperset(cards)], key=lambda faces: len(spaces[faces]))
    if narrow:
        sort_of = {card: tuple([card in faces for faces in narrow]) for card in set(cards)}
        sorts: dict[tuple[bool, ...], list[int]] = {sort: [] for sort in sorted(set(sort_of.values()))}
        for card in cards:
            sorts[sort_of[card]].append(card)
        shares = _shares(tuple([len(spaces[faces]) for faces in narrow]), sorts, rng)
        for faces, share in zip(narrow, shares, strict=True):
            chosen: list[int] = []
            for them, number in zip(sorts.values(), share, strict=True):
                chosen += them[:number]
                del them[:number]
            if len(chosen) > max(share):  # of one sort they are in random order already
                rng.shuffle(chosen)
            for place, card in zip(spaces[faces], chosen, strict=True):
                dealt[place] = card
        cards[:] = [card for them in sorts.values() for card in them]
        rng.shuffle(cards)  # else cards that many places took would come later than others
    for faces in spaces.keys() - set(narrow):  # one at most: nobody asks about faces that are not there
        for place in spaces[faces]:
            dealt[place] = cards.pop(0)
    return dealt


def weighted(choices: Sequence[tuple[_T, int]], rng: Chance) -> _T:
    """Draw one of these, each as likely as its weight, to 2 ** -64. Raises ValueError if none weighs anything."""
    total = sum([weight for _, weight in choices])
    if not total:
        raise ValueError("the unseen cards cannot lie where they may lie")
    at = (rng.below(_WORD) * _WORD + rng.below(_WORD)) * total >> 64
    for choice, weight in choices:
        if at < weight:
            return choice
        at -= weight
    raise AssertionError("a number below the sum falls on no weight")


class _Ways:
    """In how many ways cards of some sorts fill groups of places. A sort says by group whether it may lie there."""

    def __init__(self, sizes: _Numbers, sorts: tuple[tuple[bool, ...], ...]) -> None:
        self.sizes = sizes
        groups = range(len(sizes))
        self.fitting = [[i for i, sort in enumerate(sorts) if sort[group]] for group in groups]
        self.over = [[i for i, sort in enumerate(sorts) if not any(sort[group:])] for group in groups]
        self.choices: dict[tuple[int, _Numbers], list[tuple[_Numbers, int]]] = {}

    def count(self, group: int, left: list[int]) -> int:
        """Count the ways to deal this many cards of each sort to the groups from this one to the last."""
        if group == len(self.sizes):
            return 1
        for i in self.over[group]:  # the same whatever is left of them, so more of what is counted is the same
            left[i] = 0
        return sum([weight for _, weight in self.weighed(group, tuple(left))])

    def weighed(self, group: int, left: _Numbers) -> list[tuple[_Numbers, int]]:
        """List what this group can get of each sort, each with its number of ways; leave out what has none."""
        key = (group, left)
        if key not in self.choices:
            fitting = self.fitting[group]
            self.choices[key] = choices = []
            for share in _splits(self.sizes[group], [left[i] for i in fitting]):
                taken, then, weight = [0] * len(left), list(left), 1
                for i, number in zip(fitting, share, strict=True):
                    weight *= comb(left[i], number)
                    taken[i] = number
                    then[i] -= number
                if weight := weight * self.count(group + 1, then):
                    choices.append((tuple(taken), weight))
        return self.choices[key]


_ways = lru_cache(maxsize=16)(_Ways)  # a bot that imagines counts the same again and again


def _shares(sizes: _Numbers, sorts: dict[tuple[bool, ...], list[int]], rng: Chance) -> list[_Numbers]:
    """Return how many cards of each sort go to each group of places."""
    ways = _ways(sizes, tuple(sorts))
    left: _Numbers = tuple([len(cards) for cards in sorts.values()])
    shares = []
    for group in range(len(sizes)):
        choices = ways.weighed(group, left)
        shares.append(choices[0][0] if len(choices) == 1 else weighted(choices, rng))
        left = tuple(map(sub, left, shares[-1]))
    return shares


def _splits(places: int, room: Sequence[int]) -> Iterator[_Numbers]:
    """Yield every way to make up this number of numbers that are no greater than these."""
    if not room:
        if not places:
            yield ()
        return
    rest = sum(room[1:])
    for number in range(max(0, places - rest), min(places, room[0]) + 1):
        for others in _splits(places - number, room[1:]):
            yield (number, *others)
