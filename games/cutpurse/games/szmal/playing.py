"""How one card of Szmal is played: the steps of SZ-3.3.1 to SZ-3.3.7, and the choices that texts ask for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from cutpurse.engine.agenda import PASS, Act, Choice, Option, Step
from cutpurse.games.szmal.box import AFTER_ACTION, COST, NEED, ON_PLAY, SORT
from cutpurse.games.szmal.cards import (
    CARDS,
    COPY,
    COUNTS_AS,
    GIVE_UP,
    NUMBERS,
    PAY,
    PLAY,
    PUT_MARKERS,
    RESOLVE,
    TAKE_BACK,
    WORDS,
    with_a_card,
)
from cutpurse.games.szmal.thugs import REPEAT, RUBBERFACE

if TYPE_CHECKING:
    from cutpurse.games.szmal.rules import Szmal

__all__ = [
    "PLAY_CARD",
    "RESOLVE_CARD",
    "CarryOutTheText",
    "CopyAThug",
    "Play",
    "PlayAnotherCard",
    "PutMarkers",
    "Resolve",
    "pay_in_cash",
]

NEIGHBOUR_GAIN: Final = 10_000
"""SZ-7.18. What 2 and 3 give for each play of a neighbour."""
MOST_PLAYS: Final = 2_000
"""SZ-7.26. A game has fewer plays than that."""

COPY_CARD: Final = with_a_card(COPY)
PLAY_CARD: Final = with_a_card(PLAY)


@cache  # there are few prices
def pay_in_cash(price: int) -> Option:
    """The option to pay so many dollars."""
    return Option(PAY, number=price)


PAY_NOTHING: Final = pay_in_cash(0)


@dataclass(slots=True)
class Resolve(Step):
    """SZ-3.3, SZ-3.3.1, SZ-3.3.2. A Cost is paid, or a Need is met, or the card is discarded.

    SZ-7.1, SZ-7.2: who ignores Costs or Needs does neither. A Cost of $0 is paid without a question.
    """

    card: int

    def act(self) -> Act:
        return Act(RESOLVE, (self.card,), actor=self.seat)

    def run(self, g: Szmal) -> None:
        seat, card = self.seat, self.card
        cost, need = COST[card], NEED[card]
        if cost and not g.free_costs[seat]:
            ways = g.ways_to_pay(seat, card)
            if not ways:
                g.fail(seat, card)
            elif ways[0] == PAY_NOTHING:  # cash is the first way
                PLAY_FOR_NOTHING[seat][card].run(g)
            else:
                g.then(PayTheCost.of[seat, card])
        elif need and not g.free_needs[seat] and not need.is_met(g, seat):
            g.fail(seat, card)
        else:
            PLAY_FOR_NOTHING[seat][card].run(g)  # at once: nothing comes between


@dataclass(slots=True)
class PayTheCost(Choice):
    """SZ-3.3.1. Pay in the way of one's choice, or decline: then the card is discarded. SZ-7.24: declining is safe."""

    card: int
    text: ClassVar[str] = "How do you pay the Cost?"

    def act(self) -> Act:
        return Act(RESOLVE, (self.card,), actor=self.seat)

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [PASS, *g.ways_to_pay(seat, self.card)]

    def chosen(self, g: Szmal, option: Option) -> None:
        seat, paid = self.seat, 0
        if option == PASS:
            g.fail(seat, self.card)
            return
        if option.verb == PAY:
            g.lose(seat, option.number)
        elif option.verb == GIVE_UP:
            paid = g.leave(seat, option.cards[0], g.discard)
        elif option.verb == TAKE_BACK:
            paid = g.leave(seat, option.cards[0], g.hand[seat])
        else:  # a card of the hand, which is no loss
            g.move(option.cards[0], g.hand[seat], g.discard)
        g.then(Play.of[seat, self.card, paid])


@dataclass(slots=True)
class Play(Step):
    """SZ-3.3.3. A Thug or Holding enters the Territory, a Holding with its normal markers.

    `paid` is the number of markers that lay on a Holding given up for it.
    """

    card: int
    paid: int

    def run(self, g: Szmal) -> None:
        """SZ-7.26. A game has fewer than 2,000 plays."""
        seat, card = self.seat, self.card
        g.plays += 1
        assert g.plays < MOST_PLAYS, f"{g.plays} plays in a game"
        played, sort = CARDS[card], SORT[card]
        if sort == "action":
            g.then(PUT_THE_ACTION_AWAY[seat][card])
            g.then(TRIGGERS_AFTER_AN_ACTION[seat][card])  # which comes first
        elif sort == "thug":
            g.move(card, g.resolving[seat], g.thugs[seat], columns=(card, g.round, g.plays, 0, 0))
        else:
            markers = played.normal_markers(g, seat)
            g.move(card, g.resolving[seat], g.holdings[seat], columns=(markers, g.round))
        # SZ-3.3.4 and SZ-3.3.5 without a detour by the agenda: nobody is asked before the text is carried out.
        TRIGGERS_OF_THE_PLAY[seat][card].run(g)
        played.carry_out(g, seat, card, self.paid)


