"""The twenty-five Holdings, by number: what each shows, costs or needs, and what it does (section 8 of the sheet).

A class is a card as it is printed; its methods do what its text says, and cite the other rules that they follow.

SZ-7.17. What a text counts includes the Holding itself, which is in the Territory by then.
"""

from __future__ import annotations

from cutpurse.games.szmal.cards import (
    BOTTLE,
    CAR,
    COUNTS_AS,
    GUN,
    HEART,
    KEY,
    NTH_PLAY,
    SINCE_ROUND,
    WRENCH,
    Cost,
    Need,
    column,
)
from cutpurse.games.szmal.playing import RUBBERFACE, CarryOutTheText
from cutpurse.games.szmal.state import Holding, SzmalState

__all__: list[str] = []


class BookieJoint(Holding):
    rule = "SZ-card-7"
    title = "Bookie Joint"
    shows = (WRENCH,)
    cost = Cost(10_000)
    text = "End of the game: gain $5,000 for each marker on this."

    def end_of_game(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 5_000 * g.markers(seat, self.number))


class Chinatown(Holding):
    rule = "SZ-card-8"
    title = "Chinatown"
    shows = (BOTTLE, WRENCH)
    cost = Cost(10_000)
    text = "No text."


class DaisysCookies(Holding):
    rule = "SZ-card-9"
    title = "Daisy's Cookies"
    shows = (HEART, WRENCH)
    cost = Cost(10_000)
    text = "No text."


