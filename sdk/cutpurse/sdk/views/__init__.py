"""What bots see, game by game; a new game is a line here."""

from __future__ import annotations

from typing import Any, Final

from cutpurse.sdk.views.bag_o_loot import BagOLootView
from cutpurse.sdk.views.base import GameView
from cutpurse.sdk.views.greed import GreedView
from cutpurse.sdk.views.steal_and_plunder import StealAndPlunderView
from cutpurse.sdk.views.stolen_treasure import StolenTreasureView
from cutpurse.sdk.views.szmal import SzmalView

__all__ = ["VIEWS"]

VIEWS: Final[dict[str, type[GameView[Any]]]] = {
    "steal_and_plunder": StealAndPlunderView,
    "stolen_treasure": StolenTreasureView,
    "szmal": SzmalView,
    "greed": GreedView,
    "bag_o_loot": BagOLootView,
}
