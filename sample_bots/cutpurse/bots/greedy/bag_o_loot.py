"""Bag-O-Loot for the greedy bot: lay down only what becomes a bag in this turn, and keep the rest in hand.

An open set is a gift: others steal it, and a set of four is bagged by the next player with a matching card or a looter.
So a card is rather forfeited than shown, until idle turns cost more: then one card or pair a turn is laid.
"""

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
LATE: Final = 15  # cards of the draw pile; with more of them left it does not bluff
LOOTER: Final = 0  # the value of a looter; that of a coin is its number


def hand_counts(view: BagOLootView) -> Counter[int]:
    """Count the coins of each number in the hand, and the looters."""
    return Counter([card.value for card in view.me.hand.seen])


def number_of(pile: Pile) -> int:
    """Look up the number of the coins in a set, or in a bag that shows it."""
    return pile.counter("number")


def value_of(option: Option) -> int:
    """Look up the number of the coin that is played, or LOOTER."""
    return option.card.value if option.card else LOOTER


def spends_looter(option: Option) -> bool:
    """Say whether a looter is among the cards that are played."""
    return any(card is not None and card.value == LOOTER for card in option.cards)


# -- the turn: the first of RULES that names a play is followed
Plays = defaultdict[str, list[Option]]  # by what is done: "open", "build", "steal", "bag" and so on


def snitch(view: BagOLootView, plays: Plays) -> Option | None:
    """Swap a coin for a looter where bags stay open. It must be the first play of a turn."""
    if view.settings.bag_faces == "hidden":
        return None
    matching = [option for option in plays["snitch"] if option.zone and number_of(option.zone) == value_of(option)]
    return next(iter(matching), None)


def bag(view: BagOLootView, plays: Plays) -> Option | None:
    """Bag a set of four honestly: with a coin rather than a looter, another player's set rather than an own one."""
    best: dict[tuple[bool, bool], Option] = {}
    for option in plays["bag"]:
        if option.zone and value_of(option) in (LOOTER, number_of(option.zone)):
            best.setdefault((spends_looter(option), option.zone.owner == view.seat), option)
    return best[min(best)] if best else None


def pinch(view: BagOLootView, plays: Plays) -> Option | None:
    """Swap a coin for a looter: always a good swap."""
    return next(iter(plays["pinch"]), None)


def finish(view: BagOLootView, plays: Plays) -> Option | None:
    """Open, build or steal what becomes a bag in this very turn."""
    return play_towards(view, plays, BAG_SIZE)


def bluff(view: BagOLootView, plays: Plays) -> Option | None:
    """Make a bag of any four that match if nobody can challenge it; else only late, in every other round of turns."""
    if not view.settings.advanced:
        return None
    can_be_challenged = any(player.bags or player.sets for player in view.opponents)
    if can_be_challenged and (view.draw_pile.size > LATE or view.turns // len(view.players) % 2):
        return None
    hand = hand_counts(view)
    if plays["bag"]:  # an honest bag would have been made by now
        return min(plays["bag"], key=lambda option: hand[value_of(option)])
    return play_towards(view, plays, BAG_SIZE - 1)


def gain_a_say(view: BagOLootView, plays: Plays) -> Option | None:
    """Open a set if the table is empty: only players with a bag or an open set may challenge."""
    if not view.settings.advanced or view.me.bags or view.me.sets:
        return None
    hand = hand_counts(view)
    pairs = [option for option in plays["open"] if not spends_looter(option)] or plays["open"]
    return min(pairs, key=lambda option: hand[value_of(option)], default=None)


def play_towards(view: BagOLootView, plays: Plays, size: int) -> Option | None:
    """Choose a play towards a bag with this many matching cards, one that takes the fewest looters."""
    if view.bag_plays:
        return None
    hand = hand_counts(view)
    best: dict[tuple[int, bool], Option] = {}
    for option in plays["open"] + plays["build"] + plays["steal"]:
        number, lying = (number_of(option.zone), option.zone.size) if option.zone else (value_of(option), 0)
        looters = size - lying - hand[number]
        if looters <= hand[LOOTER] and view.me.hand.size >= BAG_SIZE - lying:
            best.setdefault((looters, spends_looter(option)), option)
    return best[min(best)] if best else None


def ditch(view: BagOLootView, plays: Plays) -> Option | None:
    """Throw away a coin whose bag is made: it is worth little, a new card may be more, and it is no forfeit."""
    return next(iter(plays["ditch"]), None)


def go_out(view: BagOLootView, plays: Plays) -> Option | None:
    """Lay everything down if every card has a place: that ends the round, and brings a bag of another player."""
    hand = hand_counts(view)
    lays = plays["open"] + plays["build"] + plays["steal"]
    at_home = {value_of(option) for option in lays if not spends_looter(option)}
    lone = [number for number in hand if number != LOOTER and number not in at_home]
    if len(lone) > hand[LOOTER]:
        return None
    return min(lays, key=lambda option: (spends_looter(option), value_of(option) not in lone), default=None)


def give_in(view: BagOLootView, plays: Plays) -> Option | None:
    """Lay one card or pair once nobody has played for a round of turns, of the number that the hand has most of."""
    if view.plays or view.draw_pile.size or view.idle_turns < len(view.players):
        return None
    hand = hand_counts(view)
    lays = plays["steal"] + plays["open"] + plays["build"]
    return min(lays, key=lambda option: (spends_looter(option), -hand[value_of(option)]), default=None)


def guess(view: BagOLootView, plays: Plays) -> Option | None:
    """Snitch where a card is forfeited anyway: a wrong number costs no more than that. Guess anew each turn."""
    guesses = plays["snitch"]
    return guesses[view.turns // len(view.players) % len(guesses)] if guesses else None


RULES: Final = (snitch, bag, pinch, finish, bluff, gain_a_say, ditch, go_out, give_in, guess)


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
    """Give it to the player with the fewest cards, who can use it least; of equals, to the one with fewest points."""
    return min(decision.options, key=lambda option: (option.player.hand.size, option.player.score))


def take_a_bag(view: BagOLootView, decision: Decision) -> Option:
    """Take it from the player with the most points."""
    return max(decision.options, key=lambda option: view.players[option.zone.owner or 0].score if option.zone else 0)


def challenge_the_bag(view: BagOLootView, decision: Decision) -> Option:
    """Challenge every bag: many are bluffs, and of several challengers only one pays for a genuine one."""
    return decision.options[1]


def take_your_reward(view: BagOLootView, decision: Decision) -> Option:
    """Take a bag, unless the open sets are worth more."""
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