class DollsOnCall(Holding):
    rule = "SZ-card-10"
    title = "Dolls on Call"
    shows = (HEART,)
    cost = Cost(15_000)
    text = "Each turn: the one player with the most Holdings gains $5,000; if the lead is shared, nobody."

    def each_turn(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.15: the leader gains, and not the owner of this card."""
        leader = g.sole_leader([len(zone.cards) for zone in g.holdings])
        if leader is not None:
            g.gain(leader, 5_000)


class JoesGinJoint(Holding):
    rule = "SZ-card-11"
    title = "Joe's Gin Joint"
    shows = (BOTTLE,)
    cost = Cost(15_000)
    text = "Two extra markers on this."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.add_markers(seat, self.number, 2)


class Junkyard(Holding):
    rule = "SZ-card-12"
    title = "Junkyard"
    shows = (WRENCH,)
    cost = Cost(10_000)
    text = "No normal markers when played; at the end of the game one for each wrench you have then, its own included."

    def normal_markers(self, g: SzmalState, seat: int) -> int:
        """Follow SZ-3.3.3: it gets none now."""
        return 0

    def end_of_game(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.14: all wrenches count, and 44 takes nothing, as this is no play."""
        g.add_markers(seat, self.number, g.symbols(seat, WRENCH))


class LamontesEscortService(Holding):
    rule = "SZ-card-13"
    title = "Lamonte's Escort Service"
    shows = (HEART,)
    cost = Cost(5_000)
    text = "End of the game: if you have more Thugs than each other player, gain $20,000."

    def end_of_game(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.15: strictly the most."""
        if g.sole_leader([len(zone.cards) for zone in g.thugs]) == seat:
            g.gain(seat, 20_000)


class MorticiasAbsintheParlor(Holding):
    rule = "SZ-card-14"
    title = "Morticia's Absinthe Parlor"
    shows = (BOTTLE, HEART)
    cost = Cost(10_000)
    text = "No text."


class PaddysPub(Holding):
    rule = "SZ-card-15"
    title = "Paddy's Pub"
    shows = (BOTTLE,)
    text = "One extra marker on this for each car you have."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.add_markers(seat, self.number, g.symbols(seat, CAR))


class PoorHouse(Holding):
    rule = "SZ-card-16"
    title = "Poor House"
    shows = (WRENCH,)
    cost = Cost(10_000)
    text = "Each turn: if you have at most two Holdings (this counts) and at most two Thugs, gain $5,000."

    def each_turn(self, g: SzmalState, seat: int) -> None:
        if len(g.holdings[seat].cards) <= 2 and len(g.thugs[seat].cards) <= 2:
            g.gain(seat, 5_000)


class SandysSnooker(Holding):
    rule = "SZ-card-17"
    title = "Sandy's Snooker 'n' Schnaps"
    shows = (BOTTLE,)
    cost = Cost(20_000)
    text = "Lasting: after each Action you play, a marker on this."

    def after_action(self, g: SzmalState, seat: int) -> None:
        g.add_markers(seat, self.number, 1)


class TheRitz(Holding):
    rule = "SZ-card-18"
    title = "The Ritz"
    shows = (BOTTLE,)
    cost = Cost(30_000)
    text = "Five extra markers on this."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.add_markers(seat, self.number, 5)


class TrotskysBurlesque(Holding):
    rule = "SZ-card-19"
    title = "Trotsky's Burlesque"
    shows = (HEART,)
    cost = Cost(15_000)
    text = "Each turn: the one player with the most hearts gains $5,000; if the lead is shared, nobody."

    def each_turn(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.15: the leader gains, and not the owner of this card."""
        leader = g.sole_leader([g.symbols(other, HEART) for other in range(g.n)])
        if leader is not None:
            g.gain(leader, 5_000)


class Headquarters(Holding):
    rule = "SZ-card-37"
    title = "Headquarters"
    need = Need((GUN, KEY))
    text = "One marker on this for each Holding you have, this included."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.add_markers(seat, self.number, len(g.holdings[seat].cards))


class LoanShark(Holding):
    rule = "SZ-card-44"
    title = "Loan Shark"
    text = "Gain $20,000. Lasting: each Holding you play, this included, loses a marker if it has any."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 20_000)

    def on_play(self, g: SzmalState, seat: int, played: int, this: int) -> None:
        """Follow SZ-7.12: after the normal markers and those of 41, 42 and 43, before the Holding's own text."""
        if g.cards[played].sort == "holding":
            g.add_markers(seat, played, -1)


class InsuranceOffice(Holding):
    rule = "SZ-card-45"
    title = "Insurance Office"
    text = """Lasting: whenever a Thug or another Holding of yours leaves your Territory, two markers on this. Its
    markers cannot be removed."""
    markers_stay = True

    def on_leaving(self, g: SzmalState, seat: int, leaving: int, this: int) -> None:
        if leaving != this:
            g.add_markers(seat, this, 2)


class JennysWaterfrontDive(Holding):
    rule = "SZ-card-46"
    title = "Jenny's Waterfront Dive"
    text = "Each turn: if no player's Holding shows a bottle or a heart, gain $10,000."

    def each_turn(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.17: every player's Holdings count."""
        for other in range(g.n):
            if g.symbols(other, BOTTLE) or g.symbols(other, HEART):
                return
        g.gain(seat, 10_000)


class KrazyKatClub(Holding):
    rule = "SZ-card-47"
    title = "Krazy Kat Club"
    shows = (BOTTLE, HEART)
    need = Need((GUN, GUN))
    text = "No text."


class MassageParlor(Holding):
    rule = "SZ-card-48"
    title = "Massage Parlor"
    shows = (HEART, WRENCH)
    need = Need((CAR, CAR))
    text = "No text."


class SexySadies(Holding):
    rule = "SZ-card-49"
    title = "Sexy Sadie's"
    shows = (HEART,)
    need = Need((CAR,))
    text = "Each turn: if this has three or more markers, gain $5,000."

    def each_turn(self, g: SzmalState, seat: int) -> None:
        if g.markers(seat, self.number) >= 3:
            g.gain(seat, 5_000)


class SixCorners(Holding):
    rule = "SZ-card-50"
    title = "Six Corners"
    text = "One marker on each of your Holdings without symbols, this included."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        for card in g.holdings[seat].cards:
            if not g.cards[card].shows:
                g.add_markers(seat, card, 1)


class ThievesHouse(Holding):
    rule = "SZ-card-51"
    title = "Thieves' House"
    shows = (BOTTLE, WRENCH)
    need = Need((KEY, KEY))
    text = "No text."


class ZoningOffice(Holding):
    rule = "SZ-card-52"
    title = "Zoning Office"
    text = "Lasting: Holdings cost you $5,000 less, and you gain $5,000 whenever you play another Holding."

    def saves(self, g: SzmalState, played: int) -> int:
        return 5_000 if g.cards[played].sort == "holding" else 0

    def on_play(self, g: SzmalState, seat: int, played: int, this: int) -> None:
        if g.cards[played].sort == "holding" and played != this:
            g.gain(seat, 5_000)


class Hideout(Holding):
    rule = "SZ-card-55"
    title = "Hideout"
    text = "Carry out once more the plain text of each of your Thugs that you played in an earlier turn."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.6: in the order of their plays. SZ-7.4: a 54 that copies nothing has no text."""
        thugs = g.thugs[seat]
        earlier = []
        for index, card in enumerate(thugs.cards):
            if column(thugs, SINCE_ROUND)[index] < g.round:
                earlier.append((column(thugs, NTH_PLAY)[index], card, column(thugs, COUNTS_AS)[index]))
        g.then(*[CarryOutTheText(seat, card, number, 0) for _, card, number in sorted(earlier) if number != RUBBERFACE])


class TommysGunsNAmmo(Holding):
    rule = "SZ-card-58"
    title = "Tommy's Guns 'n' Ammo"
    shows = (WRENCH,)
    cost = Cost(holding=True)
    text = "Each opponent removes a marker from each of their Holdings."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.remove_markers_of_opponents(seat)
