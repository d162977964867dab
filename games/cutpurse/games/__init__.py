"""The games that can be played, by name; the rules of each are imported when they are first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from cutpurse.engine.errors import UnknownGame, did_you_mean
from cutpurse.engine.game import Game
from cutpurse.games.lazy_registry import Registry
from cutpurse.games.outside import Unplayable, find_games, load_game

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["BUILT_IN", "GAMES", "PREFIXES", "Games", "game_named"]

BUILT_IN: Final = {
    "steal_and_plunder": "cutpurse.games.steal_and_plunder.rules:StealAndPlunder",
    "stolen_treasure": "cutpurse.games.stolen_treasure.rules:StolenTreasure",
    "szmal": "cutpurse.games.szmal.rules:Szmal",
    "greed": "cutpurse.games.greed.rules:Greed",
    "bag_o_loot": "cutpurse.games.bag_o_loot.rules:BagOLoot",
}
PREFIXES: Final = frozenset({"SP", "ST", "SZ", "GR", "BL"})  # of their rule numbers


class Games(Registry[type[Game]]):
    """The built-in games, then those of other installed packages that can be played.

    Built-in games are imported when they are used; other packages are looked up when a name is not built in, or when
    all games are listed.
    """

    def __init__(self, built_in: Mapping[str, str]) -> None:
        super().__init__(built_in)
        self.built_in: Final = frozenset(built_in)
        self._problems: dict[str, str] = {}

    @cached_property
    def _outside(self) -> dict[str, EntryPoint]:
        """Entry points of games that were not tried yet, by name."""
        entries, self._problems = find_games(self.built_in)
        return entries

    def problems(self) -> list[str]:
        """List why games of other packages cannot be played, a line each."""
        self._load_outside()
        return [*self._problems.values()]

    def problem(self, name: str) -> str | None:
        """Return why a game of this name cannot be played, if a package brings one."""
        return None if name in self else self._problems.get(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and self._try(name))

    def __getitem__(self, name: str) -> type[Game]:
        """Return the game of this name.  Raises KeyError if there is none."""
        if name not in self:
            raise KeyError(name)
        return super().__getitem__(name)

    def __iter__(self) -> Iterator[str]:
        self._load_outside()
        return super().__iter__()

    def __len__(self) -> int:
        self._load_outside()
        return super().__len__()

    def _load_outside(self) -> None:
        for name in [*self._outside]:
            self._try(name)

    def _try(self, name: str) -> bool:
        """Import a game of another package; return whether it can be played."""
        entry = self._outside.pop(name, None)
        if entry is None:
            return False
        others = {game.words.prefix for other, game in self.loaded() if other not in self.built_in}
        try:
            self[name] = load_game(entry, PREFIXES | others)
        except Unplayable as problem:
            self._problems[name] = str(problem)
            return False
        return True


GAMES: Final = Games(BUILT_IN)


def game_named(name: str) -> type[Game]:
    """Return the game of this name.

    Raises:
        UnknownGame: If there is none; lists what can be played.
    """
    if name not in GAMES:
        hint, there = did_you_mean(name, GAMES), ", ".join(GAMES)
        raise UnknownGame(GAMES.problem(name) or f"no game is called {name!r}{hint}; there are: {there}")
    return GAMES[name]
