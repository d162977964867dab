"""The thirty Actions, by number: what each costs or needs, and what it does (section 8 of the sheet).

A class is a card as it is printed; its methods do what its text says, and cite the other rules that they follow.
"""

from __future__ import annotations

from cutpurse.engine.agenda import Step
from cutpurse.games.szmal.cards import (
    BOTTLE,
    CAR,
    DOUBLINGS,
    EXTRA_MARKERS,
    GUN,
    HEART,
    INFORMS,
    KEY,
    LOSSES_5,
    LOSSES_40,
    LOSSES_73,
    LOSSES_79,
    SHAKEDOWNS,
    WRENCH,
    Cost,
    Need,
)
from cutpurse.games.szmal.playing import PlayAnotherCard, PutMarkers
from cutpurse.games.szmal.state import Action, SzmalState

__all__: list[str] = []


class Inform(Action):
    rule = "SZ-card-2"
    title = "Inform!"
    text = "Gain $10,000. For the rest of this turn gain $10,000 whenever a neighbour plays an Action."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 10_000)
        g.add(INFORMS, 1, seat)


class Shakedown(Action):
    rule = "SZ-card-3"
    title = "Shakedown!"
    text = "Gain $10,000. For the rest of this turn gain $10,000 whenever a neighbour plays a Thug."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 10_000)
        g.add(SHAKEDOWNS, 1, seat)


class Liquidate(Action):
    rule = "SZ-card-4"
    title = "Liquidate!"
    cost = Cost(holding=True)
    text = "Gain $15,000 for each marker that was on the Holding given up."

    def carry_out(self, g: SzmalState, seat: int, card: int, paid: int) -> None:
        """Follow SZ-7.1: with its Cost ignored nothing was given up, which gives $0."""
        g.gain(seat, 15_000 * paid)


class InsuranceScam(Action):
    rule = "SZ-card-5"
    title = "Insurance Scam!"
    need = Need((KEY,))
    text = """Gain $5,000 for each marker on that one of your Holdings which has most. At the end of next turn every
    player, you too, loses a Holding of their choice."""
    works_next_turn = True
    takes = "holding"
    takes_of_owner = True

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 5_000 * g.most_markers([seat]))
        g.for_next_turn(seat, LOSSES_5)


class BeggarsBanquet(Action):
    rule = "SZ-card-20"
    title = "Beggars Banquet!"
    need = Need(fewest_thugs=True)
    text = "Gain $25,000."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 25_000)


class CircusOfCrime(Action):
    rule = "SZ-card-26"
    title = "Circus of crime!"
    need = Need(holdings=2)
    text = "Gain $10,000 for each Thug you have."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 10_000 * len(g.thugs[seat].cards))


class Gambit(Action):
    rule = "SZ-card-27"
    title = "Gambit!"
    cost = Cost(hand_card=True)
    text = "Gain $30,000."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 30_000)


class EstateHeist(Action):
    rule = "SZ-card-28"
    title = "Estate heist!"
    text = "Gain $10,000 if you have a gun, $10,000 if you have a car, $10,000 if you have a key."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        for symbol in (GUN, CAR, KEY):
            if g.symbols(seat, symbol):
                g.gain(seat, 10_000)


class InsiderTrading(Action):
    rule = "SZ-card-29"
    title = "Insider trading!"
    need = Need(cash=90_000)
    text = "Gain $45,000."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 45_000)


class MuseumHeist(Action):
    rule = "SZ-card-30"
    title = "Museum heist!"
    need = Need((GUN, CAR, KEY))
    text = "Gain $25,000."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 25_000)


class PickpocketNetwork(Action):
    rule = "SZ-card-31"
    title = "Pickpocket network!"
    text = "Gain $10,000 for each key and $10,000 for each wrench you have."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 10_000 * (g.symbols(seat, KEY) + g.symbols(seat, WRENCH)))


class Smuggling(Action):
    rule = "SZ-card-32"
    title = "Smuggling!"
    need = Need((CAR, BOTTLE))
    text = "Gain $25,000."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 25_000)


class Sting(Action):
    rule = "SZ-card-33"
    title = "Sting!"
    text = "Gain $10,000 for each car and $10,000 for each heart you have."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 10_000 * (g.symbols(seat, CAR) + g.symbols(seat, HEART)))


class SuckerConvention(Action):
    rule = "SZ-card-34"
    title = "Sucker convention!"
    text = "Gain $30,000; each other player gains $10,000."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 30_000)
        for other in g.opponents(seat):
            g.gain(other, 10_000)


class SuicideMission(Action):
    rule = "SZ-card-35"
    title = "Suicide mission!"
    cost = Cost(thug=True)
    text = "Gain $25,000."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 25_000)


class HonestWork(Action):
    rule = "SZ-card-36"
    title = "Honest work!"
    text = "Gain $15,000. If your cash is then below $50,000, this returns to your hand."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.10: compare after the own gain and before SZ-3.3.6; exactly $50,000 is not below."""
        g.gain(seat, 15_000)
        if g.cash[seat] < 50_000:
            g.move(self.number, g.resolving[seat], g.hand[seat])


class Renovate(Action):
    rule = "SZ-card-38"
    title = "Renovate!"
    text = "Two markers on one of your Holdings."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.21: without a Holding this is skipped."""
        if g.holdings[seat].cards:
            g.then(PutMarkers(seat, 2))


