"""Stolen Treasure for the greedy bot: it takes the action with the highest gain in points.

Buried treasure counts in full. A card in hand counts half, because burying it takes another action. What an opponent
loses counts more, the nearer that opponent is to winning. A draw counts what the cards that nobody has shown yet count
on average, a piracy card what it would gain if it were played now.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from cutpurse.sdk.cards import Card
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.acts import ActView
from cutpurse.sdk.views.stolen_treasure import StolenTreasurePlayer, StolenTreasureView

__all__ = ["ANSWERS"]

IN_HAND: Final = 0.5  # of the value of good treasure that comes to my hand
PIRACY: Final = 50  # points: an unknown piracy card, and one that answers those of others
TO_PLAY: Final = 0.7  # of what a piracy card gains: playing it takes another action
ENOUGH_PIRACY: Final = 4  # cards in hand; more are not worth an action
LOST_TURN: Final = 100  # points: what the victim of a Hook misses
SPOT: Final = -1000  # points: The Black Spot, with which nobody wins
WIN: Final = 10_000  # points: more than anything else

per_decision = lru_cache(maxsize=16)  # its options ask for the same estimates again and again


# -- what cards and hands are worth
def worth(view: StolenTreasureView, card: Card | None) -> float:
    """Estimate the value of a card in hand to its holder, whether it is visible or not."""
    if card is None:
        return PIRACY
    if card.sort == "piracy":
        return SPOT if card.name == "the_black_spot" else PIRACY
    value = view.value(card)
    return value * IN_HAND if value > 0 else value


@per_decision
def treasure_worth(view: StolenTreasureView, player: StolenTreasurePlayer) -> float:
    """Estimate the value of a player's treasure."""
    return sum([worth(view, card) for card in player.treasure_hand.located])


@per_decision
def average(view: StolenTreasureView, player: StolenTreasurePlayer) -> float:
    """Estimate the value of a random card of a player's treasure."""
    known = len(player.treasure_hand.located)
    return treasure_worth(view, player) / known if known else 0


@per_decision
def all_worth(view: StolenTreasureView, player: StolenTreasurePlayer) -> float:
    """Estimate the value of both hands of a player."""
    known = player.piracy_hand.located
    unknown = player.piracy_hand.size - len(known)
    return treasure_worth(view, player) + sum([worth(view, card) for card in known]) + PIRACY * unknown


@per_decision
def threat(view: StolenTreasureView, player: StolenTreasurePlayer) -> float:
    """Return how near a player is to winning, from 0 to 1 and beyond."""
    target: int = view.settings.target
    return max(0, player.score) / target


@per_decision
def lowest(view: StolenTreasureView, player: StolenTreasurePlayer) -> int:
    """Return the value of the lowest treasure that a player is known to hold."""
    return min([view.value(card) for card in player.treasure_hand.located], default=0)


def mean_of_unseen(view: StolenTreasureView, value: Callable[[Card], float], *, piracy: bool) -> float:
    """Estimate the value of a piracy card, or of treasure, that nobody has shown yet."""
    unseen = [(card, copies) for card, copies in view.unseen.items() if (card.sort == "piracy") == piracy]
    return sum([value(card) * copies for card, copies in unseen]) / max(1, sum([copies for _, copies in unseen]))


@per_decision
def any_treasure(view: StolenTreasureView) -> float:
    """Estimate the value of a treasure card that is drawn."""
    return mean_of_unseen(view, lambda card: worth(view, card), piracy=False)


@per_decision
def any_piracy(view: StolenTreasureView) -> float:
    """Estimate the value of a piracy card that is drawn; The Black Spot counts nothing, since it is given away."""

    def gain(card: Card) -> float:
        if card.name in PLAYS:
            return max(0, PLAYS[card.name](view))
        if card.name in PLAYS_ON:
            return max([0, *[PLAYS_ON[card.name](view, other) for other in view.opponents]])
        return 0 if card.name == "the_black_spot" else PIRACY

    return TO_PLAY * mean_of_unseen(view, gain, piracy=True)


