"""What one viewer may know, followed from all events with all faces, in the words of a rule sheet.

This is the second opinion on secrecy: it repeats what the engine does, but from the sheets' sections "Who sees what"
alone. It never asks a zone who sees it, never reads a view and never calls `imagine`; of the engine it takes only what
lies openly: the names, owners and sizes of zones. The table of each game is `hidden_<game>.py` beside this.

Knowledge of a zone whose faces the viewer may not see has two parts: cards that are surely there and cards that may
still be there. The sheets agree on it but for the exceptions that their tables state:

* a card seen to enter is surely there;
* a card seen to leave takes one entry of its face away, a sure one first;
* a card that leaves unseen makes every sure entry uncertain;
* an empty zone holds no secrets, and a whole zone that moves takes along what was known of it;
* a look replaces what was known.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from importlib import import_module
from random import Random
from typing import Any, ClassVar, Self

import pytest

from cutpurse.engine.agenda import Act, Option
from cutpurse.engine.events import Counted, Event, Happened, Moved, Placed, Shown
from cutpurse.engine.game import Game
from cutpurse.engine.words import FACE_DOWN
from cutpurse.engine.zones import Zone

__all__ = ["WhoSeesWhat", "table_of"]


class WhoSeesWhat:
    """Base of the tables: the knowledge of one viewer (a seat, or the number of seats for the spectator)."""

    OPEN: ClassVar[frozenset[str]]  # kinds of zone whose faces all see
    OWN: ClassVar[frozenset[str]]  # kinds whose faces the owner sees
    FORGOTTEN: ClassVar[frozenset[str]]  # hidden kinds of which nobody is shown what he saw: piles, closed bags
    CARD_BY_CARD: ClassVar[frozenset[str]] = frozenset()  # kinds where each card is hidden or not by itself
    DEALT_FIRST: ClassVar[frozenset[str]]  # kinds into which the first cards of each deal come out of the box

    def __init__(self, game: Game, viewer: int) -> None:
        """For a game whose events are all told to `hear` from its first on; `game` may have begun."""
        self.viewer = viewer
        self.seats = game.n
        self.settings: Any = game.settings
        self.words = game.words
        self.ordered = {kind.name for kind in game.words.zones if kind.ordered}
        # Where cards can lie, by number: kind and owner. The fixed zones never change, the others are placed.
        self.zones: dict[int, tuple[str, int]] = {zone.number: (zone.kind.name, zone.owner) for zone in game.fixed}
        self.real: dict[int, list[int]] = {zone: [] for zone in self.zones}  # all faces, in the order they came
        self.shown: dict[int, list[int]] = {}  # in zones kept card by card: those the viewer may see, else face down
        self.sure: dict[int, Counter[int]] = {}
        self.maybe: dict[int, Counter[int]] = {}
        self.heard = 0

    def copy(self) -> Self:
        """What the viewer knows now, to go on from separately."""
        other = copy(self)
        other.zones = self.zones.copy()
        other.real = {zone: cards[:] for zone, cards in self.real.items()}
        other.shown = {zone: cards[:] for zone, cards in self.shown.items()}
        other.sure = {zone: faces.copy() for zone, faces in self.sure.items()}
        other.maybe = {zone: faces.copy() for zone, faces in self.maybe.items()}
        return other

    def of_twin(self, twin: Game) -> Self:
        """The same knowledge, in a world with other cards where they are hidden."""
        other = self.copy()
        other.real = {zone.number: zone.cards[:] for zone in twin.zones()}
        return other

    # -- the sheet
    def sees(self, zone: int) -> bool:
        """Whether the sheet lets the viewer see every face in this zone; the box (0) is seen by nobody."""
        if zone == 0:
            return False
        kind, owner = self.zones[zone]
        return kind in self.OPEN or (kind in self.OWN and owner == self.viewer)

    def kind(self, zone: int) -> str:
        """The name of a zone's kind; of the box too."""
        return self.zones[zone][0] if zone else "box"

    def learns_by_holding(self, event: Placed) -> bool:
        """Whether the viewer sees all of a zone kept card by card because it comes to lie there."""
        return False

    def is_turned_over(self, event: Placed) -> bool:
        """Whether all cards of a zone are turned face down when it comes to lie there."""
        return False

    def is_shown(self, event: Moved, place: int) -> bool:
        """Whether the sheet shows this viewer a card in motion, though he sees neither end."""
        return False

    def looks(self, event: Shown) -> bool:
        """Whether the sheet lets the viewer see what is shown here."""
        raise AssertionError(f"the sheet of {self.words.title} knows no look")

    def is_told(self, act: Act, place: int) -> bool:
        """Whether the sheet tells the viewer the face of this card of an act."""
        return True

    def answer_as_seen(self, game: Game, seat: int, option: Option) -> object:
        """An answer of another seat as the viewer is told of it, as long as nothing more follows."""
        return option

    def moves_as_a_whole(self, event: Moved) -> bool:
        """Whether all cards of a hidden zone, moved at once, stay known; a single card is just a card that moves."""
        return len(event.cards) > 1

    def may_differ(self, one: Event, other: Event) -> bool:
        """Whether two worlds may part with these events though all was alike: something hidden comes to light."""
        match one, other:
            case Moved(), Moved():
                return (one.from_zone, one.to_zone, len(one.cards)) == (
                    other.from_zone,
                    other.to_zone,
                    len(other.cards),
                )
            case Shown(), Shown():
                return (one.zone, one.seats, len(one.cards)) == (other.zone, other.seats, len(other.cards))
        return False

    def may_lie(self, zone: Zone, place: int, card: int) -> bool:
        """Whether for all that the viewer knows this card could be the hidden one at this place."""
        return True

    def back(self, card: int) -> object:
        """What tells cards apart even face down."""
        return None

    def is_possible(self, twin: Game) -> bool:
        """Whether a re-dealt state agrees with what the rules let everybody infer."""
        return True

    # -- following the game
    def sees_card(self, event: Moved, place: int) -> bool:
        """Whether the viewer sees the face of one card that moves."""
        if self.kind(event.from_zone) in self.CARD_BY_CARD:
            at = last_place(self.real[event.from_zone], event.cards[place])
            if self.shown[event.from_zone][at] != FACE_DOWN:
                return True
        return self.sees(event.from_zone) or self.sees(event.to_zone) or self.is_shown(event, place)

    def told(self, event: Event) -> object:
        """An event as the sheet lets the viewer know it: unseen faces are left out, and so is their order."""
        match event:
            case Moved():
                return ("moved", event.from_zone, event.to_zone, *self._faces(event.cards, self.sees_card, event))
            case Shown():
                return ("shown", event.zone, event.seats, len(event.cards), self.looks(event) and sorted(event.cards))
            case Happened(act=act):
                faces = self._faces(act.cards, self.is_told, act)
                return ("happened", act._replace(cards=(), places=()), *faces)
        return event

    @staticmethod
    def _faces(cards: tuple[int, ...], is_seen: Any, event: Event | Act) -> tuple[int, tuple[int, ...]]:
        seen = [card for place, card in enumerate(cards) if is_seen(event, place)]
        return len(cards), tuple(seen if len(seen) == len(cards) else sorted(seen))

    def hear(self, event: Event) -> None:
        """Learn from the next event."""
        self.heard += 1
        match event:
            case Moved():
                self._hear_moved(event)
            case Shown():
                if self.looks(event) and not self.sees(event.zone):
                    self.learn(event.zone)
            case Placed():
                self.hear_placed(event)
            case Counted():
                self.hear_counted(event)
            case Happened(act=act):
                self.hear_act(act)

    def hear_act(self, act: Act) -> None:
        """Something was done; some sheets tell by it who will see what comes next."""

    def hear_counted(self, event: Counted) -> None:
        """A counter has a new value."""

    def hear_placed(self, event: Placed) -> None:
        """A zone made in play is new, elsewhere, or gone."""
        zone = event.zone
        if event.kind == 0:
            del self.zones[zone], self.real[zone]
            self.forget(zone)
            return
        real = self.real.setdefault(zone, [])
        seen = zone in self.zones and self.sees(zone)
        if zone in self.zones and self.kind(zone) not in self.ordered:
            real.sort()
        self.zones[zone] = (self.words.zones[event.kind - 1].name, event.seat)
        if self.kind(zone) in self.CARD_BY_CARD:
            if self.is_turned_over(event):
                self.shown[zone] = [FACE_DOWN] * len(real)
            elif self.learns_by_holding(event) or seen:
                self.shown[zone] = real[:]
            else:
                self.shown.setdefault(zone, [FACE_DOWN] * len(real))

    def new_deal(self) -> None:
        """All cards are gathered in, and nothing is known any more; zones made in play have been dropped."""
        self.real = {zone: [] for zone in self.zones}
        self.shown = {zone: [] for zone in self.zones if self.kind(zone) in self.CARD_BY_CARD}
        self.sure.clear()
        self.maybe.clear()

    def _hear_moved(self, event: Moved) -> None:
        if event.from_zone == 0 and self.kind(event.to_zone) in self.DEALT_FIRST:
            self.new_deal()
        src, dst, cards = event.from_zone, event.to_zone, event.cards
        seen = [self.sees_card(event, place) for place in range(len(cards))]
        goes_along = None
        is_whole = src != 0 and len(cards) == len(self.real[src]) and self.moves_as_a_whole(event)
        if is_whole and not any(seen):
            goes_along = self.sure.pop(src, Counter()), self.maybe.pop(src, Counter())
            self.real[src] = []
        elif src != 0:
            for card, is_seen in zip(cards, seen, strict=True):
                self.leaves(src, card, is_seen)
        if goes_along and self.remembers(dst):
            self.sure.setdefault(dst, Counter()).update(goes_along[0])
            self.maybe.setdefault(dst, Counter()).update(goes_along[1])
        for card, is_seen in zip(cards, seen, strict=True):
            self.real[dst].append(card)
            if self.kind(dst) in self.CARD_BY_CARD:
                self.shown.setdefault(dst, []).append(card if is_seen else FACE_DOWN)
            elif is_seen and self.remembers(dst):
                self.sure.setdefault(dst, Counter())[card] += 1

    def remembers(self, zone: int) -> bool:
        """Whether the viewer, who may not see this zone, keeps what he saw come into it."""
        return not self.sees(zone) and self.kind(zone) not in self.FORGOTTEN | self.CARD_BY_CARD

    def leaves(self, zone: int, card: int, is_seen: bool) -> None:
        """One card has left a zone."""
        at = last_place(self.real[zone], card)
        del self.real[zone][at]
        if self.kind(zone) in self.CARD_BY_CARD:
            del self.shown[zone][at]
        if not self.real[zone]:
            self.forget(zone)
            return
        sure, maybe = self.sure.get(zone, Counter()), self.maybe.setdefault(zone, Counter())
        if not is_seen:
            doubted = Counter({face: n for face, n in sure.items() if self.is_doubted(face, card)})
            maybe.update(doubted)
            sure.subtract(doubted)
        elif sure[card] > 0:
            sure[card] -= 1
        elif maybe[card] > 0:
            maybe[card] -= 1

    def is_doubted(self, known: int, left: int) -> bool:
        """Whether a card that left unseen could have been this known one."""
        return self.back(known) == self.back(left)

    def forget(self, zone: int) -> None:
        """Nothing is known of a zone any more."""
        self.sure.pop(zone, None)
        self.maybe.pop(zone, None)
        self.shown.pop(zone, None)

    def learn(self, zone: int) -> None:
        """The viewer has just seen all that lies in a hidden zone."""
        self.forget(zone)
        if self.kind(zone) in self.CARD_BY_CARD:
            self.shown[zone] = self.real[zone][:]
        else:
            self.sure[zone] = Counter(self.real[zone])

    def knows(self, zone: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The faces that are surely, and those that may be, in a zone the viewer does not see; sorted."""
        sure, maybe = self.sure.get(zone, Counter()), self.maybe.get(zone, Counter())
        return tuple(sorted((+sure).elements())), tuple(sorted((+maybe).elements()))

    # -- a whole zone
    def faces(self, zone: Zone) -> list[int]:
        """The cards of a zone with those face down that the sheet does not let the viewer see."""
        if zone.kind.name in self.CARD_BY_CARD:
            return self.shown.get(zone.number, [])[:]
        return zone.cards[:] if self.sees(zone.number) else [FACE_DOWN] * len(zone.cards)

    def hidden_places(self, zone: Zone) -> list[int]:
        """The places of a zone whose cards the viewer neither sees nor surely knows."""
        sure = Counter(self.sure.get(zone.number, Counter()))
        places = []
        for place, (face, card) in enumerate(zip(self.faces(zone), zone.cards, strict=True)):
            if face != FACE_DOWN:
                continue
            if sure[card] > 0:
                sure[card] -= 1
            else:
                places.append(place)
        return places

    def redeal(self, game: Game, random: Random) -> Game | None:
        """A state that the viewer cannot tell from this one: some hidden cards have changed places.

        One pair, some, or all of them; None if no two of them can.
        """
        twin = type(game).load(game.save())
        hidden = [(zone, place) for zone in twin.zones() for place in self.hidden_places(zone)]
        if len(hidden) < 2:
            return None
        share = random.choice((0, 0, 4, len(hidden) * 3))
        exchanged = 0
        for _ in range(share * 3 + 40):
            (one, i), (other, j) = random.sample(hidden, 2)
            mine, theirs = one.cards[i], other.cards[j]
            if mine == theirs or (one is other and not one.kind.ordered) or self.back(mine) != self.back(theirs):
                continue
            if self.may_lie(one, i, theirs) and self.may_lie(other, j, mine):
                one.cards[i], other.cards[j] = theirs, mine
                exchanged += 1
                if exchanged > share:
                    break
        if not exchanged:
            return None
        for zone in twin.zones():
            if not zone.kind.ordered:
                sort_with_columns(zone)
        return twin if self.is_possible(twin) else None


def last_place(cards: list[int], card: int) -> int:
    """The uppermost place of a card."""
    return len(cards) - 1 - cards[::-1].index(card)


def sort_with_columns(zone: Zone) -> None:
    """Put a zone without an order of its own back into the order of faces; numbers stay with their cards."""
    columns = zone.columns or []
    rows = sorted(zip(zone.cards, *columns, strict=True))
    zone.cards = [row[0] for row in rows]
    if zone.columns is not None:
        zone.columns = [[row[i + 1] for row in rows] for i in range(len(columns))]


def table_of(name: str) -> type[WhoSeesWhat]:
    """The table of a game, from its module here; a game without one fails."""
    module = f"tests.properties.hidden_{name}"
    try:
        found = import_module(module)
    except ModuleNotFoundError:
        pytest.fail(
            f"{name} is in GAMES but has no table of who sees what: write tests/properties/hidden_{name}.py "
            f"from the section `Who sees what` of docs/rules/{name}.md, as hidden_greed.py does"
        )
    tables = [thing for thing in vars(found).values() if isinstance(thing, type) and issubclass(thing, WhoSeesWhat)]
    (table,) = [thing for thing in tables if thing is not WhoSeesWhat]
    return table
