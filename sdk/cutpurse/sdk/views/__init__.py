"""What bots see, game by game; a new game is a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cutpurse.games.registry import Registry

if TYPE_CHECKING:
    from cutpurse.sdk.views.base import GameView

__all__ = ["VIEWS"]

VIEWS: Final[Registry[type[GameView[Any]]]] = Registry(
    {
        "steal_and_plunder": "cutpurse.sdk.views.steal_and_plunder:StealAndPlunderView",
        "stolen_treasure": "cutpurse.sdk.views.stolen_treasure:StolenTreasureView",
        "szmal": "cutpurse.sdk.views.szmal:SzmalView",
        "greed": "cutpurse.sdk.views.greed:GreedView",
        "bag_o_loot": "cutpurse.sdk.views.bag_o_loot:BagOLootView",
    }
)
