"""The words for what lies on the table in Szmal, and what a card is.

The cards themselves are in `actions`, `thugs` and `holdings`.

A card's number stands for the card: "53" is the card on which 53 is printed. Amounts are dollars.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.words import Counter, Unit, Visibility, Words
from cutpurse.engine.zones import Zone

if TYPE_CHECKING:
    from cutpurse.games.szmal.rules import Szmal

__all__ = [
    "ARMED",
    "BOTTLE",
    "CAR",
    "CARDS",
    "CASH",
    "CHOOSE",
    "COPY",
    "COUNTS_AS",
    "DISCARD",
    "DRAFT_PILE",
    "FAIL",
    "GIVE_UP",
    "GUN",
    "HAND",
    "HEART",
    "KEY",
    "LOSE",
    "MARKERS",
    "NEXT_ARMED",
    "NEXT_TURN",
    "NTH_PLAY",
    "NUMBERS",
    "PAY",
    "PICK",
    "PLAY",
    "PUT_MARKERS",
    "RESOLVE",
    "SET_UP",
    "SINCE_ROUND",
    "SYMBOLS",
    "TAKE_BACK",
    "THIS_TURN",
    "UNTIL_ROUND",
    "WORDS",
    "WRENCH",
    "Action",
    "Cost",
    "Holding",
    "Need",
    "SzmalCard",
    "Thug",
    "column",
]

WORDS: Final = Words("szmal", "Szmal", "SZ", "1", seats=range(2, 6), value_title="number")
"""SZ-1.5. Two to five players."""

NUMBERS: Final = range(1, 81)
"""SZ-1.1. Eighty cards, all different."""

SYMBOLS: Final = ("gun", "car", "key", "bottle", "heart", "wrench")
"""SZ-1.2. Thugs show the first three, Holdings the others, Actions none; nothing is wild."""
GUN, CAR, KEY, BOTTLE, HEART, WRENCH = range(6)

# -- where cards lie
WORDS.zone("deck", "deck", "For 53, 65 and 74.", Visibility.NOBODY, per_seat=False, ordered=True, remembers=False)
WORDS.zone("discard", "discard pile", "It never returns to the deck.", Visibility.ALL, per_seat=False, ordered=True)
HAND: Final = WORDS.zone("hand", "hand", "Cards picked and not yet played.", Visibility.OWNER)
"""SZ-7.22, SZ-7.23. What returns to a hand openly is known to be there until it is seen to leave."""
DRAFT_PILE: Final = WORDS.zone("pile", "draft pile", "Lies face down until it is picked from.", Visibility.NOBODY)
"""SZ-7.23. A seat that passed it on knows it until a card leaves it unseen; then each of its cards is a maybe."""
WORDS.zone("draft", "draft pile in hand", "Being looked through for a card to pick.", Visibility.OWNER)
WORDS.zone("resolving", "card to be resolved", "Revealed, and not yet carried out.", Visibility.ALL)
WORDS.zone(
    "thugs",
    "Thugs",
    "Thugs in the Territory.",
    Visibility.ALL,
    columns=(
        Counter("counts_as", "the card it is, or is a copy of", Unit.CARD),
        Counter("since_round", "the round in which it was played", since="round"),
        Counter("play", "how many plays there had been in the game, this one included"),
        Counter("armed", "how often it also shows a gun and a key this turn"),
        Counter("next_armed", "how often it will also show a gun and a key next turn"),
    ),
)
WORDS.zone(
    "holdings",
    "Holdings",
    "Holdings in the Territory.",
    Visibility.ALL,
    columns=(
        Counter("markers", "markers on it, $10,000 each at the end"),
        Counter("since_round", "the round in which it was played", since="round"),
    ),
)
WORDS.zone(
    "kept",
    "kept Actions",
    "Actions that work next turn; they show nothing.",
    Visibility.ALL,
    columns=(Counter("until_round", "the round after which it is discarded"),),
)

MARKERS: Final = 0  # a column of a Holding
COUNTS_AS, SINCE_ROUND, NTH_PLAY, ARMED, NEXT_ARMED = range(5)  # columns of a Thug
UNTIL_ROUND: Final = 0  # a column of a kept Action


def column(zone: Zone, number: int) -> list[int]:
    """List the numbers on the cards of a zone, card by card."""
    assert zone.columns is not None
    return zone.columns[number]


# -- counters
WORDS.table_counter("round", "the round, 1 to 12")
WORDS.table_counter("plays", "cards played in the game")
CASH: Final = WORDS.seat_counter("cash", "cash", Unit.MONEY)
"""SZ-1.3. One number of dollars, a multiple of 5,000."""

THIS_TURN: Final = (
    ("watching", "how often the seat gains what the left neighbour gains"),  # 1
    ("informs", "how often the seat gains $10,000 when a neighbour plays an Action"),  # 2
    ("shakedowns", "how often the seat gains $10,000 when a neighbour plays a Thug"),  # 3
)
"""SZ-4.5. Effects for the rest of the turn, with the cards that make them."""
for _name, _text in THIS_TURN:
    WORDS.seat_counter(_name, f"this turn: {_text}")

NEXT_TURN: Final = (
    ("extra_markers", "extra markers on each Holding played"),  # 41 and 43
    ("free_costs", "ignores Costs if not 0"),  # 63
    ("free_needs", "ignores Needs if not 0"),  # 64
    ("extra_plays", "extra cards to play after all others"),  # 67
    ("repeats", "Actions return to the hand if not 0"),  # 68
    ("doublings", "how often gains of cash are doubled"),  # 78
    ("losses_5", "how often everybody loses a Holding at the end"),
    ("losses_40", "how often each opponent loses a Thug at the end"),
    ("losses_73", "how often everybody loses a Thug at the end"),
    ("losses_79", "how often each opponent loses a Holding at the end"),
)
"""SZ-4.3. Effects that cards set up one turn before. Each has a counter for this turn and another for the next."""
for _name, _text in NEXT_TURN:
    WORDS.seat_counter(_name, f"this turn: {_text}")
for _name, _text in NEXT_TURN:
    WORDS.seat_counter(f"next_{_name}", f"next turn: {_text}")

# -- what is done
PICK: Final = WORDS.verb("pick", "{actor} picks {cards}", "pick {cards}", "SZ-3.1")
CHOOSE: Final = WORDS.verb("choose", "{actor} reveals {cards}", "choose {cards}", "SZ-3.2")
RESOLVE: Final = WORDS.verb("resolve", "{cards} of {actor} is carried out", rule="SZ-3.3")
PAY: Final = WORDS.verb("pay", "{actor} pays ${number}", "pay ${number}", "SZ-3.3.1")
GIVE_UP: Final = WORDS.verb("give_up", "{actor} gives up {cards}", "give up {cards}", "SZ-3.3.1")
TAKE_BACK: Final = WORDS.verb("take_back", "{actor} takes back {cards}", "take back {cards}", "SZ-3.3.1")
DISCARD: Final = WORDS.verb("discard", "{actor} discards {cards} from the hand", "discard {cards}", "SZ-3.3.1")
FAIL: Final = WORDS.verb("fail", "{cards} of {actor} is discarded without effect", rule="SZ-3.3.2")
PLAY: Final = WORDS.verb("play", "{actor} plays {cards} as an extra card", "play {cards}", "SZ-3.3.8")
COPY: Final = WORDS.verb("copy", "the Rubberface of {actor} copies {cards}", "copy {cards}", "SZ-card-54")
PUT_MARKERS: Final = WORDS.verb(
    "put_markers", "{actor} puts markers on {cards}: {number}", "put markers on {cards}: {number}", "SZ-3.3.5"
)
SET_UP: Final = WORDS.verb("set_up", "the {cards} of {actor} comes due", rule="SZ-3.5.1")
LOSE: Final = WORDS.verb("lose", "{actor} loses {cards}", "lose {cards}", "SZ-3.5.1")

# For learning agents: what the sentences of the verbs do not say.
WORDS.shape(PAY, priced=True)
WORDS.shape(PUT_MARKERS, numbers=())


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Cost:
    """SZ-3.3.1. What must be given for a card: one of these, at the owner's choice."""

    cash: int = 0
    thug: bool = False
    holding: bool = False
    hand_card: bool = False
    take_back: bool = False  # a Holding, which returns to the hand

    def __str__(self) -> str:
        ways = [
            (self.thug, "give up a Thug"),
            (self.holding, "give up a Holding"),
            (self.hand_card, "discard another card of your hand"),
            (self.take_back, "take one of your Holdings back into your hand"),
            (self.cash, f"${self.cash:,}"),
        ]
        return "Cost: " + " or ".join(text for asked, text in ways if asked)


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Need:
    """SZ-3.3.2. What must be in the owner's Territory, and the cash they must have; nothing of it is spent."""

    shows: tuple[int, ...] = ()
    thugs: int = 0
    holdings: int = 0
    cash: int = 0
    fewest_thugs: bool = False

    def is_met(self, g: Szmal, seat: int) -> bool:
        """Check the Need; SZ-7.15: the fewest Thugs are strictly the fewest."""
        for symbol in self.shows:
            if g.symbols(seat, symbol) < self.shows.count(symbol):
                return False
        thugs = len(g.thugs[seat].cards)
        if self.fewest_thugs and any(len(g.thugs[other].cards) <= thugs for other in g.opponents(seat)):
            return False
        return thugs >= self.thugs and len(g.holdings[seat].cards) >= self.holdings and g.cash[seat] >= self.cash

    def __str__(self) -> str:
        parts = [SYMBOLS[symbol] for symbol in self.shows]
        parts += [f"{self.thugs} Thugs"] * (self.thugs > 1) + ["a Thug"] * (self.thugs == 1)
        parts += [f"{self.holdings} Holdings"] * (self.holdings > 0) + [f"${self.cash:,}"] * (self.cash > 0)
        parts += ["fewer Thugs than each other player"] * self.fewest_thugs
        return "Need: " + ", ".join(parts)


