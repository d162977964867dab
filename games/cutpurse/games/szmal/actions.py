"""The thirty Actions, by number: what each costs or needs, and what it does.

A card's docstring is its text as it is told to players; citations of other rules stand with its methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutpurse.games.szmal.cards import BOTTLE, CAR, GUN, HEART, KEY, WRENCH, Action, Cost, Need

if TYPE_CHECKING:
    from cutpurse.games.szmal.rules import Szmal

__all__: list[str] = []


class Inform(Action, number=2, title="Inform!"):
    """SZ-card-2. Gain $10,000. For the rest of this turn gain $10,000 whenever a neighbour plays an Action."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 10_000)
        g.for_this_turn(seat, "informs")


class Shakedown(Action, number=3, title="Shakedown!"):
    """SZ-card-3. Gain $10,000. For the rest of this turn gain $10,000 whenever a neighbour plays a Thug."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 10_000)
        g.for_this_turn(seat, "shakedowns")


class Liquidate(Action, number=4, title="Liquidate!", cost=Cost(holding=True)):
    """SZ-card-4. Gain $15,000 for each marker that was on the Holding given up."""

    def carry_out(self, g: Szmal, seat: int, card: int, paid: int) -> None:
        """SZ-7.1. With its Cost ignored nothing was given up: $0."""
        g.gain(seat, 15_000 * paid)


class InsuranceScam(Action, number=5, title="Insurance Scam!", need=Need((KEY,))):
    """SZ-card-5. Gain $5,000 for each marker on that one of your Holdings which has most. At the end of next turn every
    player, you too, loses a Holding of his choice.
    """

    works_next_turn = True
    takes = "holding"
    takes_of_owner = True

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 5_000 * g.most_markers([seat]))
        g.for_next_turn(seat, "losses_5")


class BeggarsBanquet(Action, number=20, title="Beggars Banquet!", need=Need(fewest_thugs=True)):
    """SZ-card-20. Gain $25,000."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 25_000)


class CircusOfCrime(Action, number=26, title="Circus of crime!", need=Need(holdings=2)):
    """SZ-card-26. Gain $10,000 for each Thug you have."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 10_000 * len(g.thugs[seat].cards))


class Gambit(Action, number=27, title="Gambit!", cost=Cost(hand_card=True)):
    """SZ-card-27. Gain $30,000."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 30_000)


class EstateHeist(Action, number=28, title="Estate heist!"):
    """SZ-card-28. Gain $10,000 if you have a gun, $10,000 if you have a car, $10,000 if you have a key."""

    def text(self, g: Szmal, seat: int) -> None:
        for symbol in (GUN, CAR, KEY):
            if g.symbols(seat, symbol):
                g.gain(seat, 10_000)


class InsiderTrading(Action, number=29, title="Insider trading!", need=Need(cash=90_000)):
    """SZ-card-29. Gain $45,000."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 45_000)


class MuseumHeist(Action, number=30, title="Museum heist!", need=Need((GUN, CAR, KEY))):
    """SZ-card-30. Gain $25,000."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 25_000)


class PickpocketNetwork(Action, number=31, title="Pickpocket network!"):
    """SZ-card-31. Gain $10,000 for each key and $10,000 for each wrench you have."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 10_000 * (g.symbols(seat, KEY) + g.symbols(seat, WRENCH)))


class Smuggling(Action, number=32, title="Smuggling!", need=Need((CAR, BOTTLE))):
    """SZ-card-32. Gain $25,000."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 25_000)


class Sting(Action, number=33, title="Sting!"):
    """SZ-card-33. Gain $10,000 for each car and $10,000 for each heart you have."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 10_000 * (g.symbols(seat, CAR) + g.symbols(seat, HEART)))


class SuckerConvention(Action, number=34, title="Sucker convention!"):
    """SZ-card-34. Gain $30,000; each other player gains $10,000."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 30_000)
        for other in g.opponents(seat):
            g.gain(other, 10_000)


