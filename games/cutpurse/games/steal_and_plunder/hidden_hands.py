"""Cards for the hands that a burn has betrayed, drawn for `imagine`.

After a burn all know that the rest of the hand is Power cards (SP-7.2). Some of them may have left the hand since.
This module knows no viewer and no table, only how many Power cards are hidden in a hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from cutpurse.engine.chance import Chance
from cutpurse.engine.words import FACE_DOWN
from cutpurse.games.steal_and_plunder.cards import POWERS

__all__ = ["draw_betrayed_hands", "powers_among"]


def powers_among(cards: list[int]) -> int:
    """SP-1.1. Count the Power cards."""
    return sum([card in POWERS for card in cards])


def draw_betrayed_hands(hands: Sequence[tuple[list[int], int]], unseen: list[int], chance: Chance) -> list[list[int]]:
    """SP-7.2. Draw cards for the hidden places of hands, so that all ways are equally likely.

    Power cards that must be there are dealt first, then any cards. So a hand with m Power cards that must have k is
    dealt in as many ways as k are chosen from m. It is accepted once in that many times.

    Args:
        hands: The cards of each hand, and the least number of Power cards among the hidden ones.
        unseen: The cards that may be there. They are shuffled.
        chance: Where the draws come from.

    Raises:
        ValueError: If there are too few unseen Power cards.
    """
    needed = sum([least for _, least in hands])
    while True:
        chance.shuffle(unseen)
        powers = [card for card in unseen if card in POWERS]
        if len(powers) < needed:
            raise ValueError(f"{len(powers)} unseen Power cards are to be {needed} that a burn has shown")
        rest = powers[needed:] + [card for card in unseen if card not in POWERS]
        del powers[needed:]
        chance.shuffle(rest)
        drawn: list[list[int]] = []
        for cards, least in hands:
            others = cards.count(FACE_DOWN) - least
            drawn.append([powers.pop() for _ in range(least)] + rest[:others])
            del rest[:others]
        ways = [comb(powers_among(cards), least) for cards, (_, least) in zip(drawn, hands, strict=True)]
        if all(chance.below(number) == 0 for number in ways):
            return drawn
