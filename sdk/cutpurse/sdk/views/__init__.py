"""What bots see, game by game; a new game is a line here, or an entry point `cutpurse.views` of its package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cutpurse.games.registry import Registry

if TYPE_CHECKING:
    from cutpurse.sdk.views.base import GameView

__all__ = ["VIEWS"]

GROUP: Final = "cutpurse.views"


class Views(Registry["type[GameView[Any]]"]):
    """The class of view of each game; `GameView` itself for a game that has no class of its own."""

    def __getitem__(self, name: str) -> type[GameView[Any]]:
        if name not in self:
            self[name] = _outside(name)
        return super().__getitem__(name)


def _outside(name: str) -> type[GameView[Any]]:
    """Find the view of a game of another package.

    Raises:
        TypeError: If what the package names is not a view.
    """
    from importlib.metadata import entry_points

    from cutpurse.sdk.views.base import GameView

    for entry in entry_points(group=GROUP, name=name):
        view = entry.load()
        if not (isinstance(view, type) and issubclass(view, GameView)):
            raise TypeError(f"{entry.value}, the view of game {name!r}, is not a class that extends GameView")
        return view
    return GameView


VIEWS: Final = Views(
    {
        "steal_and_plunder": "cutpurse.sdk.views.steal_and_plunder:StealAndPlunderView",
        "stolen_treasure": "cutpurse.sdk.views.stolen_treasure:StolenTreasureView",
        "szmal": "cutpurse.sdk.views.szmal:SzmalView",
        "greed": "cutpurse.sdk.views.greed:GreedView",
        "bag_o_loot": "cutpurse.sdk.views.bag_o_loot:BagOLootView",
    }
)
