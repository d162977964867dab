"""The table: zones of cards and counters by their names in a game, of the table and of each seat.

Here a zone is made, goes to another seat, or is gone; cards are the `Dealer`'s. This module knows no agenda and no
rules; `Game` adds them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar, Final, Generic, Self

from cutpurse.engine.chance import Chance
from cutpurse.engine.clues import Clue, Possibility
from cutpurse.engine.dealer import Dealer
from cutpurse.engine.events import ALONE, Counted, Placed
from cutpurse.engine.knowledge import catch_up
from cutpurse.engine.knowledge_log import FORGOTTEN
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import S_co
from cutpurse.engine.words import Visibility, Words, ZoneKind
from cutpurse.engine.zones import MOST_VIEWERS, NO_FACE_DOWN_VIEWS, NO_VIEWS, TABLE, Zone, bit, copies_of

__all__ = ["Table"]

_MIXED: Final = Visibility.MIXED  # looked up whenever a zone is placed
NEW_ZONE_IS_MANY: Final = "only kinds declared with many=True are made in play"
MOST_COPIED: Final = 1000  # notes of a knowledge log that a fork copies: it takes a microsecond or two

_CLOCKWISE: Final = [
    [tuple([(seat + k) % seats for k in range(seats)]) for seat in range(seats)] for seats in range(MOST_VIEWERS)
]  # by number of seats, then by the seat to begin with
_OTHERS: Final = [[seats[1:] for seats in clockwise] for clockwise in _CLOCKWISE]


def _values(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    """Make a function that reads the attributes of these names off a game."""
    if len(names) > 1:
        return attrgetter(*names)
    if names:
        name = names[0]
        return lambda game: (getattr(game, name),)  # an `attrgetter` for one name returns no tuple
    return lambda game: ()


@dataclass(frozen=True, slots=True)  # whose fields are found faster than those of a tuple
class _Layout:
    """The names of a game's zones and counters, sorted by what they belong to."""

    of_table: tuple[str, ...]
    of_seats: tuple[str, ...]
    made: tuple[str, ...]
    table_counters: tuple[str, ...]
    seat_counters: tuple[str, ...]
    values_of_table: Callable[[object], tuple[int, ...]]
    values_of_seats: Callable[[object], tuple[list[int], ...]]

    @classmethod
    def of(cls, words: Words) -> _Layout:
        fixed = [kind for kind in words.zones if not kind.many]
        table_counters = tuple([counter.name for counter in words.table_counters])
        seat_counters = tuple([counter.name for counter in words.seat_counters])
        return cls(
            tuple(kind.name for kind in fixed if not kind.per_seat),
            tuple(kind.name for kind in fixed if kind.per_seat),
            tuple(kind.name for kind in words.zones if kind.many),
            table_counters,
            seat_counters,
            _values(table_counters),
            _values(seat_counters),
        )


