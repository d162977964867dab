"""The rules of Greed, one class a paragraph of `docs/reference/rules/greed.md`, in the order of play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cutpurse.engine.acts import distinct
from cutpurse.engine.agenda import PASS, Act, Choice, Option, Step
from cutpurse.engine.game import Game
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import Settings, choice, flag, number
from cutpurse.engine.zones import Zone
from cutpurse.games.greed.cards import (
    BUST,
    CROOK,
    GO_ON,
    LOOK,
    LOOK_AT,
    NUMBER,
    NUMBER_CARDS,
    NUMBERS,
    PLAIN,
    PLAY,
    PLUS_ONE,
    RAID,
    RAID_PILE,
    STOP,
    SWAP,
    SWAP_AWAY,
    SYMBOL,
    TAKE,
    TRADE,
    WORDS,
)

__all__ = ["Greed", "GreedSettings"]

MAX_PLAYERS: Final = WORDS.seats[-1]
"""GR-1.4. Two to five players."""
HAND: Final = 7
"""GR-2.2, GR-3.12. Number cards dealt to a hand, and drawn into one that has only its crook."""
REFILL_TO: Final = 8
"""GR-3.14. Cards of a hand, the crook included, after a number was traded in."""
WINNING_SET: Final = 6
"""GR-3.15. Cards of one number that win the game."""
WINNER_POINTS: Final = 7
"""GR-5.1. Points of a game's winner in a tournament."""
LONGEST_RAID: Final = 8
"""GR-6.2. A raid draws at most eight cards: a hand never holds more, and the eighth card of the pile busts."""
PILE: Final = -1  # the draw pile, in place of a victim's seat
RANDOM: Final = -1  # a random first player, in place of a seat


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class GreedSettings(Settings):
    """GR-1.3, GR-2.3, GR-4.1, GR-5.2, GR-6.1. The variants of Greed."""

    mode: str = choice("single", "tournament", text="one game, or as many as there are players", rule="GR-5.2")
    specials: str = choice("standard", "none", "rich", text="how many cards carry a symbol", rule="GR-1.3")
    two_player_pile: bool = flag(
        True, text="two players may raid the draw pile instead", rule="GR-4.1", only_seats=(2,)
    )
    first_seat: int = number(
        RANDOM, 0, MAX_PLAYERS - 1, names={"random": RANDOM}, text="who begins the first game", rule="GR-2.3"
    )
    max_rounds: int = number(60, 20, 300, text="rounds after which a game ends without a winner", rule="GR-6.1")

    def problem(self, seats: int) -> str:
        if self.first_seat >= seats:
            allowed = f"random, 0 to {seats - 1}"
            return f"setting first_seat cannot be {self.first_seat} with {seats} players; it can be: {allowed}"
        return ""


@mypyc_attr(allow_interpreted_subclasses=True)
class Greed(Game[GreedSettings]):
    """GR-0.1. Seats go clockwise; a card is its face, and equal copies are one option."""

    __slots__ = WORDS.attributes()
    words = WORDS
    settings_type = GreedSettings

    deck: Zone
    discard: Zone
    middle: Zone
    hand: list[Zone]
    collection: list[Zone]
    game: int
    turns: int
    first: int
    winner: int
    points: list[int]
    wins: list[int]

    @classmethod
    def box(cls, seats: int, settings: GreedSettings) -> list[int]:
        return [CROOK] * seats + NUMBER_CARDS[settings.specials]

    @classmethod
    def max_decisions(cls, seats: int, settings: GreedSettings) -> int:
        """GR-6.1, GR-6.2. Count the turns; in each a play, a victim, at most eight cards, the crook's card and a trade.

        A card brings two answers for its symbol at most, and whether to go on.
        """
        games = seats if settings.mode == "tournament" else 1
        return games * settings.max_rounds * seats * (2 + 3 * LONGEST_RAID + 2)

    def begin(self) -> None:
        seat = self.settings.first_seat
        self.then(SetUp(self.chance.below(self.n) if seat == RANDOM else seat))

    def draw(self, to: Zone, cards: int) -> None:
        """GR-0.2. Draw one by one; renew an empty pile from the discards, and draw nothing if there are none."""
        while cards > (left := len(self.deck.cards)):
            self.deal(self.deck, to, left)
            cards -= left
            if not self.discard.cards:
                return
            self.move_all(self.discard, self.deck)
            self.shuffle(self.deck)
        self.deal(self.deck, to, cards)

    def sets(self, seat: int) -> list[int]:
        """Count the cards of each number that a seat has collected, by number (place 0 is not used)."""
        sets = [0] * (NUMBERS[-1] + 1)
        for card in self.collection[seat].cards:
            sets[NUMBER[card]] += 1
        return sets

    def scores(self) -> list[int]:
        """Return the points of a tournament; in a single game the longest set."""
        if self.settings.mode == "tournament":
            return self.points[:]
        return [max(self.sets(seat)) for seat in range(self.n)]

    def standing(self, seat: int) -> tuple[int, ...]:
        """GR-5.2, GR-6.1. Tournament: points, then games won. A single game: the winner, then the longest sets."""
        if self.settings.mode == "tournament":
            return self.points[seat], self.wins[seat]
        return self.winner == seat + 1, *self.longest_sets(seat)

    def longest_sets(self, seat: int) -> tuple[int, ...]:
        """List the lengths of all sets of a seat, the longest first."""
        return tuple(sorted(self.sets(seat), reverse=True))


