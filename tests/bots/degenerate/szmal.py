"""Small bots for Szmal: one sort of card, one symbol, only cash, only harm, nothing that costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from cutpurse.sdk.cards import Card
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.szmal import SzmalView
from tests.bots.degenerate import any_game
from tests.bots.degenerate.any_game import offered
from tests.bots.degenerate.harness import SmallBot, name_of, small_bots, verb_bots

__all__ = ["BOTS"]

HARMFUL: Final = (40, 58, 59, 74, 75, 76, 77, 79)  # cards that take something from opponents
LOSSES_FOR_ALL: Final = (5, 73)
GAINS: Final = (2, 3, 4, 20, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 44, 57, 60)  # cash at once
MARKERS: Final = (7, 11, 15, 18, 37, 38, 39, 40, 41, 43, 50, 56)
LASTING: Final = (1, 10, 16, 17, 19, 42, 45, 46, 49, 52, 61, 62, 66, 69, 70, 71)
DRAWS: Final = (53, 65, 67, 74, 80)  # more cards, or more plays


def cards_that(decision: Decision, fits: Callable[[Card], bool]) -> Sequence[Option]:
    """List the options to pick or play a card that fits."""
    plays = offered(decision, "pick", "choose", "play")
    return [option for option in plays if option.card is not None and fits(option.card)]


def takes_thugs_only(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: card.sort == "thug")


def takes_holdings_only(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: card.sort == "holding")


def takes_actions_only(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: card.sort == "action")


def takes_cards_without_cost(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: not any(trait.startswith("cost_") for trait in card.traits))


def takes_cards_without_cost_or_need(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: not any(trait.startswith(("cost_", "need_")) for trait in card.traits))


def takes_the_most_expensive_card(view: SzmalView, decision: Decision) -> Sequence[Option]:
    costly = cards_that(decision, lambda card: "cost_cash" in card.traits)
    return sorted(costly, key=lambda option: -option.card.traits["cost_cash"] if option.card else 0)[:1]


def takes_what_harms_others(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: card.number in HARMFUL)


def takes_what_harms_everybody(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: card.number in (*HARMFUL, *LOSSES_FOR_ALL))


def takes_cash_at_once(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: card.number in GAINS)


def takes_what_brings_markers(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: card.number in MARKERS)


def takes_lasting_cards(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: card.number in LASTING)


def takes_cards_for_more_plays(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: card.number in DRAWS)


def collects_guns(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: "gun" in card.traits)


def collects_cars_and_keys(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: "car" in card.traits or "key" in card.traits)


def collects_bottles(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: "bottle" in card.traits)


def collects_hearts(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: "heart" in card.traits)


def collects_wrenches(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: "wrench" in card.traits)


def collects_the_symbols_it_has_most_of(view: SzmalView, decision: Decision) -> Sequence[Option]:
    symbols = view.me.symbols

    def fit(option: Option) -> int:
        return sum([symbols[symbol] * shown for symbol, shown in option.card.traits.items()]) if option.card else 0

    plays = offered(decision, "pick", "choose", "play")
    return sorted(plays, key=fit, reverse=True)[:1]


def holdings_first_then_actions(view: SzmalView, decision: Decision) -> Sequence[Option]:
    """Lay Holdings in the first half of the game, play Actions in the second."""
    return cards_that(decision, lambda card: card.sort == ("holding" if view.round <= 6 else "action"))


def thugs_first_then_holdings(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return cards_that(decision, lambda card: card.sort == ("thug" if view.round <= 4 else "holding"))


def pays_no_cost(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "pass") if decision.ask == "pay_the_cost" else []


def pays_with_cards_before_cash(view: SzmalView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "give_up", "discard", "take_back")


BOTS: Final[list[SmallBot]] = [
    *[SmallBot(name_of(rule), rule) for rule in any_game.COMPLETE],
    *small_bots(any_game.RULES),
    *small_bots(
        [
            takes_thugs_only,
            takes_holdings_only,
            takes_actions_only,
            takes_cards_without_cost,
            takes_cards_without_cost_or_need,
            takes_the_most_expensive_card,
            takes_what_harms_others,
            takes_what_harms_everybody,
            takes_cash_at_once,
            takes_what_brings_markers,
            takes_lasting_cards,
            takes_cards_for_more_plays,
            collects_guns,
            collects_cars_and_keys,
            collects_bottles,
            collects_hearts,
            collects_wrenches,
            collects_the_symbols_it_has_most_of,
            holdings_first_then_actions,
            thugs_first_then_holdings,
            pays_no_cost,
            pays_with_cards_before_cash,
        ]
    ),
    *verb_bots("szmal"),
]