@mypyc_attr(allow_interpreted_subclasses=True)
class Table(Dealer, Generic[S_co]):
    """Everything that lies before the players; the base of `Game`, see there for how a game names its zones."""

    __slots__ = (
        "_clues_shown",
        "_copies",
        "_in_order",
        "_numbered",
        "_seat_lists",
        "_seat_values",
        "fixed",
        "made",
        "n",
        "settings",
    )

    words: ClassVar[Words]
    settings: S_co
    shared: ClassVar[tuple[str, ...]] = ()  # attributes of its own that never change, so that forks share them

    layout: ClassVar[_Layout]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "words" in vars(cls):
            assert cls.words.seats[-1] < MOST_VIEWERS, "a zone caches views for fewer viewers"
            assert len(cls.words.cards) < len(ALONE), "a card that moves is told of by one of so many tuples"
            cls.layout = _Layout.of(cls.words)

    def __init__(self, seats: int, settings: S_co, chance: Chance, like: Self | None = None) -> None:
        """Make an empty table, or a copy of `like` without its events."""
        super().__init__(chance, everyone=(1 << (seats + 1)) - 1)
        self.n = seats
        self.settings = settings
        self.made: int  # zones made so far, which gives the next its number
        self.fixed: list[Zone]
        self._in_order: list[Zone] | None = None  # all zones as a view has them, until one is made or goes elsewhere
        self._numbered: dict[int, Zone] | None = None  # all zones by number, until one is made or gone
        self._copies: list[int]  # of each card in the box, once somebody has asked
        self._clues_shown: dict[int, tuple[tuple[Possibility, ...], ...]]  # by viewer, until the log has more
        self._seat_lists: tuple[list[int], ...]  # as they were when `_seat_values` were made of them
        self._seat_values: tuple[tuple[int, ...], ...]
        if like is None:
            self._lay_out()
            self.prepare()
        else:
            self.copy_from(like)

    def _lay_out(self) -> None:
        """Set every counter to 0, and lay every zone out, empty."""
        self.made = 0
        self.fixed = []
        self._copies = []
        self._clues_shown = {}
        self._seat_lists = self._seat_values = ()
        seats, words = self.n, self.words
        for counter in words.table_counters:
            setattr(self, counter.name, 0)
        for counter in words.seat_counters:
            setattr(self, counter.name, [0] * seats)
        for kind in words.zones:
            if kind.many:
                setattr(self, kind.name, [[] for _ in range(seats)])
            elif not kind.per_seat:
                self.fixed.append(self._new_zone(kind, TABLE))
        for seat in range(seats):
            self.fixed += [self._new_zone(kind, seat) for kind in words.zones if kind.per_seat and not kind.many]
        self._name_zones()

    def prepare(self) -> None:
        """Set what follows from the settings alone and is named in `shared`; for a game that has such attributes."""

    def copy_from(self, like: Self) -> None:
        """Become an independent copy of another table, without its events and its chance."""
        if len(like.notes) > MOST_COPIED:
            like.catch_up()
        self.remembering, self.inferring = like.remembering, like.inferring
        notes = like.notes[:]  # most forks are never looked at
        self.notes = notes
        self.clues = like.clues[:]
        self.made = like.made
        self.fixed = copies_of(like.fixed, notes)
        self._copies = like._copies
        self._clues_shown = like._clues_shown
        self._seat_lists = like._seat_lists
        self._seat_values = like._seat_values
        self._name_zones()
        layout = self.layout
        for name in layout.table_counters:
            setattr(self, name, getattr(like, name))
        for name in layout.seat_counters:
            setattr(self, name, getattr(like, name)[:])
        for name in layout.made:
            setattr(self, name, [copies_of(side, notes) for side in getattr(like, name)])
        for name in self.shared:
            setattr(self, name, getattr(like, name))

    def _new_zone(self, kind: ZoneKind, owner: int) -> Zone:
        self.made += 1
        return Zone(self.made, kind, owner, self.everyone, self.remembering, self.notes)

    def _name_zones(self) -> None:
        """Let `self.hand` be the hands, and so on: the zones of the table first, then each seat's in order."""
        layout = self.layout
        for i, name in enumerate(layout.of_table):
            setattr(self, name, self.fixed[i])
        for j, name in enumerate(layout.of_seats, len(layout.of_table)):
            setattr(self, name, self.fixed[j :: len(layout.of_seats)])

    def seat_values(self) -> tuple[tuple[int, ...], ...]:
        """Return the counters of the seats as a view has them: one object as long as none of them changes."""
        lists = self.layout.values_of_seats(self)
        if lists != self._seat_lists:
            self._seat_lists = tuple([of_seats[:] for of_seats in lists])
            self._seat_values = tuple([tuple(of_seats) for of_seats in lists])
        return self._seat_values

    # -- looking zones up
    def zones(self) -> list[Zone]:
        """List every zone, in the order of a view."""
        return self.in_order()[:]

    def in_order(self) -> list[Zone]:
        """Return every zone, in the order of a view. The list is cached; do not change it."""
        if self._in_order is not None:
            return self._in_order
        zones = self.fixed[:]
        for name in self.layout.made:
            for side in getattr(self, name):
                if side:
                    zones += side
        self._in_order = zones
        return zones

    def zone(self, number: int) -> Zone:
        """Look up a zone by its number.  Raises KeyError if there is none (any more)."""
        if 1 <= number <= len(self.fixed):
            return self.fixed[number - 1]
        if self._numbered is None:
            self._numbered = {zone.number: zone for zone in self.zones()}
        return self._numbered[number]

    def restore_zone(self, number: int, kind: ZoneKind, owner: int) -> Zone:
        """Put a zone made in play back on top of its side, under its old number."""
        zone = Zone(number, kind, owner, self.everyone, self.remembering, self.notes)
        getattr(self, kind.name)[owner].append(zone)
        self._in_order = self._numbered = None
        return zone

    # -- card knowledge
    @classmethod
    def box(cls, seats: int, settings: Any) -> list[int]:
        """Return every card that takes part, a number a copy."""
        raise TypeError(f"{cls.__name__} has no box")

    def copies(self) -> list[int]:
        """Return the number of copies of each card in the box, by its number."""
        if not self._copies:
            copies = [0] * (len(self.words.cards) + 1)
            for card in self.box(self.n, self.settings):
                copies[card] += 1
            self._copies = copies
        return self._copies

    def _copies_in_sight(self, card: int, but: Zone) -> tuple[int, ...]:
        viewer_masks: list[int] = []
        for zone in self.in_order():
            masks = zone.masks
            if zone is but or (masks is None and not zone.sees):  # nobody sees the deck, the longest of them
                continue
            for i, other in enumerate(zone.cards):
                if other == card:
                    viewer_masks.append(zone.sees if masks is None else masks[i])
        return tuple(viewer_masks)

    def remember(self, remembering: int, inferring: int) -> None:
        """Let only these viewers remember hidden cards, and those infer, from now on; see `knowledge_level`.

        What was known before stays known. So a game that is to know less says so before its first card is dealt.
        """
        self.remembering, self.inferring = remembering, inferring
        for zone in self.in_order():
            zone.remembering = remembering

    def catch_up(self) -> None:
        """Work the knowledge log off."""
        catch_up(self)
        self._clues_shown = {}

    def clues_of(self, viewer: int) -> tuple[tuple[Possibility, ...], ...]:
        """Return the clues that a viewer has, in an order that tells nothing; the log must be worked off."""
        if not self.clues:
            return ()
        if viewer not in self._clues_shown:
            self._clues_shown[viewer] = tuple(
                sorted([clue.possibilities for clue in self.clues if clue.viewers >> viewer & 1])
            )
        return self._clues_shown[viewer]

    def give_clues(self, viewers: int, clues: tuple[tuple[Possibility, ...], ...]) -> None:
        """Let these viewers have clues: those of a view or of a saved game."""
        for possibilities in clues:
            clue = Clue(viewers, possibilities)
            self.clues.append(clue)
            for number in clue.zones:
                zone = self.zone(number)
                zone.clues = (*zone.clues, clue)
                zone.tracked |= viewers
                zone.doubtful |= viewers

    # -- zones made in play
    def make(self, kind: ZoneKind, seat: int) -> Zone:
        """Make a new, empty zone before a seat, on top of those of its kind."""
        assert kind.many, NEW_ZONE_IS_MANY
        zone = self._new_zone(kind, seat)
        getattr(self, kind.name)[seat].append(zone)
        self._in_order = None
        if self._numbered is not None:
            self._numbered[zone.number] = zone
        self._tell_placed(zone)
        return zone

    def place(self, zone: Zone, kind: ZoneKind, seat: int, face_down: bool = False) -> None:
        """Move a zone made in play on top before a seat, as this kind: stolen, bagged, carried abroad.

        Viewers who could see its cards go on knowing them, by the new kind's visibility; `face_down` turns them over,
        so that in one of mixed visibility nobody sees them any more. Counters that the new kind does not have are gone.
        """
        getattr(self, zone.kind.name)[zone.owner].remove(zone)
        before, masks, zone.owner = zone.sees, zone.masks, seat
        if kind is not zone.kind:
            if kind.visibility is not _MIXED:
                zone.masks = None
            elif masks is None:
                zone.masks = [0 if face_down else before] * len(zone.cards)
            zone.counters = (zone.counters + [0] * len(kind.counters))[: len(kind.counters)]
            zone.become(kind)
        zone.sees = zone.seers_for(seat, self.everyone)
        saw = None if masks is None else tuple(masks)
        if zone.masks is not None and kind.holder_learns:
            self.note_look(zone, saw, bit(seat))
            zone.uncover(bit(seat))
        elif zone.sees & ~before:
            self.note_look(zone, saw, zone.sees & ~before)
        if not kind.remembers:
            if zone.tracked:
                self.notes.append((FORGOTTEN, zone.number))
                zone.tracked = zone.doubtful = 0
        elif zone.masks is None:
            zone.uncover(before)
        getattr(self, kind.name)[seat].append(zone)
        self._in_order = None
        zone.view_cache, zone.face_down_views = NO_VIEWS, NO_FACE_DOWN_VIEWS
        self._tell_placed(zone)

    def drop(self, zone: Zone) -> None:
        """Remove an empty zone made in play."""
        assert not zone.cards, f"zone {zone.number} is dropped with cards in it"
        if self.notes:
            self.catch_up()  # what is still noted may be about this zone
        getattr(self, zone.kind.name)[zone.owner].remove(zone)
        self._in_order = self._numbered = None
        if self.log is not None:
            self.log.append(Placed(zone.number, 0, zone.owner))

    def _tell_placed(self, zone: Zone) -> None:
        if self.log is not None:
            self.log.append(Placed(zone.number, zone.kind.number, zone.owner))

    # -- events
    def count(self, counter: str, value: int, seat: int | None = None) -> None:
        """Set a counter of the table or of a seat, and tell everybody."""
        if seat is None:
            setattr(self, counter, value)
        else:
            getattr(self, counter)[seat] = value
        if self.log is not None:
            self.log.append(Counted(counter, value, seat))

    def add(self, counter: str, amount: int, seat: int) -> None:
        """Add to a counter of a seat, and tell everybody."""
        self.count(counter, self.by_seat(counter)[seat] + amount, seat)

    def by_seat(self, counter: str) -> list[int]:
        """Return a counter that every seat has, by seat; `count` and `add` change it."""
        values: list[int] = getattr(self, counter)
        return values

    # -- deals and seats
    def clear_table(self) -> None:
        """Gather every card in, for a new deal: zones made in play are gone, the others empty, nothing is known."""
        self.notes.clear()
        self.clues.clear()
        self._clues_shown = {}
        for zone in self.fixed:
            if zone.tracked or zone.runs or zone.clues:
                zone.forget()
            if zone.cards:  # before the first deal most have nothing to lose
                zone.cards.clear()
                zone.masks = None if zone.masks is None else []
                zone.columns = None if zone.columns is None else [[] for _ in zone.columns]
            if zone.counters:
                zone.counters = [0] * len(zone.counters)
            zone.view_cache = NO_VIEWS
        for kind in self.words.zones:
            if kind.many:
                for side in getattr(self, kind.name):
                    for zone in side:
                        zone.cards.clear()
                    while side:
                        self.drop(side[-1])

    def open_deal(self, deal: int) -> None:
        """Begin deal `deal` (from 1) with an empty table and its own stream of chance; stream 0 is the match's."""
        self.clear_table()
        self.chance.open(deal)

    def seats_from(self, seat: int) -> tuple[int, ...]:
        """Return every seat clockwise, this one first."""
        return _CLOCKWISE[self.n][seat]

    def opponents(self, seat: int) -> tuple[int, ...]:
        """List the other seats, clockwise from the left."""
        return _OTHERS[self.n][seat]

    def next_seat(self, seat: int) -> int:
        """Return the seat to the left."""
        return (seat + 1) % self.n
