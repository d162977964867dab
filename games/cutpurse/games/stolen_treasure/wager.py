"""Stolen Treasure, chapter 3.4: the wager, from the stake to the winner who takes it all."""

from __future__ import annotations

from typing import Final

from cutpurse.engine.agenda import PASS, Act, Choice, Option, Poll, Step
from cutpurse.games.stolen_treasure.cards import (
    COIN,
    DONE,
    LAY,
    MATCH,
    PAPER,
    PARLEY,
    ROCK,
    ROLL,
    SCISSORS,
    STAKE,
    SURRENDER,
)
from cutpurse.games.stolen_treasure.piracy import AnyYarr
from cutpurse.games.stolen_treasure.state import StolenTreasureState

__all__ = ["SIGN_TIES", "MatchTheStake", "StakeTreasure", "least_match"]

DIE: Final = 6
DIE_TIES: Final = 20
SIGN_TIES: Final = 5
"""ST-3.26. The ties of dice, or of hand signs, that are tried again before the coin decides."""
BEATS: Final = {ROCK: SCISSORS, PAPER: ROCK, SCISSORS: PAPER}


class StakeTreasure(Choice):
    rule = "ST-3.23, ST-3.7"
    paragraph = "One or more treasure cards of the hand, face up, with any sum; nothing answers the wager itself."
    text = "Which treasure do you stake?"
    safe_paragraph = "The first treasure; a stake that is begun stands as it lies."
    opponent: int

    def options(self, g: StolenTreasureState, seat: int) -> list[Option]:
        stop = [Option(DONE)] if g.stake[seat].cards else []
        return stop + g.treasure_options(STAKE, g.treasure_hand[seat])

    def safe(self, g: StolenTreasureState, seat: int, options: list[Option]) -> Option:
        """Follow ST-0.6."""
        return options[0]

    def chosen(self, g: StolenTreasureState, option: Option) -> None:
        seat, stake = self.seat, g.stake[self.seat]
        if option.verb == DONE:
            g.then(MatchTheStake(self.opponent, seat, g.value_of(stake.cards)))
        else:
            g.move_treasure(option, g.treasure_hand[seat], stake)
            g.then(StakeTreasure(seat, self.opponent))


class MatchTheStake(Choice):
    rule = "ST-3.24"
    paragraph = """The opponent lays treasure that reaches the stake, or else the greatest sum there is in that hand.

    It is laid card by card: a card is offered while a legal set stays within reach, and to stop on a legal set.
    """
    text = "Which treasure do you lay against the stake?"
    safe_paragraph = "Fill up to the lowest sum that is legal, with the fewest cards, the first by the sheet's order."
    active: int
    stake: int

    def act(self) -> Act:
        return Act(MATCH, seat=self.seat, number=self.stake, actor=self.active)

    def options(self, g: StolenTreasureState, seat: int) -> list[Option]:
        hand, laid = g.treasure_hand[seat], g.stake[seat].cards
        missing = self.missing(g)
        options = [Option(DONE)] if laid and missing <= 0 else []
        positive = sum_of_positive(g, hand.cards)
        for option in g.treasure_options(LAY, hand):
            # What is still within reach after this card: with a positive one as much as before.
            if positive + min(0, g.value[option.cards[0]]) >= missing:
                options.append(option)
        return options

    def missing(self, g: StolenTreasureState) -> int:
        """ST-3.24. Return what the cards laid so far lack to be a legal set; 0 or less if they are one."""
        return least_match(g, self.seat, self.stake) - g.value_of(g.stake[self.seat].cards)

    def safe(self, g: StolenTreasureState, seat: int, options: list[Option]) -> Option:
        """Follow ST-0.6."""
        hand, missing = g.treasure_hand[seat], self.missing(g)
        sets = smallest_sets([g.value[card] for card in hand.cards])
        if options[0].verb == DONE:
            sets[0] = (0, ())  # to lay no more is the smallest set that adds nothing
        _, places = sets[min([total for total in sets if total >= missing])]
        if not places:
            return options[0]
        return next(option for option in options if option.verb == LAY and g.place_of(option, hand) == places[0])

    def chosen(self, g: StolenTreasureState, option: Option) -> None:
        if option.verb == DONE:
            g.then(AnyParley(self.active, self.seat))
        else:
            g.move_treasure(option, g.treasure_hand[self.seat], g.stake[self.seat])
            g.then(MatchTheStake(self.seat, self.active, self.stake))


def least_match(g: StolenTreasureState, seat: int, stake: int) -> int:
    """ST-3.24. Return the least sum that a seat may lay: the stake, or the greatest sum it can reach if that is less.

    The greatest sum of what it holds and has laid is that of all positive cards, else the best single card.
    """
    cards = g.stake[seat].cards + g.treasure_hand[seat].cards
    greatest = sum_of_positive(g, cards) or max([g.value[card] for card in cards])
    return min(stake, greatest)


def sum_of_positive(g: StolenTreasureState, cards: list[int]) -> int:
    """ST-3.24. Add up the values of the cards that have a positive one."""
    total = 0
    for card in cards:
        if g.value[card] > 0:
            total += g.value[card]
    return total


