"""The twenty-five Thugs, by number: what each shows, costs or needs, and what it does.

A card's docstring is its text as it is told to players; citations of other rules stand with its methods.

SZ-4.2. What `carry_out` and `text` do is done once (and again by 55); all other methods are lasting text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cutpurse.games.szmal.cards import BOTTLE, CAR, CARDS, GUN, KEY, Cost, Need, SzmalCard, Thug

if TYPE_CHECKING:
    from cutpurse.games.szmal.rules import Szmal

__all__ = ["NAPOLEON", "REPEAT", "RUBBERFACE"]

RUBBERFACE: Final = 54
REPEAT: Final = 68
NAPOLEON: Final = 72


class HarveyRatcliffe(Thug, number=1, title='Harvey "Brains" Ratcliffe', shows=(KEY,)):
    """SZ-card-1. For the rest of this turn, whenever your left neighbour gains cash, gain what he really got."""

    def text(self, g: Szmal, seat: int) -> None:
        g.for_this_turn(seat, "watching")


class BiscuitsOMalley(Thug, number=6, title='"Biscuits" O\'Malley', shows=(CAR,)):
    """SZ-card-6. Each turn: if your cash is exactly $0, gain $10,000."""

    def each_turn(self, g: Szmal, seat: int) -> None:
        if g.cash[seat] == 0:
            g.gain(seat, 10_000)


class KingRichard(
    Thug,
    number=21,
    title='"King" Richard the Third',
    shows=(GUN, CAR, KEY),
    cost=Cost(thug=True, holding=True, cash=10_000),
):
    """SZ-card-21. No text."""


class DickieDiamond(Thug, number=22, title='Dickie "Flush" Diamond', shows=(GUN,)):
    """SZ-card-22. Gain $10,000."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 10_000)


class EdMcGinty(Thug, number=23, title='Ed "Cheesecloth" McGinty', shows=(GUN, KEY)):
    """SZ-card-23. Gain $5,000 for each gun you have, its own included."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 5_000 * g.symbols(seat, GUN))


class JennyJones(Thug, number=24, title='"Generous" Jenny Jones', shows=(GUN,)):
    """SZ-card-24. Gain $20,000. End of the game: lose $25,000, if this is still in play."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 20_000)

    def end_of_game(self, g: Szmal, seat: int) -> None:
        g.lose(seat, 25_000)


class MickeyIstari(Thug, number=25, title="Mickey Istari", shows=(CAR,)):
    """SZ-card-25. Gain $10,000 for each bottle you have."""

    def text(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 10_000 * g.symbols(seat, BOTTLE))


class WolfgangButtercup(Thug, number=42, title="Wolfgang Buttercup", shows=(CAR, CAR), need=Need(thugs=2)):
    """SZ-card-42. Lasting: each Holding you play gets one extra marker."""

    def on_play(self, g: Szmal, seat: int, played: int, this: int) -> None:
        if CARDS[played].sort == "holding":
            g.add_markers(seat, played, 1)


class PatriciaJones(Thug, number=53, title='"Polycephalus" Patricia Jones'):
    """SZ-card-53. Reveal cards of the deck until a Thug comes and play it, ignoring its Cost and Need; discard the
    others.
    """

    def text(self, g: Szmal, seat: int) -> None:
        """SZ-7.3. The deck may run out: then nothing is played."""
        while g.deck.cards:
            if CARDS[g.deck.cards[-1]].sort == "thug":
                g.play_at_once(seat, g.move_top(g.deck, g.resolving[seat]))
                return
            g.move_top(g.deck, g.discard)


class EdTeach(Thug, number=RUBBERFACE, title='Ed "Rubberface" Teach', need=Need(thugs=1)):
    """SZ-card-54. Choose another of your Thugs: this is its copy while in play; then carry out the plain text of that
    Thug.
    """

    def text(self, g: Szmal, seat: int) -> None:
        g.copy_a_thug(seat)


class TomThumb(Thug, number=57, title='"Peeping" Tom "Thumb"', shows=(GUN, GUN), cost=Cost(holding=True)):
    """SZ-card-57. Gain $5,000 for each marker on that Holding in play, of any player, which has most."""

    def text(self, g: Szmal, seat: int) -> None:
        """SZ-7.16. Their own included, after the Cost was paid; a tie does not matter."""
        g.gain(seat, 5_000 * g.most_markers(range(g.n)))


