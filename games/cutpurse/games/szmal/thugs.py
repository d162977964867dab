"""The twenty-five Thugs, by number: what each shows, costs or needs, and what it does (section 8 of the sheet).

A class is a card as it is printed; its methods do what its text says, and cite the other rules that they follow.

SZ-4.2. `take_effect` and `carry_out` are the text that is carried out once (and again by 55). All other methods are
lasting text.
"""

from __future__ import annotations

from cutpurse.games.szmal.cards import (
    BOTTLE,
    CAR,
    EXTRA_PLAYS,
    FREE_COSTS,
    FREE_NEEDS,
    GUN,
    KEY,
    REPEATS,
    WATCHING,
    Cost,
    Need,
)
from cutpurse.games.szmal.playing import CopyAThug, Play
from cutpurse.games.szmal.state import SzmalState, Thug

__all__: list[str] = []


class HarveyRatcliffe(Thug):
    rule = "SZ-card-1"
    title = 'Harvey "Brains" Ratcliffe'
    shows = (KEY,)
    text = "For the rest of this turn, whenever your left neighbour gains cash, gain what they really got."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.add(WATCHING, 1, seat)


class BiscuitsOMalley(Thug):
    rule = "SZ-card-6"
    title = '"Biscuits" O\'Malley'
    shows = (CAR,)
    text = "Each turn: if your cash is exactly $0, gain $10,000."

    def each_turn(self, g: SzmalState, seat: int) -> None:
        if g.cash[seat] == 0:
            g.gain(seat, 10_000)


class KingRichard(Thug):
    rule = "SZ-card-21"
    title = '"King" Richard the Third'
    shows = (GUN, CAR, KEY)
    cost = Cost(thug=True, holding=True, cash=10_000)
    text = "No text."


class DickieDiamond(Thug):
    rule = "SZ-card-22"
    title = 'Dickie "Flush" Diamond'
    shows = (GUN,)
    text = "Gain $10,000."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 10_000)


class EdMcGinty(Thug):
    rule = "SZ-card-23"
    title = 'Ed "Cheesecloth" McGinty'
    shows = (GUN, KEY)
    text = "Gain $5,000 for each gun you have, its own included."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 5_000 * g.symbols(seat, GUN))


class JennyJones(Thug):
    rule = "SZ-card-24"
    title = '"Generous" Jenny Jones'
    shows = (GUN,)
    text = "Gain $20,000. End of the game: lose $25,000, if this is still in play."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 20_000)

    def end_of_game(self, g: SzmalState, seat: int) -> None:
        g.lose(seat, 25_000)


class MickeyIstari(Thug):
    rule = "SZ-card-25"
    title = "Mickey Istari"
    shows = (CAR,)
    text = "Gain $10,000 for each bottle you have."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 10_000 * g.symbols(seat, BOTTLE))


class WolfgangButtercup(Thug):
    rule = "SZ-card-42"
    title = "Wolfgang Buttercup"
    shows = (CAR, CAR)
    need = Need(thugs=2)
    text = "Lasting: each Holding you play gets one extra marker."

    def on_play(self, g: SzmalState, seat: int, played: int, this: int) -> None:
        if g.cards[played].sort == "holding":
            g.add_markers(seat, played, 1)


class PatriciaJones(Thug):
    rule = "SZ-card-53"
    title = '"Polycephalus" Patricia Jones'
    text = "Reveal cards of the deck until a Thug comes and play it, ignoring its Cost and Need; discard the others."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.3. If the deck runs out, nothing is played."""
        while g.deck.cards:
            if g.cards[g.deck.cards[-1]].sort == "thug":
                card = g.move_top(g.deck, g.resolving[seat])
                g.then(Play(seat, card, 0))
                return
            g.move_top(g.deck, g.discard)


class EdTeach(Thug):
    rule = "SZ-card-54"
    title = 'Ed "Rubberface" Teach'
    need = Need(thugs=1)
    text = "Choose another of your Thugs: this is its copy while in play; then carry out the plain text of that Thug."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.4: without another Thug this stays blank."""
        if len(g.thugs[seat].cards) > 1:
            g.then(CopyAThug(seat))


