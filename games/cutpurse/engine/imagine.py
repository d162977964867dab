"""A full state that fits what one viewer may know: what a search bot plays out instead of the real one.

Everything a view shows is taken as it is; every card that is nowhere to be seen goes to a place where it may lie. The
other seats' card knowledge is not in a view: in the imagined state they have learned nothing, unless `share_knowledge`
assumes something. A sealed answer is not in a view either: there everybody asked is still to answer. This module knows
no game; what a game adds is `may_lie`, `imagine_zones` and `is_plausible`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import factorial
from typing import Final

from cutpurse.engine.card_assignment import fit, weighted
from cutpurse.engine.chance import KEY_BYTES, Chance
from cutpurse.engine.clues import Possibility, Spread, certain_in, ways
from cutpurse.engine.game import Game
from cutpurse.engine.view import View
from cutpurse.engine.words import FACE_DOWN, Visibility
from cutpurse.engine.zones import Zone, ZoneView, bit

__all__ = ["Worlds", "fill", "imagine", "share_knowledge"]

_Weighted = list[tuple[Possibility, int]]  # possibilities, and in how many ways each can be
TRIES: Final = 100  # how often a state that contradicts what all can infer is thrown away before the last one is taken


def imagine(view: View, rng: Chance) -> Game:
    """Draw a full state whose view from the same viewer is `view`; `rng` also gives it its chance.

    For many states of one view, make one `Worlds` and draw them from it.
    """
    return Worlds(view).draw(rng)


class Worlds:
    """The full states whose view from the same viewer is `view`: what follows from the view is found once."""

    def __init__(self, view: View) -> None:
        """Lay the table out as the viewer sees it.  Raises ValueError if no state agrees with the view."""
        self.view = view
        self._table = _rebuild(view, Chance(bytes(KEY_BYTES)))
        self._unseen = _unseen(self._table)
        hidden = sum([zone.cards.count(FACE_DOWN) for zone in self._table.zones()])
        if len(self._unseen) != hidden:
            raise ValueError(f"{len(self._unseen)} unseen cards are to fill {hidden} places")
        self._clues = [_allowed(self._table, possibilities, hidden) for possibilities in view.clues]

    def draw(self, rng: Chance) -> Game:
        """Draw a state; `rng` also gives it its chance.

        All deals that agree with the view are equally likely, as if the unseen cards had been shuffled into the hidden
        places until nothing contradicts what all can infer. First the cards of the view's clues are laid: of the ways
        to do that, and to fill the other places, each is equally likely. A game that draws some zones itself says where
        it departs from that (`imagine_zones`). After TRIES states the last one is returned, whatever it contradicts.

        Raises:
            ValueError: If no state agrees with the view, which a true view never leads to.
        """
        failure = ValueError("no deal agrees with the view")
        state: Game | None = None
        for _ in range(TRIES):
            try:
                game = self._deal(rng)
            except ValueError as problem:
                if not self._clues:
                    raise
                failure = problem  # the rest has no place beside what was laid for the clues: lay them otherwise
                continue
            state = game
            if game.is_plausible():
                break
        if state is None:
            raise failure
        return state

    def _deal(self, rng: Chance) -> Game:
        """Deal the unseen cards into a copy of the table.  Raises ValueError if they have no place."""
        view = self.view
        game = view.rules(view.seats, view.settings, Chance(rng.new_key()), self._table)  # a copy, as a fork is
        unseen = self._unseen[:]
        if self._clues:
            _lay_clues(game, self._clues, unseen, rng)
        rng.shuffle(unseen)
        before = len(unseen)
        game.imagine_zones(unseen, rng)
        if len(unseen) < before:
            rng.shuffle(unseen)  # of a face it may have taken the copies that came first
        fill(game, game.zones(), unseen, rng)
        return game


def share_knowledge(game: Game, view: View, rng: Chance) -> None:
    """Let the other seats know cards of hidden zones in a state that was imagined from `view`.

    What they know is not in the view, so it is assumed: of each other's zones they know what the viewer knows, and of a
    zone of the viewer as large a share as the viewer knows of the same zones of others. The view stays as it is.
    """
    viewer = game.n if view.viewer is None else view.viewer
    known, cards = Counter[int](), Counter[int]()  # by kind of zone, of all other seats
    for picture in view.zones:
        if picture.owner != viewer:
            known[picture.kind.number] += len(picture.known)
            cards[picture.kind.number] += picture.size
    for zone in game.zones():
        learners = zone.everyone & ~zone.sees
        if not learners or not zone.remembers or zone.masks is not None:
            continue
        if zone.sees & bit(viewer):
            kind = zone.kind.number
            learned = tuple([card for card in zone.cards if rng.below(max(1, cards[kind])) < known[kind]])
            zone.runs = ((learned, learners),) if learned else ()
        else:
            zone.runs = tuple([(faces, learners) for faces, _ in zone.runs])
        if zone.runs:
            zone.tracked = learners
        zone.changed()


def _unseen(game: Game) -> list[int]:
    """Return the cards of the box that do not lie face up in a game."""
    left = Counter(game.box(game.n, game.settings))
    for zone in game.zones():
        left.subtract(card for card in zone.cards if card != FACE_DOWN)
    negative = [card for card, copies in left.items() if copies < 0]
    if negative:
        raise ValueError(f"the view shows more copies of cards {negative} than the box has")
    return sorted(left.elements())


def _allowed(game: Game, possibilities: Sequence[Possibility], hidden: int) -> _Weighted:
    """Return the possibilities of a clue that the rules allow, with their weights.  Raises ValueError if none is."""
    allowed = [each for each in possibilities if all(_has_a_way(game, spread) for spread in each)]
    if not allowed:
        raise ValueError("the cards of a clue cannot lie where the rules let them")
    return [(each, _weight(each, hidden)) for each in allowed]


def _weight(possibility: Possibility, hidden: int) -> int:
    """Count the ways to lay the cards of a possibility, and to fill the other hidden places with the other cards."""
    others = hidden - sum([len(spread.faces) for spread in possibility])
    return ways(possibility) * factorial(max(others, 0))


def _lay_clues(game: Game, clues: Sequence[_Weighted], unseen: list[int], rng: Chance) -> None:
    """Lay the cards that the viewer knows to lie in one of several zones, and take them out of `unseen`.

    Raises ValueError if a card would lie where the rules let nobody have it.
    """
    for weights in clues:
        for zone, card in _drawn_for_clue(game, weights, rng):
            zone.cards[_hidden_place(zone, rng)] = card
            unseen.remove(card)
    for zone in game.zones():
        if not zone.ordered:
            zone.cards.sort()


def _drawn_for_clue(game: Game, weights: _Weighted, rng: Chance) -> list[tuple[Zone, int]]:
    """Draw where the cards of a clue lie: zone and card; those of unknown face are left out.

    A clue knows nothing of `may_lie`, so some of its ways may be against the rules. Ways are drawn until one is not:
    then all that the rules allow are equally likely.
    """
    for _ in range(TRIES):
        possibility = weighted(weights, rng) if len(weights) > 1 else weights[0][0]
        laid: list[tuple[Zone, int]] = []
        for spread in possibility:
            cards = [*spread.faces, *[FACE_DOWN] * spread.unknown]
            rng.shuffle(cards)
            laid += [(zone, card) for zone, card in zip(_slots(game, spread), cards, strict=False) if card != FACE_DOWN]
        if all(game.may_lie(zone, card) for zone, card in laid):
            return laid
    raise ValueError("no way was found to lay the cards of a clue where the rules let them")


def _slots(game: Game, spread: Spread) -> list[Zone]:
    """Return the zone of each place that the cards of a spread can have."""
    return [game.zone(number) for number, count in spread.places for _ in range(count)]


def _has_a_way(game: Game, spread: Spread) -> bool:
    """Tell whether enough known cards of a spread can lie in its places by the rules, all at once.

    Places that are left are for its unknown cards; of more cards than places, the rest lies elsewhere.
    """
    slots = _slots(game, spread)
    taken: dict[int, int] = {}  # by slot, which of the faces lies there

    def place(index: int, tried: set[int]) -> bool:
        """Find a slot for a face; one that lies there already may move to another."""
        for slot, zone in enumerate(slots):
            if slot not in tried and game.may_lie(zone, spread.faces[index]):
                tried.add(slot)
                if slot not in taken or place(taken[slot], tried):
                    taken[slot] = index
                    return True
        return False

    placed = [place(index, set()) for index in range(len(spread.faces))].count(True)
    return placed >= len(slots) - spread.unknown


def _hidden_place(zone: Zone, rng: Chance) -> int:
    """Return the position of a card that lies face down, where order matters any of them.

    Raises ValueError if there is none.
    """
    if not zone.ordered:
        return zone.cards.index(FACE_DOWN)
    places = [i for i, card in enumerate(zone.cards) if card == FACE_DOWN]
    if not places:
        raise ValueError(f"zone {zone.number} has no hidden place left")
    return places[rng.below(len(places))]


def _rebuild(view: View, chance: Chance) -> Game:
    """Make the table as the viewer sees it, with a face-down card where the viewer sees none."""
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
        _lay(zone, picture, viewer, game.everyone, view.clues)
    game.give_clues(bit(viewer), view.clues)
    game.agenda[:] = view.agenda
    return game


def _lay(zone: Zone, picture: ZoneView, viewer: int, everyone: int, clues: Sequence[tuple[Possibility, ...]]) -> None:
    mine = bit(viewer)
    zone.counters = list(picture.counters)
    known = picture.known
    if known:
        left = Counter(known)
        for possibilities in clues:
            left.subtract(certain_in(possibilities, zone.number))
        known = tuple(sorted(left.elements()))
        if known:
            zone.runs = ((known, mine),)
            zone.tracked = mine
    if picture.cards:
        zone.cards = list(picture.cards)
        if zone.masks is not None:
            holder = bit(zone.owner) if zone.kind.holder_learns and zone.owner >= 0 else 0
            hidden = everyone & holder & ~mine
            zone.masks = [everyone if card != FACE_DOWN else hidden for card in zone.cards]
        if zone.columns is not None:
            zone.columns = [list(column) for column in picture.columns]
        for card in known:
            zone.cards[zone.cards.index(FACE_DOWN)] = card
        return
    zone.cards = [*[FACE_DOWN] * (picture.size - len(known)), *known]
    if zone.masks is not None:
        zone.masks = [0] * picture.size
    if zone.columns is not None:
        zone.columns = [[0] * picture.size for _ in zone.columns]


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