def smallest_sets(values: list[int]) -> dict[int, tuple[int, tuple[int, ...]]]:
    """ST-0.6. Find for each sum the set of cards with the fewest cards, of equal ones the first in order.

    Args:
        values: The value of each card in a hand, in the order of the hand.

    Returns:
        By sum, the number of cards and their places. The empty set is left out.
    """
    smallest: dict[int, tuple[int, tuple[int, ...]]] = {}
    for place in range(len(values) - 1, -1, -1):  # from the last card on, so the places of a set are ascending
        for total, (size, places) in [(0, (0, ())), *smallest.items()]:
            larger, larger_total = (size + 1, (place, *places)), total + values[place]
            smallest[larger_total] = min(smallest.get(larger_total, larger), larger)
    return smallest


class AnyParley(Poll):
    rule = "ST-0.3, ST-3.25"
    paragraph = "The two players of the wager, and no other, may play Parley. If both do, the active player's counts."
    text = "Play Parley and lose the wager?"
    opponent: int

    def seats(self, g: StolenTreasureState) -> list[int]:
        return sorted([self.seat, self.opponent])

    def options(self, g: StolenTreasureState, seat: int) -> list[Option]:
        if PARLEY not in g.piracy_hand[seat].cards:
            return [PASS]
        winner = self.opponent if seat == self.seat else self.seat
        return [PASS, Option(SURRENDER, (PARLEY,), seat=winner)]

    def closed(self, g: StolenTreasureState, answers: dict[int, Option]) -> None:
        for seat in (self.seat, self.opponent):
            winner = answers[seat].seat
            if winner is not None:
                g.tell(SURRENDER, (PARLEY,), actor=seat, seat=winner)
                g.move(PARLEY, g.piracy_hand[seat], g.in_play)
                g.then(AnyYarr(seat), Surrender(seat, winner), AnyParley(self.seat, self.opponent))
                return
        g.then(DecideTheWager(self.seat, self.opponent))


class Surrender(Step):
    rule = "ST-3.25"
    paragraph = "A Parley that stands: the other player takes everything, and the poll is not repeated."
    winner: int

    def act(self) -> Act:
        return Act(SURRENDER, (PARLEY,), seat=self.winner, actor=self.seat)

    def run(self, g: StolenTreasureState) -> None:
        g.agenda.pop()  # the poll that would be repeated
        g.then(TakeTheStakes(self.winner, self.seat))


class DecideTheWager(Step):
    rule = "ST-3.26"
    paragraph = "By a coin, or as the setting says by dice or hand signs."
    opponent: int

    def run(self, g: StolenTreasureState) -> None:
        seat, opponent = self.seat, self.opponent
        if g.settings.wager_method == "rps":
            g.then(ShowASign(seat, opponent, SIGN_TIES))
        elif g.settings.wager_method == "die":
            g.then(RollTheDice(seat, opponent, DIE_TIES))
        else:
            g.then(TossACoin(seat, opponent))


class TossACoin(Step):
    rule = "ST-3.26"
    paragraph = "A fair coin."
    opponent: int

    def run(self, g: StolenTreasureState) -> None:
        winner, loser = (self.seat, self.opponent) if g.chance.below(2) == 0 else (self.opponent, self.seat)
        g.tell(COIN, seat=winner)
        g.then(TakeTheStakes(winner, loser))


class RollTheDice(Step):
    rule = "ST-3.26"
    paragraph = "Each rolls a die, the higher wins; after too many ties the coin decides."
    opponent: int
    ties_left: int

    def run(self, g: StolenTreasureState) -> None:
        seat, opponent = self.seat, self.opponent
        mine, other = g.chance.below(DIE) + 1, g.chance.below(DIE) + 1
        g.tell(ROLL, actor=seat, number=mine)
        g.tell(ROLL, actor=opponent, number=other)
        if mine > other:
            g.then(TakeTheStakes(seat, opponent))
        elif other > mine:
            g.then(TakeTheStakes(opponent, seat))
        else:
            g.then(RollTheDice(seat, opponent, self.ties_left - 1) if self.ties_left else TossACoin(seat, opponent))


class ShowASign(Poll):
    rule = "ST-3.26"
    paragraph = "Both show rock, paper or scissors at once; after too many ties the coin decides."
    text = "Rock, paper or scissors?"
    window = False  # everybody has all three
    opponent: int
    ties_left: int

    def seats(self, g: StolenTreasureState) -> list[int]:
        return sorted([self.seat, self.opponent])

    def options(self, g: StolenTreasureState, seat: int) -> list[Option]:
        return [Option(ROCK), Option(PAPER), Option(SCISSORS)]

    def closed(self, g: StolenTreasureState, answers: dict[int, Option]) -> None:
        seat, opponent = self.seat, self.opponent
        mine, other = answers[seat].verb, answers[opponent].verb
        g.tell(mine, actor=seat)
        g.tell(other, actor=opponent)
        if BEATS[mine] == other:
            g.then(TakeTheStakes(seat, opponent))
        elif BEATS[other] == mine:
            g.then(TakeTheStakes(opponent, seat))
        else:
            g.then(ShowASign(seat, opponent, self.ties_left - 1) if self.ties_left else TossACoin(seat, opponent))


class TakeTheStakes(Step):
    rule = "ST-3.27, ST-3.6"
    paragraph = "The winner takes all that is staked; the winner's own cards keep their `since`."
    loser: int

    def run(self, g: StolenTreasureState) -> None:
        hand = g.treasure_hand[self.seat]
        g.move_all(g.stake[self.seat], hand)
        g.move_all(g.stake[self.loser], hand, columns=(g.turn,))
