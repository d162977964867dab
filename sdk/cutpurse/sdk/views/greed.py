"""Greed as a bot sees it."""

from __future__ import annotations

from collections import Counter

from cutpurse.games.greed.cards import NUMBER
from cutpurse.sdk.views.attributes import CounterAttribute, OnePile, SeatOf
from cutpurse.sdk.views.base import GameView, Player
from cutpurse.sdk.views.piles import Pile

__all__ = ["GreedPlayer", "GreedView", "number_counts"]


def number_counts(pile: Pile) -> Counter[int]:
    """How many cards of each number, 1 to 7, certainly lie in a pile."""
    return Counter(number for card in pile.located if (number := NUMBER[card.number]))


class GreedPlayer(Player):
    """A seat of Greed."""

    __slots__ = ()
    hand = OnePile(Pile)
    collection = OnePile(Pile)
    points = CounterAttribute("Points of the tournament.")
    wins = CounterAttribute("Games of the tournament won.")

    @property
    def sets(self) -> Counter[int]:
        """How many cards of each number he has collected."""
        return number_counts(self.collection)

    @property
    def longest_set(self) -> int:
        """The size of his largest set; six win."""
        return max(self.sets.values(), default=0)


class GreedView(GameView[GreedPlayer]):
    """The table of Greed."""

    __slots__ = ()
    player_type = GreedPlayer
    deck = OnePile(Pile)
    discard = OnePile(Pile)
    middle = OnePile(Pile)
    # `game` is the name of the game in every view; which game of a tournament is on is `game_on`.
    game_on = CounterAttribute("Which game of the tournament is on, from 0.", of="game")
    turns = CounterAttribute("Turns begun in this game.")
    first = SeatOf("Who began this game.")
    winner = SeatOf("Who has won this game.")

    @property
    def middle_numbers(self) -> frozenset[int]:
        """The numbers that would make the next card a bust."""
        return frozenset(number_counts(self.middle))
