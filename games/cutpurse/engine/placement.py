"""Final places of a match, with the seats that failed behind all others.

This module knows no game and no match: only places by the cards, and which seats were taken over.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

__all__ = ["final_places"]


def final_places(card_places: Sequence[int], taken_over: Container[int]) -> list[int]:
    """Place the seats that were not taken over among themselves, and all others behind them.

    Seats that were not taken over keep their order and their ties. All seats that were taken over share the last
    place, whatever their cards did. If every seat was taken over, all share place 1: none did better than another.

    Args:
        card_places: By seat, the place by the cards alone: 1 is best, ties share the better place.
        taken_over: Seats that the match has played on by safe options.
    """
    seats = range(len(card_places))
    playing = [seat for seat in seats if seat not in taken_over]
    places = []
    for seat in seats:
        ahead = len(playing)
        if seat not in taken_over:
            ahead = 0
            for other in playing:
                if card_places[other] < card_places[seat]:
                    ahead += 1
        places.append(ahead + 1)
    return places
