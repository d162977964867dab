"""Who sees what in Stolen Treasure, by section 7 of its rule sheet."""

from __future__ import annotations

from typing import Any

from cutpurse.engine.agenda import Act, Option
from cutpurse.engine.events import Counted, Event, Moved, Scored, Shown
from tests.properties.who_sees_what import WhoSeesWhat

__all__ = ["StolenTreasureTable"]

HANDS = frozenset({"treasure_hand", "piracy_hand"})
TREASURE_PILES = frozenset({"treasure_pile_1", "treasure_pile_2"})


class StolenTreasureTable(WhoSeesWhat):
    """The table of Stolen Treasure: hands, piles and cards taken by Skulduggery are hidden.

    Backs distinguish treasure from piracy. Each hand is two zones, one for each back.
    """

    OPEN = frozenset({"treasure_discards", "piracy_discards", "in_play", "buried", "stake"})
    OWN = HANDS
    FORGOTTEN = TREASURE_PILES | {"piracy_pile"}
    CARD_BY_CARD = frozenset({"taken"})
    DEALT_FIRST = frozenset({"treasure_pile_1"})

    def __init__(self, game: Any, viewer: int) -> None:
        super().__init__(game, viewer)
        words = game.words
        self.plays = {words.verb_named("play"), words.verb_named("play_on")}
        self.stakes = {words.verb_named("stake"), words.verb_named("lay")}
        self.give = words.verb_named("give")
        self.spyglass = words.card_named("spyglass")
        self.last_treasure = words.card_named("bad_voodoo")
        self.in_turn: Act | None = None
        self.half_swapped: Moved | None = None

    def back(self, card: int) -> object:
        return card <= self.last_treasure

    def hear_act(self, act: Act) -> None:
        if act.verb in self.plays:
            self.in_turn = act

    def is_shown(self, event: Moved, place: int) -> bool:
        """Show drawn treasure to all, and cards taken by Skulduggery to thief and victim."""
        src, dst = self.kind(event.from_zone), self.kind(event.to_zone)
        if src in TREASURE_PILES:
            return dst == "treasure_hand"
        return dst == "taken" and self.in_turn is not None and self.viewer == self.in_turn.actor

    def is_told(self, act: Act, place: int) -> bool:
        """Show the card given in exchange by Skulduggery only to these two players."""
        return act.verb != self.give or self.viewer in (act.actor, act.seat)

    def answer_as_seen(self, game: Any, seat: int, option: Option) -> object:
        """Show only the back of a gift; show a stake with its `since`, which is public."""
        if option.verb == self.give and self.viewer != option.seat:
            return option.verb, option.seat, self.back(option.cards[0])
        if option.verb in self.stakes and option.cards:
            hand = game.treasure_hand[seat]
            place = option.places[0] if option.places else hand.cards.index(option.cards[0])
            return option.at(hand.column_values(place))
        return option.at(())

    def _hear_moved(self, event: Moved) -> None:
        """Process Spyglass's swap of hands, which is two moves: knowledge of the cards moves with the hands."""
        is_swap = self.in_turn is not None and self.in_turn.cards[0] == self.spyglass
        if not (is_swap and {self.kind(event.from_zone), self.kind(event.to_zone)} <= HANDS):
            super()._hear_moved(event)
            return
        if self.half_swapped is None:
            self.half_swapped = event
            return
        self.half_swapped = None
        one, other = event.from_zone, event.to_zone
        self.reasoner.goes({one: other, other: one})
        self.real[one], self.real[other] = self.real[other], self.real[one]
        for zone, before in ((one, other), (other, one)):
            if self.sees(zone):
                self.sees_leave(zone, self.real[zone], len(self.real[zone]))
            elif self.sees(before):
                self.learn(zone)

    def looks(self, event: Shown) -> bool:
        """Show the winner's hand to all."""
        return self.kind(event.zone) in HANDS

    def may_differ(self, one: Event, other: Event) -> bool:
        """Allow a difference at the end, which a hand can prevent although enough is buried (ST-7.2)."""
        ends = any(isinstance(event, Scored | Shown) or is_won(event) for event in (one, other))
        return ends or super().may_differ(one, other)


def is_won(event: Event) -> bool:
    """Return whether a seat has won by this event."""
    return isinstance(event, Counted) and event.counter == "won"
