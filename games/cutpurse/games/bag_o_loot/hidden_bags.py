"""What may lie in bags that somebody cannot see into, for `imagine`.

Bags are lists of cards with FACE_DOWN for each one not seen; they are filled in place, with cards taken out of
`unseen`. Each choice is checked to leave enough for the bags that follow, so whenever the bags can be filled they are.
The number of looters is drawn as bags are made in play, not as a shuffle would bring it, which would be far more.
This module knows no viewer and no table, only what a bag can hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from cutpurse.engine.chance import Chance
from cutpurse.engine.words import FACE_DOWN
from cutpurse.games.bag_o_loot.cards import LOOTER, NUMBERS

__all__ = ["fill_closed_bags", "fill_fifth_cards", "fill_numbered_bags"]

BAG_SIZE: Final = 5
SET_SIZE: Final = 4
WITH_LOOTERS: Final = (50, 35, 11, 3, 1)  # of 100 bags, how many hold 0, 1 .. 4 looters


def fill_closed_bags(bags: Sequence[list[int]], unseen: list[int], chance: Chance) -> None:
    """BL-2.2, BL-2.3. Each bag gets five cards: coins of one number, at least one, and looters.

    Raises ValueError if the unseen cards cannot fill the bags.
    """
    closed = [bag for bag in bags if FACE_DOWN in bag]
    have = _counts(unseen)
    for left in range(len(closed) - 1, -1, -1):
        numbers = [number for number in NUMBERS if have[number]]
        filling = _pick_filling(BAG_SIZE, numbers, have, chance, left)
        closed[left][:] = filling
        _take_out(filling, unseen)


def fill_numbered_bags(bags: Iterable[tuple[list[int], int]], unseen: list[int], chance: Chance) -> None:
    """BL-2.2, BL-6.2. The first four cards of each bag are coins of its number, at least one, and looters.

    Raises ValueError if the unseen cards cannot fill the bags.
    """
    closed = [(bag, number) for bag, number in bags if FACE_DOWN in bag[:SET_SIZE]]
    have = _counts(unseen)
    while closed:
        bag, number = closed.pop()
        filling = _pick_filling(SET_SIZE, [number], have, chance, [number for _, number in closed])
        bag[:SET_SIZE] = filling
        _take_out(filling, unseen)


def fill_fifth_cards(bags: Iterable[tuple[list[int], int]], unseen: list[int], chance: Chance) -> None:
    """BL-6.2. Every other last card that was laid face down is genuine, if it can be; the others are anything."""
    for cards, number in bags:
        if cards and cards[-1] == FACE_DOWN and chance.below(2):
            if genuine := [card for card in unseen if card in (number, LOOTER)]:
                cards[-1] = genuine[chance.pick(genuine)]
                unseen.remove(cards[-1])


def _counts(cards: list[int]) -> list[int]:
    return [cards.count(card) for card in range(LOOTER + 1)]


def _take_out(filling: list[int], unseen: list[int]) -> None:
    for card in filling:
        unseen.remove(card)


def _pick_filling(size: int, numbers: list[int], have: list[int], chance: Chance, others: int | list[int]) -> list[int]:
    """Coins of one of the numbers, and looters, that leave enough for the other bags; they are taken out of `have`."""
    fillings = [
        (number, coins)
        for number in numbers
        for coins in range(max(1, size - have[LOOTER]), min(size, have[number]) + 1)
    ]
    while fillings:
        weights = [have[number] * WITH_LOOTERS[size - coins] for number, coins in fillings]
        number, coins = fillings.pop(_weighted(weights, chance))
        have[number] -= coins
        have[LOOTER] -= size - coins
        if _are_enough(have, others):
            return [number] * coins + [LOOTER] * (size - coins)
        have[number] += coins
        have[LOOTER] += size - coins
    raise ValueError("the unseen cards cannot fill the hidden bags")


def _are_enough(have: list[int], others: int | list[int]) -> bool:
    """Tell whether this many bags, or sets of four of these numbers, can still be filled.

    They can if the looters make up for what is missing when as many coins as possible are used.
    """
    if isinstance(others, int):
        coins = sum(sorted([have[number] for number in NUMBERS], reverse=True)[:others])
        return coins >= others and BAG_SIZE * others - coins <= have[LOOTER]
    looters = 0
    for number in dict.fromkeys(others):
        sets = others.count(number)
        if have[number] < sets:
            return False
        looters += max(0, SET_SIZE * sets - have[number])
    return looters <= have[LOOTER]


def _weighted(weights: list[int], chance: Chance) -> int:
    """Draw an index, each as likely as its weight."""
    at = chance.below(sum(weights))
    for place, weight in enumerate(weights):
        if at < weight:
            return place
        at -= weight
    raise AssertionError("a number below the sum falls on no weight")
