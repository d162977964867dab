"""How one card of Szmal is played: the steps of SZ-3.3.1 to SZ-3.3.7, and the choices that texts ask for."""

from __future__ import annotations

from typing import Final

from cutpurse.engine.agenda import PASS, Act, Choice, Option, Step
from cutpurse.games.szmal.cards import (
    COPY,
    COUNTS_AS,
    GIVE_UP,
    PAY,
    PLAY,
    PUT_MARKERS,
    RESOLVE,
    TAKE_BACK,
)
from cutpurse.games.szmal.state import SzmalState

__all__ = [
    "RUBBERFACE",
    "CarryOutTheText",
    "CopyAThug",
    "Play",
    "PlayAnotherCard",
    "PutMarkers",
    "Resolve",
]

NEIGHBOUR_GAIN: Final = 10_000
"""SZ-7.18. What 2 and 3 give for each play of a neighbour."""
REPEAT: Final = 68
"""SZ-3.3.6. The Thug whose effect comes at its number among the cards that react after an Action."""
RUBBERFACE: Final = 54
"""SZ-7.4. The Thug that becomes a copy."""
MAX_PLAYS: Final = 2_000
"""SZ-7.26. A game has fewer plays than that."""


class Resolve(Step):
    rule = "SZ-3.3, SZ-3.3.1, SZ-3.3.2"
    paragraph = """A Cost is paid, or a Need is met, or the card is discarded.

    SZ-7.1, SZ-7.2: a player who ignores Costs or Needs does neither. A Cost of $0 is paid without a question.
    """
    card: int

    def act(self) -> Act:
        return Act(RESOLVE, (self.card,), actor=self.seat)

    def run(self, g: SzmalState) -> None:
        seat, card = self.seat, self.card
        cost, need = g.cards[card].cost, g.cards[card].need
        if cost and not g.free_costs[seat]:  # SZ-3.3.1
            if cost.cash and g.price(seat, card) == 0:
                g.then(Play(seat, card, 0))
            elif g.ways_to_pay(seat, card):
                g.then(PayTheCost(seat, card))
            else:
                g.fail(seat, card)
        elif need and not g.free_needs[seat] and not g.meets(seat, need):  # SZ-3.3.2
            g.fail(seat, card)
        else:
            g.then(Play(seat, card, 0))


class PayTheCost(Choice):
    rule = "SZ-3.3.1"
    paragraph = "Pay in one of the ways, or decline: then the card is discarded. SZ-7.24: declining is safe."
    text = "How do you pay the Cost?"
    card: int

    def act(self) -> Act:
        return Act(RESOLVE, (self.card,), actor=self.seat)

    def options(self, g: SzmalState, seat: int) -> list[Option]:
        return [PASS, *g.ways_to_pay(seat, self.card)]

    def chosen(self, g: SzmalState, option: Option) -> None:
        seat = self.seat
        if option == PASS:
            g.fail(seat, self.card)
            return
        paid = 0  # markers
        if option.verb == PAY:
            g.lose(seat, option.number)
        elif option.verb == GIVE_UP:
            paid = g.leave(seat, option.cards[0], g.discard)
        elif option.verb == TAKE_BACK:
            paid = g.leave(seat, option.cards[0], g.hand[seat])
        else:  # the hand card of 27, which is no loss
            g.move(option.cards[0], g.hand[seat], g.discard)
        g.then(Play(seat, self.card, paid))


class Play(Step):
    rule = "SZ-3.3.3"
    paragraph = "A Thug or Holding enters the Territory, a Holding with its normal markers."
    card: int
    paid: int  # the number of markers on the Holding that was given up for it

    def act(self) -> Act:
        return Act(RESOLVE, (self.card,), actor=self.seat)

    def run(self, g: SzmalState) -> None:
        seat, card, paid = self.seat, self.card, self.paid
        g.plays += 1
        assert g.plays < MAX_PLAYS, f"{g.plays} plays in a game"
        played = g.cards[card]
        if played.sort == "action":
            g.then(
                TriggersOfThePlay(seat, card),
                CarryOutTheText(seat, card, card, paid),
                TriggersAfterAnAction(seat, card),
                PutTheActionAway(seat, card),
            )
            return
        if played.sort == "thug":
            # It counts as itself, and is not armed.
            g.move(card, g.resolving[seat], g.thugs[seat], columns=(card, g.round, g.plays, 0, 0))
        else:
            markers = played.normal_markers(g, seat)
            g.move(card, g.resolving[seat], g.holdings[seat], columns=(markers, g.round))
        g.then(TriggersOfThePlay(seat, card), CarryOutTheText(seat, card, card, paid))


