"""Bag-O-Loot for the greedy bot: finish a bag a turn, keep the rest in hand where nobody steals it, never bluff."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Final

from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.bag_o_loot import BagOLootView
from cutpurse.sdk.views.piles import Pile

__all__ = ["ANSWERS"]

BAG_SIZE: Final = 5  # cards
BAG_POINTS: Final = 10
LOOTER: Final = 0  # the value of a looter; that of a coin is its number
LIKELY: Final = 0.5


def hand_counts(view: BagOLootView) -> Counter[int]:
    """How many coins of each number the hand holds, and how many looters."""
    return Counter([card.value for card in view.me.hand.seen])


def number_of(pile: Pile) -> int:
    """The number of the coins in a set, or in a bag that shows it."""
    return pile.counter("number")


def value_of(option: Option) -> int:
    """The number of the coin that is played, or LOOTER."""
    return option.card.value if option.card else LOOTER


def spends_looter(option: Option) -> bool:
    """Whether a looter is among the cards that are played."""
    return any(card is not None and card.value == LOOTER for card in option.cards)


# -- the turn: the first of RULES that names a play is followed
Plays = defaultdict[str, list[Option]]  # by what is done: "open", "build", "steal", "bag" and so on


def snitch(view: BagOLootView, plays: Plays) -> Option | None:
    """A looter for a coin, where bags stay open; I do not remember closed ones. It must be the first play of a turn."""
    if view.settings.bag_faces == "hidden":
        return None
    matching = [option for option in plays["snitch"] if option.zone and number_of(option.zone) == value_of(option)]
    return next(iter(matching), None)


def bag(view: BagOLootView, plays: Plays) -> Option | None:
    """A set of four becomes my bag: with a coin rather than a looter, another's rather than mine. Never a bluff."""
    best: dict[tuple[bool, bool], Option] = {}
    for option in plays["bag"]:
        if option.zone and value_of(option) in (LOOTER, number_of(option.zone)):
            best.setdefault((spends_looter(option), option.zone.owner == view.seat), option)
    return best[min(best)] if best else None


def pinch(view: BagOLootView, plays: Plays) -> Option | None:
    """A looter for a coin is always a good swap."""
    return next(iter(plays["pinch"]), None)


def finish(view: BagOLootView, plays: Plays) -> Option | None:
    """Open, build or steal what becomes a bag in this very turn, where it takes the fewest looters."""
    if view.bag_plays:
        return None
    hand = hand_counts(view)
    best: dict[tuple[int, bool], Option] = {}
    for option in plays["open"] + plays["build"] + plays["steal"]:
        number, lying = (number_of(option.zone), option.zone.size) if option.zone else (value_of(option), 0)
        looters = BAG_SIZE - lying - hand[number]
        if looters <= hand[LOOTER]:
            best.setdefault((looters, spends_looter(option)), option)
    return best[min(best)] if best else None


def ditch(view: BagOLootView, plays: Plays) -> Option | None:
    """A coin whose bag is closed is worth little; a new card may be more."""
    return next(iter(plays["ditch"]), None) if view.draw_pile.size else None


def steal(view: BagOLootView, plays: Plays) -> Option | None:
    """The largest set that a coin can steal; looters are kept for bags."""
    thefts = [option for option in plays["steal"] if not spends_looter(option)]
    return max(thefts, key=lambda option: option.zone.size if option.zone else 0, default=None)


def go_out(view: BagOLootView, plays: Plays) -> Option | None:
    """Lay everything down if every card has a place: that ends the round, and brings a bag of another player."""
    hand = hand_counts(view)
    lays = plays["open"] + plays["build"] + plays["steal"]
    at_home = {value_of(option) for option in lays if not spends_looter(option)}
    lone = [number for number in hand if number != LOOTER and number not in at_home]
    if len(lone) > hand[LOOTER]:
        return None
    return min(lays, key=lambda option: (spends_looter(option), value_of(option) not in lone), default=None)


def show(view: BagOLootView, plays: Plays) -> Option | None:
    """Rather than forfeit a card build, else open a set of the number of which the hand has most."""
    if view.plays:
        return None
    hand = hand_counts(view)
    lays = plays["build"] + plays["open"] + plays["steal"] + plays["ditch"]
    return min(lays, key=lambda o: (spends_looter(o), o.verb == "open", -hand[value_of(o)]), default=None)


RULES: Final = (snitch, bag, pinch, finish, ditch, steal, go_out, show)


def make_a_play(view: BagOLootView, decision: Decision) -> Option:
    """Follow the first rule that names a play; without one the turn is done."""
    plays: Plays = defaultdict(list)
    for option in decision.options:
        plays[option.verb].append(option)
    for rule in RULES:
        play = rule(view, plays)
        if play is not None:
            return play
    return plays["done"][0]


# -- the other questions
def forfeit_a_card(view: BagOLootView, decision: Decision) -> Option:
    """Give it to who has the fewest points."""
    return min(decision.options, key=lambda option: option.player.score)


def take_a_bag(view: BagOLootView, decision: Decision) -> Option:
    """Take it from who has the most points."""
    return max(decision.options, key=lambda option: view.players[option.zone.owner or 0].score if option.zone else 0)


def challenge_the_bag(view: BagOLootView, decision: Decision) -> Option:
    """Challenge if so few matching cards are unseen that the fifth is more likely a bluff."""
    made = view.pending[-1]
    if made.zone is None or made.actor is None:
        return decision.safe
    unseen = view.unseen
    matching = sum([copies for card, copies in unseen.items() if card.value in (LOOTER, number_of(made.zone))])
    held = view.players[made.actor].hand.size + 1
    has_none = (1 - matching / max(1, unseen.total())) ** held
    return decision.options[1 if has_none > LIKELY else 0]


def take_your_reward(view: BagOLootView, decision: Decision) -> Option:
    """A bag, unless the open sets are worth more."""
    sets = decision.options[-1]
    if sets.player is not None and sum([pile.size for pile in sets.player.sets]) > BAG_POINTS:
        return sets
    return decision.options[0]


ANSWERS: Final[dict[str, Callable[[BagOLootView, Decision], Option]]] = {
    "make_a_play": make_a_play,
    "forfeit_a_card": forfeit_a_card,
    "take_a_bag": take_a_bag,
    "challenge_the_bag": challenge_the_bag,
    "take_your_reward": take_your_reward,
}
