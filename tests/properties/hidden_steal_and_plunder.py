"""Who sees what in Steal & Plunder, by section 7 of its rule sheet."""

from __future__ import annotations

from typing import Any

from cutpurse.engine.agenda import Act
from cutpurse.engine.events import Counted, Moved, Placed, Shown
from cutpurse.engine.game import Game
from cutpurse.engine.zones import Zone
from tests.properties.who_sees_what import WhoSeesWhat

__all__ = ["StealAndPlunderTable"]

PACKS = frozenset({"pack", "plundered", "offshore", "taxed"})


class StealAndPlunderTable(WhoSeesWhat):
    """The table of Steal & Plunder: hands, the deck, and partners of packs formed from a hand are hidden."""

    OPEN = frozenset({"discard", "spent", "battle", "start_draw", "cover"})
    OWN = frozenset({"hand"})
    FORGOTTEN = frozenset({"deck"})
    CARD_BY_CARD = PACKS
    DEALT_FIRST = frozenset({"deck"})

    def __init__(self, game: Any, viewer: int) -> None:
        super().__init__(game, viewer)
        verb = game.words.verb_named
        self.form, self.form_with_discard = verb("form_pack"), verb("form_pack_discard")
        self.audit, self.take = verb("power_audit"), verb("take")
        sorts = {number: card.sort for number, card in enumerate(game.words.cards, 1)}
        self.wilds = {card for card, sort in sorts.items() if sort == "wild"}
        self.powers = {card for card, sort in sorts.items() if sort == "power"}
        self.discard: int = game.discard.number
        self.has_first_pack: frozenset[int] = frozenset()
        self.act: Act | None = None
        self.partner_is_shown = True
        self.is_partner = False

    def new_deal(self) -> None:
        super().new_deal()
        self.has_first_pack = frozenset()

    def hear_counted(self, event: Counted) -> None:
        if event.counter == "locked_in" and event.seat is not None:
            self.has_first_pack |= {event.seat}

    def shows_the_partner(self, act: Act) -> bool:
        """Return whether all see the partner: in a first pack, and with the discard unless a Wild may be below it."""
        if act.actor not in self.has_first_pack:
            return True
        if act.verb == self.form:
            return False
        top_is_wild = self.real[self.discard][-1] in self.wilds
        return top_is_wild or not self.settings.hand_wild_on_discard

    def hear_act(self, act: Act) -> None:
        self.act = act
        self.is_partner = act.verb in (self.form, self.form_with_discard)
        if self.is_partner:
            self.partner_is_shown = self.shows_the_partner(act)

    def is_told(self, act: Act, place: int) -> bool:
        if act.verb == self.form and place == 1:
            return self.viewer == act.actor or self.shows_the_partner(act)
        if act.verb == self.form_with_discard:
            return self.viewer == act.actor or self.shows_the_partner(act)
        if act.verb == self.take:
            return self.viewer in (act.actor, act.seat)
        return True

    def is_shown(self, event: Moved, place: int) -> bool:
        """Show the cards of a pack from a hand: first the partner, if it is public, then the industry."""
        if self.kind(event.to_zone) != "pack" or self.kind(event.from_zone) != "hand":
            return False
        return self.partner_is_shown if self.is_partner else True

    def _hear_moved(self, event: Moved) -> None:
        super()._hear_moved(event)
        if self.kind(event.from_zone) == "hand" and self.kind(event.to_zone) == "pack":
            self.is_partner = False

    def looks(self, event: Shown) -> bool:
        """Show opened packs to all, and an audited hand to the auditor alone."""
        if self.kind(event.zone) in PACKS:
            return True
        return self.act is not None and self.act.verb == self.audit and self.viewer == self.act.actor

    def learns_by_holding(self, event: Placed) -> bool:
        return event.seat == self.viewer

    def may_lie(self, zone: Zone, place: int, card: int) -> bool:
        """Allow as a hidden partner only the pack's industry, which is its top card, or a Wild."""
        return zone.kind.name not in PACKS or card == zone.cards[-1] or card in self.wilds

    def is_possible(self, twin: Game) -> bool:
        """Check that hands have as many Power cards as burns have revealed."""
        hands: list[Zone] = twin.hand  # type: ignore[attr-defined]  # the zones of this game
        sure: list[int] = twin.sure_powers  # type: ignore[attr-defined]
        return all(sum(card in self.powers for card in hand.cards) >= n for hand, n in zip(hands, sure, strict=True))
