"""An independent reasoner: it lists all possibilities for hidden cards that agree with a viewer's observations.

It is a second implementation of card knowledge. Its input is what the viewer sees: which card came, which one left, or
that some card left. It stores every world that agrees with that. A world is a list of groups. The cards of a group lie
in some zones, with a known number in each, in any distribution. Zone 0 is anywhere. Worlds are never merged, so the
reasoner proves everything that follows. If there are too many worlds it is `lost`, and proves nothing more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from itertools import product

__all__ = ["Forgetful", "Reasoner", "Witness"]

MOST_WORLDS = 8  # the maximum number of possibilities in card knowledge, which may know less beyond it
ANYWHERE = 0

Group = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]  # sorted cards; zones with the number of cards in each
World = tuple[Group, ...]


class Reasoner:
    """All possibilities for one viewer."""

    def __init__(self, copies: Mapping[int, int]) -> None:
        """Start without knowledge; `copies` is the number of copies of each card in the box."""
        self.copies = copies
        self.sure: dict[int, Counter[int]] = {}
        self.parts: list[frozenset[World]] = []  # exactly one world of each part is true; parts are independent
        self.lost = False

    def copy(self) -> Reasoner:
        other = copy(self)
        other.sure = {zone: faces.copy() for zone, faces in self.sure.items()}
        other.parts = self.parts[:]
        return other

    def forget_all(self) -> None:
        """Forget everything at a new deal."""
        self.sure, self.parts, self.lost = {}, [], False

    # -- observations
    def comes(self, zone: int, card: int) -> None:
        """Process a visible card that comes into a hidden zone."""
        self.sure.setdefault(zone, Counter())[card] += 1

    def leaves(self, zone: int, card: int, size: int, in_sight: int) -> None:
        """Process a visible card that leaves a zone of `size` hidden cards; `in_sight` other copies are visible."""
        if self.sure.get(zone, Counter())[card] > 0:
            self.sure[zone][card] -= 1
            return
        touched = [part for part in self.parts if touches(part, zone)]
        holding = [part for part in touched if any(card in faces for world in part for faces, _ in world)]
        if self.copies[card] == 1 and holding:
            touched = holding
        if not touched:
            return
        spare = self.copies[card] - in_sight - sum(faces[card] for faces in self.sure.values())
        for part in self.parts:
            if part not in touched:
                spare -= min(count_of(world, card) for world in part)
        sure = self.sure.get(zone, Counter()).total()
        found: set[World] = set()
        for world in self.take_out(touched):
            if spare > count_of(world, card) and size - sure > count_at(world, zone):
                found.add(world)
            for i, (faces, places) in enumerate(world):
                if card in faces and dict(places).get(zone, 0):
                    left = list(faces)
                    left.remove(card)
                    found.add((*world[:i], *world[i + 1 :], (tuple(left), put(places, zone, -1))))
        self.put_back(found)

    def slips(self, zone: int, target: int, size: int) -> None:
        """Process an unseen card that moves from a zone of `size` hidden cards to another zone."""
        touched = [part for part in self.parts if touches(part, zone)]
        sure = +self.sure.pop(zone, Counter())
        if not touched and not sure:
            return
        own: Group = tuple(sorted(sure.elements())), ((zone, sure.total()),)
        found: set[World] = set()
        for world in self.take_out(touched):
            groups = (*world, own) if sure else world
            if size > count_at(groups, zone):
                found.add(groups)
            for i, (faces, places) in enumerate(groups):
                if dict(places).get(zone, 0):
                    moved = put(put(places, zone, -1), target, 1)
                    found.add((*groups[:i], *groups[i + 1 :], (faces, moved)))
        self.put_back(found)

    def goes(self, numbers: Mapping[int, int]) -> None:
        """Process whole zones that move, each to another number."""
        sure, self.sure = self.sure, {}
        for zone, known in sure.items():
            if (target := numbers.get(zone, zone)) != ANYWHERE:
                self.sure.setdefault(target, Counter()).update(known)
        parts, self.parts = self.parts, []
        for part in parts:
            renamed: set[World] = set()
            for world in part:
                groups: list[Group] = []
                for faces, places in world:
                    counts = Counter[int]()
                    for zone, count in places:
                        counts[numbers.get(zone, zone)] += count
                    groups.append((faces, tuple(sorted(counts.items()))))
                renamed.add(tuple(groups))
            self.put_back(renamed)

    # -- what follows
    def certain(self, zone: int) -> tuple[int, ...]:
        """Return the cards that are in a zone in every world, sorted."""
        found = +self.sure[zone] if zone in self.sure else Counter[int]()
        for part in self.parts:
            if not touches(part, zone):
                continue
            least: Counter[int] | None = None
            for world in part:
                here = Counter[int]()
                for faces, places in world:
                    elsewhere = len(faces) - dict(places).get(zone, 0)
                    for face, number in Counter(faces).items():
                        here[face] += max(0, number - elsewhere)
                least = here if least is None else least & here
            found += least or Counter()
        return tuple(sorted(found.elements()))

    def remembered(self, zone: int) -> tuple[int, ...] | None:
        """Return the hidden cards of a zone that the viewer's view must have; None if there were too many worlds."""
        return None if self.lost else self.certain(zone)

    def agrees(self, hidden: Mapping[int, Iterable[int]]) -> bool:
        """Return whether these hidden cards, by zone, are one of the worlds."""
        there = {zone: Counter(cards) for zone, cards in hidden.items()}
        for zone, faces in self.sure.items():
            there.setdefault(zone, Counter()).subtract(faces)
        if any(number < 0 for faces in there.values() for number in faces.values()):
            return False
        return fits(self.parts, there)

    # -- worlds
    def take_out(self, touched: list[frozenset[World]]) -> list[World]:
        """Remove these parts, and return all combinations of their worlds."""
        self.parts = [part for part in self.parts if part not in touched]
        number = 1
        for part in touched:
            number *= len(part)
        if number > MOST_WORLDS:
            self.lost = True
            return []
        return [tuple(group for world in chosen for group in world) for chosen in product(*touched)]

    def put_back(self, worlds: Iterable[World]) -> None:
        """Add these worlds as a part, or as several independent parts."""
        plain = {plainly(world) for world in worlds}
        if len(plain) > MOST_WORLDS:
            self.lost = True
        elif len(plain) == 1:
            for group in plain.pop():
                if len(group[1]) == 1:
                    self.sure.setdefault(group[1][0][0], Counter()).update(group[0])
                else:
                    self.parts.append(frozenset([(group,)]))
        elif plain:
            self.parts.append(frozenset(plain))