# -- the prices of actions
def draw(view: StolenTreasureView, option: Option) -> float:
    """Estimate the gain of a treasure card, or of piracy while the hand has little of it."""
    if option.zone is None or option.zone.name != "piracy_pile":
        return any_treasure(view)
    return any_piracy(view) if view.me.piracy_hand.size < ENOUGH_PIRACY else 0


def bury(view: StolenTreasureView, option: Option) -> float:
    """Estimate the gain of burying a card: its value, and the match if that is enough."""
    value = view.value(option.card) if option.card else 0
    wins = view.me.score + value >= view.settings.target and "the_black_spot" not in view.me.piracy_hand
    return value + (WIN if wins else 0)


def wager(view: StolenTreasureView, option: Option) -> float:
    """Estimate the gain of a wager, which is won half the time, with my lowest card as the stake."""
    stake = lowest(view, view.me)
    values = [view.value(card) for card in option.player.treasure_hand.located]
    match = min([value for value in values if value >= stake], default=sum([value for value in values if value > 0]))
    return (match * IN_HAND - (stake if stake < 0 else stake * IN_HAND)) / 2


# -- the prices of piracy
def plunder(view: StolenTreasureView) -> float:
    """Estimate the gain of two treasure cards for one action."""
    return 2 * any_treasure(view)


def yo_ho_ho(view: StolenTreasureView) -> float:
    """Estimate the gain of two treasure cards from each opponent."""
    return sum([average(view, other) * min(2, other.treasure_hand.size) for other in view.opponents])


def the_kraken(view: StolenTreasureView) -> float:
    """Estimate the mean loss of the opponents, less my own."""
    hands = [treasure_worth(view, player) for player in view.players]
    return sum(hands) / len(hands) - hands[view.me.seat]


def bombs_away(view: StolenTreasureView) -> float:
    """Estimate the mean loss of the opponents, less the card that it costs me."""
    bombed = [min(2, other.piracy_hand.size) for other in view.opponents]
    return PIRACY * (sum(bombed) / len(bombed) - 1)


# -- the prices of piracy, by the player whom it is played on
def spyglass(view: StolenTreasureView, victim: StolenTreasurePlayer) -> float:
    """Estimate how much more that hand is worth than mine."""
    return all_worth(view, victim) - all_worth(view, view.me)


@per_decision
def least_worth(view: StolenTreasureView) -> float:
    """Estimate the value of the worst card of my hand, but for Skulduggery."""
    mine = [*view.me.treasure_hand.seen, *view.me.piracy_hand.seen]
    return min([worth(view, card) for card in mine if card.name != "skulduggery"] or [0])


def skulduggery(view: StolenTreasureView, victim: StolenTreasurePlayer) -> float:
    """Estimate the gain of a treasure card for the worst card of my hand."""
    return average(view, victim) - least_worth(view)


def x_marks_the_spot(view: StolenTreasureView, victim: StolenTreasurePlayer) -> float:
    """Return the value of the best buried card."""
    best = max([view.value(card) for card in victim.buried.seen], default=0)
    return best * (IN_HAND + threat(view, victim))


def hook(view: StolenTreasureView, victim: StolenTreasurePlayer) -> float:
    """Estimate the gain of a treasure card and a turn."""
    return average(view, victim) + LOST_TURN * threat(view, victim)


PRICES: Final[dict[str, Callable[[StolenTreasureView, Option], float]]] = {"draw": draw, "bury": bury, "wager": wager}
PLAYS: Final[dict[str, Callable[[StolenTreasureView], float]]] = {
    "plunder": plunder,
    "yo_ho_ho": yo_ho_ho,
    "the_kraken": the_kraken,
    "bombs_away": bombs_away,
}
PLAYS_ON: Final[dict[str, Callable[[StolenTreasureView, StolenTreasurePlayer], float]]] = {
    "spyglass": spyglass,
    "skulduggery": skulduggery,
    "x_marks_the_spot": x_marks_the_spot,
    "hook": hook,
}