class TriggersOfThePlay(Step):
    rule = "SZ-3.3.4, SZ-7.18"
    paragraph = """Neighbours' 2 or 3; then the owner's 41 and 43 of last turn, 42, 44, 52 and 61.

    The markers of 41 and 43 come together, before that of 42: all three only add.
    """
    card: int

    def run(self, g: SzmalState) -> None:
        seat, card = self.seat, self.card
        sort = g.cards[card].sort
        if sort == "holding":
            g.add_markers(seat, card, g.extra_markers[seat])
        else:
            times = g.informs if sort == "action" else g.shakedowns
            for neighbour in g.neighbours(seat):
                for _ in range(times[neighbour]):
                    g.gain(neighbour, NEIGHBOUR_GAIN)
        for number, this in g.in_play(seat, "on_play"):
            g.cards[number].on_play(g, seat, card, this)


class CarryOutTheText(Step):
    rule = "SZ-3.3.5, SZ-4.1"
    paragraph = "The card's own text is carried out once. SZ-7.4: 54 carries out that of the Thug it copies."
    card: int  # which carries it out
    number: int  # of the card that has the text
    paid: int

    def run(self, g: SzmalState) -> None:
        g.cards[self.number].carry_out(g, self.seat, self.card, self.paid)


class PutMarkers(Choice):
    rule = "SZ-3.3.5"
    paragraph = "The markers go on a Holding of the owner. SZ-7.24: the lowest number is safe."
    text = "Which of your Holdings gets the markers?"
    markers: int

    def options(self, g: SzmalState, seat: int) -> list[Option]:
        return [Option(PUT_MARKERS, (card,), number=self.markers) for card in g.holdings[seat].cards]

    def chosen(self, g: SzmalState, option: Option) -> None:
        g.add_markers(self.seat, option.cards[0], self.markers)


class CopyAThug(Choice):
    rule = "SZ-7.4, SZ-7.5"
    paragraph = "54 becomes a copy of another Thug: printed symbols and lasting text for good, plain text now."
    text = "Which of your Thugs does Rubberface copy?"

    def act(self) -> Act:
        return Act(RESOLVE, (RUBBERFACE,), actor=self.seat)

    def options(self, g: SzmalState, seat: int) -> list[Option]:
        return [Option(COPY, (card,)) for card in g.thugs[seat].cards if card != RUBBERFACE]

    def chosen(self, g: SzmalState, option: Option) -> None:
        copied, thugs = option.cards[0], g.thugs[self.seat]
        g.count_card(thugs, thugs.cards.index(RUBBERFACE), COUNTS_AS, copied)
        g.then(CarryOutTheText(self.seat, RUBBERFACE, copied, 0))


class PlayAnotherCard(Choice):
    rule = "SZ-7.8"
    paragraph = "80: another card of the hand may be played, and is resolved at once. SZ-7.24: none is safe."
    text = "Do you play another card?"

    def options(self, g: SzmalState, seat: int) -> list[Option]:
        return [PASS, *[Option(PLAY, (card,)) for card in g.hand[seat].cards]]

    def chosen(self, g: SzmalState, option: Option) -> None:
        if option != PASS:
            g.move(option.cards[0], g.hand[self.seat], g.resolving[self.seat])
            g.then(Resolve(self.seat, option.cards[0]))


class TriggersAfterAnAction(Step):
    rule = "SZ-3.3.6, SZ-7.9"
    paragraph = "In ascending number: 17, 68 of last turn, which returns the Action to the hand, 70 and 71."
    card: int

    def run(self, g: SzmalState) -> None:
        seat = self.seat
        reacting = [number for number, _ in g.in_play(seat, "after_action")]
        for number in reacting:
            if number < REPEAT:
                g.cards[number].after_action(g, seat)
        if g.repeats[seat] and self.card in g.resolving[seat].cards:
            g.move(self.card, g.resolving[seat], g.hand[seat])
        for number in reacting:
            if number > REPEAT:
                g.cards[number].after_action(g, seat)


class PutTheActionAway(Step):
    rule = "SZ-3.3.7"
    paragraph = "An Action that has not returned to the hand is discarded, or kept if it works next turn."
    card: int

    def act(self) -> Act:
        return Act(RESOLVE, (self.card,), actor=self.seat)

    def run(self, g: SzmalState) -> None:
        resolving = g.resolving[self.seat]
        if self.card not in resolving.cards:
            return
        if g.cards[self.card].works_next_turn:
            g.move(self.card, resolving, g.kept[self.seat], columns=(g.round + 1,))
        else:
            g.move(self.card, resolving, g.discard)
