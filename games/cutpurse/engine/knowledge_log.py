"""The notes of the knowledge log: what a move of cards may have shown to viewers, until `knowledge` works it off."""

from __future__ import annotations

from typing import Final

__all__ = ["ARRIVED", "EXCHANGED", "FORGOTTEN", "LEFT", "LOOKED", "MOVED_ALL", "SEEN_OFF", "UNCERTAIN", "Note", "Run"]

Run = tuple[tuple[int, ...], int]  # faces, and the viewers who know that they lie in this zone

# The notes of the log. Each begins with one of these numbers. Zones go by their numbers, so that forks share notes; a
# target is 0 if it remembers nothing.
ARRIVED: Final = 0  # zone, cards, viewers who see them arrive and do not see them afterwards
LEFT: Final = 1  # source, target, card, viewers who see its face, viewers it was hidden from, masks, size, copies
MOVED_ALL: Final = 2  # source, target, cards, masks, viewers who see all faces, copies by card
LOOKED: Final = 3  # zone, cards, masks, viewers who see all faces, copies by card
EXCHANGED: Final = 4  # one zone, the other
FORGOTTEN: Final = 5  # a zone
SEEN_OFF: Final = 6  # zone, card: all who may know something of a zone see the card leave, and nobody has clues
UNCERTAIN: Final = 7  # zone, viewers who do not infer: a card left that they did not see
# In these, masks are the viewers who saw each card before, or None where all cards of a zone are seen by the same; and
# copies are the viewers of each other copy of a card that somebody sees, which only matters where there are clues.
Note = tuple[object, ...]
