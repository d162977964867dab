"""The numbers by which a value function tells the seats of a position apart, one function per game.

Each has its numbers in the order of `position_weights`, which names them, with all cards open, and says how far the
match has come, from 0 to 1. Only what chance can change, or what makes such a change matter more, helps
`cutpurse.lab.luck`; so the money that lies safe in Steal & Plunder is left out. This module knows no weight.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from cutpurse.engine.zones import Zone
from cutpurse.games.bag_o_loot.cards import LOOTER
from cutpurse.games.bag_o_loot.rules import BagOLoot
from cutpurse.games.greed.cards import CROOK, NUMBER, NUMBERS
from cutpurse.games.greed.rules import WINNING_SET, Greed
from cutpurse.games.steal_and_plunder.cards import (
    FLEE_THE_COUNTRY,
    PLUNDER_CARD,
    STEAL_CARD,
    VALUE,
    WEALTH,
    WILDS,
)
from cutpurse.games.steal_and_plunder.rules import StealAndPlunder
from cutpurse.games.steal_and_plunder.state import value_of
from cutpurse.games.stolen_treasure.rules import StolenTreasure
from cutpurse.games.szmal.cards import MARKERS, column
from cutpurse.games.szmal.rules import ROUNDS, Szmal

__all__ = ["FEATURES", "Features"]

Features = tuple[list[tuple[float, ...]], float]
"""The numbers of each seat, and how far the match has come."""
MILLION: Final = 1_000_000
OPEN_MOST: Final = 4
"""BL-2.2. Cards of an open set that is ready for a bag."""


def _distance(seats: int, active: int, seat: int) -> float:
    """Return how far off the turn of a seat is, as a part of a round."""
    return (seat - active) % seats / seats


# -- Greed
def _greed(g: Greed) -> Features:
    active = g.agenda[0].seat  # the first step of a turn that was put there, the last to be done
    raider = active if g.middle.cards else -1
    has_to_play = any(step.name == "play_a_card" for step in g.agenda)
    hands = [_count_numbers(hand.cards) for hand in g.hand]
    features: list[tuple[float, ...]] = []
    for seat in range(g.n):
        collected = g.collection[seat].cards + (g.middle.cards if seat == raider else [])
        sets, hand = _count_numbers(collected), hands[seat]
        best = max(NUMBERS, key=lambda number: (sets[number], hand[number]))
        longest = sets[best]
        chances = [hands[other][best] / max(1, len(g.hand[other].cards)) for other in g.opponents(seat)]
        distance = _distance(g.n, active, seat)
        features.append(
            (
                float(longest >= WINNING_SET - 2),
                float(longest >= WINNING_SET - 1),
                min(hand[best], 3) * float(longest == WINNING_SET - 3),
                float(max(map(sum, zip(sets, hand, strict=True))) >= WINNING_SET),
                sum(sets) / 10,
                len(g.hand[seat].cards) / 8,
                1.0 if distance == 0 and not has_to_play else distance,
                sum(chances) * float(longest >= WINNING_SET - 2),
            )
        )
    return features, 0.0


def _count_numbers(cards: list[int]) -> list[int]:
    """Count the cards of each number; a crook has none."""
    counts = [0] * (NUMBERS[-1] + 1)
    for card in cards:
        if card != CROOK:
            counts[NUMBER[card]] += 1
    return counts


# -- Steal & Plunder
def _steal_and_plunder(g: StealAndPlunder) -> Features:
    active = _active_seat(g.agenda)
    tops = [g.open_pack(seat) for seat in range(g.n)]
    features: list[tuple[float, ...]] = []
    for seat in range(g.n):
        hand, top = g.hand[seat].cards, tops[seat]
        wealth = [card for card in hand if card in WEALTH]
        wilds = len([card for card in hand if card in WILDS])
        targets = [pack for other, pack in enumerate(tops) if other != seat and pack is not None]
        can_attack = g.locked_in[seat]
        best = max([value_of([pack]) for pack in targets], default=0) * can_attack
        matched = max([value_of([pack]) for pack in targets if pack.cards[-1] in wealth], default=0) * can_attack
        pairs = {card for card in wealth if wealth.count(card) > 1}
        own = 0 if top is None else value_of([top])
        features.append(
            (
                own * _is_outnumbered(g, seat, top) / MILLION,
                best * float(STEAL_CARD in hand or PLUNDER_CARD in hand) / MILLION,
                _distance(g.n, active, seat),
                min(wilds, len(wealth)) / 10,
                float(hand.count(PLUNDER_CARD)),
                own * (0 if top is None else hand.count(top.cards[-1])) / MILLION,
                sum([2 * VALUE[card] for card in pairs]) / MILLION,
                matched / MILLION,
                hand.count(FLEE_THE_COUNTRY) * value_of(g.gathered(seat)) / MILLION,
                best * float(wilds > 0) / MILLION,
            )
        )
    return features, 0.0


def _is_outnumbered(g: StealAndPlunder, seat: int, top: Zone | None) -> bool:
    """Whether an opponent holds more cards that fit in a battle for the open pack of a seat than its owner does."""
    if top is None:
        return False
    industry = top.cards[-1]

    def fitting(hand: list[int]) -> int:
        return len([card for card in hand if card == industry or card in WILDS])

    own = fitting(g.hand[seat].cards)
    return any(g.locked_in[other] and fitting(g.hand[other].cards) > own for other in g.opponents(seat))


def _active_seat(agenda: list[Any]) -> int:
    """Return the seat of the next step that has one."""
    return next((step.seat for step in reversed(agenda) if step.seat >= 0), 0)


# -- Szmal
def _szmal(g: Szmal) -> Features:
    features: list[tuple[float, ...]] = [
        (
            g.cash[seat] / 100_000,
            sum(column(g.holdings[seat], MARKERS)) / 10,
            len(g.thugs[seat].cards) / 5,
            len(g.hand[seat].cards) / 5,
        )
        for seat in range(g.n)
    ]
    return features, g.round / ROUNDS


# -- Stolen Treasure
def _stolen_treasure(g: StolenTreasure) -> Features:
    target = g.settings.target
    active = _active_seat(g.agenda)
    features: list[tuple[float, ...]] = []
    for seat in range(g.n):
        hand = [g.value[card] for card in g.treasure_hand[seat].cards]
        staked = [g.value[card] for card in g.stake[seat].cards]
        good = [value for value in hand if value > 0]
        treasure = sum(good) + sum([value for value in staked if value > 0])
        score = g.score(seat)
        part = score / target
        features.append(
            (
                part,
                part * max(part, 0.0),
                treasure / target,
                sum([value for value in hand if value < 0]) / target,
                max(good, default=0) / target,
                float(score + treasure >= target),
                len(good) / 4,
                _distance(g.n, active, seat),
            )
        )
    return features, min(1.0, max(0.0, *[numbers[0] for numbers in features]))


# -- Bag-O-Loot
def _bag_o_loot(g: BagOLoot) -> Features:
    features: list[tuple[float, ...]] = []
    for seat in range(g.n):
        hand = g.hand[seat].cards
        held = [0] * (LOOTER + 1)
        for card in hand:
            held[card] += 1
        to_steal = to_build = 0
        for other, sets in enumerate(g.set):
            for zone in sets:
                if held[zone.counters[0]] and len(zone.cards) < OPEN_MOST:
                    to_build += other == seat
                    to_steal += len(zone.cards) if other != seat else 0
        features.append(
            (
                len(hand) / 8,
                float(held[LOOTER]),
                float(held[:LOOTER].count(2)),
                to_steal / OPEN_MOST,
                float(to_build),
                _distance(g.n, g.turn_of - 1, seat),
            )
        )
    return features, (g.round - 1) / (g.settings.rounds or g.n)


FEATURES: Final[Mapping[str, Callable[[Any], Features]]] = {
    "steal_and_plunder": _steal_and_plunder,
    "stolen_treasure": _stolen_treasure,
    "szmal": _szmal,
    "greed": _greed,
    "bag_o_loot": _bag_o_loot,
}
