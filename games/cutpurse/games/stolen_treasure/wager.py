"""Stolen Treasure, chapter 3.4: the wager.

As in `rules`, a step that another one follows with nothing between calls the other's `run` itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from cutpurse.engine.agenda import PASS, Act, Choice, Option, Poll, Step
from cutpurse.games.stolen_treasure.cards import (
    COIN,
    DONE,
    LAST_TREASURE,
    LAY,
    MATCH,
    MAX_PLAYERS,
    PAPER,
    PARLEY,
    ROCK,
    ROLL,
    SCISSORS,
    STAKE,
    SURRENDER,
)
from cutpurse.games.stolen_treasure.piracy import ONLY_PASS, AnyYarr

if TYPE_CHECKING:
    from cutpurse.games.stolen_treasure.rules import StolenTreasure

__all__ = ["MatchTheStake", "StakeTreasure", "least_match"]

DIE: Final = 6
DIE_TIES: Final = 20
SIGN_TIES: Final = 5
"""ST-3.26. So often a tie of dice or of signs is tried again before the coin decides."""

LAY_NO_MORE: Final = Option(DONE)
NO_MORE_TO_LAY: Final = [LAY_NO_MORE]
STAKE_CARD: Final = [Option(STAKE, (card,)) for card in range(LAST_TREASURE + 1)]
LAY_CARD: Final = [Option(LAY, (card,)) for card in range(LAST_TREASURE + 1)]
SURRENDER_TO: Final = [Option(SURRENDER, (PARLEY,), seat=seat) for seat in range(MAX_PLAYERS)]
SIGNS: Final = [Option(ROCK), Option(PAPER), Option(SCISSORS)]
BEATS: Final = {ROCK: SCISSORS, PAPER: ROCK, SCISSORS: PAPER}


def least_match(g: StolenTreasure, seat: int, stake: int) -> int:
    """ST-3.24. The least sum a seat may lay: the stake, or all it can reach if that is less.

    Of what it holds and has laid, the best is all that is positive, else the single best card.
    """
    value, cards = g.value, g.stake[seat].cards + g.treasure_hand[seat].cards
    best = 0
    for card in cards:
        if value[card] > 0:
            best += value[card]
    return min(stake, best or max([value[card] for card in cards]))


@dataclass(slots=True)
class StakeTreasure(Choice):
    """ST-3.23, ST-3.7. One or more treasure cards of the hand, face up, of whatever sum; nothing answers the wager."""

    opponent: int
    text: ClassVar[str] = "Which treasure do you stake?"

    def options(self, g: StolenTreasure, seat: int) -> list[Option]:
        options = [LAY_NO_MORE] if g.stake[seat].cards else []
        g.add_copies(options, STAKE_CARD, g.treasure_hand[seat])
        return options

    def safe(self, g: StolenTreasure, seat: int, options: list[Option]) -> Option:
        """ST-0.6. A stake that is begun stands as it lies."""
        return options[0]

    def chosen(self, g: StolenTreasure, option: Option) -> None:
        seat = self.seat
        if option.verb == DONE:
            g.then(MatchTheStake(self.opponent, seat, g.value_of(g.stake[seat].cards)))
            return
        hand = g.treasure_hand[seat]
        g.move_at(g.place_of(option, hand), hand, g.stake[seat])
        g.then(self)


@dataclass(slots=True)
class MatchTheStake(Choice):
    """ST-3.24. The opponent lays treasure that reaches the stake, or the greatest sum he can; he cannot refuse.

    Asked card by card, a card is offered while a legal set stays within reach, and to stop on a legal set.
    """

    active: int
    stake: int
    text: ClassVar[str] = "Which treasure do you lay against the stake?"

    def act(self) -> Act:
        return Act(MATCH, seat=self.seat, number=self.stake, actor=self.active)

    def options(self, g: StolenTreasure, seat: int) -> list[Option]:
        hand, laid, value = g.treasure_hand[seat], g.stake[seat].cards, g.value
        if not hand.cards:  # all that he had lies there, and it was within reach
            return NO_MORE_TO_LAY
        missing = self.stake
        for card in laid:
            missing -= value[card]
        rest = worst = 0  # all that is positive in the hand, and what is most negative
        for card in hand.cards:
            if (worth := value[card]) > 0:
                rest += worth
            elif worth < worst:
                worst = worth
        if rest < missing or not rest:  # the stake may be out of reach, and less will do
            missing -= self.stake - least_match(g, seat, self.stake)
        options = [LAY_NO_MORE] if laid and missing <= 0 else []
        g.add_copies(options, LAY_CARD, hand)
        if rest + worst >= missing:  # even the worst card leaves a legal set within reach
            return options
        return [o for o in options if o is LAY_NO_MORE or rest + min(0, value[o.cards[0]]) >= missing]

    def safe(self, g: StolenTreasure, seat: int, options: list[Option]) -> Option:
        """ST-0.6. Fill up to the lowest sum that is legal, with the fewest cards, the first by the sheet's order."""
        hand, laid, value = g.treasure_hand[seat], g.stake[seat].cards, g.value
        missing = least_match(g, seat, self.stake) - g.value_of(laid)
        best: dict[int, tuple[int, tuple[int, ...]]] = {}  # of sets by sum: how many cards, and their places
        for place in range(len(hand.cards) - 1, -1, -1):
            worth = value[hand.cards[place]]
            for total, (cards, places) in [(0, (0, ())), *best.items()]:
                larger = cards + 1, (place, *places)
                best[total + worth] = min(best.get(total + worth, larger), larger)
        fills = {total: fill for total, fill in best.items() if total >= missing}
        if options[0] == LAY_NO_MORE and (not fills or min(fills) >= 0):
            return options[0]
        _, places = fills[min(fills)]
        return next(o for o in options if o.verb == LAY and g.place_of(o, hand) == places[0])

    def chosen(self, g: StolenTreasure, option: Option) -> None:
        if option.verb == DONE:
            g.then(AnyParley.of[self.active, self.seat])
            return
        hand = g.treasure_hand[self.seat]
        g.move_at(g.place_of(option, hand), hand, g.stake[self.seat])
        g.then(self)