def take_an_action(view: StolenTreasureView, decision: Decision) -> Option:
    """Choose the action with the highest gain; none if each is a loss."""

    def price(option: Option) -> float:
        if option.card and option.verb == "play":
            return PLAYS[option.card.name](view)
        if option.card and option.verb == "play_on":
            return PLAYS_ON[option.card.name](view, option.player)
        return PRICES[option.verb](view, option) if option.verb in PRICES else 0

    return max(decision.options, key=price)


# -- piracy
def harms_me(view: StolenTreasureView, act: ActView) -> bool:
    """Return whether what is being done is done to me, or to all while I have something to lose."""
    if act.verb in ("play_on", "divert"):
        return act.seat == view.seat
    name = act.card.name if act.card else ""
    if name in ("the_kraken", "yo_ho_ho"):
        return average(view, view.me) > 0
    return name == "bombs_away" and view.me.piracy_hand.size > 1


def any_yarr(view: StolenTreasureView, decision: Decision) -> Option:
    """Stop what harms me, and save what I do myself."""
    act = view.in_question
    if act is None:
        return decision.options[0]
    stop = harms_me(view, act) and act.actor != view.seat and not view.is_nullified
    save = act.actor == view.seat and view.is_nullified
    return decision.options[-1] if stop or save else decision.options[0]


def divert_or_suffer(view: StolenTreasureView, decision: Decision) -> Option:
    """Let it befall the opponent who is nearest to winning; bombs are let be if there is little left to lose."""
    bombs = view.pending[-1].card
    if bombs is not None and bombs.name == "bombs_away" and view.me.piracy_hand.size == 1:
        return decision.options[0]
    return max(decision.options[1:], key=lambda option: option.player.score)


def choose_a_pile(view: StolenTreasureView, decision: Decision) -> Option:
    """Choose the first pile: all are alike."""
    return decision.options[0]


def name_a_kind(view: StolenTreasureView, decision: Decision) -> Option:
    """Name treasure, unless it is known to be poor."""
    treasure, piracy = decision.options
    return treasure if average(view, treasure.player) >= PIRACY else piracy


def the_worst(view: StolenTreasureView, decision: Decision) -> Option:
    """Find the card that is worth least in hand, to give or to discard."""
    return min(decision.options, key=lambda option: worth(view, option.card))


def dig_up(view: StolenTreasureView, decision: Decision) -> Option:
    """Choose the card with the highest value."""
    return max(decision.options, key=lambda option: view.value(option.card) if option.card else 0)


# -- the wager
def stake_treasure(view: StolenTreasureView, decision: Decision) -> Option:
    """Choose the lowest card, and no more."""
    if decision.options[0].card is None:
        return decision.options[0]
    return the_worst(view, decision)


def match_the_stake(view: StolenTreasureView, decision: Decision) -> Option:
    """Choose the lowest sufficient sum, as the safe option does."""
    return decision.safe


def any_parley(view: StolenTreasureView, decision: Decision) -> Option:
    """Lose, if there is nothing but trash to win."""
    pot = [card for player in view.players for card in player.stake.seen]
    return decision.options[-1] if view.worth(pot) < 0 else decision.options[0]


ANSWERS: Final[dict[str, Callable[[StolenTreasureView, Decision], Option]]] = {
    "take_an_action": take_an_action,
    "any_yarr": any_yarr,
    "divert_or_suffer": divert_or_suffer,
    "choose_a_pile": choose_a_pile,
    "name_a_kind": name_a_kind,
    "give_a_card": the_worst,
    "dig_up": dig_up,
    "discard_piracy": the_worst,
    "discard_to_the_limit": the_worst,
    "stake_treasure": stake_treasure,
    "match_the_stake": match_the_stake,
    "any_parley": any_parley,
}
