"""Seats that were taken over come behind all others, which keep their order."""

from __future__ import annotations

from itertools import product

import pytest

from cutpurse.engine.placement import final_places


@pytest.mark.parametrize("seats", range(1, 7))
def test_every_result_with_every_set_of_seats_taken_over(seats: int) -> None:
    for order in product(range(seats), repeat=seats):
        if sorted(set(order)) != list(range(len(set(order)))):
            continue  # another spelling of an order that is counted already
        card_places = [1 + sum(other < mine for other in order) for mine in order]
        for chosen in product((False, True), repeat=seats):
            taken_over = {seat for seat in range(seats) if chosen[seat]}
            keys = [(chosen[seat], 0 if chosen[seat] else card_places[seat]) for seat in range(seats)]
            ranks = sorted(keys)
            assert final_places(card_places, taken_over) == [1 + ranks.index(key) for key in keys]


@pytest.mark.parametrize(
    ("card_places", "taken_over", "places"),
    [
        ([1, 2, 3, 4], set(), [1, 2, 3, 4]),
        ([1, 2, 3, 4], {0}, [4, 1, 2, 3]),
        ([1, 2, 3, 4], {0, 2}, [3, 1, 3, 2]),
        ([1, 1, 3, 3], {0}, [4, 1, 2, 2]),
        ([1, 1, 3, 3], {2}, [1, 1, 4, 3]),
        ([2, 1, 3], {0, 1, 2}, [1, 1, 1]),
    ],
)
def test_examples(card_places: list[int], taken_over: set[int], places: list[int]) -> None:
    assert final_places(card_places, taken_over) == places
