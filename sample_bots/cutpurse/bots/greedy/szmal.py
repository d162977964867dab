"""Szmal for the greedy bot: every card has a price in thousands of dollars, and the dearest is taken.

A price is what the card brings at once by its text and its markers, what its symbols may bring later, less its Cost.
Cards are called by their numbers here, as on the rule sheet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

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
LATER: Final = 0.6  # of the price of a card that cannot be played yet
GROWTH: Final = 6  # rounds in which a Territory is hoped to gain one of each symbol
SYMBOLS: Final = ("gun", "car", "key", "bottle", "heart", "wrench")
LIQUIDATE, BOOKIE_JOINT, JENNY_JONES, RELOCATE, JACK_PARIS = 4, 7, 24, 41, 62
GAIN_IF_LOST: Final = {JENNY_JONES: 25.0, JACK_PARIS: 20.0}
WANTS_MARKERS: Final = (LIQUIDATE, RELOCATE)  # the more markers lie on what is given up for these, the better


class Table(NamedTuple):
    """What prices depend on: of me, if nothing else is said."""

    gun: float
    car: float
    key: float
    bottle: float
    heart: float
    wrench: float
    thugs: float
    holdings: float
    cash: float  # thousands of dollars
    hand: int  # cards
    left: int  # rounds to come after this one
    most_markers: int  # on one Holding
    least_markers: int  # on one Holding
    poor: int  # Holdings with at most one marker
    plain: int  # Holdings without symbols
    their_markers: int  # on one Holding of an opponent
    their_holdings: float  # of an opponent, on average
    most_holdings: float  # of any player
    most_thugs: float  # of any player
    fewest_thugs: bool
    free_costs: bool
    free_needs: bool


def table_of(view: SzmalView, rounds_ahead: int = 0) -> Table:
    """The table now, or as it may be some rounds later: a little more of everything."""
    me, others = view.me, view.opponents
    more = rounds_ahead / GROWTH
    symbols, holdings, markers = me.symbols, me.holdings, me.holdings.markers
    thugs = me.thugs.size
    gun, car, key, bottle, heart, wrench = [symbols[symbol] + more for symbol in SYMBOLS]
    return Table(
        gun,
        car,
        key,
        bottle,
        heart,
        wrench,
        thugs=thugs + 2 * more,
        holdings=holdings.size + 2 * more,
        cash=me.cash / THOUSAND,
        hand=me.hand.size,
        left=ROUNDS - view.round,
        most_markers=max(markers, default=0),
        least_markers=min(markers, default=0),
        poor=sum([number <= 1 for number in markers]),
        plain=sum([not any(symbol in card.traits for symbol in SYMBOLS) for card in holdings.seen]),
        their_markers=max([0, *[number for other in others for number in other.holdings.markers]]),
        their_holdings=sum([other.holdings.size for other in others]) / len(others),
        most_holdings=max([player.holdings.size for player in view.players]),
        most_thugs=max([player.thugs.size for player in view.players]),
        fewest_thugs=all(thugs < other.thugs.size for other in others),
        free_costs=bool(me.free_costs),
        free_needs=bool(me.free_needs),
    )


TEXTS: Final[dict[int, Callable[[Table], float]]] = {
    # Actions
    2: lambda t: 15,
    3: lambda t: 15,
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
    79: lambda t: 20 if t.left and t.their_holdings else 0,
    80: lambda t: 10 + (MARKER if t.holdings else 0) + 15,
    # Thugs
    1: lambda t: 10,
    22: lambda t: 10,
    23: lambda t: 5 * (t.gun + 1),
    24: lambda t: 20 - 25,
    25: lambda t: 10 * t.bottle,
    42: lambda t: MARKER * t.left / 3,
    53: lambda t: 15,
    57: lambda t: 5 * max(t.most_markers, t.their_markers),
    61: lambda t: 15 * t.left / 3,
    62: lambda t: 5,
    65: lambda t: HAND_CARD * (t.key + 1) / 2,
    66: lambda t: 5 * t.left / 4,
    67: lambda t: 20 if t.left else 0,
    69: lambda t: 5 * (t.left + 1),
    70: lambda t: 5 * t.left / 3,
    71: lambda t: 5 * (t.gun + 1) * t.left / 3,
    76: lambda t: 10,
    77: lambda t: 5 * t.their_holdings,
    # Holdings
    7: lambda t: 5 * (1 + t.wrench),
    11: lambda t: 2 * MARKER,
    12: lambda t: 0,  # its markers come at the end, as many as it would have now
    15: lambda t: MARKER * t.car,
    16: lambda t: 5 * (t.left + 1) if t.holdings <= 1 and t.thugs <= 1 else 0,
    17: lambda t: MARKER * t.left / 3,
    18: lambda t: 5 * MARKER,
    37: lambda t: MARKER * (t.holdings + 1),
    44: lambda t: 20,
    49: lambda t: 5 * (t.left + 1) if t.heart >= 2 else 0,
    50: lambda t: MARKER * (t.plain + 1),
    52: lambda t: 10 * t.left / 3,
    55: lambda t: 5 * t.thugs,
    58: lambda t: MARKER * t.their_holdings,
}


def price(table: Table, card: Card) -> float:
    """What a card brings, less its Cost."""
    traits = card.traits
    brings = TEXTS[card.number](table) if card.number in TEXTS else 0.0
    for symbol in SYMBOLS:
        shown = traits.get(symbol, 0)
        brings += shown * SYMBOL * table.left
        if card.sort == "holding":
            brings += shown * (1 + getattr(table, symbol)) * MARKER
    return brings - (0 if table.free_costs else cost(table, card))


def cost(table: Table, card: Card) -> float:
    """What is given for a card, in the cheapest way."""
    traits = card.traits
    holding = MARKER * (table.most_markers if card.number in WANTS_MARKERS else table.least_markers)
    ways = [
        ("cost_cash", traits.get("cost_cash", 0) / THOUSAND),
        ("cost_thug", THUG),
        ("cost_holding", holding),
        ("cost_take_back", holding),
        ("cost_hand_card", HAND_CARD),
    ]
    return min([worth for name, worth in ways if name in traits], default=0)


def can_be_played(table: Table, card: Card) -> bool:
    """Whether its Cost can be paid and its Need is met."""
    traits = card.traits
    has = {
        "cost_cash": table.cash * THOUSAND,
        "cost_thug": table.thugs,
        "cost_holding": table.holdings,
        "cost_take_back": table.holdings,
        "cost_hand_card": table.hand - 1,
        "need_thugs": table.thugs,
        "need_holdings": table.holdings,
        "need_cash": table.cash * THOUSAND,
        "need_fewest_thugs": table.fewest_thugs,
        **{f"need_{symbol}": getattr(table, symbol) for symbol in SYMBOLS},
    }
    costs = [has[name] >= traits[name] for name in traits if name.startswith("cost_")]
    needs = [has[name] >= traits[name] for name in traits if name.startswith("need_")]
    return (table.free_costs or not costs or any(costs)) and (table.free_needs or all(needs))


def dearest(table: Table, options: tuple[Option, ...], unplayable: float = 0) -> Option:
    """The option whose card has the highest price; one that cannot be played counts only this part of it."""

    def key(option: Option) -> float:
        assert option.card is not None
        return price(table, option.card) * (1 if can_be_played(table, option.card) else unplayable)

    return max(options, key=key)


def pick_a_card(view: SzmalView, decision: Decision) -> Option:
    """The card of the highest price, as things may be in half of the rounds that are left."""
    return dearest(table_of(view, (ROUNDS - view.round) // 2), decision.options, LATER)


def choose_a_card(view: SzmalView, decision: Decision) -> Option:
    """The card of the highest price now."""
    return dearest(table_of(view), decision.options)


def play_another_card(view: SzmalView, decision: Decision) -> Option:
    """The same, unless it would cost more than it brings."""
    table = table_of(view)
    best = dearest(table, decision.options[1:])
    assert best.card is not None
    return best if can_be_played(table, best.card) and price(table, best.card) > 0 else decision.options[0]


def worth(view: SzmalView, option: Option) -> float:
    """What I lose with a card of mine, or with cash."""
    card = option.card
    if card is None:
        return option.number / THOUSAND
    if option.verb == "discard":
        return price(table_of(view), card)
    holdings = view.me.holdings
    if card in holdings.seen:
        return MARKER * holdings.markers[holdings.seen.index(card)]
    return THUG - GAIN_IF_LOST.get(card.number, 0)


def pay_the_cost(view: SzmalView, decision: Decision) -> Option:
    """The cheapest way; with the most markers, if the card is about them."""
    ways = decision.options[1:]
    played = view.pending[-1].card
    if played is not None and played.number in WANTS_MARKERS:
        return max(ways, key=lambda option: worth(view, option))
    return min(ways, key=lambda option: worth(view, option))


def lose_a_card(view: SzmalView, decision: Decision) -> Option:
    """The card that is worth least."""
    return min(decision.options, key=lambda option: worth(view, option))


def put_markers(view: SzmalView, decision: Decision) -> Option:
    """On the Bookie Joint, which pays for each; else all Holdings are alike."""
    return max(decision.options, key=lambda option: option.card is not None and option.card.number == BOOKIE_JOINT)


def copy_a_thug(view: SzmalView, decision: Decision) -> Option:
    """The Thug of the highest price."""
    return dearest(table_of(view), decision.options)


ANSWERS: Final[dict[str, Callable[[SzmalView, Decision], Option]]] = {
    "pick_a_card": pick_a_card,
    "choose_a_card": choose_a_card,
    "play_an_extra_card": choose_a_card,
    "play_another_card": play_another_card,
    "pay_the_cost": pay_the_cost,
    "lose_a_card": lose_a_card,
    "put_markers": put_markers,
    "copy_a_thug": copy_a_thug,
}
