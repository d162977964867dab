"""Greed for the greedy bot: everything for the longest set, and stop a raid while it pays.

A card is worth the more, the longer the set that it joins; all else follows from that one scale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from cutpurse.sdk.cards import Card
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.greed import GreedPlayer, GreedView
from cutpurse.sdk.views.piles import Pile

__all__ = ["ANSWERS"]

WINNING_SET: Final = 6
WIN: Final = 1000.0  # the worth of a card that makes the winning set: more than all others together
SMALL_HAND: Final = 4  # cards, the crook included: with fewer, new ones are worth a lone collected card
SPARE_SET: Final = 2  # cards: no longer set is given up in a swap


def worth(have: int) -> float:
    """Return the value of one more card of a number for a player who has `have` of them."""
    return WIN if have + 1 >= WINNING_SET else float((have + 1) ** 2)


def number_of(card: Card | None) -> int:
    """Return the number on a card; 0 for a crook."""
    return card.value if card else 0


def play_a_card(view: GreedView, decision: Decision) -> Option:
    """Lengthen the longest set; among equal sets, the one with more cards in hand."""
    sets = view.me.sets
    in_hand = Counter(number_of(card) for card in view.me.hand.seen)
    return max(decision.options, key=lambda option: (sets[number_of(option.card)], in_hand[number_of(option.card)]))


def choose_a_victim(view: GreedView, decision: Decision) -> Option:
    """Raid the hand whose cards are worth most to me, by what I know of them; of equal ones that of the leader.

    Two players may raid the draw pile instead: only if it promises more.
    """
    sets = view.me.sets
    average = average_worth(view, sets)

    def promise(option: Option) -> tuple[float, int]:
        if option.player is None:
            return average, 0
        return hand_worth(option.player.hand, sets, average), option.player.longest_set

    return max(decision.options, key=promise)


def hand_worth(hand: Pile, sets: Counter[int], average: float) -> float:
    """Estimate the mean value of a card drawn from a hand; face-down cards count like any unseen card."""
    known = hand.known
    numbers = [number_of(card) for card in known]
    total = sum([worth(sets[number]) for number in numbers if number])
    return (total + average * (hand.size - len(known))) / hand.size


def average_worth(view: GreedView, sets: Counter[int]) -> float:
    """Estimate the mean value of an unseen card."""
    unseen = view.unseen
    return sum([worth(sets[number_of(card)]) * copies for card, copies in unseen.items()]) / max(1, unseen.total())


def go_on_or_stop(view: GreedView, decision: Decision) -> Option:
    """Stop when the middle wins, or when a bust would on average cost more than the next card brings."""
    stop, go_on = decision.options
    me = view.me
    sets = me.sets
    victim: GreedPlayer | None = view.pending[-1].player
    at_stake = sum([worth(sets[number]) for number in view.middle_numbers])
    if victim is not None and "crook" in view.middle:
        at_stake += max([worth(sets[number]) for number in victim.sets], default=0.0)
    if at_stake >= WIN:
        return stop
    bust, gain = next_card(view, victim.hand if victim is not None else None)
    return go_on if gain > bust * at_stake else stop


def next_card(view: GreedView, hand: Pile | None) -> tuple[float, float]:
    """Estimate how likely the next card of this hand, or of the draw pile, is a bust, and what it brings on average."""
    sets, middle = view.me.sets, view.middle_numbers
    known = [number_of(card) for card in hand.known] if hand is not None else []
    hidden = hand.size - len(known) if hand is not None else 1
    unseen = view.unseen if hidden else Counter[Card]()
    share = hidden / max(1, unseen.total())  # of each unseen card, how much of it is expected here
    bust = gain = 0.0
    for number, cards in [*((n, 1.0) for n in known), *((number_of(c), k * share) for c, k in unseen.items())]:
        if number in middle:
            bust += cards
        elif number:
            gain += cards * worth(sets[number])
    size = len(known) + hidden
    return bust / size, gain / size


def look_at_a_hand(view: GreedView, decision: Decision) -> Option:
    """Look at the hand that is being raided: then the next bust is seen coming. After a raid at any."""
    raided = [act.seat for act in view.pending]
    return next((option for option in decision.options if option.seat in raided), decision.options[-1])


def take_a_card(view: GreedView, decision: Decision) -> Option:
    """Take with the crook what is worth most to me and to its owner together."""
    sets = view.me.sets

    def gain(option: Option) -> float:
        if option.player is None:
            return 0.0
        number = number_of(option.card)
        return worth(sets[number]) + worth(option.player.sets[number] - 1)

    return max(decision.options, key=gain)


def swap_two_for_three(view: GreedView, decision: Decision) -> Option:
    """Two cards of short sets for three new ones is a bargain; long sets stay together."""
    sets = view.me.sets
    spare = [option for option in decision.options if option.card and sets[number_of(option.card)] <= SPARE_SET]
    if len(view.me.collection) - view.me.longest_set < SPARE_SET or not spare:
        return decision.options[0]
    return min(spare, key=lambda option: sets[number_of(option.card)])


def swap_the_second(view: GreedView, decision: Decision) -> Option:
    """Swap a card of the shortest set again."""
    sets = view.me.sets
    return min(decision.options, key=lambda option: sets[number_of(option.card)])


def trade_a_number_in(view: GreedView, decision: Decision) -> Option:
    """Give up the shortest set for new cards if it is a lone card and the hand is small."""
    sets = view.me.sets
    lone = [option for option in decision.options if sets[option.number] == 1]
    return lone[0] if lone and len(view.me.hand) < SMALL_HAND else decision.options[0]


ANSWERS: Final[dict[str, Callable[[GreedView, Decision], Option]]] = {
    "play_a_card": play_a_card,
    "choose_a_victim": choose_a_victim,
    "go_on_or_stop": go_on_or_stop,
    "look_at_a_hand": look_at_a_hand,
    "take_a_card": take_a_card,
    "swap_two_for_three": swap_two_for_three,
    "swap_the_second": swap_the_second,
    "trade_a_number_in": trade_a_number_in,
}
