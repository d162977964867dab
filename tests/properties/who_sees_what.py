"""What one viewer may know, followed from all events with all faces, in the words of a rule sheet.

This is the second opinion on secrecy: it repeats what the engine does, but from the sheets' sections "Who sees what"
alone. It never asks a zone who sees it, never reads a view and never calls `imagine`; of the engine it takes only what
lies openly: the names, owners and sizes of zones. The table of each game is `hidden_<game>.py` beside this.

What the viewer knows of a zone whose faces they may not see is what they can prove from that: the `reasoner` lists all
that may be true. The sheets agree on it but for what they let be forgotten, which their tables state.
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
from tests.properties.reasoner import Reasoner

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
        self.reasoner = Reasoner(Counter(game.box(game.n, game.settings)))
        self.heard = 0

    def copy(self) -> Self:
        """What the viewer knows now, to go on from separately."""
        other = copy(self)
        other.zones = self.zones.copy()
        other.real = {zone: cards[:] for zone, cards in self.real.items()}
        other.shown = {zone: cards[:] for zone, cards in self.shown.items()}
        other.reasoner = self.reasoner.copy()
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
                return ("happened", act.showing(()), *faces)
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
        """All cards are gathered in, and nothing is known any more; zones made in play have been dropped."""
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
        """Whether the viewer, who may not see this zone, keeps what he saw come into it."""
        return not self.sees(zone) and self.kind(zone) not in self.FORGOTTEN | self.CARD_BY_CARD

    def hidden_cards(self, zone: int) -> list[int]:
        """The cards of a zone whose faces the viewer does not see."""
        if self.kind(zone) in self.CARD_BY_CARD:
            shown = self.shown.get(zone, [])
            return [card for card, face in zip(self.real[zone], shown, strict=True) if face == FACE_DOWN]
        return [] if self.sees(zone) else self.real[zone]

    def in_sight(self, card: int, but: int) -> int:
        """How many copies of a card the viewer sees outside of one zone."""
        return sum(
            self.real[zone].count(card) - self.hidden_cards(zone).count(card) for zone in self.zones if zone != but
        )

    def sees_leave(self, zone: int, cards: list[int], size: int) -> None:
        """The viewer sees cards that were hidden in a zone, so far of `size`, one after the other."""
        for i, card in enumerate(cards):
            self.reasoner.leaves(zone, card, size - i, self.in_sight(card, zone) + cards[:i].count(card))

    def learn(self, zone: int) -> None:
        """The viewer has just seen all that lies in a hidden zone."""
        hidden = self.hidden_cards(zone)[:]
        self.sees_leave(zone, hidden, len(hidden))
        if self.kind(zone) in self.CARD_BY_CARD:
            self.shown[zone] = self.real[zone][:]
        elif self.remembers(zone):
            for card in self.real[zone]:
                self.reasoner.comes(zone, card)

    def knows(self, zone: int) -> tuple[int, ...]:
        """The faces that are surely in a zone, hidden from the viewer; sorted."""
        return self.reasoner.certain(zone)

    # -- a whole zone
    def faces(self, zone: Zone) -> list[int]:
        """The cards of a zone with those face down that the sheet does not let the viewer see."""
        if zone.kind.name in self.CARD_BY_CARD:
            return self.shown.get(zone.number, [])[:]
        return zone.cards[:] if self.sees(zone.number) else [FACE_DOWN] * len(zone.cards)

    def hidden_places(self, zone: Zone) -> list[int]:
        """The places of a zone whose cards the viewer neither sees nor surely knows."""
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
        """By zone, the cards of a state that are hidden from the viewer in this one."""
        found = {}
        for zone in game.zones():
            faces = self.faces(zone)
            found[zone.number] = [card for card, face in zip(zone.cards, faces, strict=True) if face == FACE_DOWN]
        return found

    def redeal(self, game: Game, random: Random) -> Game | None:
        """A state that the viewer cannot tell from this one: some hidden cards have changed places.

        One pair, some, or all of them; None if no two of them can.
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
