"""The twenty-five Holdings, by number: what each shows, costs or needs, and what it does.

A card's docstring is its text as it is told to players; citations of other rules stand with its methods. What a text
counts includes the Holding itself, which is in the Territory by then (SZ-7.17).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutpurse.games.szmal.cards import BOTTLE, CAR, CARDS, GUN, HEART, KEY, WRENCH, Cost, Holding, Need, SzmalCard

if TYPE_CHECKING:
    from cutpurse.games.szmal.rules import Szmal

__all__: list[str] = []


class BookieJoint(Holding, number=7, title="Bookie Joint", shows=(WRENCH,), cost=Cost(10_000)):
    """SZ-card-7. End of the game: gain $5,000 for each marker on this."""

    def end_of_game(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 5_000 * g.markers(seat, self.number))


class Chinatown(Holding, number=8, title="Chinatown", shows=(BOTTLE, WRENCH), cost=Cost(10_000)):
    """SZ-card-8. No text."""


class DaisysCookies(Holding, number=9, title="Daisy's Cookies", shows=(HEART, WRENCH), cost=Cost(10_000)):
    """SZ-card-9. No text."""


class DollsOnCall(Holding, number=10, title="Dolls on Call", shows=(HEART,), cost=Cost(15_000)):
    """SZ-card-10. Each turn: the one player with the most Holdings gains $5,000; if the lead is shared, nobody."""

    def each_turn(self, g: Szmal, seat: int) -> None:
        """SZ-7.15. Whoever owns this card."""
        leader = g.sole_leader([len(zone.cards) for zone in g.holdings])
        if leader is not None:
            g.gain(leader, 5_000)


class JoesGinJoint(Holding, number=11, title="Joe's Gin Joint", shows=(BOTTLE,), cost=Cost(15_000)):
    """SZ-card-11. Two extra markers on this."""

    def text(self, g: Szmal, seat: int) -> None:
        g.add_markers(seat, self.number, 2)


class Junkyard(Holding, number=12, title="Junkyard", shows=(WRENCH,), cost=Cost(10_000)):
    """SZ-card-12. No normal markers when played; at the end of the game one for each wrench you have then, its own
    included.
    """

    def normal_markers(self, g: Szmal, seat: int) -> int:
        """SZ-3.3.3. None now."""
        return 0

    def end_of_game(self, g: Szmal, seat: int) -> None:
        """SZ-7.14. All wrenches; this is no play, so 44 takes nothing."""
        g.add_markers(seat, self.number, g.symbols(seat, WRENCH))


class LamontesEscortService(Holding, number=13, title="Lamonte's Escort Service", shows=(HEART,), cost=Cost(5_000)):
    """SZ-card-13. End of the game: if you have more Thugs than each other player, gain $20,000."""

    def end_of_game(self, g: Szmal, seat: int) -> None:
        """SZ-7.15. Strictly the most."""
        if g.sole_leader([len(zone.cards) for zone in g.thugs]) == seat:
            g.gain(seat, 20_000)


class MorticiasAbsintheParlor(
    Holding, number=14, title="Morticia's Absinthe Parlor", shows=(BOTTLE, HEART), cost=Cost(10_000)
):
    """SZ-card-14. No text."""


class PaddysPub(Holding, number=15, title="Paddy's Pub", shows=(BOTTLE,)):
    """SZ-card-15. One extra marker on this for each car you have."""

    def text(self, g: Szmal, seat: int) -> None:
        g.add_markers(seat, self.number, g.symbols(seat, CAR))


class PoorHouse(Holding, number=16, title="Poor House", shows=(WRENCH,), cost=Cost(10_000)):
    """SZ-card-16. Each turn: if you have at most two Holdings (this counts) and at most two Thugs, gain $5,000."""

    def each_turn(self, g: Szmal, seat: int) -> None:
        if len(g.holdings[seat].cards) <= 2 and len(g.thugs[seat].cards) <= 2:
            g.gain(seat, 5_000)


class SandysSnooker(Holding, number=17, title="Sandy's Snooker 'n' Schnaps", shows=(BOTTLE,), cost=Cost(20_000)):
    """SZ-card-17. Lasting: after each Action you play, a marker on this."""

    def after_action(self, g: Szmal, seat: int) -> None:
        g.add_markers(seat, self.number, 1)


class TheRitz(Holding, number=18, title="The Ritz", shows=(BOTTLE,), cost=Cost(30_000)):
    """SZ-card-18. Five extra markers on this."""

    def text(self, g: Szmal, seat: int) -> None:
        g.add_markers(seat, self.number, 5)


class TrotskysBurlesque(Holding, number=19, title="Trotsky's Burlesque", shows=(HEART,), cost=Cost(15_000)):
    """SZ-card-19. Each turn: the one player with the most hearts gains $5,000; if the lead is shared, nobody."""

    def each_turn(self, g: Szmal, seat: int) -> None:
        """SZ-7.15. Whoever owns this card."""
        leader = g.sole_leader([g.symbols(other, HEART) for other in range(g.n)])
        if leader is not None:
            g.gain(leader, 5_000)


class Headquarters(Holding, number=37, title="Headquarters", need=Need((GUN, KEY))):
    """SZ-card-37. One marker on this for each Holding you have, this included."""

    def text(self, g: Szmal, seat: int) -> None:
        g.add_markers(seat, self.number, len(g.holdings[seat].cards))


class LoanShark(Holding, number=44, title="Loan Shark"):
    """SZ-card-44. Gain $20,000. Lasting: each Holding you play, this included, loses a marker if it has any."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 20_000)

    def on_play(self, g: Szmal, seat: int, played: int, this: int) -> None:
        """SZ-7.12. After the normal markers and those of 41, 42 and 43, before the Holding's own text."""
        if CARDS[played].sort == "holding":
            g.add_markers(seat, played, -1)


