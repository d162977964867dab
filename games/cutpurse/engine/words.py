"""The vocabulary of a game: its cards, verbs, kinds of zone and counters, each with its number, name and sentence.

Everything outside the engine (views, options, events, records, the wire) is expressed in these words, so no other
place needs to know a game. Numbers start at 1; card number 0 is a card lying face down. Names never change, numbers
for one rules version. This module knows no rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from cutpurse.engine.sentences import ENGLISH_SENTENCES, Sentences

__all__ = [
    "FACE_DOWN",
    "MOST_SEATS",
    "PASS_VERB",
    "CardKind",
    "Counter",
    "Shape",
    "Slots",
    "Unit",
    "Verb",
    "Visibility",
    "Words",
    "ZoneKind",
]

FACE_DOWN: Final = 0
MOST_SEATS: Final = 9  # that a game may have
PASS_VERB: Final = 1  # verb 1 of every game: to do nothing


class Visibility(Enum):
    """Who sees the faces in a zone."""

    ALL = "all"
    OWNER = "owner"
    NOBODY = "nobody"
    MIXED = "mixed"  # kept card by card


class Unit(Enum):
    """What a number is a number of."""

    COUNT = "count"
    MONEY = "money"
    POINTS = "points"
    FLAG = "flag"  # 0 no, 1 yes
    SEAT = "seat"  # a seat plus 1; 0 is nobody
    CARD = "card"  # a card number; 0 is none


@dataclass(frozen=True, slots=True)
class CardKind:
    """One face. Printed copies of it are the same card, unless a column of their zone tells them apart.

    `facts` is what is printed besides, in words, by its heading: {"symbols": "gun, key", "cost": "$10,000"}. `proposed`
    names what of it is a number of this project, as none is published: "value", "copies". `rule` tells of the card.
    """

    name: str
    title: str
    text: str = ""
    sort: str = ""
    value: int = 0
    traits: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    proposed: tuple[str, ...] = ()
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Counter:
    """A number that belongs to the table, a seat, a zone or (as a column) each card of a zone."""

    name: str
    text: str
    unit: Unit = Unit.COUNT
    since: str = ""  # of a column that says when something happened: the table counter that it was read from


@dataclass(frozen=True, slots=True)
class Verb:
    """Something that can be done or happen.

    `text` is shown when it happens ("{actor} plays {cards}"), `option_text` when it is offered ("play {cards}"); both
    may use {actor}, {seat}, {zone}, {cards} and {number}. A verb without option_text happens by itself.
    """

    number: int
    name: str
    text: str
    option_text: str
    rule: str


@dataclass(frozen=True, slots=True, eq=False)
class ZoneKind:
    """Where cards can lie. One object a kind, so kinds are equal if they are the same."""

    number: int
    name: str
    title: str
    text: str
    visibility: Visibility
    per_seat: bool  # one for each seat, else one on the table
    ordered: bool  # the last card is the top; otherwise kept sorted, so that places tell nothing
    many: bool  # made, given away and dropped in play; listed from the bottom or oldest to the top or newest
    remembers: bool  # what a viewer learned of its hidden cards is kept (intel)
    holder_learns: bool  # the new owner of a zone of mixed visibility sees all its cards
    counters: tuple[Counter, ...]
    columns: tuple[Counter, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """How the options of a verb differ, where the sentence of the verb does not say it.

    `cutpurse.learn` numbers options by it: {cards} is one card, {seat} a seat, {zone} a zone of any kind, {number} must
    be declared.
    """

    cards: int = 1  # number of {cards}, in the order of the option
    own: bool = False  # the card is that of the number on the zone, or one other
    zones: tuple[str, ...] = ()  # the kinds that {zone} can be; empty: any
    numbers: tuple[int, ...] | None = None  # the values of {number}; empty: the same in all options of a question
    priced: bool = False  # {number} is 0, or a price that is the same in all options of a question
    copies: str = ""  # the kind of zone whose columns tell equal cards apart


@dataclass(frozen=True, slots=True)
class Slots:
    """The places that zones made in play have before one seat, for `cutpurse.learn`."""

    most: int = 16  # by age, or of each number
    numbers: int = 0  # if not 0, a zone lies by the number on it, its first counter: 1 to this
    by_age: int = 0  # if not 0, observations list that many by age all the same: most numbers are never met


class Words:
    """The vocabulary of one game, filled by its module in reading order."""

    def __init__(
        self, game: str, title: str, prefix: str, version: str, seats: range, value_title: str = "value"
    ) -> None:
        self.game = game
        self.title = title
        self.prefix = prefix  # of its rule numbers: "GR"
        self.version = version  # changes whenever the same choices could lead to another position
        self.seats = seats
        self.sentences: Sentences = ENGLISH_SENTENCES
        self.counter_titles: dict[str, str] = {}  # by name, where a translation calls counters otherwise
        self.value_title = value_title  # what the value of a card is: "number" where it is worth nothing
        self.cards: list[CardKind] = []
        self.verbs: list[Verb] = []
        self.zones: list[ZoneKind] = []
        self.table_counters: list[Counter] = []
        self.seat_counters: list[Counter] = []
        self.shapes: dict[int, Shape] = {}  # by verb
        self.slots: dict[str, Slots] = {}  # by kind of zone
        self.step_seats: frozenset[str] = frozenset()  # the fields of steps that hold a seat, or -1
        self.step_zones: frozenset[str] = frozenset()  # the fields of steps that hold the number of a zone, or 0
        self.verb("pass", "{actor} passes", "pass")

    def card(
        self,
        name: str,
        title: str,
        text: str = "",
        sort: str = "",
        value: int = 0,
        traits: Mapping[str, int] | None = None,
        facts: Mapping[str, str] | None = None,
        proposed: tuple[str, ...] = (),
        rule: str = "",
    ) -> int:
        """Add a face; its number."""
        self.cards.append(CardKind(name, title, text, sort, value, traits or {}, facts or {}, proposed, rule))
        return len(self.cards)

    def verb(self, name: str, text: str, option_text: str = "", rule: str = "") -> int:
        """Add a verb; its number."""
        self.verbs.append(Verb(len(self.verbs) + 1, name, text, option_text, rule))
        return len(self.verbs)

    def zone(
        self,
        name: str,
        title: str,
        text: str,
        visibility: Visibility,
        *,
        per_seat: bool = True,
        ordered: bool = False,
        many: bool = False,
        remembers: bool = True,
        holder_learns: bool = False,
        counters: tuple[Counter, ...] = (),
        columns: tuple[Counter, ...] = (),
    ) -> ZoneKind:
        """Add a kind of zone. Zones of mixed visibility are ordered: in a sorted one a place would tell a face."""
        if visibility is Visibility.MIXED and (not ordered or columns):
            raise ValueError(f"zone kind {name}: mixed visibility needs an order and no columns")
        kind = ZoneKind(
            len(self.zones) + 1,
            name,
            title,
            text,
            visibility,
            per_seat,
            ordered,
            many,
            remembers and visibility is not Visibility.ALL,
            holder_learns,
            counters,
            columns,
        )
        self.zones.append(kind)
        return kind

    def table_counter(self, name: str, text: str, unit: Unit = Unit.COUNT) -> str:
        """Add a counter of the table; its name, which is an attribute of the game."""
        self.table_counters.append(Counter(name, text, unit))
        return name

    def seat_counter(self, name: str, text: str, unit: Unit = Unit.COUNT) -> str:
        """Add a counter that every seat has; its name, which is an attribute of the game, a list by seat."""
        self.seat_counters.append(Counter(name, text, unit))
        return name

    def shape(
        self,
        *verbs: int,
        cards: int = 1,
        own: bool = False,
        zones: Iterable[ZoneKind] = (),
        numbers: Iterable[int] | None = None,
        priced: bool = False,
        copies: ZoneKind | None = None,
    ) -> None:
        """Declare how the options of these verbs differ; see `Shape`."""
        shape = Shape(
            cards,
            own,
            tuple([kind.name for kind in zones]),
            None if numbers is None else tuple(numbers),
            priced,
            "" if copies is None else copies.name,
        )
        for verb in verbs:
            self.shapes[verb] = shape

    def place(self, *kinds: ZoneKind, most: int, numbers: int = 0, by_age: int = 0) -> None:
        """Declare the places of zones made in play; see `Slots`."""
        for kind in kinds:
            self.slots[kind.name] = Slots(most, numbers, by_age)

    def step_fields(self, *, seats: Iterable[str] = (), zones: Iterable[str] = ()) -> None:
        """Declare which fields of steps, by name, hold seats or zones."""
        self.step_seats = frozenset(seats)
        self.step_zones = frozenset(zones)

    def attributes(self) -> tuple[str, ...]:
        """List the names of all zones and counters, which are the `__slots__` of the game: a dict would be slower."""
        counters = self.table_counters + self.seat_counters
        return tuple([kind.name for kind in self.zones] + [counter.name for counter in counters])

    def card_named(self, name: str) -> int:
        """Look up the number of a card.  Raises KeyError if there is none of this name."""
        for number, card in enumerate(self.cards, 1):
            if card.name == name:
                return number
        raise KeyError(name)

    def verb_named(self, name: str) -> int:
        """Look up the number of a verb.  Raises KeyError if there is none of this name."""
        for verb in self.verbs:
            if verb.name == name:
                return verb.number
        raise KeyError(name)