class Witness(Reasoner):
    """A viewer whose view only has cards that were seen to come, until one leaves unseen."""

    def __init__(self, copies: Mapping[int, int]) -> None:
        super().__init__(copies)
        self.seen: dict[int, Counter[int]] = {}

    def copy(self) -> Witness:
        other = copy(self)
        other.sure = {zone: faces.copy() for zone, faces in self.sure.items()}
        other.parts = self.parts[:]
        other.seen = {zone: faces.copy() for zone, faces in self.seen.items()}
        return other

    def forget_all(self) -> None:
        super().forget_all()
        self.seen = {}

    def comes(self, zone: int, card: int) -> None:
        super().comes(zone, card)
        self.seen.setdefault(zone, Counter())[card] += 1

    def leaves(self, zone: int, card: int, size: int, in_sight: int) -> None:
        super().leaves(zone, card, size, in_sight)
        if self.seen.get(zone, Counter())[card] > 0:
            self.seen[zone][card] -= 1

    def slips(self, zone: int, target: int, size: int) -> None:
        super().slips(zone, target, size)
        self.seen.pop(zone, None)

    def goes(self, numbers: Mapping[int, int]) -> None:
        super().goes(numbers)
        seen, self.seen = self.seen, {}
        for zone, faces in seen.items():
            if (target := numbers.get(zone, zone)) != ANYWHERE:
                self.seen.setdefault(target, Counter()).update(faces)

    def remembered(self, zone: int) -> tuple[int, ...]:
        return tuple(sorted(self.seen.get(zone, Counter()).elements()))


class Forgetful(Reasoner):
    """A viewer whose view has no hidden card."""

    def remembered(self, zone: int) -> tuple[int, ...]:
        return ()


def plainly(world: World) -> World:
    """Return the canonical form of a world."""
    groups: list[Group] = []
    alone: dict[int, list[int]] = {}
    for faces, all_places in world:
        places = tuple((zone, count) for zone, count in all_places if count)
        if len(places) == 1 or len(set(faces)) == 1:
            left = list(faces)
            for zone, count in places:
                alone.setdefault(zone, []).extend(left[:count])
                del left[:count]
        elif places:
            groups.append((faces, places))
    alone.pop(ANYWHERE, None)
    groups += [(tuple(sorted(faces)), ((zone, len(faces)),)) for zone, faces in alone.items()]
    return tuple(sorted(groups))


def put(places: tuple[tuple[int, int], ...], zone: int, more: int) -> tuple[tuple[int, int], ...]:
    """Add `more` cards of a group to a zone."""
    for i, (number, count) in enumerate(places):
        if number == zone:
            return (*places[:i], (zone, count + more), *places[i + 1 :])
    return tuple(sorted((*places, (zone, more))))


def touches(part: frozenset[World], zone: int) -> bool:
    """Return whether a card of these worlds may be in a zone."""
    return any(zone == number for world in part for _, places in world for number, _ in places)


def count_at(world: World, zone: int) -> int:
    """Count the cards of a world in a zone."""
    return sum(dict(places).get(zone, 0) for _, places in world)


def count_of(world: World, card: int) -> int:
    """Count the copies of a card in a world."""
    return sum(faces.count(card) for faces, _ in world)


def fits(parts: list[frozenset[World]], there: dict[int, Counter[int]]) -> bool:
    """Return whether a world of each part fits these zones at once."""
    if not parts:
        return True
    return any(laid(list(world), lambda: fits(parts[1:], there), there) for world in parts[0])


def laid(groups: list[Group], then: Callable[[], bool], there: dict[int, Counter[int]]) -> bool:
    """Return whether the cards of these groups fit these zones, and `then` holds for the rest."""
    if not groups:
        return then()
    faces, places = groups[0]
    if not faces:
        return laid(groups[1:], then, there)
    card, tried = faces[0], set[int]()
    for zone, count in places:
        if not count or zone in tried:
            continue
        tried.add(zone)
        rest: Group = faces[1:], put(places, zone, -1)
        if zone == ANYWHERE:
            if laid([rest, *groups[1:]], then, there):
                return True
        elif there.get(zone, Counter())[card] > 0:
            there[zone][card] -= 1
            found = laid([rest, *groups[1:]], then, there)
            there[zone][card] += 1
            if found:
                return True
    return False
