"""The games that can be played, by name; the rules of each are imported when they are first asked for."""

from __future__ import annotations

from typing import Final

from cutpurse.engine.errors import UnknownGame
from cutpurse.engine.game import Game
from cutpurse.games.registry import Registry

__all__ = ["GAMES", "game_named"]

GAMES: Final[Registry[type[Game]]] = Registry(
    {
        "steal_and_plunder": "cutpurse.games.steal_and_plunder.rules:StealAndPlunder",
        "stolen_treasure": "cutpurse.games.stolen_treasure.rules:StolenTreasure",
        "szmal": "cutpurse.games.szmal.rules:Szmal",
        "greed": "cutpurse.games.greed.rules:Greed",
        "bag_o_loot": "cutpurse.games.bag_o_loot.rules:BagOLoot",
    }
)


def game_named(name: str) -> type[Game]:
    """The game of this name.  Raises UnknownGame, which lists what can be played."""
    if name not in GAMES:
        raise UnknownGame(f"no game is called {name!r}; there are: {', '.join(GAMES)}")
    return GAMES[name]
