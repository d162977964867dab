"""How possibilities change when a card moves, and how they are written in the fewest and broadest ones.

Everything here is a function of values: what is true of the cards after a card left a zone, went to another, or a zone
has another number. This module knows no table and no viewer.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from typing import Final, TypeVar

from cutpurse.engine.clues import Clue, Possibility, Spread, shared_items

__all__ = [
    "combine",
    "possible_after_leaving",
    "renumber",
    "simplify",
    "sort_possibilities",
    "spread_after_move",
]

MOST_POSSIBILITIES: Final = 8  # of one clue; a clue that would have more is forgotten, which is never false
MOST_CACHED: Final = 512  # moves of a card within a spread: the spreads of a clue are mostly the same

Item = TypeVar("Item")


# -- after a move
@lru_cache(maxsize=MOST_CACHED)
def spread_after_move(spread: Spread, src: int, dst: int) -> Spread:
    """Return a spread after one of its cards went from a zone to another; 0 is anywhere."""
    places: list[tuple[int, int]] = []
    has_dst = False
    for zone, count in spread.places:
        if zone == src:
            count -= 1
        elif zone == dst:
            count += 1
            has_dst = True
        if count:
            places.append((zone, count))
    if dst and not has_dst:
        places.append((dst, 1))
        places.sort()
    return Spread(spread.faces, spread.unknown, tuple(places))


def possible_after_leaving(
    possibility: Possibility, zone: int, card: int, another: bool, rest: bool, joined: bool
) -> list[Possibility]:
    """Return what is possible after a card of this face left a zone.

    Args:
        possibility: What was true before.
        zone: Number of the zone.
        card: The face that was seen.
        another: Whether it can be a copy that the viewers knew nothing of.
        rest: Whether the zone has cards beside the certain ones and those of the spreads.
        joined: Whether to return one weaker possibility instead of two.
    """
    possible: list[Possibility] = []
    if another and rest:
        possible.append(possibility)
    for i, spread in enumerate(possibility):
        faces, unknown, places = spread.faces, spread.unknown, spread.places
        if not (unknown or card in faces) or not spread.count(zone):
            continue
        others = possibility[:i] + possibility[i + 1 :]
        if card in faces:
            at = faces.index(card)
            left = faces[:at] + faces[at + 1 :]
            if joined and unknown and possible and possible[0] is possibility:
                # One for both: that it was this card, and that it was one of the rest.
                possible[0] = (*others, Spread(left, unknown + 1, places))
            else:
                possible.append((*others, spread_after_move(Spread(left, unknown, places), zone, 0)))
        elif unknown and another and not rest:
            possible.append((*others, spread_after_move(Spread(faces, unknown - 1, places), zone, 0)))
    return possible


def combine(clues: list[Clue]) -> list[Possibility] | None:
    """Return every combination of the possibilities of several clues, or None if there are too many."""
    if len(clues) < 2:
        return [*clues[0].possibilities] if clues else [()]
    number = 1
    for clue in clues:
        number *= len(clue.possibilities)
    if number > MOST_POSSIBILITIES:
        return None
    return [sum(chosen, ()) for chosen in product(*[clue.possibilities for clue in clues])]


def renumber(spread: Spread, numbers: dict[int, int]) -> Spread:
    """Return a spread with other numbers for its zones; 0 is anywhere."""
    counts: dict[int, int] = {}
    changed = False
    for zone, count in spread.places:
        if zone in numbers:
            zone = numbers[zone]
            changed = True
        if zone:
            counts[zone] = counts.get(zone, 0) + count
    return Spread(spread.faces, spread.unknown, tuple(sorted(counts.items()))) if changed else spread


def sort_possibilities(possibilities: list[Possibility]) -> tuple[Possibility, ...]:
    """Return possibilities with new numbers for their zones in the order that equal knowledge has."""
    if len(possibilities) == 1 and len(possibilities[0]) == 1:
        return tuple(possibilities)
    return tuple(sorted([tuple(sorted(possibility)) for possibility in possibilities]))


# -- in the simplest form
def simplify(
    possibilities: Iterable[Possibility],
) -> tuple[dict[int, tuple[int, ...]], list[tuple[Possibility, ...]]]:
    """Split possibilities into what is certain and into independent clues."""
    possibilities = tuple(possibilities)
    if len(possibilities) == 1 and len(possibilities[0]) == 1:  # as mostly
        return _simplify_spread(possibilities[0][0])
    unique = {_normal_form(possibility) for possibility in possibilities}
    if len(unique) > 1:
        unique = _broadest(unique)
    if len(unique) == 1:
        known: dict[int, tuple[int, ...]] = {}
        clues: list[tuple[Possibility, ...]] = []
        for spread in unique.pop():
            if spread.is_settled:
                known[spread.places[0][0]] = spread.faces
            elif spread.faces:
                clues.append(((spread,),))
        return known, clues
    if not unique or len(unique) > MOST_POSSIBILITIES:
        return {}, []
    return _split(unique)


def _simplify_spread(spread: Spread) -> tuple[dict[int, tuple[int, ...]], list[tuple[Possibility, ...]]]:
    """Do what `simplify` does for a single spread."""
    if not spread.faces or not spread.places:
        return {}, []
    if spread.is_settled:
        return {zone: spread.faces[:count] for zone, count in spread.places}, []
    return {}, [((spread,),)]


def _split(
    unique: set[Possibility],
) -> tuple[dict[int, tuple[int, ...]], list[tuple[Possibility, ...]]]:
    """Split several possibilities: what all of them share is certain, or a clue of its own."""
    spreads: list[list[Spread]] = []
    settled: list[list[tuple[int, int]]] = []  # zone and face of each certain card
    for possibility in unique:
        loose: list[Spread] = []
        cards: list[tuple[int, int]] = []
        for spread in possibility:
            if spread.is_settled:
                for face in spread.faces:
                    cards.append((spread.places[0][0], face))
            else:
                loose.append(spread)
        spreads.append(loose)
        settled.append(cards)
    common = shared_items(spreads)
    certain = shared_items(settled)
    if not common and not certain:
        rest = unique
    else:
        rest = {
            _with_certain(_items_without(loose, common), _items_without(cards, certain))
            for loose, cards in zip(spreads, settled, strict=True)
        }
    known: dict[int, tuple[int, ...]] = {}
    for zone, face in sorted(certain):
        known[zone] = (*known.get(zone, ()), face)
    clues: list[tuple[Possibility, ...]] = [((spread,),) for spread in sorted(common) if spread.faces]
    if len(rest) > 1 and any(spread.faces for possibility in rest for spread in possibility):
        return known, [*clues, tuple(sorted(rest))]
    return known, clues


def _items_without(items: list[Item], fewer: list[Item]) -> list[Item]:
    """Return the items of a list without those of another one."""
    left = items[:]
    for item in fewer:
        left.remove(item)
    return left


def _with_certain(spreads: list[Spread], cards: list[tuple[int, int]]) -> Possibility:
    """Return a possibility of spreads that are not certain and of certain cards, each a zone and a face."""
    faces_by_zone: dict[int, list[int]] = {}
    for zone, face in sorted(cards):
        faces_by_zone.setdefault(zone, []).append(face)
    for zone, faces in faces_by_zone.items():
        spreads.append(Spread(tuple(faces), 0, ((zone, len(faces)),)))
    return tuple(sorted(spreads))


def _normal_form(possibility: Possibility) -> Possibility:
    """Return the one form of a possibility: equal knowledge is an equal value."""
    spreads: list[Spread] = []
    sure: dict[int, tuple[int, ...]] = {}
    for spread in possibility:
        if spread.is_settled:
            for zone, count in spread.places:
                sure[zone] = sure.get(zone, ()) + spread.faces[:count]
        elif spread.places:
            spreads.append(spread)
    for zone, faces in sure.items():
        if faces:
            spreads.append(Spread(tuple(sorted(faces)), 0, ((zone, len(faces)),)))
    spreads.sort()
    return tuple(spreads)


def _broadest(possibilities: set[Possibility]) -> set[Possibility]:
    """Leave out each possibility that says the same as another one but for fewer places."""
    groups: dict[tuple[tuple[int, ...], ...], list[Possibility]] = {}  # by the faces of their spreads
    for possibility in possibilities:
        key = tuple([spread.faces for spread in possibility if spread.faces])
        groups.setdefault(key, []).append(possibility)
    if len(groups) == len(possibilities):
        return possibilities
    broadest: set[Possibility] = set()
    for alike in groups.values():
        if len(alike) > 1:
            alike = _broadest_alike(sorted(alike))
        broadest.update(alike)
    return broadest


def _broadest_alike(possibilities: list[Possibility]) -> list[Possibility]:
    """Do what `_broadest` does for possibilities with the same faces in their spreads."""
    kept: list[tuple[Possibility, list[dict[int, int]]]] = []
    for possibility in possibilities:
        rooms = [spread.rooms() for spread in possibility if spread.faces]
        is_covered = False
        for _, other in kept:
            if _covers(other, rooms):
                is_covered = True
                break
        if not is_covered:
            kept = [(each, other) for each, other in kept if not _covers(rooms, other)]
            kept.append((possibility, rooms))
    return [possibility for possibility, _ in kept]


def _covers(many: list[dict[int, int]], few: list[dict[int, int]]) -> bool:
    """Return whether each spread has at least as much room in each zone as another one with the same faces."""
    for room, other in zip(many, few):  # noqa: B905  # slower
        if room is other:  # the rooms of one spread
            continue
        if len(room) < len(other):
            return False
        for zone, count in other.items():
            if zone not in room or room[zone] < count:
                return False
    return True
