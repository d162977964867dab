"""Who sees what in Greed, by section 7 of its rule sheet."""

from __future__ import annotations

from typing import Any

from cutpurse.engine.agenda import Act
from cutpurse.engine.events import Moved, Shown
from tests.properties.who_sees_what import WhoSeesWhat

__all__ = ["GreedTable"]


class GreedTable(WhoSeesWhat):
    """The table of Greed: only hands and the draw pile are hidden; cards leave a hand openly (GR-0.3)."""

    OPEN = frozenset({"collection", "middle", "discard"})
    OWN = frozenset({"hand"})
    FORGOTTEN = frozenset({"deck"})
    DEALT_FIRST = frozenset({"deck"})

    def __init__(self, game: Any, viewer: int) -> None:
        super().__init__(game, viewer)
        self.crook = game.words.card_named("crook")
        self.look = game.words.verb_named("look")
        self.looker: int | None = None

    def is_shown(self, event: Moved, place: int) -> bool:
        """Show the crook in a hand: all know that it is there."""
        return self.zones[event.to_zone][0] == "hand" and event.cards[place] == self.crook

    def hear_act(self, act: Act) -> None:
        self.looker = act.actor if act.verb == self.look else None

    def looks(self, event: Shown) -> bool:
        """Show a hand only to the player who looks at it (GR-3.10)."""
        return self.viewer == self.looker
