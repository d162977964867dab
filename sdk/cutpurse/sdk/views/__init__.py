"""The views of all games. A new game gets a line here, or an entry point `cutpurse.views` in its package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.games.lazy_registry import Registry
from cutpurse.games.outside import ImportFailed, import_entry

if TYPE_CHECKING:
    from cutpurse.sdk.views.base import GameView

__all__ = ["VIEWS"]

GROUP: Final = "cutpurse.views"


class Views(Registry["type[GameView[Any]]"]):
    """The view class of each game; `GameView` itself for a game without its own class."""

    def __getitem__(self, name: str) -> type[GameView[Any]]:
        if name not in self:
            self[name] = _outside(name)
        return super().__getitem__(name)


def _outside(name: str) -> type[GameView[Any]]:
    """Find the view of a game of another package.

    Raises:
        UsageError: If packages name several views, one that fails to import, or one that is no view.
    """
    from importlib.metadata import entry_points

    from cutpurse.sdk.views.base import GameView

    entries = sorted(set(entry_points(group=GROUP, name=name)), key=lambda entry: entry.value)
    if not entries:
        return GameView
    if len({entry.value for entry in entries}) > 1:
        values = " and ".join(entry.value for entry in entries)
        raise UsageError(f"game {name!r} has several views, {values}; uninstall all packages but one")
    try:
        view = import_entry(entries[0])
    except ImportFailed as problem:
        raise UsageError(f"view {entries[0].value} of game {name!r} cannot be used: {problem}") from problem
    if not (isinstance(view, type) and issubclass(view, GameView)):
        raise UsageError(f"view {entries[0].value} of game {name!r} cannot be used: it does not extend GameView")
    return view


VIEWS: Final = Views(
    {
        "steal_and_plunder": "cutpurse.sdk.views.steal_and_plunder:StealAndPlunderView",
        "stolen_treasure": "cutpurse.sdk.views.stolen_treasure:StolenTreasureView",
        "szmal": "cutpurse.sdk.views.szmal:SzmalView",
        "greed": "cutpurse.sdk.views.greed:GreedView",
        "bag_o_loot": "cutpurse.sdk.views.bag_o_loot:BagOLootView",
    }
)
