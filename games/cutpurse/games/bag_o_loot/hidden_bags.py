"""Cards for the bags that a viewer can't see into, drawn for `imagine`.

Bags are lists of cards with FACE_DOWN for each hidden one. They are filled in place, with cards taken out of `unseen`.
Each filling must leave enough cards for the other bags, so that all bags are filled if that is possible. Looters are
as rare as in bags made in play; a shuffle of the unseen cards would give each bag far more of them.
This module knows no viewer and no table, only what a bag can hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from cutpurse.engine.card_assignment import weighted
from cutpurse.engine.chance import Chance
from cutpurse.engine.words import FACE_DOWN
from cutpurse.games.bag_o_loot.cards import LOOTER, NUMBERS

__all__ = ["fill_closed_bags", "fill_fifth_cards", "fill_numbered_bags"]

BAG_SIZE: Final = 5
SET_SIZE: Final = 4
WITH_LOOTERS: Final = (50, 35, 11, 3, 1)  # of 100 bags, the number that hold 0, 1, 2, 3 and 4 looters

Copies = list[int]  # the number of unseen copies of each card


def fill_closed_bags(bags: Sequence[list[int]], unseen: list[int], chance: Chance) -> None:
    """BL-2.2, BL-2.3. Fill each bag with five cards: coins of one number, at least one, and looters.

    Raises:
        ValueError: If the unseen cards cannot fill the bags.
    """
    hidden = [bag for bag in bags if FACE_DOWN in bag]
    have = _count_cards(unseen)
    while hidden:
        bag = hidden.pop()
        numbers = [number for number in NUMBERS if have[number]]
        bag[:] = _draw_filling(BAG_SIZE, numbers, have, partial(_can_fill_bags, len(hidden)), chance)
        _take_out(bag, unseen)


def fill_numbered_bags(bags: Iterable[tuple[list[int], int]], unseen: list[int], chance: Chance) -> None:
    """BL-2.2, BL-6.2. Fill the first four cards of each bag: coins of its number, at least one, and looters.

    Raises:
        ValueError: If the unseen cards cannot fill the bags.
    """
    hidden = [(bag, number) for bag, number in bags if FACE_DOWN in bag[:SET_SIZE]]
    have = _count_cards(unseen)
    while hidden:
        bag, number = hidden.pop()
        others = [other for _, other in hidden]
        filling = _draw_filling(SET_SIZE, [number], have, partial(_can_fill_sets, others), chance)
        bag[:SET_SIZE] = filling
        _take_out(filling, unseen)


def fill_fifth_cards(bags: Iterable[tuple[list[int], int]], unseen: list[int], chance: Chance) -> None:
    """BL-6.2. Make about half of the hidden fifth cards genuine, where that is possible; leave the others hidden."""
    for cards, number in bags:
        if cards and cards[-1] == FACE_DOWN and chance.below(2):
            genuine = [card for card in unseen if card in (number, LOOTER)]
            if genuine:
                cards[-1] = genuine[chance.pick(genuine)]
                unseen.remove(cards[-1])


def _count_cards(cards: list[int]) -> Copies:
    return [cards.count(card) for card in range(LOOTER + 1)]


def _take_out(cards: list[int], unseen: list[int]) -> None:
    for card in cards:
        unseen.remove(card)


def _draw_filling(
    size: int, numbers: list[int], have: Copies, can_fill_others: Callable[[Copies], bool], chance: Chance
) -> list[int]:
    """Draw coins of one of the numbers, and looters, that leave enough for the other bags.

    The cards are taken out of `have`.

    Raises:
        ValueError: If no filling leaves enough.
    """
    fillings: list[tuple[int, int]] = []  # number and coins; the rest are looters
    for number in numbers:
        for coins in range(1, size + 1):
            if coins <= have[number] and size - coins <= have[LOOTER]:
                fillings.append((number, coins))
    while fillings:
        weights = [have[number] * WITH_LOOTERS[size - coins] for number, coins in fillings]
        number, coins = weighted([*zip(fillings, weights, strict=True)], chance)
        fillings.remove((number, coins))
        have[number] -= coins
        have[LOOTER] -= size - coins
        if can_fill_others(have):
            return [number] * coins + [LOOTER] * (size - coins)
        have[number] += coins
        have[LOOTER] += size - coins
    raise ValueError("the unseen cards cannot fill the hidden bags")


def _can_fill_bags(bags: int, have: Copies) -> bool:
    """Check that this many bags of any numbers can be filled.

    Each needs a coin, and the looters must suffice if as many coins as possible are used: those of the commonest
    numbers, one number for each bag.
    """
    coins = sum(sorted([have[number] for number in NUMBERS], reverse=True)[:bags])
    return coins >= bags and BAG_SIZE * bags - coins <= have[LOOTER]


def _can_fill_sets(numbers: list[int], have: Copies) -> bool:
    """Check that sets of four of these numbers can be filled.

    Each needs a coin, and the looters must suffice if all coins of these numbers are used.
    """
    looters = 0
    for number in set(numbers):
        sets = numbers.count(number)
        if have[number] < sets:
            return False
        looters += max(0, SET_SIZE * sets - have[number])
    return looters <= have[LOOTER]
