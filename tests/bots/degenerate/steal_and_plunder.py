"""Small bots for Steal & Plunder: all theft or none, hoarded and wasted Wilds, packs kept small or back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.steal_and_plunder import StealAndPlunderView
from tests.bots.degenerate import any_game
from tests.bots.degenerate.any_game import offered, value_of_cards
from tests.bots.degenerate.harness import SmallBot, name_of, small_bots, verb_bots

__all__ = ["BOTS"]

FORMS: Final = ("form_pack", "form_pack_discard")
THEFTS: Final = ("attack", "power_steal", "power_plunder")
WILD: Final = 250_000  # Rand: the value of the cheapest Wild
POWERS: Final = ("power_steal", "power_plunder", "power_audit", "power_flee", "power_tax")


def without(decision: Decision, *verbs: str) -> Sequence[Option]:
    """List the options with none of these verbs."""
    return [option for option in decision.options if option.verb not in verbs]


def has_wild(option: Option) -> bool:
    """Return whether a Wild is among the cards of an option."""
    return any(card is not None and card.value >= WILD for card in option.cards)


def pack_worth(option: Option) -> int:
    """Return the visible worth of the pack that an option steals."""
    return option.player.open_pack.worth if option.player and option.player.open_pack else 0


def never_steals(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return without(decision, *THEFTS)


def steals_whenever_it_can(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return offered(decision, *THEFTS)


def steals_the_dearest_pack(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return sorted(offered(decision, *THEFTS), key=pack_worth, reverse=True)[:1]


def fights_for_everything(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    """Attack whenever it can, and never concede."""
    return offered(decision, "attack", "contribute")


def attacks_only_empty_hands(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return [option for option in decision.options if option.verb != "attack" or not option.player.hand.size]


def never_forms_a_second_pack(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return without(decision, *FORMS) if view.me.locked_in else []


def lays_packs_and_nothing_else(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return offered(decision, *FORMS) or offered(decision, "discard")


def lays_the_cheapest_pack(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return sorted(offered(decision, *FORMS), key=value_of_cards)[:1]


def lays_the_dearest_pack(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return sorted(offered(decision, *FORMS), key=value_of_cards, reverse=True)[:1]


def waits_for_an_empty_deck(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    """Only discard while there are cards to draw."""
    return offered(decision, "discard") if view.deck.size and view.me.locked_in else []


def throws_wilds_away(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return [option for option in offered(decision, "discard") if has_wild(option)]


def keeps_wilds(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return [option for option in decision.options if not has_wild(option)]


def spends_wilds_first(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return [option for option in decision.options if has_wild(option) and option.verb != "discard"]


def puts_wilds_into_packs(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return [option for option in offered(decision, *FORMS) if has_wild(option)]


def defends_with_the_dearest_card(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return sorted(offered(decision, "contribute"), key=value_of_cards, reverse=True)[:1]


def defends_with_the_cheapest_card_whatever_is_at_stake(
    view: StealAndPlunderView, decision: Decision
) -> Sequence[Option]:
    return sorted(offered(decision, "contribute"), key=value_of_cards)[:1]


def plays_power_cards_at_once(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return offered(decision, *POWERS)


def never_plays_a_power_card(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    return without(decision, *POWERS)


def flees_and_taxes_in_the_end(view: StealAndPlunderView, decision: Decision) -> Sequence[Option]:
    late = ("power_flee", "power_tax")
    return without(decision, *late) if view.deck.size else offered(decision, *late)


BOTS: Final[list[SmallBot]] = [
    *[SmallBot(name_of(rule), rule) for rule in any_game.COMPLETE],
    *small_bots(any_game.RULES),
    *small_bots(
        [
            never_steals,
            steals_whenever_it_can,
            steals_the_dearest_pack,
            fights_for_everything,
            attacks_only_empty_hands,
            never_forms_a_second_pack,
            lays_packs_and_nothing_else,
            lays_the_cheapest_pack,
            lays_the_dearest_pack,
            waits_for_an_empty_deck,
            throws_wilds_away,
            keeps_wilds,
            spends_wilds_first,
            puts_wilds_into_packs,
            defends_with_the_dearest_card,
            defends_with_the_cheapest_card_whatever_is_at_stake,
            plays_power_cards_at_once,
            never_plays_a_power_card,
            flees_and_taxes_in_the_end,
        ]
    ),
    *verb_bots("steal_and_plunder"),
]
