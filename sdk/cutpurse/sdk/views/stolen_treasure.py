"""The view of Stolen Treasure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cutpurse.sdk.cards import Card
from cutpurse.sdk.views.acts import ActView
from cutpurse.sdk.views.attributes import Column, CounterAttribute, Flag, OnePile
from cutpurse.sdk.views.base import GameView, Player
from cutpurse.sdk.views.habit import Habit
from cutpurse.sdk.views.piles import Pile

__all__ = ["StolenTreasurePlayer", "StolenTreasureView", "Treasure"]


class Treasure(Pile):
    """Treasure in a hand or staked."""

    __slots__ = ()
    since = Column("The turn in which each card came to its owner.")


class StolenTreasurePlayer(Player):
    """A player of Stolen Treasure."""

    __slots__ = ()
    treasure_hand = OnePile(Treasure)
    piracy_hand = OnePile(Pile)
    buried = OnePile(Pile, "Cards that count.")
    stake = OnePile(Treasure, "Treasure that is wagered now.")
    skip_next = Flag("Whether the player's next turn is lost.")
    buried_total = CounterAttribute("The value of all the player's buried cards.")
    won = Flag("Whether the player has won.")

    @property
    def hand_size(self) -> int:
        """The number of cards in both hands."""
        return self.treasure_hand.size + self.piracy_hand.size

    @property
    def stake_sum(self) -> int:
        """The value of the player's stake."""
        return _view_of(self).worth(self.stake.seen)

    @property
    def score(self) -> int:
        """The value of the buried cards, and of the negative treasure that you see or know in the player's hand."""
        view = _view_of(self)
        return self.buried_total + sum(min(0, view.value(card)) for card in self.treasure_hand.located)


class StolenTreasureView(GameView[StolenTreasurePlayer]):
    """The table of Stolen Treasure."""

    __slots__ = ()
    player_type = StolenTreasurePlayer
    habits = (
        Habit("wagers", ("wager",)),
        Habit("buries", ("bury",)),
        Habit("draws", ("draw",)),
        Habit("ends its turn with actions left", ("end_turn",)),
        Habit("stakes its least card", ("stake",), is_lowest=True),
    )
    treasure_pile_1 = OnePile(Pile)
    treasure_pile_2 = OnePile(Pile)
    piracy_pile = OnePile(Pile)
    treasure_discards = OnePile(Pile)
    piracy_discards = OnePile(Pile)
    in_play = OnePile(Pile, "Cards played in this action so far.")
    taken = OnePile(Pile, "The card that Skulduggery took, until one is given for it.")
    turn = CounterAttribute("Turns begun, skipped ones too.")
    actions_left = CounterAttribute("Actions that the player whose turn it is may still take.")

    def value(self, card: Card) -> int:
        """Return a card's value in this match: as the rules list it, unless the setting `values` changes it."""
        changed: Sequence[tuple[str, int]] = self.settings.values
        return dict(changed).get(card.name, card.value) if changed else card.value

    def worth(self, cards: Iterable[Card]) -> int:
        """Return the total value of cards."""
        return sum(self.value(card) for card in cards)

    @property
    def yarrs(self) -> int:
        """The number of Yarr! cards in the open chain, each against the one before."""
        chain = 0
        for act in reversed(self.pending):
            if act.verb != "nullify":
                break
            chain += 1
        return chain

    @property
    def is_nullified(self) -> bool:
        """Whether the chain of Yarr! cancels the card under it, unless another Yarr! is played."""
        return self.yarrs % 2 == 1

    @property
    def in_question(self) -> ActView | None:
        """The act that the chain of Yarr!, or the chance to begin one, is about; None if there is none."""
        pending = self.pending
        at = len(pending) - 1 - self.yarrs
        return pending[at] if at >= 0 else None


def _view_of(player: StolenTreasurePlayer) -> StolenTreasureView:
    view = player.view
    assert isinstance(view, StolenTreasureView)
    return view
