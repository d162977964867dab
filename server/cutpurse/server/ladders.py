"""What is played for: a ladder is a game at a number of seats, with its settings and clocks, and a ranking of its own.

This module knows no bot, no match and no store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.game import Game
from cutpurse.games import GAMES, game_named

__all__ = ["Ladder", "default_ladders"]


# Of all pairs in 400 matches of four random bots at the usual rules, those who shared a place.
TIES: Final = {
    "steal_and_plunder": 0.011,
    "stolen_treasure": 0.020,
    "szmal": 0.068,
    "greed": 0.0033,
    "bag_o_loot": 0.0092,
}


@dataclass(frozen=True, slots=True)
class Ladder:
    """Raises UnknownGame or SettingsError, each of which says what there is.

    `settings` become the settings that differ from the game's defaults, as text. `ties` is how often two equal players
    share a place, for the rating. With `matches_wanted`, no more matches are started once so many have been played,
    void ones left out.
    """

    name: str
    game: str
    seats: int
    settings: Mapping[str, str] = field(default_factory=dict)
    control: TimeControl = field(default_factory=TimeControl)
    ties: float = 0.02
    matches_wanted: int | None = None

    def __post_init__(self) -> None:
        changed = game_named(self.game).check(self.seats, self.settings).changed()
        object.__setattr__(self, "settings", MappingProxyType(changed))

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def rules(self) -> type[Game]:
        """The game."""
        return GAMES[self.game]


def default_ladders(control: TimeControl | None = None, matches_wanted: int | None = None) -> tuple[Ladder, ...]:
    """A ladder of each game under the game's name: the usual number of seats, the rules as they come."""
    return tuple(
        Ladder(name, name, rules.usual_seats, {}, control or TimeControl(), TIES[name], matches_wanted)
        for name, rules in GAMES.items()
    )
