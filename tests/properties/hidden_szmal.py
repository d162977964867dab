"""Who sees what in Szmal, by section 10 of its rule sheet."""

from __future__ import annotations

from typing import Any

from cutpurse.engine.agenda import Option
from cutpurse.engine.events import Event, Moved
from tests.properties.who_sees_what import WhoSeesWhat

__all__ = ["SzmalTable"]

DRAFTS = frozenset({"pile", "draft"})


class SzmalTable(WhoSeesWhat):
    """The table of Szmal: hands, draft piles and the deck are hidden.

    A player who passed a pile on knows it until a card leaves it (SZ-7.23).
    """

    OPEN = frozenset({"discard", "resolving", "thugs", "holdings", "kept"})
    OWN = frozenset({"hand", "draft"})
    FORGOTTEN = frozenset({"deck"})
    DEALT_FIRST = frozenset({"deck"})

    def __init__(self, game: Any, viewer: int) -> None:
        super().__init__(game, viewer)
        self.pick = game.words.verb_named("pick")

    def moves_as_a_whole(self, event: Moved) -> bool:
        """Move a passed pile as a whole, even one of a single card."""
        return {self.kind(event.from_zone), self.kind(event.to_zone)} <= DRAFTS

    def may_differ(self, one: Event, other: Event) -> bool:
        """Allow a difference for cards revealed by 53: Thugs are played, others discarded."""
        if isinstance(one, Moved) and isinstance(other, Moved):
            targets = {self.kind(one.to_zone), self.kind(other.to_zone)}
            if self.kind(one.from_zone) == self.kind(other.from_zone) == "deck" and targets <= {"resolving", "discard"}:
                return True
        return super().may_differ(one, other)

    def answer_as_seen(self, game: Any, seat: int, option: Option) -> object:
        """Hide a pick, except from the player who gets the pile next and sees the rest of it."""
        passed_to_viewer = (seat + 1) % self.seats == self.viewer
        return option.verb if option.verb == self.pick and not passed_to_viewer else option
