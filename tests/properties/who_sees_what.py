"""The knowledge of one viewer by the rule sheet, computed from all events with all cards.

This is a second implementation of secrecy, written only from the sections "Who sees what" of the sheets. It never asks
a zone who sees it, never reads a view and never calls `imagine`. From the engine it uses only public facts: the names,
owners and sizes of zones. `hidden_<game>.py` has the table of each game.

A viewer knows of a hidden zone what follows from these facts: the `reasoner` lists all possibilities. The sheets agree
with that, except for what they allow to be forgotten, which the tables state.
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
from tests.properties.reasoner import Forgetful, Reasoner, Witness

__all__ = ["WhoSeesWhat", "table_of"]

REASONERS = {"proof": Reasoner, "seen": Witness, "none": Forgetful}


class WhoSeesWhat:
    """Base of the tables: the knowledge of one viewer (a seat, or the number of seats for the spectator)."""

    OPEN: ClassVar[frozenset[str]]  # kinds of zones that all see
    OWN: ClassVar[frozenset[str]]  # kinds that the owner sees
    FORGOTTEN: ClassVar[frozenset[str]]  # hidden kinds for which views have no card knowledge: piles, closed bags
    CARD_BY_CARD: ClassVar[frozenset[str]] = frozenset()  # kinds in which each card is visible or hidden by itself
    reasons: ClassVar[type[Reasoner]] = Reasoner  # what the viewer makes of it, and a view has
    DEALT_FIRST: ClassVar[frozenset[str]]  # kinds that get the first cards of each deal from the box

    def __init__(self, game: Game, viewer: int) -> None:
        """Set up a table; `hear` must get all events from the first on, even if `game` has begun."""
        self.viewer = viewer
        self.seats = game.n
        self.settings: Any = game.settings
        self.words = game.words
        self.ordered = {kind.name for kind in game.words.zones if kind.ordered}
        # Kind and owner of zones, by number. The fixed zones never change, the others are placed.
        self.zones: dict[int, tuple[str, int]] = {zone.number: (zone.kind.name, zone.owner) for zone in game.fixed}
        self.real: dict[int, list[int]] = {zone: [] for zone in self.zones}  # all cards, in the order of arrival
        self.shown: dict[int, list[int]] = {}  # in zones of CARD_BY_CARD: visible cards, else face down
        self.reasoner = self.reasons(Counter(game.box(game.n, game.settings)))
        self.heard = 0

    def copy(self) -> Self:
        """Return an independent copy of the knowledge."""
        other = copy(self)
        other.zones = self.zones.copy()
        other.real = {zone: cards[:] for zone, cards in self.real.items()}
        other.shown = {zone: cards[:] for zone, cards in self.shown.items()}
        other.reasoner = self.reasoner.copy()
        return other

    def of_twin(self, twin: Game) -> Self:
        """Return the same knowledge in a twin world with other hidden cards."""
        other = self.copy()
        other.real = {zone.number: zone.cards[:] for zone in twin.zones()}
        return other

    # -- the sheet
    def sees(self, zone: int) -> bool:
        """Return whether the viewer sees all cards of a zone by the sheet; the box (0) is always hidden."""
        if zone == 0:
            return False
        kind, owner = self.zones[zone]
        return kind in self.OPEN or (kind in self.OWN and owner == self.viewer)

    def kind(self, zone: int) -> str:
        """Return the name of a zone's kind, also for the box."""
        return self.zones[zone][0] if zone else "box"

    def learns_by_holding(self, event: Placed) -> bool:
        """Return whether the viewer sees all of a CARD_BY_CARD zone because of its new position."""
        return False

    def is_turned_over(self, event: Placed) -> bool:
        """Return whether all cards of a zone are turned face down at its new position."""
        return False

    def is_shown(self, event: Moved, place: int) -> bool:
        """Return whether the sheet shows a moving card to a viewer who sees neither zone."""
        return False

    def looks(self, event: Shown) -> bool:
        """Return whether the viewer sees the cards of a Shown event by the sheet."""
        raise AssertionError(f"the sheet of {self.words.title} knows no look")

    def is_told(self, act: Act, place: int) -> bool:
        """Return whether the viewer sees this card of an act by the sheet."""
        return True

    def answer_as_seen(self, game: Game, seat: int, option: Option) -> object:
        """Return an answer of another seat as the viewer sees it, before its effects."""
        return option

    def moves_as_a_whole(self, event: Moved) -> bool:
        """Return whether knowledge of a hidden zone moves with its cards; a single card is an ordinary move."""
        return len(event.cards) > 1

    def may_differ(self, one: Event, other: Event) -> bool:
        """Return whether two equal worlds may part with these events, because they reveal something hidden."""
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
        """Return whether a card could be the hidden one at this index, by the viewer's knowledge."""
        return True

    def back(self, card: int) -> object:
        """Return what distinguishes a face-down card."""
        return None

    def is_possible(self, twin: Game) -> bool:
        """Return whether a re-dealt state agrees with public inferences by the rules."""
        return True

    # -- following the game
    def sees_card(self, event: Moved, place: int) -> bool:
        """Return whether the viewer sees one card of a move."""
        if self.kind(event.from_zone) in self.CARD_BY_CARD:
            at = last_place(self.real[event.from_zone], event.cards[place])
            if self.shown[event.from_zone][at] != FACE_DOWN:
                return True
        return self.sees(event.from_zone) or self.sees(event.to_zone) or self.is_shown(event, place)

    def told(self, event: Event) -> object:
        """Return an event as the viewer sees it by the sheet, without hidden cards and their order."""
        match event:
            case Moved():
                return ("moved", event.from_zone, event.to_zone, *self._faces(event.cards, self.sees_card, event))
            case Shown():
                return ("shown", event.zone, event.seats, len(event.cards), self.looks(event) and sorted(event.cards))
            case Happened(act=act):
                faces = self._faces(act.cards, self.is_told, act)
                return ("happened", act.showing(()), *faces)
        return event

    @staticmethod
    def _faces(cards: tuple[int, ...], is_seen: Any, event: Event | Act) -> tuple[int, tuple[int, ...]]:
        seen = [card for place, card in enumerate(cards) if is_seen(event, place)]
        return len(cards), tuple(seen if len(seen) == len(cards) else sorted(seen))

    def hear(self, event: Event) -> None:
        """Update the knowledge by the next event."""
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
        """Process an act; in some sheets it decides who sees the following cards."""

    def hear_counted(self, event: Counted) -> None:
        """Process a new value of a counter."""

    def hear_placed(self, event: Placed) -> None:
        """Process a zone that was created, moved or removed."""
        zone = event.zone
        if event.kind == 0:
            del self.zones[zone], self.real[zone]
            self.shown.pop(zone, None)
            return
        real = self.real.setdefault(zone, [])
        seen = zone in self.zones and self.sees(zone)
        was_hidden = self.hidden_cards(zone) if zone in self.zones else []
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
        now_hidden = Counter(self.hidden_cards(zone))
        self.sees_leave(zone, sorted((Counter(was_hidden) - now_hidden).elements()), len(was_hidden))
        if self.kind(zone) in self.FORGOTTEN:
            self.reasoner.goes({zone: 0})
        elif seen:
            for card in (now_hidden - Counter(was_hidden)).elements():
                self.reasoner.comes(zone, card)

    def new_deal(self) -> None:
        """Forget everything at a new deal; zones created in play are removed already."""
        self.real = {zone: [] for zone in self.zones}
        self.shown = {zone: [] for zone in self.zones if self.kind(zone) in self.CARD_BY_CARD}
        self.reasoner.forget_all()

    def _hear_moved(self, event: Moved) -> None:
        if event.from_zone == 0 and self.kind(event.to_zone) in self.DEALT_FIRST:
            self.new_deal()
        src, dst, cards = event.from_zone, event.to_zone, event.cards
        seen = [self.sees_card(event, place) for place in range(len(cards))]
        is_whole = src != 0 and len(cards) == len(self.real[src]) and self.moves_as_a_whole(event)
        target = 0 if self.kind(dst) in self.FORGOTTEN else dst
        if is_whole:
            hidden = self.hidden_cards(src)[:]
            if all(seen):
                self.sees_leave(src, hidden, len(hidden))
            self.reasoner.goes({src: target})
        for i, card in enumerate(cards):
            if src != 0:
                size = len(self.hidden_cards(src))
                was_hidden = not self.sees(src)
                at = last_place(self.real[src], card)
                if self.kind(src) in self.CARD_BY_CARD:
                    was_hidden = self.shown[src][at] == FACE_DOWN
                    del self.shown[src][at]
                del self.real[src][at]
                if was_hidden and not is_whole:
                    if seen[i]:
                        self.reasoner.leaves(src, card, size, self.in_sight(card, src))
                    else:
                        self.reasoner.slips(src, target, size)
            self.real[dst].append(card)
            if self.kind(dst) in self.CARD_BY_CARD:
                self.shown.setdefault(dst, []).append(card if seen[i] else FACE_DOWN)
            elif seen[i] and self.remembers(dst):
                self.reasoner.comes(dst, card)

    def remembers(self, zone: int) -> bool:
        """Return whether the viewer remembers cards seen coming into this hidden zone."""
        return not self.sees(zone) and self.kind(zone) not in self.FORGOTTEN | self.CARD_BY_CARD

    def hidden_cards(self, zone: int) -> list[int]:
        """Return the cards of a zone that the viewer does not see."""
        if self.kind(zone) in self.CARD_BY_CARD:
            shown = self.shown.get(zone, [])
            return [card for card, face in zip(self.real[zone], shown, strict=True) if face == FACE_DOWN]
        return [] if self.sees(zone) else self.real[zone]

    def in_sight(self, card: int, but: int) -> int:
        """Count the copies of a card that the viewer sees outside one zone."""
        return sum(
            self.real[zone].count(card) - self.hidden_cards(zone).count(card) for zone in self.zones if zone != but
        )

    def sees_leave(self, zone: int, cards: list[int], size: int) -> None:
        """Process that the viewer sees hidden cards of a zone of `size` hidden cards, one after the other."""
        for i, card in enumerate(cards):
            self.reasoner.leaves(zone, card, size - i, self.in_sight(card, zone) + cards[:i].count(card))

    def learn(self, zone: int) -> None:
        """Process that the viewer sees all cards of a hidden zone."""
        hidden = self.hidden_cards(zone)[:]
        self.sees_leave(zone, hidden, len(hidden))
        if self.kind(zone) in self.CARD_BY_CARD:
            self.shown[zone] = self.real[zone][:]
        elif self.remembers(zone):
            for card in self.real[zone]:
                self.reasoner.comes(zone, card)

    def knows(self, zone: int) -> tuple[int, ...]:
        """Return the certain cards of a hidden zone, sorted."""
        return self.reasoner.certain(zone)

    # -- a whole zone
    def faces(self, zone: Zone) -> list[int]:
        """Return the cards of a zone, with hidden ones face down."""
        if zone.kind.name in self.CARD_BY_CARD:
            return self.shown.get(zone.number, [])[:]
        return zone.cards[:] if self.sees(zone.number) else [FACE_DOWN] * len(zone.cards)

    def hidden_places(self, zone: Zone) -> list[int]:
        """Return the indexes of a zone whose cards the viewer neither sees nor knows for certain."""
        sure = Counter(self.knows(zone.number))
        places = []
        for place, (face, card) in enumerate(zip(self.faces(zone), zone.cards, strict=True)):
            if face != FACE_DOWN:
                continue
            if sure[card] > 0:
                sure[card] -= 1
            else:
                places.append(place)
        return places

    def hidden_in(self, game: Game) -> dict[int, list[int]]:
        """Return the cards of a state that are hidden from the viewer, by zone."""
        found = {}
        for zone in game.zones():
            faces = self.faces(zone)
            found[zone.number] = [card for card, face in zip(zone.cards, faces, strict=True) if face == FACE_DOWN]
        return found

    def redeal(self, game: Game, random: Random) -> Game | None:
        """Return a state that the viewer cannot distinguish from this one, with some hidden cards exchanged.

        It exchanges one pair, some, or all of them. Returns None if no two can be exchanged.
        """
        twin = type(game).load(game.save())
        hidden = [(zone, place) for zone in twin.zones() for place in self.hidden_places(zone)]
        if len(hidden) < 2:
            return None
        if self.reasoner.lost:
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
                if self.reasoner.parts and not self.reasoner.agrees(self.hidden_in(twin)):
                    one.cards[i], other.cards[j] = mine, theirs
                    continue
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
    """Return the last index of a card."""
    return len(cards) - 1 - cards[::-1].index(card)


def sort_with_columns(zone: Zone) -> None:
    """Sort an unordered zone by card; columns stay with their cards."""
    columns = zone.columns or []
    rows = sorted(zip(zone.cards, *columns, strict=True))
    zone.cards = [row[0] for row in rows]
    if zone.columns is not None:
        zone.columns = [[row[i + 1] for row in rows] for i in range(len(columns))]


def table_of(name: str, level: str = "proof") -> type[WhoSeesWhat]:
    """Return the table of a game, for viewers of a level of knowledge; fail the test if there is no module for it."""
    module = f"tests.properties.hidden_{name}"
    try:
        found = import_module(module)
    except ModuleNotFoundError:
        pytest.fail(
            f"{name} is in GAMES but has no table of who sees what: write tests/properties/hidden_{name}.py "
            f"from the section `Who sees what` of docs/reference/rules/{name}.md, as hidden_greed.py does"
        )
    tables = [thing for thing in vars(found).values() if isinstance(thing, type) and issubclass(thing, WhoSeesWhat)]
    (table,) = [thing for thing in tables if thing is not WhoSeesWhat]
    return type(table.__name__, (table,), {"reasons": REASONERS[level]})
