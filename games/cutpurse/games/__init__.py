"""The games that can be played, by name."""

from __future__ import annotations

from typing import Final

from cutpurse.engine.errors import UnknownGame
from cutpurse.engine.game import Game
from cutpurse.games.bag_o_loot.rules import BagOLoot
from cutpurse.games.greed.rules import Greed
from cutpurse.games.steal_and_plunder.rules import StealAndPlunder
from cutpurse.games.stolen_treasure.rules import StolenTreasure
from cutpurse.games.szmal.rules import Szmal

__all__ = ["GAMES", "game_named"]

GAMES: Final[dict[str, type[Game]]] = {
    "steal_and_plunder": StealAndPlunder,
    "stolen_treasure": StolenTreasure,
    "szmal": Szmal,
    "greed": Greed,
    "bag_o_loot": BagOLoot,
}


def game_named(name: str) -> type[Game]:
    """The game of this name.  Raises UnknownGame, which lists what can be played."""
    try:
        return GAMES[name]
    except KeyError:
        raise UnknownGame(f"no game is called {name!r}; there are: {', '.join(GAMES)}") from None
