"""A full state that fits what one viewer may know: what a search bot plays out instead of the real one.

Everything a view shows is taken as it is; every card that is nowhere to be seen goes to a place where it may lie. The
other seats' own intel is not in a view: in the imagined state they have learned nothing. A sealed answer is not in a
view either: there everybody asked is still to answer. This module knows no game; what a game adds is `may_lie`,
`imagine_zones` and `is_plausible`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from cutpurse.engine.chance import Chance
from cutpurse.engine.fitting import fit
from cutpurse.engine.game import Game
from cutpurse.engine.view import View
from cutpurse.engine.words import FACE_DOWN, Visibility
from cutpurse.engine.zones import Zone, ZoneView, bit

__all__ = ["fill", "imagine"]

TRIES: Final = 100  # how often a state that contradicts what all can infer is thrown away before the last one is taken


def imagine(view: View, rng: Chance) -> Game:
    """A full state whose view from the same viewer is `view`; drawn with `rng`, which also gives it its chance.

    All deals that agree with the view are equally likely, as if the unseen cards had been shuffled into the hidden
    places until nothing contradicts what all can infer. A game that draws some zones itself says where it departs from
    that (`imagine_zones`). After so many tries as TRIES says the last state is taken, whatever it contradicts.
    """
    for _ in range(TRIES):
        game = _rebuild(view, Chance(rng.new_key()))
        unseen = _unseen(view)
        rng.shuffle(unseen)
        before = len(unseen)
        game.imagine_zones(unseen, rng)
        if len(unseen) < before:
            rng.shuffle(unseen)  # of a face it may have taken the copies that came first
        if len(unseen) != (places := sum([zone.cards.count(FACE_DOWN) for zone in game.zones()])):
            raise ValueError(f"{len(unseen)} unseen cards are to fill {places} places")
        fill(game, game.zones(), unseen, rng)
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
    game.agenda[:] = view.agenda
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


def fill(game: Game, zones: Sequence[Zone], unseen: list[int], rng: Chance) -> None:
    """Lay unseen cards, which are shuffled, wherever cards lie face down in these zones, and take them out of `unseen`.

    Each lies where it may lie, and every way to lay them so is equally likely. For `imagine_zones`, which may begin
    with some zones; what is left lies in the others. Raises ValueError if there is no way, which a true view never
    leads to.
    """
    slots = [(zone, i) for zone in zones for i, card in enumerate(zone.cards) if card == FACE_DOWN]
    faces = set(unseen)
    hiding = {id(zone): zone for zone, _ in slots}
    able = {key: frozenset([face for face in faces if game.may_lie(zone, face)]) for key, zone in hiding.items()}
    if all(len(here) == len(faces) for here in able.values()) and len(slots) <= len(unseen):
        dealt = unseen[: len(slots)]  # any card anywhere, as in most games
        del unseen[: len(slots)]
    else:
        dealt = fit([able[id(zone)] for zone, _ in slots], unseen, rng)
    for (zone, i), card in zip(slots, dealt, strict=True):
        zone.cards[i] = card
    for zone in hiding.values():
        if not zone.ordered:
            zone.cards.sort()  # its columns, where it has some, are all alike
        elif zone.kind.visibility is Visibility.NOBODY:
            rng.shuffle(zone.cards)
