"""What bots see, game by game; a new game is a line here."""

from __future__ import annotations

from typing import Any, Final

from cutpurse.sdk.views.base import GameView
from cutpurse.sdk.views.greed import GreedView

__all__ = ["VIEWS"]

VIEWS: Final[dict[str, type[GameView[Any]]]] = {
    "greed": GreedView,
}
