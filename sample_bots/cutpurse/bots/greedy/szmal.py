"""Szmal for the greedy bot: every card has a price in thousands of dollars, and the dearest is taken.

A price is what the card brings at once by its text and its markers, what its symbols may bring later, less its Cost.
Cards are called by their numbers here, as on the rule sheet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cutpurse.sdk.cards import Card
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.szmal import SzmalView

__all__ = ["ANSWERS"]

ROUNDS: Final = 12
THOUSAND: Final = 1000
MARKER: Final = 10.0
SYMBOL: Final = 1.5  # a symbol, for each round to come
THUG: Final = 8.0  # a Thug that is given up
HAND_CARD: Final = 8.0  # a hand card, given up or drawn
EXTRA: Final = 15.0  # another card that is played at once
OFTEN: Final = 1 / 3  # how often in a round a lasting text works that waits for something
PAID_WITH: Final = {
    "cost_cash": "cash",
    "cost_thug": "thugs",
    "cost_holding": "holdings",
    "cost_take_back": "holdings",
    "cost_hand_card": "hand",
}
SYMBOLS: Final = ("gun", "car", "key", "bottle", "heart", "wrench")
LIQUIDATE, BOOKIE_JOINT, JENNY_JONES, RELOCATE, JACK_PARIS = 4, 7, 24, 41, 62
GAIN_IF_LOST: Final = {JENNY_JONES: 25.0, JACK_PARIS: 20.0}
WANTS_MARKERS: Final = (LIQUIDATE, RELOCATE)  # the more markers lie on what is given up for these, the better


class TableSummary:
    """What prices depend on: of me, if nothing else is said. What few prices ask for is worked out when it is."""

    def __init__(self, view: SzmalView) -> None:
        me = view.me
        self.view = view
        symbols = me.symbols
        self.gun, self.car, self.key, self.bottle, self.heart, self.wrench = [symbols[symbol] for symbol in SYMBOLS]
        self.thugs = me.thugs.size
        self.holdings = me.holdings.size
        self.markers = me.holdings.markers  # by Holding
        self.hand = me.hand.size
        self.cash = me.cash  # dollars
        self.left = ROUNDS - view.round  # rounds to come after this one
        self.free_costs = bool(me.free_costs)
        self.free_needs = bool(me.free_needs)

    @property
    def most_markers(self) -> int:
        """The markers on that Holding which has most."""
        return max(self.markers, default=0)

    @property
    def least_markers(self) -> int:
        """The markers on that Holding which has fewest."""
        return min(self.markers, default=0)

    @property
    def poor(self) -> int:
        """Holdings with at most one marker."""
        return sum([markers <= 1 for markers in self.markers])

    @property
    def plain(self) -> int:
        """Holdings without symbols."""
        return sum([not any(symbol in card.traits for symbol in SYMBOLS) for card in self.view.me.holdings.seen])

    @property
    def fewest_thugs(self) -> bool:
        """Whether each opponent has more Thugs."""
        return all(self.thugs < other.thugs.size for other in self.view.opponents)

    @property
    def most_thugs(self) -> int:
        """The Thugs of the player, of any, who has most."""
        return max([player.thugs.size for player in self.view.players])

    @property
    def most_holdings(self) -> int:
        """The Holdings of the player, of any, who has most."""
        return max([player.holdings.size for player in self.view.players])

    @property
    def their_holdings(self) -> float:
        """The Holdings of an opponent, on average."""
        return sum([other.holdings.size for other in self.view.opponents]) / len(self.view.opponents)

    @property
    def their_markers(self) -> int:
        """The markers on that Holding of an opponent which has most."""
        return max([0, *[markers for other in self.view.opponents for markers in other.holdings.markers]])


TEXTS: Final[dict[int, Callable[[TableSummary], float]]] = {
    # Actions: what is printed, or a guess where others or the next turn decide
    2: lambda t: 10 + 5,
    3: lambda t: 10 + 5,
    4: lambda t: 15 * t.most_markers,
    5: lambda t: 5 * t.most_markers - MARKER * t.least_markers,
    20: lambda t: 25,
    26: lambda t: 10 * t.thugs,
    27: lambda t: 30,
    28: lambda t: 10 * (min(1, t.gun) + min(1, t.car) + min(1, t.key)),
    29: lambda t: 45,
    30: lambda t: 25,
    31: lambda t: 10 * (t.key + t.wrench),
    32: lambda t: 25,
    33: lambda t: 10 * (t.car + t.heart),
    34: lambda t: 30 - 10,
    35: lambda t: 25,
    36: lambda t: 15,
    38: lambda t: 2 * MARKER if t.holdings else 0,
    39: lambda t: MARKER * t.holdings,
    40: lambda t: MARKER * t.poor,
    56: lambda t: MARKER * t.their_markers if t.holdings else 0,
    59: lambda t: MARKER * t.their_holdings,
    60: lambda t: 5 * t.most_holdings,
    73: lambda t: 5 * t.most_thugs - (THUG if t.left else 0),
    74: lambda t: 10 * min(1, t.car) + 10 * min(1, t.gun) + HAND_CARD * min(1, t.key),
    75: lambda t: 10 * t.thugs,
    78: lambda t: 20 if t.left else 0,
    79: lambda t: 2 * MARKER if t.left and t.their_holdings else 0,
    80: lambda t: 10 + (MARKER if t.holdings else 0) + EXTRA,
    # Thugs
    1: lambda t: 10,
    22: lambda t: 10,
    23: lambda t: 5 * (t.gun + 1),
    24: lambda t: 20 - 25,
    25: lambda t: 10 * t.bottle,
    42: lambda t: MARKER * t.left * OFTEN,
    53: lambda t: EXTRA,
    57: lambda t: 5 * max(t.most_markers, t.their_markers),
    61: lambda t: 15 * t.left * OFTEN,
    62: lambda t: 5,
    65: lambda t: HAND_CARD * (t.key + 1) / 2,
    66: lambda t: 5 * t.left * OFTEN,
    67: lambda t: EXTRA if t.left else 0,
    69: lambda t: 5 * (t.left + 1),
    70: lambda t: 5 * t.left * OFTEN,
    71: lambda t: 5 * (t.gun + 1) * t.left * OFTEN,
    76: lambda t: 10,
    77: lambda t: 5 * t.their_holdings,
    # Holdings
    7: lambda t: 5 * (1 + t.wrench),
    11: lambda t: 2 * MARKER,
    15: lambda t: MARKER * t.car,
    16: lambda t: 5 * (t.left + 1) if t.holdings <= 1 and t.thugs <= 1 else 0,
    17: lambda t: MARKER * t.left * OFTEN,
    18: lambda t: 5 * MARKER,
    37: lambda t: MARKER * (t.holdings + 1),
    44: lambda t: 20,
    49: lambda t: 5 * (t.left + 1) if t.heart >= 2 else 0,
    50: lambda t: MARKER * (t.plain + 1),
    52: lambda t: 10 * t.left * OFTEN,
    55: lambda t: 5 * t.thugs,
    58: lambda t: MARKER * t.their_holdings,
}


def brings(table: TableSummary, card: Card) -> float:
    """Estimate the value of a card: its text, the markers on a Holding, and its symbols later."""
    total = TEXTS[card.number](table) if card.number in TEXTS else 0.0
    for symbol, count in card.traits.items():
        if symbol in SYMBOLS:
            total += count * SYMBOL * table.left
            if card.sort == "holding":
                total += count * (1 + getattr(table, symbol)) * MARKER
    return total


def cost(table: TableSummary, card: Card) -> float | None:
    """Return the lowest payment for a card; 0 if it has no Cost, None if it cannot be paid."""
    costs = [(name, amount) for name, amount in card.traits.items() if name in PAID_WITH]
    if not costs or table.free_costs:
        return 0
    holding = MARKER * (table.most_markers if card.number in WANTS_MARKERS else table.least_markers)
    worth = {"thugs": THUG, "hand": HAND_CARD, "holdings": holding}
    ways = [
        amount / THOUSAND if name == "cost_cash" else worth[PAID_WITH[name]]
        for name, amount in costs
        if getattr(table, PAID_WITH[name]) >= amount
    ]
    return min(ways, default=None)


def has_what_it_needs(table: TableSummary, card: Card) -> bool:
    """Return whether the Need of a card is met."""
    needs = [(name.removeprefix("need_"), n) for name, n in card.traits.items() if name.startswith("need_")]
    return table.free_needs or all(getattr(table, name) >= number for name, number in needs)


def price(table: TableSummary, card: Card) -> float:
    """Estimate the value of a card less its Cost; 0 if it cannot be played."""
    paid = cost(table, card)
    return 0 if paid is None or not has_what_it_needs(table, card) else brings(table, card) - paid


def the_dearest(view: SzmalView, decision: Decision) -> Option:
    """Choose the card with the highest price to pick, play or copy; passing has price 0."""
    table = TableSummary(view)
    return max(decision.options, key=lambda option: price(table, option.card) if option.card else 0)


def worth(view: SzmalView, option: Option) -> float:
    """Estimate my loss with a card of mine, or with cash."""
    card = option.card
    if card is None:
        return option.number / THOUSAND
    if option.verb == "discard":
        return price(TableSummary(view), card)
    holdings = view.me.holdings
    if card in holdings.seen:
        return MARKER * holdings.markers[holdings.seen.index(card)]
    return THUG - GAIN_IF_LOST.get(card.number, 0)


def pay_the_cost(view: SzmalView, decision: Decision) -> Option:
    """Choose the cheapest payment; the one with the most markers, if the card counts them."""
    ways = decision.options[1:]
    played = view.pending[-1].card
    if played is not None and played.number in WANTS_MARKERS:
        return max(ways, key=lambda option: worth(view, option))
    return min(ways, key=lambda option: worth(view, option))


def lose_a_card(view: SzmalView, decision: Decision) -> Option:
    """Choose the card that is worth least."""
    return min(decision.options, key=lambda option: worth(view, option))


def put_markers(view: SzmalView, decision: Decision) -> Option:
    """Put markers on the Bookie Joint, which pays for each; all other Holdings are alike."""
    return max(decision.options, key=lambda option: option.card is not None and option.card.number == BOOKIE_JOINT)


ANSWERS: Final[dict[str, Callable[[SzmalView, Decision], Option]]] = {
    "pick_a_card": the_dearest,
    "choose_a_card": the_dearest,
    "play_an_extra_card": the_dearest,
    "play_another_card": the_dearest,
    "pay_the_cost": pay_the_cost,
    "lose_a_card": lose_a_card,
    "put_markers": put_markers,
    "copy_a_thug": the_dearest,
}
