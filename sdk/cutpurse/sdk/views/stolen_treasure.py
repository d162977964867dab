"""Stolen Treasure as a bot sees it."""

from __future__ import annotations

from collections.abc import Iterable

from cutpurse.sdk.cards import Card
from cutpurse.sdk.views.acts import ActView
from cutpurse.sdk.views.attributes import Column, CounterAttribute, Flag, OnePile
from cutpurse.sdk.views.base import GameView, Player
from cutpurse.sdk.views.piles import Pile

__all__ = ["StolenTreasurePlayer", "StolenTreasureView", "Treasure"]


class Treasure(Pile):
    """Treasure in a hand or staked."""

    __slots__ = ()
    since = Column("The turn in which each card came to its owner.")


class StolenTreasurePlayer(Player):
    """A seat of Stolen Treasure."""

    __slots__ = ()
    treasure_hand = OnePile(Treasure)
    piracy_hand = OnePile(Pile)
    buried = OnePile(Pile, "What counts.")
    stake = OnePile(Treasure, "What is wagered now.")
    skip_next = Flag("Whether his next turn is lost.")
    buried_total = CounterAttribute("The value of all his buried cards.")
    won = Flag("Whether he has won.")

    @property
    def hand_size(self) -> int:
        """Cards in both hands."""
        return self.treasure_hand.size + self.piracy_hand.size

    @property
    def stake_sum(self) -> int:
        """What he stakes is worth."""
        return _view_of(self).worth(self.stake.seen)

    @property
    def score(self) -> int:
        """What he has buried, and the negative treasure that you see or know in his hand."""
        view = _view_of(self)
        return self.buried_total + sum(min(0, view.value(card)) for card in self.treasure_hand.located)


class StolenTreasureView(GameView[StolenTreasurePlayer]):
    """The table of Stolen Treasure."""

    __slots__ = ()
    player_type = StolenTreasurePlayer
    treasure_pile_1 = OnePile(Pile)
    treasure_pile_2 = OnePile(Pile)
    piracy_pile = OnePile(Pile)
    treasure_discards = OnePile(Pile)
    piracy_discards = OnePile(Pile)
    in_play = OnePile(Pile, "What this action has played so far.")
    taken = OnePile(Pile, "What Skulduggery took, until a card is given for it.")
    turn = CounterAttribute("Turns begun, skipped ones too.")
    actions_left = CounterAttribute("Actions that the player whose turn it is may still take.")

    def value(self, card: Card) -> int:
        """Return what a card is worth in this match: as printed, unless the setting `values` says otherwise."""
        changed: dict[str, int] = dict(self.settings.values)
        return changed.get(card.name, card.value)

    def worth(self, cards: Iterable[Card]) -> int:
        """Add up what cards are worth."""
        return sum(self.value(card) for card in cards)

    @property
    def yarrs(self) -> int:
        """How many Yarr! lie in the chain that is open now, each against the one before."""
        chain = 0
        for act in reversed(self.pending):
            if act.verb != "nullify":
                break
            chain += 1
        return chain

    @property
    def is_nullified(self) -> bool:
        """Whether the chain of Yarr! stands: the card under it has no effect unless another Yarr! is played."""
        return self.yarrs % 2 == 1

    @property
    def in_question(self) -> ActView | None:
        """What the chain of Yarr!, or the chance to begin one, is about: the act under it; None if nothing is."""
        pending = self.pending
        at = len(pending) - 1 - self.yarrs
        return pending[at] if at >= 0 else None


def _view_of(player: StolenTreasurePlayer) -> StolenTreasureView:
    view = player.view
    assert isinstance(view, StolenTreasureView)
    return view
