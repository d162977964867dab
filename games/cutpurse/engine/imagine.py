"""A full state that fits what one viewer may know: what a search bot plays out instead of the real one.

Everything a view shows is taken as it is; every card that is nowhere to be seen goes to a place where it may lie. The
other seats' own intel is not in a view: in the imagined state they have learned nothing. A sealed answer is not in a
view either: there everybody asked is still to answer. This module knows no game; what a game adds is `may_lie`,
`imagine_zones` and `is_plausible`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.view import View
from cutpurse.engine.words import FACE_DOWN, Visibility
from cutpurse.engine.zones import Zone, ZoneView, bit

__all__ = ["imagine"]

TRIES: Final = 100  # how often a state that contradicts what all can infer is thrown away before the last one is taken


def imagine(view: View, rng: Chance) -> Game:
    """A full state whose view from the same viewer is `view`; drawn with `rng`, which also gives it its chance.

    The draw is not exactly uniform: places that few cards may take are filled first.
    """
    for _ in range(TRIES):
        game = _rebuild(view, Chance(rng.new_key()))
        unseen = _unseen(view)
        rng.shuffle(unseen)
        game.imagine_zones(unseen, rng)
        _fill(game, unseen, rng)
        if game.is_plausible():
            break
    return game


def _unseen(view: View) -> list[int]:
    """The cards of the box that the viewer neither sees nor knows to lie somewhere."""
    left = Counter(view.rules.box(view.seats, view.settings))
    for zone in view.zones:
        left.subtract(card for card in (*zone.cards, *zone.known) if card != FACE_DOWN)
    negative = [card for card, copies in left.items() if copies < 0]
    if negative:
        raise ValueError(f"the view shows more copies of cards {negative} than the box has")
    return sorted(left.elements())


def _rebuild(view: View, chance: Chance) -> Game:
    """The table as the viewer sees it, with a card face down wherever he sees none."""
    game = view.rules(view.seats, view.settings, chance)
    for counter, value in zip(game.words.table_counters, view.counters, strict=True):
        setattr(game, counter.name, value)
    for counter, values in zip(game.words.seat_counters, view.seat_counters, strict=True):
        setattr(game, counter.name, list(values))
    viewer = game.n if view.viewer is None else view.viewer
    for picture in view.zones:
        if picture.number <= len(game.fixed):
            zone = game.fixed[picture.number - 1]
        else:
            zone = game.restore_zone(picture.number, picture.kind, picture.owner)
            game.made = max(game.made, picture.number)
        _lay(zone, picture, viewer, game.everyone)
    game.agenda = list(view.agenda)
    return game


def _lay(zone: Zone, picture: ZoneView, viewer: int, everyone: int) -> None:
    mine = bit(viewer)
    zone.counters = list(picture.counters)
    if picture.cards:
        zone.cards = list(picture.cards)
        if zone.masks is not None:
            holder = bit(zone.owner) if zone.kind.holder_learns and zone.owner >= 0 else 0
            hidden = everyone & holder & ~mine
            zone.masks = [everyone if card != FACE_DOWN else hidden for card in zone.cards]
        if zone.columns is not None:
            zone.columns = [list(column) for column in picture.columns]
        return
    hidden_cards = picture.size - len(picture.known)
    zone.cards = [*[FACE_DOWN] * hidden_cards, *picture.known]
    if zone.masks is not None:
        zone.masks = [0] * picture.size
    if zone.columns is not None:
        zone.columns = [[0] * picture.size for _ in zone.columns]
    zone.intel = [(face, mine, 0) for face in picture.known] + [(face, 0, mine) for face in picture.maybe]


def _fill(game: Game, unseen: list[int], rng: Chance) -> None:
    """Put an unseen card into every place that is still face down, so that each may lie where it lies."""
    slots = [(zone, i) for zone in game.zones() for i, card in enumerate(zone.cards) if card == FACE_DOWN]
    if len(slots) != len(unseen):
        raise ValueError(f"{len(unseen)} unseen cards are to fill {len(slots)} places")
    dealt = _deal(slots, unseen, game.may_lie)
    for (zone, i), card in zip(slots, dealt, strict=True):
        zone.cards[i] = card
    for zone in {id(zone): zone for zone, _ in slots}.values():
        if not zone.ordered:
            _sort(zone)
        elif zone.kind.visibility is Visibility.NOBODY:
            rng.shuffle(zone.cards)


def _sort(zone: Zone) -> None:
    """Put an unordered zone whose columns are all alike back into order."""
    zone.cards.sort()


def _deal(slots: Sequence[tuple[Zone, int]], cards: list[int], may_lie: Callable[[Zone, int], bool]) -> list[int]:
    """A card for each place, each where it may lie: a matching by augmenting paths (Kuhn 1955), narrow places first.

    Raises ValueError if there is none, which a true view never leads to.
    """
    faces = sorted(set(cards))
    zones = {id(zone): zone for zone, _ in slots}
    allowed = {key: {face for face in faces if may_lie(zone, face)} for key, zone in zones.items()}
    order = sorted(range(len(slots)), key=lambda slot: len(allowed[id(slots[slot][0])]))
    taken_by: dict[int, int] = {}  # index into cards -> slot

    def place(slot: int, tried: set[int]) -> bool:
        able = allowed[id(slots[slot][0])]
        for i, card in enumerate(cards):
            if i not in taken_by and card in able:
                taken_by[i] = slot
                return True
        for i, card in enumerate(cards):
            if card in able and i not in tried:
                tried.add(i)
                if place(taken_by[i], tried):
                    taken_by[i] = slot
                    return True
        return False

    if all(len(able) == len(faces) for able in allowed.values()):
        return cards
    for slot in order:
        if not place(slot, set()):
            raise ValueError(f"no unseen card may lie in zone {slots[slot][0].number}")
    dealt = [0] * len(slots)
    for i, slot in taken_by.items():
        dealt[slot] = cards[i]
    return dealt
