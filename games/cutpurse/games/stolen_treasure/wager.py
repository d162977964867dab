"""Stolen Treasure, chapter 3.4: the wager.

As in `rules`, a step that another one follows with nothing between calls the other's `run` itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from cutpurse.engine.agenda import PASS, Act, Choice, Fields, Option, Poll, Step
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
"""ST-3.26. A tie of dice or of signs is tried again this often before the coin decides."""

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


class StakeTreasure(Choice):
    rule = "ST-3.23, ST-3.7"
    paragraph = "One or more treasure cards of the hand, face up, of whatever sum; nothing answers the wager."
    text = "Which treasure do you stake?"
    safe_paragraph = "A stake that is begun stands as it lies."
    fields: ClassVar[Fields] = {"opponent": int}

    def __init__(self, seat: int, opponent: int) -> None:
        super().__init__(seat)
        self.opponent = opponent

    def options(self, g: StolenTreasure, seat: int) -> list[Option]:
        options = [LAY_NO_MORE] if g.stake[seat].cards else []
        g.add_copies(options, STAKE_CARD, g.treasure_hand[seat])
        return options

    def safe(self, g: StolenTreasure, seat: int, options: list[Option]) -> Option:
        """Follow ST-0.6."""
        return options[0]

    def chosen(self, g: StolenTreasure, option: Option) -> None:
        seat = self.seat
        if option.verb == DONE:
            g.then(MatchTheStake(self.opponent, seat, g.value_of(g.stake[seat].cards)))
            return
        hand = g.treasure_hand[seat]
        g.move_at(g.place_of(option, hand), hand, g.stake[seat])
        g.then(self)


class MatchTheStake(Choice):
    rule = "ST-3.24"
    paragraph = """The opponent lays treasure that reaches the stake, or the greatest sum he can; he cannot refuse.

    Asked card by card, a card is offered while a legal set stays within reach, and to stop on a legal set.
    """
    text = "Which treasure do you lay against the stake?"
    safe_paragraph = "Fill up to the lowest sum that is legal, with the fewest cards, the first by the sheet's order."
    fields: ClassVar[Fields] = {"active": int, "stake": int}

    def __init__(self, seat: int, active: int, stake: int) -> None:
        super().__init__(seat)
        self.active = active
        self.stake = stake

    def act(self) -> Act:
        return Act(MATCH, seat=self.seat, number=self.stake, actor=self.active)

    def options(self, g: StolenTreasure, seat: int) -> list[Option]:
        hand, laid, value = g.treasure_hand[seat], g.stake[seat].cards, g.value
        if not hand.cards:  # the whole hand lies there, and it was within reach
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
        """Follow ST-0.6."""
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
            g.then(AnyParley(self.active, self.seat))
            return
        hand = g.treasure_hand[self.seat]
        g.move_at(g.place_of(option, hand), hand, g.stake[self.seat])
        g.then(self)


class AnyParley(Poll):
    rule = "ST-0.3, ST-3.25"
    paragraph = "The two who wager, and nobody else, may play Parley; of both the active player does."
    text = "Play Parley and lose the wager?"
    fields: ClassVar[Fields] = {"opponent": int}

    def __init__(self, seat: int, opponent: int) -> None:
        super().__init__(seat)
        self.opponent = opponent

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
                g.then(AnyYarr(seat), Surrender(seat, winner), AnyParley(self.seat, self.opponent))
                return
        g.then(DecideTheWager(self.seat, self.opponent))


class Surrender(Step):
    rule = "ST-3.25"
    paragraph = "A Parley that stands: the other takes everything, and the poll beneath is not repeated."
    fields: ClassVar[Fields] = {"winner": int}

    def __init__(self, seat: int, winner: int) -> None:
        super().__init__(seat)
        self.winner = winner

    def act(self) -> Act:
        return Act(SURRENDER, (PARLEY,), seat=self.winner, actor=self.seat)

    def run(self, g: StolenTreasure) -> None:
        g.agenda.pop()
        g.then(TakeTheStakes(self.winner, self.seat))


class DecideTheWager(Step):
    rule = "ST-3.26"
    paragraph = "By a coin, or as the setting says by dice or hand signs."
    fields: ClassVar[Fields] = {"opponent": int}

    def __init__(self, seat: int, opponent: int) -> None:
        super().__init__(seat)
        self.opponent = opponent

    def run(self, g: StolenTreasure) -> None:
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
    fields: ClassVar[Fields] = {"opponent": int}

    def __init__(self, seat: int, opponent: int) -> None:
        super().__init__(seat)
        self.opponent = opponent

    def run(self, g: StolenTreasure) -> None:
        winner, loser = (self.seat, self.opponent) if g.chance.below(2) == 0 else (self.opponent, self.seat)
        g.tell(COIN, seat=winner)
        g.then(TakeTheStakes(winner, loser))


class RollTheDice(Step):
    rule = "ST-3.26"
    paragraph = "Each rolls a die, the higher wins; after too many ties the coin decides."
    fields: ClassVar[Fields] = {"opponent": int, "ties_left": int}

    def __init__(self, seat: int, opponent: int, ties_left: int) -> None:
        super().__init__(seat)
        self.opponent = opponent
        self.ties_left = ties_left

    def run(self, g: StolenTreasure) -> None:
        seat, opponent = self.seat, self.opponent
        mine, other = (g.chance.below(DIE) + 1 for _ in range(2))
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
    fields: ClassVar[Fields] = {"opponent": int, "ties_left": int}

    def __init__(self, seat: int, opponent: int, ties_left: int) -> None:
        super().__init__(seat)
        self.opponent = opponent
        self.ties_left = ties_left

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
            g.then(TakeTheStakes(seat, opponent))
        elif BEATS[other] == mine:
            g.then(TakeTheStakes(opponent, seat))
        else:
            g.then(ShowASign(seat, opponent, self.ties_left - 1) if self.ties_left else TossACoin(seat, opponent))


class TakeTheStakes(Step):
    rule = "ST-3.27, ST-3.6"
    paragraph = "The winner takes all that is staked; what was his own keeps its `since`."
    fields: ClassVar[Fields] = {"loser": int}

    def __init__(self, seat: int, loser: int) -> None:
        super().__init__(seat)
        self.loser = loser

    def run(self, g: StolenTreasure) -> None:
        hand = g.treasure_hand[self.seat]
        g.move_all(g.stake[self.seat], hand)
        g.move_all(g.stake[self.loser], hand, columns=(g.turn,))
