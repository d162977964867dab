"""Positions of Bag-O-Loot for stories.

Sets and bags are numbered in the order of creation, after the three zones of the table and the hands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cutpurse.engine.zones import Zone
from cutpurse.games.bag_o_loot.cards import BLUFF_BAG, SET
from cutpurse.games.bag_o_loot.rules import (
    BagOLoot,
)
from tests.games.story import Story

__all__ = ["ADVANCED", "ONE_ROUND", "at_table", "lay"]

ADVANCED: dict[str, object] = {"advanced": True}
ONE_ROUND: dict[str, object] = {"rounds": 1}


def at_table(
    hand: Sequence[str],
    sets: Mapping[int, Sequence[str]] | None = None,
    bags: Mapping[int, Sequence[str]] | None = None,
    *,
    draw_pile: str = "",
    ditched: str = "",
    settings: Mapping[str, object] | None = None,
    chance: Sequence[int] = (),
    **counters: int | list[int],
) -> Story[BagOLoot]:
    """Create a story with hands, and with sets and bags by owner; sets are created first."""
    story = Story(
        BagOLoot, len(hand), {"draw_pile": draw_pile, "ditched": ditched, "hand": hand}, settings, chance, **counters
    )
    for seat, own in (sets or {}).items():
        for cards in own:
            lay(story, story.g.make(SET, seat), cards)
    for seat, own in (bags or {}).items():
        for cards in own:
            lay(story, story.g.make(story.g.bag_kind, seat), cards)
    return story


def lay(story: Story[BagOLoot], zone: Zone, cards: str) -> None:
    """Lay a set or bag in the order of its cards; no seat knows a card of a bluff bag."""
    story.lay(zone, cards, seers=0 if zone.kind is BLUFF_BAG else None)
    if zone.counters:
        zone.counters[0] = next(int(card) for card in cards.split() if card != "looter")