class TomThumb(Thug):
    rule = "SZ-card-57"
    title = '"Peeping" Tom "Thumb"'
    shows = (GUN, GUN)
    cost = Cost(holding=True)
    text = "Gain $5,000 for each marker on that Holding in play, of any player, which has most."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.16: their own Holdings are included, and a tie does not matter."""
        g.gain(seat, 5_000 * g.most_markers(range(g.n)))


class GusCaspar(Thug):
    rule = "SZ-card-61"
    title = '"Friendly" Gus Caspar'
    shows = (KEY, KEY)
    need = Need((GUN, CAR))
    text = "Lasting: gain $15,000 whenever you play another Thug."

    def on_play(self, g: SzmalState, seat: int, played: int, this: int) -> None:
        if g.cards[played].sort == "thug" and played != this:
            g.gain(seat, 15_000)


class JackParis(Thug):
    rule = "SZ-card-62"
    title = '"Halloween" Jack Paris'
    shows = (KEY,)
    text = "Lasting: when this leaves your Territory, as a Cost too, gain $20,000."

    def on_leaving(self, g: SzmalState, seat: int, leaving: int, this: int) -> None:
        if leaving == this:
            g.gain(seat, 20_000)


class SydVarney(Thug):
    rule = "SZ-card-63"
    title = '"Vicious" Syd Varney'
    shows = (GUN,)
    text = "Next turn you ignore Costs."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.for_next_turn(seat, FREE_COSTS)


class JohnnySimmons(Thug):
    rule = "SZ-card-64"
    title = '"Rotten" Johnny Simmons'
    shows = (CAR,)
    text = "Next turn you ignore Needs."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.for_next_turn(seat, FREE_NEEDS)


class ScrubPatterson(Thug):
    rule = "SZ-card-65"
    title = '"Random" Scrub Patterson'
    shows = (KEY,)
    text = "Draw a card of the deck for each key you have, its own included."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.draw(seat, g.symbols(seat, KEY))


class StanMcDowell(Thug):
    rule = "SZ-card-66"
    title = '"Stingy" Stan McDowell'
    shows = (CAR,)
    text = "Lasting: your cash Costs are $5,000 lower."

    def saves(self, g: SzmalState, played: int) -> int:
        return 5_000


class LouieOFarrell(Thug):
    rule = "SZ-card-67"
    title = 'Louie "Savoir" O\'Farrell'
    shows = (CAR, KEY)
    text = "Next turn, after all played cards, play one extra card."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.for_next_turn(seat, EXTRA_PLAYS)


class PeteFell(Thug):
    rule = "SZ-card-68"
    title = 'Pete "Repeat" Fell'
    shows = (KEY,)
    text = "Next turn each Action you play returns to your hand afterwards."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        g.for_next_turn(seat, REPEATS)


class NataschaRubin(Thug):
    rule = "SZ-card-69"
    title = 'Natascha "The Squirrel" Rubin'
    need = Need(holdings=2)
    text = "Each turn: gain $5,000."

    def each_turn(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 5_000)


class RockBenson(Thug):
    rule = "SZ-card-70"
    title = '"Nothing beats" Rock Benson'
    shows = (GUN,)
    text = "Lasting: after each Action you play, gain $5,000."

    def after_action(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 5_000)


class EugeneMidge(Thug):
    rule = "SZ-card-71"
    title = 'Eugene "The Butcher" Midge'
    shows = (GUN, CAR)
    cost = Cost(thug=True)
    text = "Lasting: after each Action you play, gain $5,000 for each gun you have."

    def after_action(self, g: SzmalState, seat: int) -> None:
        g.gain(seat, 5_000 * g.symbols(seat, GUN))


class TedBonham(Thug):
    rule = "SZ-card-72"
    title = 'Ted "Napoleon" Bonham'
    shows = (CAR,)
    text = "Next turn this also shows a gun and a key."

    def carry_out(self, g: SzmalState, seat: int, card: int, paid: int) -> None:
        """Follow SZ-7.5: a copy by 54 arms itself."""
        g.arm_next_turn(seat, card)


class BobbyBrown(Thug):
    rule = "SZ-card-76"
    title = 'Bobby "Corduroy" Brown'
    shows = (GUN,)
    text = "Each opponent loses $10,000."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        for other in g.opponents(seat):
            g.lose(other, 10_000)


class JackThompson(Thug):
    rule = "SZ-card-77"
    title = 'Jack "Cracker" Thompson'
    shows = (KEY,)
    text = "Each opponent loses $5,000 for each Holding they have."

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Follow SZ-7.20: the Holdings of each victim count."""
        for other in g.opponents(seat):
            g.lose(other, 5_000 * len(g.holdings[other].cards))
