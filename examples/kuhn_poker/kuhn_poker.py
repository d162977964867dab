"""Kuhn poker for Cutpurse: two players and three cards, after H. W. Kuhn, "A simplified two-person poker" (1950)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cutpurse.engine.agenda import Choice, Option, Step
from cutpurse.engine.game import Game
from cutpurse.engine.settings import Settings, number
from cutpurse.engine.words import Unit, Visibility, Words
from cutpurse.engine.zones import Zone

WORDS: Final = Words("kuhn_poker", "Kuhn poker", "KP", "1", seats=range(2, 3))
CARDS: Final = [
    WORDS.card(name, name.capitalize(), value=rank) for rank, name in enumerate(["jack", "queen", "king"], 1)
]
WORDS.zone("deck", "deck", "What was not dealt.", Visibility.NOBODY, per_seat=False, ordered=True, remembers=False)
WORDS.zone("hand", "hand", "One card.", Visibility.OWNER)
WORDS.table_counter("deals", "deals begun")
WORDS.table_counter("stake", "chips that each player has in the pot")
WORDS.seat_counter("chips", "chips", Unit.POINTS)
CHECK: Final = WORDS.verb("check", "{actor} checks", "check", "KP-2.1")
BET: Final = WORDS.verb("bet", "{actor} bets", "bet", "KP-2.1")
FOLD: Final = WORDS.verb("fold", "{actor} folds", "fold", "KP-2.2")
CALL: Final = WORDS.verb("call", "{actor} calls", "call", "KP-2.2")
WIN: Final = WORDS.verb("win", "{actor} wins the pot", rule="KP-3.1")


@dataclass(frozen=True, slots=True)
class KuhnSettings(Settings):
    """KP-1.1. What can be set."""

    deals: int = number(20, 2, 1000, step=2, text="deals of a match", rule="KP-1.1")


class KuhnPoker(Game[KuhnSettings]):
    """The state of a match."""

    __slots__ = WORDS.attributes()
    engine_api = 2
    words = WORDS
    settings_type = KuhnSettings
    usual_seats = 2
    deck: Zone
    hand: list[Zone]
    deals: int
    stake: int
    chips: list[int]

    @classmethod
    def box(cls, seats: int, settings: Settings) -> list[int]:
        return CARDS

    def begin(self) -> None:
        self.chips = [2 * self.settings.deals] * 2
        self.then(Deal(0))

    def scores(self) -> list[int]:
        return self.chips[:]


class Deal(Step):
    rule = "KP-1.2"
    paragraph = "Each player puts one chip in the pot and gets a card; the players take turns to speak first."

    def run(self, g: KuhnPoker) -> None:
        g.open_deal(g.deals + 1)
        g.deals, g.stake = g.deals + 1, 1
        g.enter(CARDS, g.deck)
        g.shuffle(g.deck)
        for hand in g.hand:
            g.deal(g.deck, hand, 1)
        g.then(CheckOrBet(self.seat, 0))


class CheckOrBet(Choice):
    rule = "KP-2.1"
    paragraph = "A player checks or bets one more chip. Two checks lead to the showdown."
    text = "Check or bet?"
    checks: int  # made before this one

    def options(self, g: KuhnPoker, seat: int) -> list[Option]:
        return [Option(CHECK), Option(BET)]

    def chosen(self, g: KuhnPoker, option: Option) -> None:
        if option.verb == BET:
            g.then(FoldOrCall(1 - self.seat))
        elif self.checks == 0:
            g.then(CheckOrBet(1 - self.seat, 1))
        else:
            g.then(Showdown(self.seat))


class FoldOrCall(Choice):
    rule = "KP-2.2"
    paragraph = "After a bet the other player folds and loses the pot, or calls with one more chip."
    text = "Fold or call?"

    def options(self, g: KuhnPoker, seat: int) -> list[Option]:
        return [Option(FOLD), Option(CALL)]

    def chosen(self, g: KuhnPoker, option: Option) -> None:
        if option.verb == FOLD:
            g.then(Pay(1 - self.seat))
        else:
            g.stake = 2
            g.then(Showdown(self.seat))


class Showdown(Step):
    rule = "KP-3.1"
    paragraph = "Both cards are turned up; the higher one wins."

    def run(self, g: KuhnPoker) -> None:
        for hand in g.hand:
            g.show(hand)
        g.then(Pay(0 if g.hand[0].cards > g.hand[1].cards else 1))


class Pay(Step):
    rule = "KP-3.1"
    paragraph = "The winner gets the other player's chips in the pot; after the last deal the match is over."

    def run(self, g: KuhnPoker) -> None:
        g.tell(WIN, actor=self.seat)
        for seat, chips in ((self.seat, g.stake), (1 - self.seat, -g.stake)):
            g.add("chips", chips, seat)
        g.tell_scores(over=g.deals == g.settings.deals)
        if g.deals < g.settings.deals:
            g.then(Deal(g.deals % 2))