@dataclass(slots=True)
class TriggersOfThePlay(Step):
    """SZ-3.3.4, SZ-7.18. Neighbours' 2 or 3; then the owner's 41 and 43 of last turn, 42, 44, 52 and 61.

    The markers of 41 and 43 come in one, before that of 42: all three only add.
    """

    card: int

    def run(self, g: Szmal) -> None:
        seat, card, sort = self.seat, self.card, SORT[self.card]
        if sort != "holding":
            rewards = g.informs if sort == "action" else g.shakedowns
            if rewards[seat - 1] or rewards[seat + 1 - g.n]:  # to the right and to the left: seats go round
                for neighbour in dict.fromkeys((g.next_seat(seat), (seat - 1) % g.n)):
                    for _ in range(rewards[neighbour]):
                        g.gain(neighbour, NEIGHBOUR_GAIN)
        elif g.extra_markers[seat]:
            g.add_markers(seat, card, g.extra_markers[seat])
        if sort != "action":
            for number, this in g.in_play(seat, ON_PLAY):
                CARDS[number].on_play(g, seat, card, this)


@dataclass(slots=True)
class CarryOutTheText(Step):
    """SZ-3.3.5, SZ-4.1. The text of `number` is carried out by `card`, once."""

    card: int
    number: int
    paid: int

    def run(self, g: Szmal) -> None:
        CARDS[self.number].carry_out(g, self.seat, self.card, self.paid)


@dataclass(slots=True)
class PutMarkers(Choice):
    """SZ-3.3.5. On one of one's Holdings. SZ-7.24: the lowest number is safe."""

    markers: int
    text: ClassVar[str] = "Which of your Holdings gets the markers?"

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [Option(PUT_MARKERS, (card,), number=self.markers) for card in g.holdings[seat].cards]

    def chosen(self, g: Szmal, option: Option) -> None:
        g.add_markers(self.seat, option.cards[0], self.markers)


@dataclass(slots=True)
class CopyAThug(Choice):
    """SZ-7.4, SZ-7.5. 54 becomes a copy of another Thug: printed symbols and lasting text for good, plain text now."""

    text: ClassVar[str] = "Which of your Thugs does Rubberface copy?"

    def act(self) -> Act:
        return Act(RESOLVE, (RUBBERFACE,), actor=self.seat)

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [COPY_CARD[card] for card in g.thugs[seat].cards if card != RUBBERFACE]

    def chosen(self, g: Szmal, option: Option) -> None:
        thugs, (copied,) = g.thugs[self.seat], option.cards
        g.count_card(thugs, thugs.cards.index(RUBBERFACE), COUNTS_AS, copied)
        g.then(CarryOutTheText.of[self.seat, RUBBERFACE, copied, 0])


@dataclass(slots=True)
class PlayAnotherCard(Choice):
    """SZ-7.8. 80: another card of the hand may be played, and is resolved at once. SZ-7.24: none is safe."""

    text: ClassVar[str] = "Do you play another card?"

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [PASS, *[PLAY_CARD[card] for card in g.hand[seat].cards]]

    def chosen(self, g: Szmal, option: Option) -> None:
        if option != PASS:
            g.move(option.cards[0], g.hand[self.seat], g.resolving[self.seat])
            g.then(Resolve.of[self.seat, option.cards[0]])


@dataclass(slots=True)
class TriggersAfterAnAction(Step):
    """SZ-3.3.6, SZ-7.9. In ascending number: 17, 68 of last turn, which returns the Action to the hand, 70 and 71."""

    card: int

    def run(self, g: Szmal) -> None:
        seat = self.seat
        watchers = g.in_play(seat, AFTER_ACTION)
        for number, _ in watchers:
            if number < REPEAT:
                CARDS[number].after_action(g, seat)
        if g.repeats[seat] and self.card in g.resolving[seat].cards:
            g.move(self.card, g.resolving[seat], g.hand[seat])
        for number, _ in watchers:
            if number > REPEAT:
                CARDS[number].after_action(g, seat)


@dataclass(slots=True)
class PutTheActionAway(Step):
    """SZ-3.3.7. An Action that has not returned to the hand is discarded, or kept if it works next turn."""

    card: int

    def act(self) -> Act:
        return Act(RESOLVE, (self.card,), actor=self.seat)

    def run(self, g: Szmal) -> None:
        resolving = g.resolving[self.seat]
        if self.card in resolving.cards:
            if CARDS[self.card].works_next_turn:
                g.move(self.card, resolving, g.kept[self.seat], columns=(g.round + 1,))
            else:
                g.move(self.card, resolving, g.discard)


A_STEP = TypeVar("A_STEP", bound=Step)


def _with_a_card(step: type[A_STEP], *fields: int) -> list[list[A_STEP]]:
    """The shared steps of this class, by seat and card: `of` takes ten times as long to find one."""
    return [[step.of[(seat, card, *fields)] for card in (0, *NUMBERS)] for seat in range(WORDS.seats[-1])]


RESOLVE_CARD: Final = _with_a_card(Resolve)
PLAY_FOR_NOTHING: Final = _with_a_card(Play, 0)
TRIGGERS_OF_THE_PLAY: Final = _with_a_card(TriggersOfThePlay)
TRIGGERS_AFTER_AN_ACTION: Final = _with_a_card(TriggersAfterAnAction)
PUT_THE_ACTION_AWAY: Final = _with_a_card(PutTheActionAway)