class SuicideMission(Action, number=35, title="Suicide mission!", cost=Cost(thug=True)):
    """SZ-card-35. Gain $25,000."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 25_000)


class HonestWork(Action, number=36, title="Honest work!"):
    """SZ-card-36. Gain $15,000. If your cash is then below $50,000, this returns to your hand."""

    def text(self, g: Szmal, seat: int) -> None:
        """SZ-7.10. Compared after its own gain, before what comes after an Action; exactly $50,000 is not below."""
        g.gain(seat, 15_000)
        if g.cash[seat] < 50_000:
            g.move(self.number, g.resolving[seat], g.hand[seat])


class Renovate(Action, number=38, title="Renovate!"):
    """SZ-card-38. Two markers on one of your Holdings."""

    def text(self, g: Szmal, seat: int) -> None:
        g.put_markers(seat, 2)


class StreetWalkers(Action, number=39, title="Street walkers!", need=Need((HEART,))):
    """SZ-card-39. One marker on each of your Holdings."""

    def text(self, g: Szmal, seat: int) -> None:
        for card in g.holdings[seat].cards:
            g.add_markers(seat, card, 1)


class TakeCareOfBusiness(Action, number=40, title="Take care of business!"):
    """SZ-card-40. One marker on each of your Holdings that has none or one. At the end of next turn each opponent loses
    a Thug of his choice.
    """

    works_next_turn = True
    takes = "thug"

    def text(self, g: Szmal, seat: int) -> None:
        for card in g.holdings[seat].cards:
            if g.markers(seat, card) <= 1:
                g.add_markers(seat, card, 1)
        g.for_next_turn(seat, "losses_40")


class Relocate(Action, number=41, title="Relocate!", cost=Cost(take_back=True)):
    """SZ-card-41. Next turn each Holding you play gets as many extra markers as lay on the one taken back, and two
    more.
    """

    works_next_turn = True

    def carry_out(self, g: Szmal, seat: int, card: int, paid: int) -> None:
        """SZ-7.1, SZ-7.11. With its Cost ignored nothing was taken back: two. Every Holding of next turn gets them."""
        g.for_next_turn(seat, "extra_markers", paid + 2)


class ComplexScheme(Action, number=43, title="Complex Scheme!", need=Need((KEY, WRENCH))):
    """SZ-card-43. Next turn each Holding you play gets three extra markers."""

    works_next_turn = True

    def text(self, g: Szmal, seat: int) -> None:
        g.for_next_turn(seat, "extra_markers", 3)


class StealIdeas(Action, number=56, title="Steal Ideas!", need=Need((WRENCH,))):
    """SZ-card-56. On one of your Holdings as many markers as lie on that Holding of an opponent which has most. He
    keeps his.
    """

    def text(self, g: Szmal, seat: int) -> None:
        """SZ-7.16. Opponents only."""
        g.put_markers(seat, g.most_markers(g.opponents(seat)))


class Raid(Action, number=59, title="Raid!", need=Need((GUN,))):
    """SZ-card-59. Each opponent removes a marker from each of his Holdings."""

    def text(self, g: Szmal, seat: int) -> None:
        g.remove_markers_of_opponents(seat)


class ProtectionRacket(Action, number=60, title="Protection Racket!"):
    """SZ-card-60. Gain $5,000 for each Holding of the player, of any, who has most."""

    def text(self, g: Szmal, seat: int) -> None:
        """SZ-7.16. Its player included; a tie does not matter."""
        g.gain(seat, 5_000 * max([len(zone.cards) for zone in g.holdings]))


class OneLastHeist(Action, number=73, title="One last heist!", need=Need((GUN,))):
    """SZ-card-73. Gain $5,000 for each Thug of the player, of any, who has most. At the end of next turn every player,
    you too, loses a Thug of his choice.
    """

    works_next_turn = True
    takes = "thug"
    takes_of_owner = True

    def text(self, g: Szmal, seat: int) -> None:
        """SZ-7.16. Its player included; a tie does not matter."""
        g.gain(seat, 5_000 * max([len(zone.cards) for zone in g.thugs]))
        g.for_next_turn(seat, "losses_73")


class Scouting(Action, number=74, title="Scouting!"):
    """SZ-card-74. If you have a car, gain $10,000. If you have a gun, each opponent loses $10,000. If you have a key,
    draw a card of the deck.
    """

    def text(self, g: Szmal, seat: int) -> None:
        if g.symbols(seat, CAR):
            g.gain(seat, 10_000)
        if g.symbols(seat, GUN):
            for other in g.opponents(seat):
                g.lose(other, 10_000)
        if g.symbols(seat, KEY):
            g.draw(seat, 1)


class Arson(Action, number=75, title="Arson!"):
    """SZ-card-75. Each opponent loses $10,000 for each Thug you have."""

    def text(self, g: Szmal, seat: int) -> None:
        """SZ-7.20. The Thugs of its player count."""
        for other in g.opponents(seat):
            g.lose(other, 10_000 * len(g.thugs[seat].cards))


class MasterPlan(Action, number=78, title="Master Plan!"):
    """SZ-card-78. Next turn all your gains of cash are doubled; two such effects make four times."""

    works_next_turn = True

    def text(self, g: Szmal, seat: int) -> None:
        g.for_next_turn(seat, "doublings")


class Vandalism(Action, number=79, title="Vandalism!", need=Need((CAR,))):
    """SZ-card-79. At the end of next turn each opponent loses a Holding of his choice."""

    works_next_turn = True
    takes = "holding"

    def text(self, g: Szmal, seat: int) -> None:
        g.for_next_turn(seat, "losses_79")


class Seance(Action, number=80, title="Seance!"):
    """SZ-card-80. Gain $10,000; a marker on one of your Holdings; then you may play another card from your hand at
    once.
    """

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 10_000)
        g.may_play_another(seat)
        g.put_markers(seat, 1)
