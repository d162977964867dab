"""Steal & Plunder for the greedy bot: every action has a price in Rand, and the dearest is taken.

What is gained counts in full only where it is safe. A theft counts in full too: its victim loses what the thief gains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cutpurse.sdk.cards import Card
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.steal_and_plunder import Pack, StealAndPlunderPlayer, StealAndPlunderView

__all__ = ["ANSWERS"]

KEEPS: Final = 0.7  # of the worth of an open pack, on average, since others may take it
HIDDEN_WORTH: Final = 150_000  # Rand: a partner that I have not seen
AUDIT_WORTH: Final = 200_000  # Rand: the best card of another hand
DRAW_WORTH: Final = 50_000  # Rand: a new card for one that is discarded
FULL_HAND: Final = 5  # cards
FLEE_AT: Final = 6  # cards a player in the deck: with fewer, what is gathered goes abroad


def value(card: Card | None) -> float:
    """Return the value of a card; 0 if there is none."""
    return card.value if card else 0


def worth(pack: Pack | None) -> float:
    """Estimate the value of a pack: known cards exactly, a mean for each other card."""
    if pack is None:
        return 0
    located = pack.located
    return sum([card.value for card in located]) + HIDDEN_WORTH * (pack.size - len(located))


def gathered(player: StealAndPlunderPlayer) -> float:
    """Estimate what Flee the Country or a Tax Audit would take."""
    return sum([worth(pack) for pack in (*player.packs, *player.plundered)])


def form_pack(view: StealAndPlunderView, option: Option) -> float:
    """Estimate the gain of both cards; the first pack of a game is safe for good, others may be taken."""
    return sum([value(card) for card in option.cards]) * (KEEPS if view.me.locked_in else 1)


def form_pack_discard(view: StealAndPlunderView, option: Option) -> float:
    """Estimate the gain of a pack that takes the top discard too."""
    return form_pack(view, option) + value(view.discard.top) * (KEEPS if view.me.locked_in else 1)


def discard(view: StealAndPlunderView, option: Option) -> float:
    """Estimate the gain of a new card for an old one, without splitting twins."""
    copies = view.me.hand.seen.count(option.card) if option.card else 1
    return DRAW_WORTH - value(option.card) * copies


def attack(view: StealAndPlunderView, option: Option) -> float:
    """Price the pack in full although it may be defended: it is open now, while a pair in hand can wait a turn."""
    return worth(option.player.open_pack)


def power_steal(view: StealAndPlunderView, option: Option) -> float:
    """Estimate the gain of the open pack, which others may take again."""
    return worth(option.player.open_pack) * KEEPS


def power_plunder(view: StealAndPlunderView, option: Option) -> float:
    """Estimate the gain of the open pack, which is then safe for good."""
    return worth(option.player.open_pack)


def power_audit(view: StealAndPlunderView, option: Option) -> float:
    """Estimate the gain of a card from a hand; the larger the hand, the better."""
    return AUDIT_WORTH * float(option.player.hand.size) / FULL_HAND


def power_flee(view: StealAndPlunderView, option: Option) -> float:
    """Estimate the gain of Flee the Country: only late, when most is gathered and little follows."""
    late = view.deck.size < FLEE_AT * len(view.players)
    return gathered(view.me) * (1 - KEEPS) if late else 0


def power_tax(view: StealAndPlunderView, option: Option) -> float:
    """Estimate the gain of a Tax Audit: half of what one opponent has, over all opponents."""
    return gathered(option.player) / 2 / len(view.opponents)


PRICES: Final[dict[str, Callable[[StealAndPlunderView, Option], float]]] = {
    "form_pack": form_pack,
    "form_pack_discard": form_pack_discard,
    "discard": discard,
    "attack": attack,
    "power_steal": power_steal,
    "power_plunder": power_plunder,
    "power_audit": power_audit,
    "power_flee": power_flee,
    "power_tax": power_tax,
}


def take_a_turn(view: StealAndPlunderView, decision: Decision) -> Option:
    """Choose the action with the highest gain."""

    def price(option: Option) -> float:
        return PRICES[option.verb](view, option) if option.verb in PRICES else 0.0

    return max(decision.options, key=price)


def answer_the_theft(view: StealAndPlunderView, decision: Decision) -> Option:
    """Fight with the cheapest card that fits, as long as it is worth less than what is fought for."""
    stake = worth(view.attacked) + sum([value(card) for card in view.battle])
    cards = [option for option in decision.options if option.card]
    cheapest = min(cards, key=lambda option: value(option.card), default=None)
    return cheapest if cheapest and value(cheapest.card) < stake else decision.options[0]


def take_their_best_card(view: StealAndPlunderView, decision: Decision) -> Option:
    """Choose the card with the highest value."""
    return max(decision.options, key=lambda option: value(option.card))


ANSWERS: Final[dict[str, Callable[[StealAndPlunderView, Decision], Option]]] = {
    "take_a_turn": take_a_turn,
    "answer_the_theft": answer_the_theft,
    "take_their_best_card": take_their_best_card,
}
