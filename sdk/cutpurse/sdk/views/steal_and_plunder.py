"""The view of Steal & Plunder."""

from __future__ import annotations

from cutpurse.games.steal_and_plunder.cards import FITS
from cutpurse.sdk.cards import Card
from cutpurse.sdk.views.attributes import CounterAttribute, Flag, OnePile, Piles, SeatOf
from cutpurse.sdk.views.base import GameView, Player
from cutpurse.sdk.views.habit import Habit
from cutpurse.sdk.views.piles import Pile

__all__ = ["Pack", "StealAndPlunderPlayer", "StealAndPlunderView"]


class Pack(Pile):
    """A pack, in the stack or elsewhere."""

    __slots__ = ()
    locked = Flag("The first pack of its owner's game: it cannot be stolen.")

    @property
    def industry(self) -> Card | None:
        """The pack's Wealth card; None for a pack whose cards are all face down to you."""
        return self.top

    @property
    def worth(self) -> int:
        """The money that you see in the pack; each card in `hidden` adds 50,000 or more."""
        return sum(card.value for card in self.seen)

    @property
    def hidden(self) -> int:
        """The number of its cards that you do not see."""
        return self.size - len(self.seen)

    @property
    def is_open(self) -> bool:
        """Whether the pack can be attacked, stolen and plundered: the top of a stack, and not locked."""
        stack = self.view.find_piles("pack", self.raw.owner)
        return not self.locked and bool(stack) and stack[-1].number == self.number

    def fits(self, card: Card) -> bool:
        """Return whether a card can attack or defend the pack: its industry, or a Wild."""
        return self.industry is not None and card.number in FITS[self.industry.number]


class StealAndPlunderPlayer(Player):
    """A player of Steal & Plunder."""

    __slots__ = ()
    hand = OnePile(Pile)
    cover = OnePile(Pile, "Flee the Country and Tax Audit, on the packs that they cover.")
    packs = Piles(Pack, "The stack, its top last.", of="pack")
    plundered = Piles(Pack, "Beside the stack, safe from thieves.")
    offshore = Piles(Pack, "Safe from thieves and taxes.")
    taxed = Piles(Pack, "Counting half.")
    locked_in = Flag("Whether the player has laid the first pack of this game.")
    sure_powers = CounterAttribute("Cards of the hand that are surely Power cards, as a burn has shown.")
    total = CounterAttribute("Money of the finished games.")

    @property
    def open_pack(self) -> Pack | None:
        """The player's pack that can be attacked, stolen and plundered."""
        stack = self.packs
        return stack[-1] if stack and not stack[-1].locked else None

    @property
    def score(self) -> int:
        """The player's money in this game, as far as you see it; taxed packs count half."""
        whole = sum(pack.worth for pack in (*self.packs, *self.plundered, *self.offshore))
        return whole + sum(pack.worth for pack in self.taxed) // 2


class StealAndPlunderView(GameView[StealAndPlunderPlayer]):
    """The table of Steal & Plunder."""

    __slots__ = ()
    player_type = StealAndPlunderPlayer
    habits = (
        Habit("attacks", ("attack",)),
        Habit("forms a pack", ("form_pack", "form_pack_discard")),
        Habit("plays a power", ("power_steal", "power_plunder", "power_audit", "power_flee", "power_tax")),
        Habit("defends a pack", ("contribute",)),
        Habit("discards its least card", ("discard",), is_lowest=True),
    )
    deck = OnePile(Pile)
    discard = OnePile(Pile)
    spent = OnePile(Pile, "Power cards that have been used.")
    battle = OnePile(Pile, "Cards laid beside the attacked pack.")
    start_draw = OnePile(Pile)
    game_on = CounterAttribute("Number of the current game of the series, from 0.", of="game")
    round = CounterAttribute("The round of the game, from 1.")
    turns = CounterAttribute("Turns begun in this game.")
    start_token = SeatOf("The seat that begins each round.")
    reload_token = SeatOf("The seat that refills its hand first at the next Reload.")

    @property
    def attacked(self) -> Pack | None:
        """The pack that is attacked in the current battle; None if there is none."""
        zones = [act.zone for act in self.pending if act.verb == "attack"]
        return Pack(zones[-1].raw, self) if zones and zones[-1] is not None else None
