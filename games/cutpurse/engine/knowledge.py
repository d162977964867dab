"""Card knowledge: what each viewer can prove about cards that they do not see.

What a viewer knows has two forms. A *run* belongs to one zone: these faces certainly lie there. A *clue* ties several
zones together: it is a list of possibilities, and exactly one is true. A possibility is a tuple of *spreads*. A spread
is a set of cards that lie in several zones, a known number in each, where nobody can say which card lies in which zone.

Far more cards move than anybody asks about. So the dealer only writes notes into the knowledge log, and `catch_up`
works them off, in their order, before somebody looks. This module knows no rules and no views.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import product
from math import factorial
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from cutpurse.engine.values import PlainValue

if TYPE_CHECKING:
    from cutpurse.engine.table import Table
    from cutpurse.engine.zones import Zone

__all__ = [
    "ARRIVED",
    "EXCHANGED",
    "FORGOTTEN",
    "LEFT",
    "LOOKED",
    "MOST_POSSIBILITIES",
    "MOVED_ALL",
    "SEEN_OFF",
    "Clue",
    "Note",
    "Possibility",
    "Run",
    "Spread",
    "catch_up",
    "certain_in",
    "clues_from_lists",
    "clues_to_lists",
    "possible_in",
    "ways",
]

MOST_POSSIBILITIES: Final = 8  # of one clue; a clue that would have more is forgotten, which is never false
MANY_POSSIBILITIES: Final = 8  # of one clue; from then on two are joined into a weaker one where that is possible
MOST_CACHED: Final = 512  # moves of a card within a spread: the spreads of a clue are mostly the same

Item = TypeVar("Item")
Run = tuple[tuple[int, ...], int]  # faces, and the viewers who know that they lie in this zone

# The notes of the log. Each begins with one of these numbers. Zones go by their numbers, so that forks share notes; a
# target is 0 if it remembers nothing.
ARRIVED: Final = 0  # zone, cards, viewers who see them arrive and do not see them afterwards
LEFT: Final = 1  # source, target, card, viewers who see its face, viewers it was hidden from, masks, size, copies
MOVED_ALL: Final = 2  # source, target, cards, masks, viewers who see all faces, copies by card
LOOKED: Final = 3  # zone, cards, masks, viewers who see all faces, copies by card
EXCHANGED: Final = 4  # one zone, the other
FORGOTTEN: Final = 5  # a zone
SEEN_OFF: Final = 6  # zone, card: all who may know something of a zone see the card leave, and nobody has clues
# In these, masks are the viewers who saw each card before, or None where all cards of a zone are seen by the same; and
# copies are the viewers of each other copy of a card that somebody sees, which only matters where there are clues.
Note = tuple[object, ...]


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
        found = _count_in(self.possibilities[0], zone)
        for possibility in self.possibilities:
            if _count_in(possibility, zone) != found:
                return None
        return found

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
    return tuple(sorted(_shared([list(faces) for faces in different])))


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


# -- the log
def catch_up(table: Table) -> None:
    """Work the knowledge log off."""
    notes = table.notes
    everyone = table.everyone
    for note in notes:
        code = note[0]
        if code == ARRIVED:
            _, number, cards, viewers = note
            _add(table.zone(number), cards, viewers)  # type: ignore[arg-type]  # a note is a plain tuple: see above
        elif code == SEEN_OFF:
            _, number, card = note
            zone = table.zone(number)  # type: ignore[arg-type]
            if zone.runs:
                _strike(zone, card, everyone)  # type: ignore[arg-type]
        elif code == LEFT:
            _, number, target, *rest = note
            _left(table, table.zone(number), target, *rest)  # type: ignore[arg-type]
        elif code == MOVED_ALL:
            _, number, target, cards, masks, seers, copies = note
            zone = table.zone(number)  # type: ignore[arg-type]
            _look(table, zone, cards, masks, seers, copies)  # type: ignore[arg-type]
            _rename(table, zone, target)  # type: ignore[arg-type]
        elif code == LOOKED:
            _, number, *rest = note
            _look(table, table.zone(number), *rest)  # type: ignore[arg-type]
        elif code == EXCHANGED:
            _exchange(table, table.zone(note[1]), table.zone(note[2]))  # type: ignore[arg-type]
        else:
            _rename(table, table.zone(note[1]), 0)  # type: ignore[arg-type]
    notes.clear()


def _add(zone: Zone, cards: tuple[int, ...], viewers: int) -> None:
    """Let these viewers know that these cards lie in a zone."""
    runs = zone.runs
    if runs and runs[-1][1] == viewers:
        zone.runs = (*runs[:-1], (runs[-1][0] + cards, viewers))
    else:
        zone.runs = (*runs, (cards, viewers))


def _strike(zone: Zone, card: int, seers: int) -> int:
    """Take a card of this face off what these viewers know of a zone.

    Returns:
        The viewers who did not know of one.
    """
    runs: list[Run] = []
    for faces, viewers in zone.runs:
        hit = viewers & seers
        if hit and card in faces:
            seers ^= hit
            i = faces.index(card)
            if i:
                runs.append((faces[:i], viewers))
            if viewers ^ hit:
                runs.append(((card,), viewers ^ hit))
            if i + 1 < len(faces):
                runs.append((faces[i + 1 :], viewers))
        else:
            runs.append((faces, viewers))
    zone.runs = tuple(runs)
    return seers


def _sure(zone: Zone, viewer: int) -> tuple[int, ...]:
    """Return the faces that a viewer knows to lie in a zone."""
    found: tuple[int, ...] = ()
    for faces, viewers in zone.runs:
        if viewers >> viewer & 1:
            found += faces
    return found


def _drop_runs(zone: Zone, viewers: int) -> None:
    """Take everything that these viewers know of this zone alone off it."""
    zone.runs = tuple([(faces, known & ~viewers) for faces, known in zone.runs if known & ~viewers])


def _knowers(zone: Zone) -> int:
    """Return the viewers who know something of a zone."""
    known = 0
    for _, viewers in zone.runs:
        known |= viewers
    for clue in zone.clues:
        known |= clue.viewers
    return known


def _clue_knowers(zone: Zone) -> int:
    known = 0
    for clue in zone.clues:
        known |= clue.viewers
    return known


@cache
def _members(viewers: int) -> list[int]:
    """Return the viewers of a set; the list is not to be changed."""
    found = []
    viewer = 0
    while viewers >> viewer:
        if viewers >> viewer & 1:
            found.append(viewer)
        viewer += 1
    return found


def _install(table: Table, clue: Clue) -> None:
    table.clues.append(clue)
    for number in clue.zones:
        zone = table.zone(number)
        zone.clues = (*zone.clues, clue)
        zone.changed_for(clue.viewers)


def _remove(table: Table, clue: Clue, viewers: int) -> None:
    """Let these viewers lose a clue; the others keep it."""
    table.clues.remove(clue)
    rest = clue.viewers & ~viewers
    kept = Clue(rest, clue.possibilities) if rest else None
    if kept is not None:
        table.clues.append(kept)
    for number in clue.zones:
        zone = table.zone(number)
        others = tuple([other for other in zone.clues if other is not clue])
        zone.clues = others if kept is None else (*others, kept)
        zone.changed_for(viewers)


def _learn(table: Table, viewers: int, possibilities: Iterable[Possibility]) -> None:
    """Let these viewers know that one of these possibilities is true."""
    certain, clues = _simplify(possibilities)
    for number, cards in certain.items():
        zone = table.zone(number)
        _add(zone, cards, viewers)
        zone.changed_for(viewers)
    for clue in clues:
        _install(table, Clue(viewers, clue))


def _simplify(
    possibilities: Iterable[Possibility],
) -> tuple[dict[int, tuple[int, ...]], list[tuple[Possibility, ...]]]:
    """Split possibilities into what is certain and into independent clues."""
    possibilities = tuple(possibilities)
    if len(possibilities) == 1 and len(possibilities[0]) == 1:  # as mostly
        return _simplify_spread(possibilities[0][0])
    unique = {_normal(possibility) for possibility in possibilities}
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
    common = _shared(spreads)
    certain = _shared(settled)
    if not common and not certain:
        rest = unique
    else:
        rest = {
            _with_certain(_lacking(loose, common), _lacking(cards, certain))
            for loose, cards in zip(spreads, settled, strict=True)
        }
    known: dict[int, tuple[int, ...]] = {}
    for zone, face in sorted(certain):
        known[zone] = (*known.get(zone, ()), face)
    clues: list[tuple[Possibility, ...]] = [((spread,),) for spread in sorted(common) if spread.faces]
    if len(rest) > 1 and any(spread.faces for possibility in rest for spread in possibility):
        return known, [*clues, tuple(sorted(rest))]
    return known, clues


def _shared(lists: list[list[Item]]) -> list[Item]:
    """Return the items that all lists have, each as often as every list has it."""
    found = lists[0]
    for items in lists:
        if not found:
            return []
        left = items[:]
        kept: list[Item] = []
        for item in found:
            if item in left:
                left.remove(item)
                kept.append(item)
        found = kept
    return found


def _lacking(items: list[Item], fewer: list[Item]) -> list[Item]:
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


def _simplify_spread(spread: Spread) -> tuple[dict[int, tuple[int, ...]], list[tuple[Possibility, ...]]]:
    """Do what `_simplify` does for a single spread."""
    if not spread.faces or not spread.places:
        return {}, []
    if spread.is_settled:
        return {zone: spread.faces[:count] for zone, count in spread.places}, []
    return {}, [((spread,),)]


def _broadest(possibilities: set[Possibility]) -> set[Possibility]:
    """Leave out each possibility that says the same as another one but for fewer places."""
    groups: dict[tuple[tuple[int, ...], ...], list[Possibility]] = {}  # by the faces of their spreads
    for possibility in possibilities:
        key = tuple([spread.faces for spread in possibility if spread.faces])
        groups.setdefault(key, []).append(possibility)
    if len(groups) == len(possibilities):
        return possibilities
    found: set[Possibility] = set()
    for alike in groups.values():
        if len(alike) > 1:
            alike = _broadest_alike(sorted(alike))
        found.update(alike)
    return found


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


def _normal(possibility: Possibility) -> Possibility:
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


def _count_in(possibility: Possibility, zone: int) -> int:
    """Count the cards that a possibility lays in a zone."""
    found = 0
    for spread in possibility:
        found += spread.count(zone)
    return found


def _count_card(possibility: Possibility, card: int) -> int:
    """Count the cards of this face in the spreads of a possibility."""
    found = 0
    for spread in possibility:
        found += spread.faces.count(card)
    return found


@lru_cache(maxsize=MOST_CACHED)
def _moved(spread: Spread, src: int, dst: int) -> Spread:
    """Return a spread after one of its cards went from a zone to another; 0 is anywhere."""
    places: list[tuple[int, int]] = []
    found = False
    for zone, count in spread.places:
        if zone == src:
            count -= 1
        elif zone == dst:
            count += 1
            found = True
        if count:
            places.append((zone, count))
    if dst and not found:
        places.append((dst, 1))
        places.sort()
    return Spread(spread.faces, spread.unknown, tuple(places))


def _combined(clues: list[Clue]) -> list[Possibility] | None:
    """Return every combination of the possibilities of several clues, or None if there are too many."""
    if len(clues) < 2:
        return [*clues[0].possibilities] if clues else [()]
    number = 1
    for clue in clues:
        number *= len(clue.possibilities)
    if number > MOST_POSSIBILITIES:
        return None
    return [sum(chosen, ()) for chosen in product(*[clue.possibilities for clue in clues])]


def _groups(zone: Zone, viewers: int) -> list[tuple[tuple[int, ...], int]]:
    """Gather viewers who know the same of a zone, and the faces that they know to lie there."""
    members = _members(viewers)
    if len(members) == 1:
        return [(tuple(sorted(_sure(zone, members[0]))), viewers)]
    groups: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    for viewer in members:
        positions = tuple([i for i, clue in enumerate(zone.clues) if clue.viewers >> viewer & 1])
        key = tuple(sorted(_sure(zone, viewer))), positions
        groups[key] = groups.get(key, 0) | 1 << viewer
    return [(sure, group) for (sure, _), group in groups.items()]


def _clues_of(zone: Zone, viewers: int) -> list[Clue]:
    """Return the clues that viewers who know the same have on a zone."""
    return [clue for clue in zone.clues if clue.viewers & viewers]


def _left(
    table: Table,
    src: Zone,
    target: int,
    card: int,
    seers: int,
    hidden: int,
    masks: tuple[int, ...] | None,
    size: int,
    copies: tuple[int, ...],
) -> None:
    """Note that a card left a zone; some viewers it was hidden from see its face, the others only that one left."""
    seeing = hidden & seers
    if seeing and src.runs:
        seeing = _strike(src, card, seeing)
    if seeing and src.clues and (seeing := seeing & _clue_knowers(src)):
        for _, viewers in _groups(src, seeing):
            here = size if masks is None else _hidden_among(masks, viewers)
            _take(table, src, card, here, viewers, copies)
    blind = hidden & ~seers
    if blind and (blind := blind & _knowers(src)):
        for sure, viewers in _groups(src, blind):
            here = size if masks is None else _hidden_among(masks, viewers)
            _slip(table, src, target, here, viewers, sure)


def _hidden_among(masks: tuple[int, ...], viewers: int) -> int:
    """Count the cards that are hidden from these viewers, who see the same."""
    return sum([not mask & viewers for mask in masks])


def _slip(table: Table, src: Zone, dst: int, size: int, viewers: int, sure: tuple[int, ...]) -> None:
    """Note that a card of a zone went to another zone, and that these viewers don't see which.

    Either it belongs to one of the spreads that reach into the zone, or to the rest of the zone: the faces that are
    certainly there and the cards that the viewers know nothing of. From now on that rest is a spread, too.
    """
    number = src.number
    clues = _clues_of(src, viewers)
    combined = _combined(clues)
    for clue in clues:
        _remove(table, clue, viewers)
    _drop_runs(src, viewers)
    if combined is None:
        return
    possibilities: list[Possibility] = []
    for possibility in combined:
        rest = size - _count_in(possibility, number)
        if rest < len(sure):
            continue
        own = (Spread(sure, rest - len(sure), ((number, rest),)),) if rest else ()
        if own:
            possibilities.append((*possibility, _moved(own[0], number, dst)))
        for i, spread in enumerate(possibility):
            if spread.count(number):
                others = possibility[:i] + possibility[i + 1 :]
                possibilities.append((*others, *own, _moved(spread, number, dst)))
    _learn(table, viewers, possibilities)


def _take(table: Table, src: Zone, card: int, size: int, viewers: int, copies: tuple[int, ...]) -> None:
    """Note that these viewers saw a card leave a zone without having been certain that it lay there.

    It belongs to one of the spreads that reach into the zone, or it is one that the viewers knew nothing of; the latter
    only if the box has another copy of it.
    """
    affected, others = _clues_affected(table, src, card, viewers)
    if not affected:
        return
    combined = _combined(affected)
    possibilities: list[Possibility] = []
    if combined is not None:
        spare = 0
        if table.copies()[card] > min([_count_card(possibility, card) for possibility in combined]):
            groups = _by_spare_copies(table, card, viewers, affected, copies)
            if len(groups) > 1:  # one who sees more copies than another knows more now
                for group in groups.values():
                    _take(table, src, card, size, group, copies)
                return
            (spare,) = groups
        unsure = size - others - len(_sure(src, _members(viewers)[0]))
        for possibility in combined:
            another = spare > _count_card(possibility, card)
            rest = unsure - _count_in(possibility, src.number)
            possibilities += _without(
                possibility, src.number, card, another, rest > 0, len(combined) >= MANY_POSSIBILITIES
            )
    if possibilities != combined:
        for clue in affected:
            _remove(table, clue, viewers)
        _learn(table, viewers, possibilities)


def _clues_affected(table: Table, src: Zone, card: int, viewers: int) -> tuple[list[Clue], int]:
    """Find the clues that change when a card of this face leaves a zone.

    Those that it may belong to, and those that don't say how many cards they lay there: one card fewer may be too few.

    Returns:
        These clues, and how many cards all other clues lay in the zone, whatever is true.
    """
    affected: list[Clue] = []
    others = 0
    for clue in src.clues:
        if clue.viewers & viewers:
            count = clue.count(src.number)
            if count is None or clue.has(src.number, card):
                affected.append(clue)
            else:
                others += count
    if table.copies()[card] == 1:  # then it cannot be any other card
        for clue in affected:
            if clue.holds(card):
                return [clue], others
    return affected, others


def _without(
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
    found: list[Possibility] = []
    if another and rest:
        found.append(possibility)
    for i, spread in enumerate(possibility):
        faces, unknown, places = spread.faces, spread.unknown, spread.places
        if not (unknown or card in faces) or not spread.count(zone):
            continue
        others = possibility[:i] + possibility[i + 1 :]
        if card in faces:
            at = faces.index(card)
            left = faces[:at] + faces[at + 1 :]
            if joined and unknown and found and found[0] is possibility:
                # One for both: that it was this card, and that it was one of the rest.
                found[0] = (*others, Spread(left, unknown + 1, places))
            else:
                found.append((*others, _moved(Spread(left, unknown, places), zone, 0)))
        elif unknown and another and not rest:
            found.append((*others, _moved(Spread(faces, unknown - 1, places), zone, 0)))
    return found


def _by_spare_copies(
    table: Table, card: int, viewers: int, clues: list[Clue], copies: tuple[int, ...]
) -> dict[int, int]:
    """Gather viewers who have these clues by their number of spare copies of a card."""
    groups: dict[int, int] = {}
    for viewer in _members(viewers):
        spare = _spare_copies(table, card, viewer, clues, copies)
        groups[spare] = groups.get(spare, 0) | 1 << viewer
    return groups


def _spare_copies(table: Table, card: int, viewer: int, clues: list[Clue], copies: tuple[int, ...]) -> int:
    """Count the copies of a card that this viewer neither sees nor knows of, but for the spreads of these clues."""
    spare = table.copies()[card]
    for mask in copies:
        spare -= mask >> viewer & 1
    for zone in table.in_order():
        for faces, viewers in zone.runs:
            if viewers >> viewer & 1:
                spare -= faces.count(card)
    for clue in table.clues:
        if clue.viewers >> viewer & 1 and clue not in clues:
            spare -= min([_count_card(possibility, card) for possibility in clue.possibilities])
    return spare


def _settled_at_once(table: Table, zone: Zone, cards: list[int], viewers: int) -> bool:
    """Settle the clues on a zone whose cards are all of one spread, as a pile that comes back; whether it was so."""
    clues = _clues_of(zone, viewers)
    if len(clues) != 1 or len(clues[0].possibilities) != 1:
        return False
    ((spread,),) = clues[0].possibilities
    counts = dict(spread.places)
    if spread.unknown or counts.pop(zone.number) != len(cards):
        return False
    faces = list(spread.faces)
    for card in cards:
        if card not in faces:
            return False
        faces.remove(card)
    _remove(table, clues[0], viewers)
    _learn(table, viewers, [(Spread(tuple(faces), 0, tuple(counts.items())),)])
    return True


def _look(
    table: Table,
    zone: Zone,
    cards: tuple[int, ...],
    masks: tuple[int, ...] | None,
    seers: int,
    copies: tuple[tuple[int, ...], ...],
) -> None:
    """Replace what these viewers knew of a zone by its cards, which they see now, and settle their clues."""
    for viewer in _members(seers & _clue_knowers(zone)):
        mine = 1 << viewer
        seen = list(_sure(zone, viewer))
        known = Counter(seen)
        _drop_runs(zone, mine)
        hidden = [i for i in range(len(cards)) if masks is None or not masks[i] & mine]
        if not seen and _settled_at_once(table, zone, [cards[i] for i in hidden], mine):
            continue
        left = len(hidden) - len(seen)
        for i in hidden:
            card = cards[i]
            if known[card]:
                known[card] -= 1
            elif zone.clues:
                in_sight = copies[i] if copies else ()
                _take(table, zone, card, left, mine, in_sight + (mine,) * seen.count(card))
                left -= 1
                seen.append(card)
    if zone.runs:
        _drop_runs(zone, seers)
        zone.changed_for(seers)


def _rename(table: Table, src: Zone, target: int) -> None:
    """Note that all of a zone went to another; the viewers know of it there what they knew here."""
    if src.runs:
        if target:
            dst = table.zone(target)
            for faces, viewers in src.runs:
                _add(dst, faces, viewers)
        src.runs = ()
        src.changed()
    number = src.number
    for clue in src.clues:
        _remove(table, clue, clue.viewers)
        numbers = {number: target}
        renamed = [tuple([_relaid(spread, numbers) for spread in each]) for each in clue.possibilities]
        if target and target not in clue.zones:  # then it is as simple as before
            _install(table, Clue(clue.viewers, _in_order(renamed)))
        else:
            _learn(table, clue.viewers, renamed)


def _in_order(possibilities: list[Possibility]) -> tuple[Possibility, ...]:
    """Return possibilities with new numbers for their zones in the order that equal knowledge has."""
    if len(possibilities) == 1 and len(possibilities[0]) == 1:
        return tuple(possibilities)
    return tuple(sorted([tuple(sorted(possibility)) for possibility in possibilities]))


def _relaid(spread: Spread, numbers: dict[int, int]) -> Spread:
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


def _exchange(table: Table, one: Zone, other: Zone) -> None:
    """Two zones swapped their cards, and what is known of them went along."""
    one.runs, other.runs = other.runs, one.runs
    one.changed()
    other.changed()
    numbers = {one.number: other.number, other.number: one.number}
    for clue in [clue for clue in table.clues if one.number in clue.zones or other.number in clue.zones]:
        _remove(table, clue, clue.viewers)
        swapped = [tuple([_relaid(spread, numbers) for spread in each]) for each in clue.possibilities]
        _install(table, Clue(clue.viewers, _in_order(swapped)))