class StreetWalkers(Action):
    rule = "SZ-card-39"
    title = "Street walkers!"
    need = Need((HEART,))
    text = "One marker on each of your Holdings."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        for card in g.holdings[seat].cards:
            g.add_markers(seat, card, 1)


class TakeCareOfBusiness(Action):
    rule = "SZ-card-40"
    title = "Take care of business!"
    text = """One marker on each of your Holdings that has none or one. At the end of next turn each opponent loses a
    Thug of their choice."""
    works_next_turn = True
    takes = "thug"

    def take_effect(self, g: SzmalState, seat: int) -> None:
        for card in g.holdings[seat].cards:
            if g.markers(seat, card) <= 1:
                g.add_markers(seat, card, 1)
        g.for_next_turn(seat, LOSSES_40)


class Relocate(Action):
    rule = "SZ-card-41"
    title = "Relocate!"
    cost = Cost(take_back=True)
    text = "Next turn each Holding you play gets as many extra markers as lay on the one taken back, and two more."
    works_next_turn = True

    def carry_out(self, g: SzmalState, seat: int, card: int, paid: int) -> None:
        """Set up the extra markers of next turn.

        SZ-7.1. With its Cost ignored nothing was taken back, which gives two. SZ-7.11. Several effects add up.
        """
        g.for_next_turn(seat, EXTRA_MARKERS, paid + 2)


class ComplexScheme(Action):
    rule = "SZ-card-43"
    title = "Complex Scheme!"
    need = Need((KEY, WRENCH))
    text = "Next turn each Holding you play gets three extra markers."
    works_next_turn = True

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.for_next_turn(seat, EXTRA_MARKERS, 3)


class StealIdeas(Action):
    rule = "SZ-card-56"
    title = "Steal Ideas!"
    need = Need((WRENCH,))
    text = """On one of your Holdings as many markers as lie on that Holding of an opponent which has most. The
    opponent keeps them."""

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.16: only the Holdings of opponents count. SZ-7.21: without a Holding this is skipped."""
        markers = g.most_markers(g.opponents(seat))
        if markers and g.holdings[seat].cards:
            g.then(PutMarkers(seat, markers))


class Raid(Action):
    rule = "SZ-card-59"
    title = "Raid!"
    need = Need((GUN,))
    text = "Each opponent removes a marker from each of their Holdings."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.remove_markers_of_opponents(seat)


class ProtectionRacket(Action):
    rule = "SZ-card-60"
    title = "Protection Racket!"
    text = "Gain $5,000 for each Holding of the player, of any, who has most."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.16: the player of this card is included, and a tie does not matter."""
        g.gain(seat, 5_000 * max([len(zone.cards) for zone in g.holdings]))


class OneLastHeist(Action):
    rule = "SZ-card-73"
    title = "One last heist!"
    need = Need((GUN,))
    text = """Gain $5,000 for each Thug of the player, of any, who has most. At the end of next turn every player, you
    too, loses a Thug of their choice."""
    works_next_turn = True
    takes = "thug"
    takes_of_owner = True

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.16: the player of this card is included, and a tie does not matter."""
        g.gain(seat, 5_000 * max([len(zone.cards) for zone in g.thugs]))
        g.for_next_turn(seat, LOSSES_73)


class Scouting(Action):
    rule = "SZ-card-74"
    title = "Scouting!"
    text = """If you have a car, gain $10,000. If you have a gun, each opponent loses $10,000. If you have a key, draw
    a card of the deck."""

    def take_effect(self, g: SzmalState, seat: int) -> None:
        if g.symbols(seat, CAR):
            g.gain(seat, 10_000)
        if g.symbols(seat, GUN):
            for other in g.opponents(seat):
                g.lose(other, 10_000)
        if g.symbols(seat, KEY):
            g.draw(seat, 1)


class Arson(Action):
    rule = "SZ-card-75"
    title = "Arson!"
    text = "Each opponent loses $10,000 for each Thug you have."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.20: the Thugs of the player of this card count."""
        for other in g.opponents(seat):
            g.lose(other, 10_000 * len(g.thugs[seat].cards))


class MasterPlan(Action):
    rule = "SZ-card-78"
    title = "Master Plan!"
    text = "Next turn all your gains of cash are doubled; two such effects make four times."
    works_next_turn = True

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.for_next_turn(seat, DOUBLINGS)


class Vandalism(Action):
    rule = "SZ-card-79"
    title = "Vandalism!"
    need = Need((CAR,))
    text = "At the end of next turn each opponent loses a Holding of their choice."
    works_next_turn = True
    takes = "holding"

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.for_next_turn(seat, LOSSES_79)


class Seance(Action):
    rule = "SZ-card-80"
    title = "Seance!"
    text = "Gain $10,000; a marker on one of your Holdings; then you may play another card from your hand at once."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.21 and SZ-7.8: without a Holding, or without a hand card, that part is skipped."""
        g.gain(seat, 10_000)
        stages: list[Step] = []
        if g.holdings[seat].cards:
            stages.append(PutMarkers(seat, 1))
        if g.hand[seat].cards:
            stages.append(PlayAnotherCard(seat))
        g.then(*stages)
