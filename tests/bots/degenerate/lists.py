"""The small bots of each game, and of each way to play it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.bots.degenerate import bag_o_loot, greed, steal_and_plunder, stolen_treasure, szmal
from tests.bots.degenerate.harness import SmallBot

__all__ = ["WAYS", "Way"]


@dataclass(frozen=True)
class Way:
    """A way to play a game, and the small bots that are measured in it.

    Attributes:
        settings: Settings of the game.
        in_short: Further settings that make matches short enough for `make test`.
    """

    game: str
    bots: Sequence[SmallBot]
    settings: Mapping[str, object] = field(default_factory=dict)
    in_short: Mapping[str, object] = field(default_factory=dict)


ONE_ROUND: Final = {"rounds": 1}

WAYS: Final[Mapping[str, Way]] = {
    "steal_and_plunder": Way("steal_and_plunder", steal_and_plunder.BOTS),
    "stolen_treasure": Way("stolen_treasure", stolen_treasure.BOTS),
    "szmal": Way("szmal", szmal.BOTS),
    "greed": Way("greed", greed.BOTS),
    "bag_o_loot": Way("bag_o_loot", bag_o_loot.BOTS, {}, ONE_ROUND),
    "bag_o_loot, free wrong snitch": Way("bag_o_loot", bag_o_loot.SNITCHES, {"wrong_snitch": "free"}, ONE_ROUND),
    "bag_o_loot, advanced": Way("bag_o_loot", bag_o_loot.ADVANCED, {"advanced": True}, ONE_ROUND),
}