class InsuranceOffice(Holding, number=45, title="Insurance Office"):
    """SZ-card-45. Lasting: whenever a Thug or another Holding of yours leaves your Territory, two markers on this. Its
    markers cannot be removed.
    """

    markers_stay = True

    def on_leaving(self, g: Szmal, seat: int, leaving: int, this: int) -> None:
        if leaving != this:
            g.add_markers(seat, this, 2)


class JennysWaterfrontDive(Holding, number=46, title="Jenny's Waterfront Dive"):
    """SZ-card-46. Each turn: if no player's Holding shows a bottle or a heart, gain $10,000."""

    def each_turn(self, g: Szmal, seat: int) -> None:
        """SZ-7.17. Every player's Holdings count."""
        for other in range(g.n):
            if g.symbols(other, BOTTLE) or g.symbols(other, HEART):
                return
        g.gain(seat, 10_000)


class KrazyKatClub(Holding, number=47, title="Krazy Kat Club", shows=(BOTTLE, HEART), need=Need((GUN, GUN))):
    """SZ-card-47. No text."""


class MassageParlor(Holding, number=48, title="Massage Parlor", shows=(HEART, WRENCH), need=Need((CAR, CAR))):
    """SZ-card-48. No text."""


class SexySadies(Holding, number=49, title="Sexy Sadie's", shows=(HEART,), need=Need((CAR,))):
    """SZ-card-49. Each turn: if this has three or more markers, gain $5,000."""

    def each_turn(self, g: Szmal, seat: int) -> None:
        if g.markers(seat, self.number) >= 3:
            g.gain(seat, 5_000)


class SixCorners(Holding, number=50, title="Six Corners"):
    """SZ-card-50. One marker on each of your Holdings without symbols, this included."""

    def text(self, g: Szmal, seat: int) -> None:
        for card in g.holdings[seat].cards:
            if not CARDS[card].shows:
                g.add_markers(seat, card, 1)


class ThievesHouse(Holding, number=51, title="Thieves' House", shows=(BOTTLE, WRENCH), need=Need((KEY, KEY))):
    """SZ-card-51. No text."""


class ZoningOffice(Holding, number=52, title="Zoning Office"):
    """SZ-card-52. Lasting: Holdings cost you $5,000 less, and you gain $5,000 whenever you play another Holding."""

    def saves(self, played: SzmalCard) -> int:
        return 5_000 if played.sort == "holding" else 0

    def on_play(self, g: Szmal, seat: int, played: int, this: int) -> None:
        if CARDS[played].sort == "holding" and played != this:
            g.gain(seat, 5_000)


class Hideout(Holding, number=55, title="Hideout"):
    """SZ-card-55. Carry out once more the plain text of each of your Thugs that you played in an earlier turn."""

    def text(self, g: Szmal, seat: int) -> None:
        g.redo_thugs(seat)


class TommysGunsNAmmo(Holding, number=58, title="Tommy's Guns 'n' Ammo", shows=(WRENCH,), cost=Cost(holding=True)):
    """SZ-card-58. Each opponent removes a marker from each of his Holdings."""

    def text(self, g: Szmal, seat: int) -> None:
        g.remove_markers_of_opponents(seat)