class SetUp(Step):
    rule = "GR-2.1, GR-2.2, GR-2.3, GR-2.4, GR-2.5"
    paragraph = """A crook and seven cards to each hand; then one open card for the first player, two for the next, and
    so on. The rest is the draw pile."""

    def run(self, g: Greed) -> None:
        g.first, g.winner, g.turns = self.seat + 1, 0, 0
        g.open_deal(g.game + 1)
        g.enter(NUMBER_CARDS[g.settings.specials], g.deck)
        g.shuffle(g.deck)
        for seat in g.seats_from(self.seat):
            g.enter([CROOK], g.hand[seat], shown=g.everyone)
            g.draw(g.hand[seat], HAND)
        for cards, seat in enumerate(g.seats_from(self.seat), 1):
            g.draw(g.collection[seat], cards)
        g.then(TakeATurn(self.seat))


class TakeATurn(Step):
    rule = "GR-3.2"
    paragraph = "A player who holds only the crook draws seven first; if none can be drawn, no card is played."

    def run(self, g: Greed) -> None:
        g.turns += 1
        hand = g.hand[self.seat]
        if len(hand.cards) == 1:
            g.draw(hand, HAND)
        if len(hand.cards) > 1:
            g.then(PlayACard(self.seat), ChooseAVictim(self.seat))
        else:
            g.then(ChooseAVictim(self.seat))


class PlayACard(Choice):
    rule = "GR-3.1"
    paragraph = "One number card from the hand to the own collection, never the crook; its symbol does nothing."
    text = "Which card do you play into your collection?"
    safe_paragraph = "The number that you have collected most of, the lowest on ties."

    def options(self, g: Greed, seat: int) -> list[Option]:
        return [Option(PLAY, (card,)) for card in distinct(g.hand[seat].cards) if card != CROOK]

    def safe(self, g: Greed, seat: int, options: list[Option]) -> Option:
        """Follow GR-0.4."""
        have = g.sets(seat)
        return max(options, key=lambda option: have[NUMBER[option.cards[0]]])

    def chosen(self, g: Greed, option: Option) -> None:
        g.move(option.cards[0], g.hand[self.seat], g.collection[self.seat])


class ChooseAVictim(Choice):
    rule = "GR-3.3, GR-4.1"
    paragraph = "Another player, whose hand is never empty; of two players one may raid the draw pile."
    text = "Whom do you raid?"

    def options(self, g: Greed, seat: int) -> list[Option]:
        options = [Option(RAID, seat=other) for other in g.opponents(seat)]
        if g.n == 2 and g.settings.two_player_pile and (g.deck.cards or g.discard.cards):
            options.append(Option(RAID_PILE))
        return options

    def chosen(self, g: Greed, option: Option) -> None:
        victim = PILE if option.seat is None else option.seat
        g.then(DrawACard(self.seat, victim), RefillYourHand(self.seat, victim), CheckForAWinner(self.seat))


