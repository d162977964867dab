"""How one card of Szmal is played: the steps of SZ-3.3.1 to SZ-3.3.7, and the choices that texts ask for."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final

from cutpurse.engine.agenda import PASS, Act, Choice, Fields, Option, Step
from cutpurse.games.szmal.box import AFTER_ACTION, COST, NEED, ON_PLAY, SORT
from cutpurse.games.szmal.cards import (
    CARDS,
    COPY,
    COUNTS_AS,
    GIVE_UP,
    PAY,
    PLAY,
    PUT_MARKERS,
    RESOLVE,
    TAKE_BACK,
    with_a_card,
)
from cutpurse.games.szmal.thugs import REPEAT, RUBBERFACE

if TYPE_CHECKING:
    from cutpurse.games.szmal.rules import Szmal

__all__ = [
    "PLAY_CARD",
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
    """Return the option to pay this many dollars."""
    return Option(PAY, number=price)


PAY_NOTHING: Final = pay_in_cash(0)


class Resolve(Step):
    rule = "SZ-3.3, SZ-3.3.1, SZ-3.3.2"
    paragraph = """A Cost is paid, or a Need is met, or the card is discarded.

    SZ-7.1, SZ-7.2: who ignores Costs or Needs does neither. A Cost of $0 is paid without a question.
    """
    fields: ClassVar[Fields] = {"card": int}

    def __init__(self, seat: int, card: int) -> None:
        super().__init__(seat)
        self.card = card

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
                g.then(Play(seat, card, 0))
            else:
                g.then(PayTheCost(seat, card))
        elif need and not g.free_needs[seat] and not need.is_met(g, seat):
            g.fail(seat, card)
        else:
            g.then(Play(seat, card, 0))


class PayTheCost(Choice):
    rule = "SZ-3.3.1"
    paragraph = "Pay in the way of one's choice, or decline: then the card is discarded. SZ-7.24: declining is safe."
    text = "How do you pay the Cost?"
    fields: ClassVar[Fields] = {"card": int}

    def __init__(self, seat: int, card: int) -> None:
        super().__init__(seat)
        self.card = card

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
        g.then(Play(seat, self.card, paid))


class Play(Step):
    rule = "SZ-3.3.3"
    paragraph = """A Thug or Holding enters the Territory, a Holding with its normal markers.

    `paid` is the number of markers that lay on a Holding given up for it.
    """
    fields: ClassVar[Fields] = {"card": int, "paid": int}

    def __init__(self, seat: int, card: int, paid: int) -> None:
        super().__init__(seat)
        self.card = card
        self.paid = paid

    def run(self, g: Szmal) -> None:
        """SZ-7.26. A game has fewer than 2,000 plays."""
        seat, card = self.seat, self.card
        g.plays += 1
        assert g.plays < MOST_PLAYS, f"{g.plays} plays in a game"
        played, sort = CARDS[card], SORT[card]
        if sort == "action":
            g.then(PutTheActionAway(seat, card))
            g.then(TriggersAfterAnAction(seat, card))  # which comes first
        elif sort == "thug":
            g.move(card, g.resolving[seat], g.thugs[seat], columns=(card, g.round, g.plays, 0, 0))
        else:
            markers = played.normal_markers(g, seat)
            g.move(card, g.resolving[seat], g.holdings[seat], columns=(markers, g.round))
        g.then(TriggersOfThePlay(seat, card), CarryOutTheText(seat, card, card, self.paid))


class TriggersOfThePlay(Step):
    rule = "SZ-3.3.4, SZ-7.18"
    paragraph = """Neighbours' 2 or 3; then the owner's 41 and 43 of last turn, 42, 44, 52 and 61.

    The markers of 41 and 43 come in one, before that of 42: all three only add.
    """
    fields: ClassVar[Fields] = {"card": int}

    def __init__(self, seat: int, card: int) -> None:
        super().__init__(seat)
        self.card = card

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


class CarryOutTheText(Step):
    rule = "SZ-3.3.5, SZ-4.1"
    paragraph = "The text of `number` is carried out by `card`, once."
    fields: ClassVar[Fields] = {"card": int, "number": int, "paid": int}

    def __init__(self, seat: int, card: int, number: int, paid: int) -> None:
        super().__init__(seat)
        self.card = card
        self.number = number
        self.paid = paid

    def run(self, g: Szmal) -> None:
        CARDS[self.number].carry_out(g, self.seat, self.card, self.paid)


class PutMarkers(Choice):
    rule = "SZ-3.3.5"
    paragraph = "On one of one's Holdings. SZ-7.24: the lowest number is safe."
    text = "Which of your Holdings gets the markers?"
    fields: ClassVar[Fields] = {"markers": int}

    def __init__(self, seat: int, markers: int) -> None:
        super().__init__(seat)
        self.markers = markers

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [Option(PUT_MARKERS, (card,), number=self.markers) for card in g.holdings[seat].cards]

    def chosen(self, g: Szmal, option: Option) -> None:
        g.add_markers(self.seat, option.cards[0], self.markers)


class CopyAThug(Choice):
    rule = "SZ-7.4, SZ-7.5"
    paragraph = "54 becomes a copy of another Thug: printed symbols and lasting text for good, plain text now."
    text = "Which of your Thugs does Rubberface copy?"

    def act(self) -> Act:
        return Act(RESOLVE, (RUBBERFACE,), actor=self.seat)

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [COPY_CARD[card] for card in g.thugs[seat].cards if card != RUBBERFACE]

    def chosen(self, g: Szmal, option: Option) -> None:
        thugs, (copied,) = g.thugs[self.seat], option.cards
        g.count_card(thugs, thugs.cards.index(RUBBERFACE), COUNTS_AS, copied)
        g.then(CarryOutTheText(self.seat, RUBBERFACE, copied, 0))


class PlayAnotherCard(Choice):
    rule = "SZ-7.8"
    paragraph = "80: another card of the hand may be played, and is resolved at once. SZ-7.24: none is safe."
    text = "Do you play another card?"

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [PASS, *[PLAY_CARD[card] for card in g.hand[seat].cards]]

    def chosen(self, g: Szmal, option: Option) -> None:
        if option != PASS:
            g.move(option.cards[0], g.hand[self.seat], g.resolving[self.seat])
            g.then(Resolve(self.seat, option.cards[0]))


class TriggersAfterAnAction(Step):
    rule = "SZ-3.3.6, SZ-7.9"
    paragraph = "In ascending number: 17, 68 of last turn, which returns the Action to the hand, 70 and 71."
    fields: ClassVar[Fields] = {"card": int}

    def __init__(self, seat: int, card: int) -> None:
        super().__init__(seat)
        self.card = card

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


class PutTheActionAway(Step):
    rule = "SZ-3.3.7"
    paragraph = "An Action that has not returned to the hand is discarded, or kept if it works next turn."
    fields: ClassVar[Fields] = {"card": int}

    def __init__(self, seat: int, card: int) -> None:
        super().__init__(seat)
        self.card = card

    def act(self) -> Act:
        return Act(RESOLVE, (self.card,), actor=self.seat)

    def run(self, g: Szmal) -> None:
        resolving = g.resolving[self.seat]
        if self.card in resolving.cards:
            if CARDS[self.card].works_next_turn:
                g.move(self.card, resolving, g.kept[self.seat], columns=(g.round + 1,))
            else:
                g.move(self.card, resolving, g.discard)
