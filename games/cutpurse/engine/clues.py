"""What a viewer can prove about cards that several zones share: spreads, possibilities and clues.

A *clue* is a list of possibilities, and exactly one is true. A *possibility* is a tuple of *spreads*. A spread is a
set of cards that lie in several zones, a known number in each, where nobody can say which card lies in which zone.
All of them are values that never change. This module knows no table; `possibilities` has what changes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import factorial
from typing import Any, TypeVar, final

from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.values import PlainValue

__all__ = [
    "Clue",
    "Possibility",
    "Spread",
    "certain_in",
    "clues_from_lists",
    "clues_to_lists",
    "count_card",
    "count_in",
    "possible_in",
    "shared_items",
    "ways",
]

Item = TypeVar("Item")


@mypyc_attr(acyclic=True)
@final
class Spread(PlainValue):
    """Cards that lie in several zones: all ways to lay them there are equally likely. Never changes.

    They can be more than the places: then the rest lies anywhere out of sight, such as in a deck that was shuffled.
    Spreads have an order, so that equal knowledge can have one form.
    """

    __slots__ = ("_bounds", "_hash", "_rooms", "_values", "elsewhere", "faces", "is_settled", "places", "unknown")

    def __init__(self, faces: tuple[int, ...], unknown: int, places: tuple[tuple[int, int], ...]) -> None:
        self.faces = faces  # sorted
        self.unknown = unknown  # further cards of the spread, whose faces the viewer has never seen
        self.places = places  # zone number and number of cards, by zone
        elsewhere = len(faces) + unknown
        for _, count in places:
            elsewhere -= count
        self.elsewhere = elsewhere  # cards that lie in none of these zones
        # Whether it is certain which faces lie in each zone.
        self.is_settled = not elsewhere and (len(places) == 1 or (not unknown and faces[:1] == faces[-1:]))
        self._values: tuple[Any, ...] = (faces, unknown, places)
        self._hash = hash(self._values)  # possibilities are compared in sets
        self._bounds: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] | None = None  # most are never asked for them
        self._rooms: dict[int, int] | None = None

    def values(self) -> tuple[Any, ...]:
        return self._values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spread) and self._values == other._values

    def __lt__(self, other: Spread) -> bool:
        return self._values < other._values

    def __hash__(self) -> int:
        return self._hash

    def count(self, zone: int) -> int:
        """Return how many of the cards lie in a zone."""
        for number, count in self.places:
            if number == zone:
                return count
        return 0

    def bounds(self, zone: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the faces that lie in a zone for certain, and all that may lie there, both sorted."""
        if self._bounds is None:
            self._bounds = {}
        bounds = self._bounds.get(zone)
        if bounds is None:
            bounds = self._bounds[zone] = self._find_bounds(self.count(zone))
        return bounds

    def _find_bounds(self, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Find the bounds in a zone where this many of the cards lie."""
        faces = self.faces
        elsewhere = len(faces) + self.unknown - count
        if not count:
            return (), ()
        if not elsewhere:
            return faces, faces
        if len(set(faces)) == len(faces):
            return (), faces
        certain: tuple[int, ...] = ()
        possible: tuple[int, ...] = ()
        i = 0
        while i < len(faces):
            face = faces[i]
            end = i + 1
            while end < len(faces) and faces[end] == face:
                end += 1
            if end - i > elsewhere:
                certain += faces[i : end - elsewhere]
            possible += faces[i : min(end, i + count)]
            i = end
        return certain, possible

    def rooms(self) -> dict[int, int]:
        """Return how many of the faces can lie in each zone, and (0) elsewhere; not to be changed."""
        if self._rooms is None:
            known = len(self.faces)
            rooms = {zone: min(count, known) for zone, count in self.places}
            if self.elsewhere:
                rooms[0] = min(self.elsewhere, known)
            self._rooms = rooms
        return self._rooms


Possibility = tuple[Spread, ...]


@mypyc_attr(acyclic=True)
class Clue:
    """Possibilities, exactly one of them true, and the viewers who know that. Never changes."""

    __slots__ = ("_bounds", "possibilities", "viewers", "zones")

    def __init__(self, viewers: int, possibilities: tuple[Possibility, ...]) -> None:
        self.viewers = viewers
        self.possibilities = possibilities
        zones: set[int] = set()
        for possibility in possibilities:
            for spread in possibility:
                for zone, _ in spread.places:
                    zones.add(zone)
        self.zones = zones
        self._bounds: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def count(self, zone: int) -> int | None:
        """Return how many of the cards lie in a zone, or None if that depends on what is true."""
        count = count_in(self.possibilities[0], zone)
        for possibility in self.possibilities:
            if count_in(possibility, zone) != count:
                return None
        return count

    def holds(self, card: int) -> bool:
        """Return whether a card of this face is one of the cards of a spread."""
        for possibility in self.possibilities:
            for spread in possibility:
                if card in spread.faces:
                    return True
        return False

    def has(self, zone: int, card: int) -> bool:
        """Return whether a card that leaves this zone with this face could be one of the clue's."""
        for possibility in self.possibilities:
            for spread in possibility:
                if (spread.unknown or card in spread.faces) and spread.count(zone):
                    return True
        return False

    def bounds(self, zone: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the faces that lie in a zone whatever is true, and those that may lie there beyond them, sorted."""
        bounds = self._bounds.get(zone)
        if bounds is None:
            certain = certain_in(self.possibilities, zone)
            bounds = self._bounds[zone] = certain, _beyond(self.possibilities, zone, certain)
        return bounds


def ways(possibility: Possibility) -> int:
    """Count the ways to lay the cards of all spreads to their places."""
    count = 1
    for spread in possibility:
        count *= factorial(len(spread.faces) + spread.unknown)
        for _, number in spread.places:
            count //= factorial(number)
        count //= factorial(spread.elsewhere)
    return count


def certain_in(possibilities: Sequence[Possibility], zone: int) -> tuple[int, ...]:
    """Return the faces that lie in a zone in every one of these possibilities, sorted."""
    if len(possibilities) == 1 and len(possibilities[0]) == 1:  # as most clues are
        return possibilities[0][0].bounds(zone)[0]
    different: set[tuple[int, ...]] = set()  # mostly few
    for possibility in possibilities:
        faces: tuple[int, ...] = ()
        for spread in possibility:
            faces += spread.bounds(zone)[0]
        if not faces:
            return ()
        different.add(faces)
    return tuple(sorted(shared_items([list(faces) for faces in different])))


def possible_in(possibilities: Sequence[Possibility], zone: int) -> tuple[int, ...]:
    """Return the faces that may lie in a zone beyond those that certainly do, sorted."""
    return _beyond(possibilities, zone, certain_in(possibilities, zone))


def _beyond(possibilities: Sequence[Possibility], zone: int, certain: tuple[int, ...]) -> tuple[int, ...]:
    """Return the faces that may lie in a zone beyond these certain ones, sorted."""
    if len(possibilities) == 1 and len(possibilities[0]) == 1:
        possible = possibilities[0][0].bounds(zone)[1]
        if not certain:
            return possible
    different: set[tuple[int, ...]] = set()  # mostly few
    for possibility in possibilities:
        faces: tuple[int, ...] = ()
        for spread in possibility:
            faces += spread.bounds(zone)[1]
        different.add(faces)
    most: dict[int, int] = {}
    for faces in different:
        for face in faces:
            most[face] = max(most.get(face, 0), faces.count(face))
    for face in certain:
        most[face] -= 1
    beyond: list[int] = []
    for face in sorted(most):
        beyond += [face] * most[face]
    return tuple(beyond)


def count_in(possibility: Possibility, zone: int) -> int:
    """Count the cards that a possibility lays in a zone."""
    count = 0
    for spread in possibility:
        count += spread.count(zone)
    return count


def count_card(possibility: Possibility, card: int) -> int:
    """Count the cards of this face in the spreads of a possibility."""
    count = 0
    for spread in possibility:
        count += spread.faces.count(card)
    return count


def shared_items(lists: list[list[Item]]) -> list[Item]:
    """Return the items that all lists have, each as often as every list has it."""
    common = lists[0]
    for items in lists:
        if not common:
            return []
        left = items[:]
        kept: list[Item] = []
        for item in common:
            if item in left:
                left.remove(item)
                kept.append(item)
        common = kept
    return common


def clues_to_lists(clues: Iterable[tuple[Possibility, ...]]) -> list[object]:
    """Return clues as lists of numbers, for JSON."""
    return [
        [
            [[list(spread.faces), spread.unknown, [list(place) for place in spread.places]] for spread in possibility]
            for possibility in possibilities
        ]
        for possibilities in clues
    ]


def clues_from_lists(clues: list[Any]) -> tuple[tuple[Possibility, ...], ...]:
    """Return the clues that these lists of numbers stand for."""
    return tuple(
        [
            tuple(
                [
                    tuple(
                        [
                            Spread(tuple(faces), unknown, tuple([(zone, count) for zone, count in places]))
                            for faces, unknown, places in possibility
                        ]
                    )
                    for possibility in possibilities
                ]
            )
            for possibilities in clues
        ]
    )
