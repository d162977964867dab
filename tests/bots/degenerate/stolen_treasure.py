"""Small bots for Stolen Treasure: burying early or never, wagers for everything, piracy against every player."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.stolen_treasure import StolenTreasurePlayer, StolenTreasureView
from tests.bots.degenerate import any_game
from tests.bots.degenerate.any_game import offered
from tests.bots.degenerate.harness import SmallBot, name_of, small_bots, verb_bots

__all__ = ["BOTS"]

FULL_HAND: Final = 6  # treasure cards at which the hoarding bot begins to bury

PIRACY_HELD: Final = 2  # cards that one bot keeps for answers


def value(view: StolenTreasureView, option: Option) -> int:
    """Return the value of the card of an option."""
    return view.value(option.card) if option.card else 0


def named(decision: Decision, *names: str) -> list[Option]:
    """List the options with a card of these names."""
    return [option for option in decision.options if option.card and option.card.name in names]


def buries_the_best_at_once(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return sorted(offered(decision, "bury"), key=lambda option: -value(view, option))[:1]


def buries_only_what_counts(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return [option for option in decision.options if option.verb != "bury" or value(view, option) > 0]


def buries_and_draws_treasure(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    """Bury cards of positive value, else draw treasure; no piracy, no wager."""
    good = [option for option in offered(decision, "bury") if value(view, option) > 0]
    return good or draws_treasure_only(view, decision)


def draws_treasure_only(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return [option for option in offered(decision, "draw") if option.zone and option.zone.name != "piracy_pile"]


def draws_piracy_only(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return [option for option in offered(decision, "draw") if option.zone and option.zone.name == "piracy_pile"]


def hoards_six_treasures_before_it_buries(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    if view.me.treasure_hand.size < FULL_HAND:
        return [option for option in decision.options if option.verb != "bury"]
    return buries_the_best_at_once(view, decision)


def wagers_whenever_it_can(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    """Wager with the lowest card and lay no more than it must."""
    if decision.ask == "stake_treasure":
        return offered(decision, "done") or sorted(decision.options, key=lambda option: value(view, option))[:1]
    return offered(decision, "wager")


def wagers_its_worst_card_for_a_better_one(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    """Wager its lowest card against the opponent whose lowest card is worth most, if that is worth more."""
    if decision.ask == "stake_treasure":
        return wagers_whenever_it_can(view, decision)

    def lowest(player: StolenTreasurePlayer) -> int:
        return min([view.value(card) for card in player.treasure_hand.located], default=0)

    wagers = sorted(offered(decision, "wager"), key=lambda option: -lowest(option.player))[:1]
    return [option for option in wagers if lowest(option.player) > lowest(view.me)]


def wagers_its_best_card(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    if decision.ask == "stake_treasure":
        return offered(decision, "done") or sorted(decision.options, key=lambda option: -value(view, option))[:1]
    return offered(decision, "wager")


def wagers_all_it_has(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "wager", "stake")


def dumps_negatives_by_wagers(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    """Wager while the hand has negative treasure, stake all of it, and lose by Parley."""
    bad = [card for card in view.me.treasure_hand.seen if view.value(card) < 0]
    if decision.ask == "stake_treasure":
        return [option for option in offered(decision, "stake") if value(view, option) < 0] or offered(decision, "done")
    return offered(decision, "surrender") or (offered(decision, "wager") if bad else [])


def never_wagers_and_never_plays_piracy(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return [option for option in decision.options if option.verb not in ("wager", "play", "play_on")]


def plays_piracy_at_once(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "play", "play_on", "nullify", "divert", "surrender")


def draws_piracy_and_plays_it(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return plays_piracy_at_once(view, decision) or draws_piracy_only(view, decision)


def holds_two_piracy_cards(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    """Draw piracy while it holds fewer than two such cards, for answers to other players."""
    return draws_piracy_only(view, decision) if view.me.piracy_hand.size < PIRACY_HELD else []


def digs_up_whatever_is_buried(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return named(decision, "x_marks_the_spot")


def swaps_hands_whenever_it_can(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return named(decision, "spyglass")


def hooks_whenever_it_can(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return named(decision, "hook")


def sends_everything_to_the_kraken(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return named(decision, "the_kraken")


def answers_nothing(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    """Pass in every window of other players."""
    return offered(decision, "pass")


def stops_every_card(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    """Answer every card of other players with Yarr!, harmful or not."""
    act = view.in_question
    mine = act is not None and act.actor == view.seat
    return offered(decision, "pass" if mine else "nullify")


def gives_its_best_card(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return sorted(offered(decision, "give", "discard"), key=lambda option: -value(view, option))[:1]


def matches_with_all_it_has(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "lay")


def ends_its_turn_with_one_treasure_in_hand(view: StolenTreasureView, decision: Decision) -> Sequence[Option]:
    """Hold nothing that could be stolen: bury, else end the turn once the hand has a treasure."""
    if decision.ask != "take_an_action":
        return []
    good = [option for option in offered(decision, "bury") if value(view, option) > 0]
    return good or (offered(decision, "end_turn") if view.me.treasure_hand.size else [])


BOTS: Final[list[SmallBot]] = [
    *[SmallBot(name_of(rule), rule) for rule in any_game.COMPLETE],
    *small_bots(any_game.RULES),
    *small_bots(
        [
            buries_the_best_at_once,
            buries_only_what_counts,
            buries_and_draws_treasure,
            draws_treasure_only,
            draws_piracy_only,
            hoards_six_treasures_before_it_buries,
            wagers_whenever_it_can,
            wagers_its_worst_card_for_a_better_one,
            wagers_its_best_card,
            wagers_all_it_has,
            dumps_negatives_by_wagers,
            never_wagers_and_never_plays_piracy,
            plays_piracy_at_once,
            draws_piracy_and_plays_it,
            holds_two_piracy_cards,
            digs_up_whatever_is_buried,
            swaps_hands_whenever_it_can,
            hooks_whenever_it_can,
            sends_everything_to_the_kraken,
            answers_nothing,
            stops_every_card,
            gives_its_best_card,
            matches_with_all_it_has,
            ends_its_turn_with_one_treasure_in_hand,
        ]
    ),
    *verb_bots("stolen_treasure"),
]