class DrawACard(Step):
    rule = "GR-3.4, GR-3.5, GR-3.8"
    paragraph = """A card of the victim's hand, or the top of the pile, goes face up to the middle.

    A number that lies there already is a bust. Otherwise its symbol works, if it came from a hand; then the raider goes
    on or stops, and must stop when there is nothing left to draw.
    """
    victim: int

    def run(self, g: Greed) -> None:
        seat, victim, middle = self.seat, self.victim, g.middle
        if victim == PILE:
            g.draw(middle, 1)
            card, symbol = middle.cards[-1], PLAIN
            can_go_on = bool(g.deck.cards or g.discard.cards)
        else:
            card = g.move_random(g.hand[victim], middle)
            symbol = SYMBOL[card]
            can_go_on = bool(g.hand[victim].cards)
        assert len(middle.cards) <= LONGEST_RAID

        for lying in middle.cards[:-1]:
            if NUMBER[lying] == NUMBER[card] and card != CROOK:
                g.then(GoBust(seat, victim))
                return
        after_the_symbol: Step = GoOnOrStop(seat, victim) if can_go_on else StopStealing(seat, victim)
        if symbol == PLUS_ONE:
            g.then(PlusOne(seat, NUMBER[card]), after_the_symbol)
        elif symbol == LOOK:
            g.then(LookAtAHand(seat), after_the_symbol)
        elif symbol == SWAP and len(g.collection[seat].cards) >= 2:
            g.then(SwapTwoForThree(seat), after_the_symbol)
        else:
            g.then(after_the_symbol)


def raid_of(seat: int, victim: int) -> Act:
    """GR-3.3, GR-4.1. Return the raid that is under way, which everybody sees."""
    return Act(RAID_PILE, actor=seat) if victim == PILE else Act(RAID, seat=victim, actor=seat)


class GoOnOrStop(Choice):
    rule = "GR-3.5"
    paragraph = "After every card the raider goes on or stops."
    text = "Draw once more, or stop?"
    victim: int

    def act(self) -> Act:
        return raid_of(self.seat, self.victim)

    def options(self, g: Greed, seat: int) -> list[Option]:
        return [Option(STOP), Option(GO_ON)]

    def chosen(self, g: Greed, option: Option) -> None:
        if option.verb == GO_ON:
            g.then(DrawACard(self.seat, self.victim))
        else:
            g.then(StopStealing(self.seat, self.victim))


class GoBust(Step):
    rule = "GR-3.6, GR-4.1"
    paragraph = "The same number twice: all of the middle returns to the victim's hand, or to the discard pile."
    victim: int

    def run(self, g: Greed) -> None:
        g.tell(BUST, actor=self.seat)
        g.move_all(g.middle, g.discard if self.victim == PILE else g.hand[self.victim])


class StopStealing(Step):
    rule = "GR-3.7"
    paragraph = "The numbers of the middle join the collection; a crook lets the raider take one more card."
    victim: int

    def act(self) -> Act:
        return raid_of(self.seat, self.victim)

    def run(self, g: Greed) -> None:
        for card in g.middle.cards[:]:
            if card != CROOK:
                g.move(card, g.middle, g.collection[self.seat])
        if CROOK not in g.middle.cards:
            return
        if g.collection[self.victim].cards:
            g.then(TakeACard(self.seat, self.victim), ReturnTheCrook(self.victim))
        else:
            g.then(ReturnTheCrook(self.victim))


class TakeACard(Choice):
    rule = "GR-3.7"
    paragraph = "With the crook: one card of the victim's collection, or none."
    text = "Which card does the crook take?"
    safe_paragraph = "The number that you have collected most of, the lowest on ties."
    victim: int

    def options(self, g: Greed, seat: int) -> list[Option]:
        theirs = g.collection[self.victim].cards
        return [PASS, *[Option(TAKE, (card,), seat=self.victim) for card in distinct(theirs)]]

    def safe(self, g: Greed, seat: int, options: list[Option]) -> Option:
        """Follow GR-0.4."""
        have = g.sets(seat)
        return max(options[1:], key=lambda option: have[NUMBER[option.cards[0]]])

    def chosen(self, g: Greed, option: Option) -> None:
        if option != PASS:
            g.move(option.cards[0], g.collection[self.victim], g.collection[self.seat])


class ReturnTheCrook(Step):
    rule = "GR-3.7"
    paragraph = "The crook goes back to the victim's hand, where all know it to be."

    def run(self, g: Greed) -> None:
        g.move(CROOK, g.middle, g.hand[self.seat])


class PlusOne(Step):
    rule = "GR-3.9"
    paragraph = "Clockwise from the raider, each player who collects this number draws a card into their collection."
    number: int

    def run(self, g: Greed) -> None:
        for seat in g.seats_from(self.seat):
            if self.number in [NUMBER[card] for card in g.collection[seat].cards]:
                g.draw(g.collection[seat], 1)


