"""Small bots for Greed: raids that are too short or too long, one number at any price, hands emptied and filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.greed import GreedView
from tests.bots.degenerate import any_game
from tests.bots.degenerate.any_game import offered
from tests.bots.degenerate.harness import SmallBot, name_of, small_bots, verb_bots

__all__ = ["BOTS"]

LUCKY: Final = 7  # the number of the bots that collect only one


def stop_at(view: GreedView, decision: Decision, cards: int) -> Sequence[Option]:
    """List the options that stop a raid once the middle has this many cards, and those that continue before."""
    return offered(decision, "stop" if len(view.middle) >= cards else "go_on")


def stops_at_two_cards(view: GreedView, decision: Decision) -> Sequence[Option]:
    return stop_at(view, decision, 2)


def stops_at_three_cards(view: GreedView, decision: Decision) -> Sequence[Option]:
    return stop_at(view, decision, 3)


def stops_at_four_cards(view: GreedView, decision: Decision) -> Sequence[Option]:
    return stop_at(view, decision, 4)


def stops_when_a_card_fits_its_longest_set(view: GreedView, decision: Decision) -> Sequence[Option]:
    sets = view.me.sets
    fits = any(sets[number] == view.me.longest_set for number in view.middle_numbers)
    return offered(decision, "stop" if fits else "go_on")


def stops_when_it_has_the_crook(view: GreedView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "stop" if "crook" in view.middle else "go_on")


def raids_the_largest_hand(view: GreedView, decision: Decision) -> Sequence[Option]:
    return sorted(offered(decision, "raid"), key=lambda option: -option.player.hand.size)[:1]


def raids_the_smallest_hand(view: GreedView, decision: Decision) -> Sequence[Option]:
    return sorted(offered(decision, "raid"), key=lambda option: option.player.hand.size)[:1]


def plays_what_its_hand_has_most_of(view: GreedView, decision: Decision) -> Sequence[Option]:
    hand = [card.value for card in view.me.hand.seen]
    plays = offered(decision, "play")
    return sorted(plays, key=lambda option: -hand.count(option.card.value) if option.card else 0)[:1]


def plays_what_its_hand_has_least_of(view: GreedView, decision: Decision) -> Sequence[Option]:
    hand = [card.value for card in view.me.hand.seen]
    plays = offered(decision, "play")
    return sorted(plays, key=lambda option: hand.count(option.card.value) if option.card else 0)[:1]


def collects_sevens_only(view: GreedView, decision: Decision) -> Sequence[Option]:
    return [option for option in decision.options if option.card and option.card.value == LUCKY]


def breaks_the_longest_set_of_the_victim(view: GreedView, decision: Decision) -> Sequence[Option]:
    """Take with the crook from the longest set of the owner."""
    takes = [option for option in offered(decision, "take") if option.card]
    return sorted(takes, key=lambda option: -option.player.sets[option.card.value] if option.card else 0)[:1]


def trades_its_shortest_set_in_every_turn(view: GreedView, decision: Decision) -> Sequence[Option]:
    return sorted(offered(decision, "trade"), key=lambda option: view.me.sets[option.number])[:1]


def swaps_its_shortest_sets_whenever_it_may(view: GreedView, decision: Decision) -> Sequence[Option]:
    swaps = [option for option in offered(decision, "swap") if option.card]
    return sorted(swaps, key=lambda option: view.me.sets[option.card.value] if option.card else 0)[:1]


BOTS: Final[list[SmallBot]] = [
    *[SmallBot(name_of(rule), rule) for rule in any_game.COMPLETE],
    *small_bots(any_game.RULES),
    *small_bots(
        [
            stops_at_two_cards,
            stops_at_three_cards,
            stops_at_four_cards,
            stops_when_a_card_fits_its_longest_set,
            stops_when_it_has_the_crook,
            raids_the_largest_hand,
            raids_the_smallest_hand,
            plays_what_its_hand_has_most_of,
            plays_what_its_hand_has_least_of,
            collects_sevens_only,
            breaks_the_longest_set_of_the_victim,
            trades_its_shortest_set_in_every_turn,
            swaps_its_shortest_sets_whenever_it_may,
        ]
    ),
    *verb_bots("greed"),
]
