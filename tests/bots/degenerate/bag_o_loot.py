"""Small bots for Bag-O-Loot: snitching by trick, hoarding, stealing only, bluffing and challenging blindly."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from cutpurse.bots.greedy.bag_o_loot import play_towards
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.bag_o_loot import BagOLootView
from tests.bots.degenerate import any_game
from tests.bots.degenerate.any_game import offered
from tests.bots.degenerate.harness import SmallBot, small_bots, verb_bots

__all__ = ["ADVANCED", "BOTS", "SNITCHES"]

LOOTER: Final = "looter"
HALF: Final = 26  # cards of the draw pile of four players


def has_looter(option: Option) -> bool:
    return any(card is not None and card.name == LOOTER for card in option.cards)


def is_genuine(option: Option) -> bool:
    """Return whether the fifth card of a bag fits its number."""
    is_coin = option.card is not None and option.zone is not None and option.card.value == option.zone.counter("number")
    return has_looter(option) or is_coin


def owner_of(option: Option) -> int | None:
    """Look up the owner of the set or bag that is played on."""
    return option.zone.owner if option.zone else None


def without(decision: Decision, *verbs: str) -> list[Option]:
    """List the options with none of these verbs."""
    return [option for option in decision.options if option.verb not in verbs]


def verb_bots_without(*verbs: str) -> list[SmallBot]:
    """Make the bots that prefer or avoid a verb, without the verbs that this way to play does not have."""
    return [bot for bot in verb_bots("bag_o_loot") if not any(verb in bot.name for verb in verbs)]


# -- both ways to play
def only_opens_sets(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "open") or offered(decision, "done")


def only_steals(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "steal", "bag") or offered(decision, "done")


def only_bags(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "bag") or offered(decision, "done")


def opens_builds_and_steals_but_never_bags(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "open", "build", "steal") or without(decision, "bag")


def hoards_until_the_pile_is_used_up(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "done") if view.draw_pile.size else []


def hoards_for_half_the_pile(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "done") if view.draw_pile.size > HALF else []


def lays_down_when_the_pile_is_used_up(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    """Score with open sets at the end of a round."""
    return [] if view.draw_pile.size else offered(decision, "bag", "open", "build", "steal")


def hoards_until_somebody_is_nearly_out(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    """Draw until the hand of an opponent is nearly empty, then lay everything down."""
    if min([player.hand.size for player in view.opponents]) > 3:
        return offered(decision, "done")
    return without(decision, "done", "ditch", "snitch")


def makes_one_play_a_turn(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "done") if view.plays else without(decision, "done", "snitch")


def keeps_looters(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return [option for option in decision.options if not has_looter(option)]


def spends_looters_first(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return [option for option in decision.options if has_looter(option)]


def steals_with_looters(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return [option for option in offered(decision, "steal", "bag") if has_looter(option)]


def lays_all_down_at_once(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    """Go out as early as possible."""
    return offered(decision, "bag", "steal", "open", "build", "ditch")


def dumps_high_numbers(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    plays = [option for option in without(decision, "snitch") if option.card is not None]
    return sorted(plays, key=lambda option: -option.card.value if option.card else 0)[:1]


def forfeits_to_the_right(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "give")[-1:]


def forfeits_to_the_largest_hand(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return sorted(offered(decision, "give"), key=lambda option: -option.player.hand.size)[:1]


def keeps_sets_of_three(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    """Never build a fourth card, so that no opponent bags it."""
    return [option for option in decision.options if option.verb != "build" or len(option.zone or ()) < 3]


# -- the standard game
def snitches_instead_of_forfeiting(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    """Point at any bag if there is no other play."""
    others = without(decision, "snitch", "done")
    return [] if others or view.plays else offered(decision, "snitch")


def snitches_on_its_own_bag(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return [option for option in offered(decision, "snitch") if owner_of(option) == view.seat]


def snitches_with_what_it_has_least_of(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    hand = Counter([card.value for card in view.me.hand.seen])
    return sorted(offered(decision, "snitch"), key=lambda option: hand[option.card.value] if option.card else 0)[:1]


def does_nothing_but_snitch(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "snitch", "done")


def pinches_and_bags_only(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "pinch", "bag") or offered(decision, "done")


# -- advanced play
def always_bluffs(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return [option for option in offered(decision, "bag") if not is_genuine(option)]


def bluffs_with_any_four(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    """Bluff as soon as four cards match, even if opponents may challenge."""
    plays = defaultdict[str, list[Option]](list)
    for option in decision.options:
        plays[option.verb].append(option)
    towards = play_towards(view, plays, 4)
    return always_bluffs(view, decision) or ([towards] if towards else [])


def bluffs_with_its_last_card(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return always_bluffs(view, decision) if view.me.hand.size == 1 else []


def bluffs_on_sets_of_others(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return [option for option in always_bluffs(view, decision) if owner_of(option) != view.seat]


def never_bluffs(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return [option for option in decision.options if option.verb != "bag" or is_genuine(option)]


def challenges_with_nothing_but_sets(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    """Challenge where a genuine bag costs little."""
    if decision.ask != "challenge_the_bag":
        return []
    return offered(decision, "pass" if view.me.bags else "challenge")


def challenges_who_leads(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    if decision.ask != "challenge_the_bag":
        return []
    actor = view.pending[-1].actor
    leads = actor is not None and view.players[actor].score >= max([player.score for player in view.players])
    return offered(decision, "challenge" if leads else "pass")


def challenges_when_it_holds_two_that_match(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    if decision.ask != "challenge_the_bag":
        return []
    made = view.pending[-1].zone
    number = made.counter("number") if made else 0
    matching = [card for card in view.me.hand.seen if card.name == LOOTER or card.value == number]
    return offered(decision, "challenge" if len(matching) > 1 else "pass")


def always_bluffs_and_always_challenges(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "challenge") or bluffs_with_any_four(view, decision)


def ditches_first(view: BagOLootView, decision: Decision) -> Sequence[Option]:
    return offered(decision, "ditch")


BOTH: Final = [
    *any_game.RULES,
    only_opens_sets,
    only_steals,
    only_bags,
    opens_builds_and_steals_but_never_bags,
    hoards_until_the_pile_is_used_up,
    hoards_for_half_the_pile,
    hoards_until_somebody_is_nearly_out,
    lays_down_when_the_pile_is_used_up,
    makes_one_play_a_turn,
    keeps_looters,
    spends_looters_first,
    steals_with_looters,
    lays_all_down_at_once,
    dumps_high_numbers,
    forfeits_to_the_largest_hand,
    keeps_sets_of_three,
]

SNITCHES: Final[list[SmallBot]] = small_bots(
    [
        snitches_instead_of_forfeiting,
        snitches_on_its_own_bag,
        snitches_with_what_it_has_least_of,
        does_nothing_but_snitch,
        forfeits_to_the_right,
    ]
)
"""For the setting `wrong_snitch` = `free`."""

BOTS: Final[list[SmallBot]] = [
    *small_bots([*BOTH, pinches_and_bags_only]),
    *SNITCHES,
    *verb_bots_without("ditch", "challenge", "take_sets"),
]
"""For the standard game."""

ADVANCED: Final[list[SmallBot]] = [
    *small_bots(BOTH),
    *small_bots(
        [
            forfeits_to_the_right,
            always_bluffs,
            bluffs_with_any_four,
            bluffs_with_its_last_card,
            bluffs_on_sets_of_others,
            never_bluffs,
            challenges_with_nothing_but_sets,
            challenges_who_leads,
            challenges_when_it_holds_two_that_match,
            always_bluffs_and_always_challenges,
            ditches_first,
        ]
    ),
    *verb_bots_without("pinch", "snitch"),
]
"""For advanced play: `prefers challenge` always challenges, `avoids challenge` never does."""