class SzmalCard:
    """SZ-4.1. A card: what is printed on it, what its text does once, and what it does while in play.

    A method that a card does not define does nothing. `seat` is always the owner of the card.
    """

    rule: ClassVar[str] = "SZ-card-0"  # that of the blank card
    title: ClassVar[str] = ""
    sort: ClassVar[str] = ""
    shows: ClassVar[tuple[int, ...]] = ()
    cost: ClassVar[Cost | None] = None
    need: ClassVar[Need | None] = None
    text: ClassVar[str] = ""
    works_next_turn: ClassVar[bool] = False  # an Action that is kept until then
    markers_stay: ClassVar[bool] = False  # no effect takes markers from it
    takes: ClassVar[str] = ""  # the sort of card that its delayed loss takes
    takes_of_owner: ClassVar[bool] = False  # its owner loses one too

    def __init__(self) -> None:
        self.number = int(self.rule.removeprefix("SZ-card-"))

    # -- text that is carried out once
    def carry_out(self, g: Szmal, seat: int, card: int, paid: int) -> None:
        """Carry out the text once.

        Args:
            g: The game.
            seat: The owner.
            card: The card that carries it out: this one, or 54 as its copy.
            paid: Number of markers on the Holding that was given up for it.
        """
        self.take_effect(g, seat)

    def take_effect(self, g: Szmal, seat: int) -> None:
        """Carry out the text once; for a text that needs neither `card` nor `paid`."""

    def normal_markers(self, g: Szmal, seat: int) -> int:
        """Count the markers that a Holding enters with.

        SZ-3.3.3. One for each symbol on it, and one for every such symbol on the owner's other cards.
        """
        markers = len(self.shows)
        for symbol in self.shows:
            markers += g.symbols(seat, symbol)
        return markers

    # -- lasting text
    def saves(self, played: int) -> int:
        """SZ-3.3.1. Return by how many dollars this lowers the cash Cost of a card of its owner."""
        return 0

    def on_play(self, g: Szmal, seat: int, played: int, this: int) -> None:
        """SZ-3.3.4. React to a card that its owner plays; `this` is the card in play that has the text."""

    def after_action(self, g: Szmal, seat: int) -> None:
        """SZ-3.3.6. React to an Action of its owner that has been carried out."""

    def on_leaving(self, g: Szmal, seat: int, leaving: int, this: int) -> None:
        """SZ-3.3.1. React to a card that has left its owner's Territory; `this` as for `on_play`."""

    def each_turn(self, g: Szmal, seat: int) -> None:
        """SZ-3.4. Carry out the each-turn ability."""

    def end_of_game(self, g: Szmal, seat: int) -> None:
        """SZ-6.1. Carry out the ability at the end of the game."""

    # -- what is printed on it
    def name(self) -> str:
        """Return the title in snake_case."""
        return re.sub(r"[^a-z0-9]+", "_", self.title.lower().replace("'", "")).strip("_")

    def full_text(self) -> str:
        """Return Cost or Need, and the text, in one line."""
        text = " ".join(self.text.split())
        return ". ".join([str(part) for part in (self.cost, self.need) if part] + [text])

    def facts(self) -> dict[str, str]:
        """Return symbols, Cost and Need in words."""
        shown = ", ".join(SYMBOLS[symbol] for symbol in self.shows)
        cost = str(self.cost).removeprefix("Cost: ") if self.cost else ""
        need = str(self.need).removeprefix("Need: ") if self.need else ""
        return {"symbols": shown, "cost": cost, "need": need}

    def traits(self) -> dict[str, int]:
        """Return symbols, Cost and Need in numbers."""
        traits = {SYMBOLS[symbol]: self.shows.count(symbol) for symbol in self.shows}
        if cost := self.cost:
            named = {"cash": cost.cash, "thug": cost.thug, "holding": cost.holding, "hand_card": cost.hand_card}
            named["take_back"] = cost.take_back
            traits |= {f"cost_{name}": int(amount) for name, amount in named.items() if amount}
        if need := self.need:
            named = {SYMBOLS[symbol]: need.shows.count(symbol) for symbol in need.shows}
            named |= {"thugs": need.thugs, "holdings": need.holdings, "cash": need.cash}
            named["fewest_thugs"] = need.fewest_thugs
            traits |= {f"need_{name}": int(amount) for name, amount in named.items() if amount}
        return traits


class Action(SzmalCard):
    """A card that is discarded once it has been carried out."""

    sort = "action"


class Thug(SzmalCard):
    """A card that stays in the Territory and shows guns, cars and keys."""

    sort = "thug"


class Holding(SzmalCard):
    """A card that stays in the Territory, shows bottles, hearts and wrenches, and carries markers."""

    sort = "holding"


CARDS: Final[list[SzmalCard]] = [SzmalCard()] * (len(NUMBERS) + 1)
"""SZ-1.1. The cards by number, which `box` puts in; index 0 stays blank."""
