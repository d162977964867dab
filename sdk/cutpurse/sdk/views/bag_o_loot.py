"""The view of Bag-O-Loot."""

from __future__ import annotations

from collections import Counter

from cutpurse.games.bag_o_loot.rules import BAG_POINTS, OPEN_MOST
from cutpurse.sdk.views.attributes import CounterAttribute, OnePile, Piles, SeatOf
from cutpurse.sdk.views.base import GameView, Player
from cutpurse.sdk.views.habit import Habit
from cutpurse.sdk.views.piles import Pile

__all__ = ["BagOLootPlayer", "BagOLootView", "Loot"]


class Loot(Pile):
    """An open set, or a bag that shows its number."""

    __slots__ = ()
    # In every pile `number` identifies it in options and events, so the number of the coins is `coin`.
    coin = CounterAttribute("The number of its coins.", of="number")

    @property
    def looters(self) -> int:
        """The number of looters that you see in it."""
        return self.count("looter")

    @property
    def is_full(self) -> bool:
        """Whether one more card turns the set into a bag."""
        return self.size == OPEN_MOST


class BagOLootPlayer(Player):
    """A player of Bag-O-Loot."""

    __slots__ = ()
    hand = OnePile(Pile)
    sets = Piles(Loot, "Open sets.", of="set")
    closed_bags = Piles(Pile, "Bags that lie face down.", of="bag")
    open_bags = Piles(Loot, "Bags that stay visible (setting bag_faces).", of="bag_open")
    bluff_bags = Piles(Loot, "Bags of the advanced game, whose last card may be anything.", of="bluff_bag")
    fine = CounterAttribute("Points that idle turns have cost in this round.")
    total = CounterAttribute("Points of the rounds counted so far.")

    @property
    def bags(self) -> tuple[Pile, ...]:
        """All the player's bags, of any kind that the settings allow."""
        return (*self.closed_bags, *self.open_bags, *self.bluff_bags)

    @property
    def worth(self) -> int:
        """The points of the player's bags and sets if the round ended now."""
        return BAG_POINTS * len(self.bags) + sum(loot_set.size for loot_set in self.sets)

    @property
    def score(self) -> int:
        """Points so far, this round included."""
        return self.total + self.worth - self.fine

    @property
    def coins(self) -> Counter[int]:
        """The number of coins of each number that are certainly in the player's hand."""
        return Counter(card.value for card in self.hand.located if card.sort == "coin")


class BagOLootView(GameView[BagOLootPlayer]):
    """The table of Bag-O-Loot."""

    __slots__ = ()
    player_type = BagOLootPlayer
    habits = (
        Habit("steals", ("steal",)),
        Habit("snitches", ("snitch",)),
        Habit("opens", ("open",)),
        Habit("bags or pinches", ("bag", "pinch")),
        Habit("plays before it stops", ("done",), measure=lambda view: min(view.plays, 10), most=10),
    )
    draw_pile = OnePile(Pile)
    ditched = OnePile(Pile)
    middle = OnePile(Pile)
    round = CounterAttribute("The round, from 1.")
    dealer = SeatOf("The seat that dealt this round.")
    turn_of = SeatOf("The seat whose turn it is.")
    turns = CounterAttribute("Turns begun in this round.")
    idle_turns = CounterAttribute("Turns in a row, this one included, that began without a draw pile and saw no play.")
    plays = CounterAttribute("Plays made in this turn.")
    bag_plays = CounterAttribute("Bag plays made in this turn.")
    ditches = CounterAttribute("Cards ditched in this turn.")