@dataclass(slots=True)
class AnyParley(Poll):
    """ST-0.3, ST-3.25. The two who wager, and nobody else, may play Parley; of both the active player does."""

    opponent: int
    text: ClassVar[str] = "Play Parley and lose the wager?"

    def seats(self, g: StolenTreasure) -> list[int]:
        seat, other = self.seat, self.opponent
        return [seat, other] if seat < other else [other, seat]

    def options(self, g: StolenTreasure, seat: int) -> list[Option]:
        if PARLEY not in g.piracy_hand[seat].cards:
            return ONLY_PASS
        return [PASS, SURRENDER_TO[self.opponent if seat == self.seat else self.seat]]

    def closed(self, g: StolenTreasure, answers: dict[int, Option]) -> None:
        for seat in (self.seat, self.opponent):
            winner = answers[seat].seat
            if winner is not None:
                g.tell(SURRENDER, (PARLEY,), actor=seat, seat=winner)
                g.move(PARLEY, g.piracy_hand[seat], g.in_play)
                g.next(AnyYarr.of[seat], Surrender(seat, winner), AnyParley.of[self.seat, self.opponent])
                return
        DecideTheWager.of[self.seat, self.opponent].run(g)


@dataclass(slots=True)
class Surrender(Step):
    """ST-3.25. A Parley that stands: the other takes everything, and the poll beneath is not repeated."""

    winner: int

    def act(self) -> Act:
        return Act(SURRENDER, (PARLEY,), seat=self.winner, actor=self.seat)

    def run(self, g: StolenTreasure) -> None:
        g.agenda.pop()
        TakeTheStakes.of[self.winner, self.seat].run(g)


@dataclass(slots=True)
class DecideTheWager(Step):
    """ST-3.26. By a coin, or as the setting says by dice or hand signs."""

    opponent: int

    def run(self, g: StolenTreasure) -> None:
        seat, opponent = self.seat, self.opponent
        if g.settings.wager_method == "rps":
            g.then(ShowASign(seat, opponent, SIGN_TIES))
        elif g.settings.wager_method == "die":
            g.then(RollTheDice(seat, opponent, DIE_TIES))
        else:
            TossACoin.of[seat, opponent].run(g)


@dataclass(slots=True)
class TossACoin(Step):
    """ST-3.26. A fair coin."""

    opponent: int

    def run(self, g: StolenTreasure) -> None:
        winner, loser = (self.seat, self.opponent) if g.chance.below(2) == 0 else (self.opponent, self.seat)
        g.tell(COIN, seat=winner)
        TakeTheStakes.of[winner, loser].run(g)


@dataclass(slots=True)
class RollTheDice(Step):
    """ST-3.26. Each rolls a die, the higher wins; after too many ties the coin decides."""

    opponent: int
    ties_left: int

    def run(self, g: StolenTreasure) -> None:
        seat, opponent = self.seat, self.opponent
        mine, other = (g.chance.below(DIE) + 1 for _ in range(2))
        g.tell(ROLL, actor=seat, number=mine)
        g.tell(ROLL, actor=opponent, number=other)
        if mine > other:
            TakeTheStakes.of[seat, opponent].run(g)
        elif other > mine:
            TakeTheStakes.of[opponent, seat].run(g)
        else:
            g.then(RollTheDice(seat, opponent, self.ties_left - 1) if self.ties_left else TossACoin.of[seat, opponent])


@dataclass(slots=True)
class ShowASign(Poll):
    """ST-3.26. Both show rock, paper or scissors at once; after too many ties the coin decides."""

    opponent: int
    ties_left: int
    text: ClassVar[str] = "Rock, paper or scissors?"

    def seats(self, g: StolenTreasure) -> list[int]:
        seat, other = self.seat, self.opponent
        return [seat, other] if seat < other else [other, seat]

    def options(self, g: StolenTreasure, seat: int) -> list[Option]:
        return SIGNS

    def closed(self, g: StolenTreasure, answers: dict[int, Option]) -> None:
        seat, opponent = self.seat, self.opponent
        mine, other = answers[seat].verb, answers[opponent].verb
        g.tell(mine, actor=seat)
        g.tell(other, actor=opponent)
        if BEATS[mine] == other:
            TakeTheStakes.of[seat, opponent].run(g)
        elif BEATS[other] == mine:
            TakeTheStakes.of[opponent, seat].run(g)
        else:
            g.then(ShowASign(seat, opponent, self.ties_left - 1) if self.ties_left else TossACoin.of[seat, opponent])


@dataclass(slots=True)
class TakeTheStakes(Step):
    """ST-3.27, ST-3.6. The winner takes all that is staked; what was his own keeps its `since`."""

    loser: int

    def run(self, g: StolenTreasure) -> None:
        hand = g.treasure_hand[self.seat]
        g.move_all(g.stake[self.seat], hand)
        g.move_all(g.stake[self.loser], hand, columns=(g.turn,))
