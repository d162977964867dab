"""The words for what lies on the table in Szmal, and what a card can cost and need.

A card's number stands for the card: "53" is the card on which 53 is printed. Amounts are dollars.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.words import Counter, Unit, Visibility, Words
from cutpurse.engine.zones import Zone

__all__ = [
    "ARMED",
    "BOTTLE",
    "CAR",
    "CASH",
    "CHOOSE",
    "COPY",
    "COUNTS_AS",
    "DISCARD",
    "DOUBLINGS",
    "DRAFT_PILE",
    "EXTRA_MARKERS",
    "EXTRA_PLAYS",
    "FAIL",
    "FREE_COSTS",
    "FREE_NEEDS",
    "GIVE_UP",
    "GUN",
    "HAND",
    "HEART",
    "INFORMS",
    "KEY",
    "LOSE",
    "LOSSES_40",
    "LOSSES_5",
    "LOSSES_73",
    "LOSSES_79",
    "MARKERS",
    "NEXT_ARMED",
    "NEXT_TURN",
    "NTH_PLAY",
    "NUMBERS",
    "PAY",
    "PICK",
    "PLAY",
    "PUT_MARKERS",
    "REPEATS",
    "RESOLVE",
    "SET_UP",
    "SHAKEDOWNS",
    "SINCE_ROUND",
    "SYMBOLS",
    "TAKE_BACK",
    "THIS_TURN",
    "UNTIL_ROUND",
    "WATCHING",
    "WORDS",
    "WRENCH",
    "Cost",
    "Need",
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

WATCHING: Final = WORDS.seat_counter("watching", "this turn: how often the seat gains what the left neighbour gains")
INFORMS: Final = WORDS.seat_counter(
    "informs", "this turn: how often the seat gains $10,000 when a neighbour plays an Action"
)
SHAKEDOWNS: Final = WORDS.seat_counter(
    "shakedowns", "this turn: how often the seat gains $10,000 when a neighbour plays a Thug"
)
THIS_TURN: Final = (WATCHING, INFORMS, SHAKEDOWNS)
"""SZ-4.5. Effects for the rest of the turn, of the cards 1, 2 and 3."""

_EFFECTS: Final = (
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
_NOW: Final = [WORDS.seat_counter(name, f"this turn: {text}") for name, text in _EFFECTS]
_NEXT: Final = [WORDS.seat_counter(f"next_{name}", f"next turn: {text}") for name, text in _EFFECTS]
NEXT_TURN: Final = tuple(zip(_NOW, _NEXT, strict=True))
"""SZ-4.3. Effects that cards set up one turn before: the counter of each for this turn, and that for the next."""
EXTRA_MARKERS, FREE_COSTS, FREE_NEEDS, EXTRA_PLAYS, REPEATS, DOUBLINGS, *_LOSSES = NEXT_TURN
LOSSES_5, LOSSES_40, LOSSES_73, LOSSES_79 = _LOSSES

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
        return "Cost: " + " or ".join(text for amount, text in ways if amount)


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class Need:
    """SZ-3.3.2. What must be in the owner's Territory, and the cash they must have; nothing of it is spent."""

    shows: tuple[int, ...] = ()
    thugs: int = 0
    holdings: int = 0
    cash: int = 0
    fewest_thugs: bool = False

    def __str__(self) -> str:
        parts = [SYMBOLS[symbol] for symbol in self.shows]
        parts += [f"{self.thugs} Thugs"] * (self.thugs > 1) + ["a Thug"] * (self.thugs == 1)
        parts += [f"{self.holdings} Holdings"] * (self.holdings > 0) + [f"${self.cash:,}"] * (self.cash > 0)
        parts += ["fewer Thugs than each other player"] * self.fewest_thugs
        return "Need: " + ", ".join(parts)