class LookAtAHand(Choice):
    rule = "GR-3.10"
    paragraph = "The raider sees the hand of one other player, or of nobody; everybody sees whose."
    text = "Whose hand do you look at?"

    def options(self, g: Greed, seat: int) -> list[Option]:
        return [PASS, *[Option(LOOK_AT, seat=other) for other in g.opponents(seat)]]

    def chosen(self, g: Greed, option: Option) -> None:
        if option.seat is not None:
            g.show(g.hand[option.seat], [self.seat])


class SwapTwoForThree(Choice):
    rule = "GR-3.11"
    paragraph = "The raider may put two collected cards on the discard pile and then draw three; here the first."
    text = "Put away two collected cards to draw three?"

    def options(self, g: Greed, seat: int) -> list[Option]:
        return [PASS, *[Option(SWAP_AWAY, (card,)) for card in distinct(g.collection[seat].cards)]]

    def chosen(self, g: Greed, option: Option) -> None:
        if option != PASS:
            g.move(option.cards[0], g.collection[self.seat], g.discard)
            g.then(SwapTheSecond(self.seat))


class SwapTheSecond(Choice):
    rule = "GR-3.11"
    paragraph = "The second card; then three are drawn."
    text = "Which other card do you put away?"

    def options(self, g: Greed, seat: int) -> list[Option]:
        return [Option(SWAP_AWAY, (card,)) for card in distinct(g.collection[seat].cards)]

    def chosen(self, g: Greed, option: Option) -> None:
        g.move(option.cards[0], g.collection[self.seat], g.discard)
        g.draw(g.collection[self.seat], 3)


class RefillYourHand(Step):
    rule = "GR-3.12"
    paragraph = "With only the crook left, the raider draws seven. Else they may trade a number in, after the victim."
    victim: int

    def run(self, g: Greed) -> None:
        may_trade = len(g.hand[self.seat].cards) > 1
        if not may_trade:
            g.draw(g.hand[self.seat], HAND)
        stages: list[Step] = []
        if self.victim != PILE:
            stages.append(RefillTheVictim(self.victim))
        if may_trade and g.collection[self.seat].cards:
            stages.append(TradeANumberIn(self.seat))
        g.then(*stages)


class RefillTheVictim(Step):
    rule = "GR-3.13"
    paragraph = "A victim who has only the crook left draws seven."

    def run(self, g: Greed) -> None:
        if len(g.hand[self.seat].cards) == 1:
            g.draw(g.hand[self.seat], HAND)


class TradeANumberIn(Choice):
    rule = "GR-3.14"
    paragraph = "All collected cards of one number may be discarded, to draw until the hand holds eight."
    text = "Discard a number and refill your hand?"

    def options(self, g: Greed, seat: int) -> list[Option]:
        numbers = distinct([NUMBER[card] for card in g.collection[seat].cards])
        return [PASS, *[Option(TRADE, number=number) for number in numbers]]

    def chosen(self, g: Greed, option: Option) -> None:
        if option == PASS:
            return
        mine = g.collection[self.seat]
        for card in [card for card in mine.cards if NUMBER[card] == option.number]:
            g.move(card, mine, g.discard)
        g.draw(g.hand[self.seat], REFILL_TO - len(g.hand[self.seat].cards))


class CheckForAWinner(Step):
    rule = "GR-3.15, GR-6.1"
    paragraph = "Six of a number at the end of the own turn win; a game also ends after its last round."

    def run(self, g: Greed) -> None:
        if max(g.sets(self.seat)) >= WINNING_SET:
            g.winner = self.seat + 1
            g.then(EndTheGame(self.seat))
        elif g.turns == g.settings.max_rounds * g.n:
            g.then(EndTheGame(self.seat))
        else:
            g.then(TakeATurn(g.next_seat(self.seat)))


class EndTheGame(Step):
    rule = "GR-5.1, GR-6.1"
    paragraph = """In a tournament the winner scores seven, the others their longest set; then the next seat begins.

    A game without a winner is led by the longest set, then the next longest; who alone leads gets the seven.
    """

    def run(self, g: Greed) -> None:
        if g.settings.mode == "single":
            g.tell_scores(over=True)
            return
        best = max(g.longest_sets(seat) for seat in range(g.n))
        leaders = [g.winner - 1] if g.winner else [seat for seat in range(g.n) if g.longest_sets(seat) == best]
        for seat in range(g.n):
            if leaders == [seat]:
                g.add("points", WINNER_POINTS, seat)
                g.add("wins", 1, seat)
            else:
                g.add("points", max(g.sets(seat)), seat)
        g.game += 1
        g.tell_scores(over=g.game == g.n)
        if g.game < g.n:
            g.then(SetUp(g.next_seat(g.first - 1)))
