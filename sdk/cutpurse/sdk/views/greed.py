"""The view of Greed."""

from __future__ import annotations

from collections import Counter

from cutpurse.games.greed.cards import NUMBER
from cutpurse.sdk.views.attributes import CounterAttribute, OnePile, SeatOf
from cutpurse.sdk.views.base import GameView, Player
from cutpurse.sdk.views.habit import Habit
from cutpurse.sdk.views.piles import Pile

__all__ = ["GreedPlayer", "GreedView", "number_counts"]


def number_counts(pile: Pile) -> Counter[int]:
    """Count the cards of each number, 1 to 7, that are certainly in a pile."""
    return Counter(number for card in pile.located if (number := NUMBER[card.number]))


class GreedPlayer(Player):
    """A player of Greed."""

    __slots__ = ()
    hand = OnePile(Pile)
    collection = OnePile(Pile)
    points = CounterAttribute("Points of the tournament.")
    wins = CounterAttribute("Games of the tournament won.")

    @property
    def sets(self) -> Counter[int]:
        """The number of collected cards of each number."""
        return number_counts(self.collection)

    @property
    def longest_set(self) -> int:
        """The size of the player's largest set; six win."""
        return max(self.sets.values(), default=0)


class GreedView(GameView[GreedPlayer]):
    """The table of Greed."""

    __slots__ = ()
    player_type = GreedPlayer
    habits = (
        Habit("goes on with a raid", ("go_on",)),
        Habit("numbers in the middle at a stop", ("stop",), measure=lambda view: len(view.middle_numbers), most=7),
        Habit("trades a number in", ("trade",)),
        Habit("takes a card", ("take",)),
    )
    deck = OnePile(Pile)
    discard = OnePile(Pile)
    middle = OnePile(Pile)
    # In every view `game` is the game's name, so the number of the tournament's game is `game_on`.
    game_on = CounterAttribute("Number of the current game of the tournament, from 0.", of="game")
    turns = CounterAttribute("Turns begun in this game.")
    first = SeatOf("The seat that began this game.")
    winner = SeatOf("The seat that has won this game.")

    @property
    def middle_numbers(self) -> frozenset[int]:
        """The numbers that would make the next card a bust."""
        return frozenset(number_counts(self.middle))
