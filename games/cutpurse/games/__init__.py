"""The games that can be played, by name."""

from __future__ import annotations

from typing import Final

from cutpurse.engine.errors import UnknownGame
from cutpurse.engine.game import Game
from cutpurse.games.greed.rules import Greed

__all__ = ["GAMES", "game_named"]

GAMES: Final[dict[str, type[Game]]] = {
    "greed": Greed,
}


def game_named(name: str) -> type[Game]:
    """The game of this name.  Raises UnknownGame, which lists what can be played."""
    try:
        return GAMES[name]
    except KeyError:
        raise UnknownGame(f"no game is called {name!r}; there are: {', '.join(GAMES)}") from None