class GusCaspar(Thug, number=61, title='"Friendly" Gus Caspar', shows=(KEY, KEY), need=Need((GUN, CAR))):
    """SZ-card-61. Lasting: gain $15,000 whenever you play another Thug."""

    def on_play(self, g: Szmal, seat: int, played: int, this: int) -> None:
        if CARDS[played].sort == "thug" and played != this:
            g.gain(seat, 15_000)


class JackParis(Thug, number=62, title='"Halloween" Jack Paris', shows=(KEY,)):
    """SZ-card-62. Lasting: when this leaves your Territory, as a Cost too, gain $20,000."""

    def on_leaving(self, g: Szmal, seat: int, leaving: int, this: int) -> None:
        if leaving == this:
            g.gain(seat, 20_000)


class SydVarney(Thug, number=63, title='"Vicious" Syd Varney', shows=(GUN,)):
    """SZ-card-63. Next turn you ignore Costs."""

    def text(self, g: Szmal, seat: int) -> None:
        g.for_next_turn(seat, "free_costs")


class JohnnySimmons(Thug, number=64, title='"Rotten" Johnny Simmons', shows=(CAR,)):
    """SZ-card-64. Next turn you ignore Needs."""

    def text(self, g: Szmal, seat: int) -> None:
        g.for_next_turn(seat, "free_needs")


class ScrubPatterson(Thug, number=65, title='"Random" Scrub Patterson', shows=(KEY,)):
    """SZ-card-65. Draw a card of the deck for each key you have, its own included."""

    def text(self, g: Szmal, seat: int) -> None:
        g.draw(seat, g.symbols(seat, KEY))


class StanMcDowell(Thug, number=66, title='"Stingy" Stan McDowell', shows=(CAR,)):
    """SZ-card-66. Lasting: your cash Costs are $5,000 lower."""

    def saves(self, played: SzmalCard) -> int:
        return 5_000


class LouieOFarrell(Thug, number=67, title='Louie "Savoir" O\'Farrell', shows=(CAR, KEY)):
    """SZ-card-67. Next turn, after all played cards, play one extra card."""

    def text(self, g: Szmal, seat: int) -> None:
        g.for_next_turn(seat, "extra_plays")


class PeteFell(Thug, number=REPEAT, title='Pete "Repeat" Fell', shows=(KEY,)):
    """SZ-card-68. Next turn each Action you play returns to your hand afterwards."""

    def text(self, g: Szmal, seat: int) -> None:
        g.for_next_turn(seat, "repeats")


class NataschaRubin(Thug, number=69, title='Natascha "The Squirrel" Rubin', need=Need(holdings=2)):
    """SZ-card-69. Each turn: gain $5,000."""

    def each_turn(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 5_000)


class RockBenson(Thug, number=70, title='"Nothing beats" Rock Benson', shows=(GUN,)):
    """SZ-card-70. Lasting: after each Action you play, gain $5,000."""

    def after_action(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 5_000)


class EugeneMidge(Thug, number=71, title='Eugene "The Butcher" Midge', shows=(GUN, CAR), cost=Cost(thug=True)):
    """SZ-card-71. Lasting: after each Action you play, gain $5,000 for each gun you have."""

    def after_action(self, g: Szmal, seat: int) -> None:
        g.gain(seat, 5_000 * g.symbols(seat, GUN))


class TedBonham(Thug, number=NAPOLEON, title='Ted "Napoleon" Bonham', shows=(CAR,)):
    """SZ-card-72. Next turn this also shows a gun and a key."""

    def carry_out(self, g: Szmal, seat: int, card: int, paid: int) -> None:
        """SZ-7.5. A copy by 54 arms itself."""
        g.arm_next_turn(seat, card)


class BobbyBrown(Thug, number=76, title='Bobby "Corduroy" Brown', shows=(GUN,)):
    """SZ-card-76. Each opponent loses $10,000."""

    def text(self, g: Szmal, seat: int) -> None:
        for other in g.opponents(seat):
            g.lose(other, 10_000)


class JackThompson(Thug, number=77, title='Jack "Cracker" Thompson', shows=(KEY,)):
    """SZ-card-77. Each opponent loses $5,000 for each Holding he has."""

    def text(self, g: Szmal, seat: int) -> None:
        """SZ-7.20. The Holdings of each victim count."""
        for other in g.opponents(seat):
            g.lose(other, 5_000 * len(g.holdings[other].cards))
