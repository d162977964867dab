"""The sentences that every game shares, with gaps: "{cards}: from {source} to {target}".

`engine/text.py` fills them. A translated vocabulary (`Words.sentences`) has those of its language. This module knows no
game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["ENGLISH_SENTENCES", "Sentences"]


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences about cards, zones, seats and events; each names its gaps in braces."""

    thousands: str = ","  # separator in numbers
    table: str = "the table"  # as the one that acts
    seat: str = "seat {seat}"
    nobody: str = "nobody"
    everybody: str = "everybody"
    face_down: str = "card face down"
    copies: str = "{number} x {title}"
    nothing: str = "nothing"  # no card
    box: str = "the box"
    owned: str = "{title} of {owner}"
    gone_zone: str = "zone {zone}"
    zone_is_gone: str = "zone {zone}, which is gone"
    place: str = " (place {place})"  # after an option about one of several equal cards
    moved: str = "{cards}: from {source} to {target}"
    shown: str = "{seats} sees {zone}: {cards}"
    shuffled: str = "{zone} is shuffled"
    counted: str = "{counter} is {value}"
    counted_of: str = "{counter} of {owner}: {value}"
    removed: str = "{zone} is gone"
    placed: str = "{zone} lies before {seat}"
    asked: str = "asked {question}: {seats}"
    ended: str = "the end: {scores}"
    scored: str = "counted up: {scores}"


ENGLISH_SENTENCES: Final = Sentences()
